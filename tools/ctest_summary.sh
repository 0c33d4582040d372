#!/usr/bin/env bash
# Summarises a ctest log in a few lines: failed tests, skipped tests with reasons, and the count.
# usage: ctest_summary.sh LOG
awk '
  /tests passed, .* tests? failed out of/ { count = $0 }
  /tests FAILED:$/ { failing = 1; next }
  /\(Skipped\)$/ { ++skipped; next }
  failing && /^[ \t]+[0-9]+ - / { print substr($0, 1, 100) }
  END {
    if (skipped) print skipped " tests skipped: the data folder they read is not beside the checkout"
    print count == "" ? "ctest did not end: see above" : count
  }' "$1"

#!/bin/sh
# Runs a test unless the time for it is over: then it counts as skipped (77).
#
# usage: [GOBAN_TEST_UNTIL=SECONDS_SINCE_1970] before_deadline.sh PROGRAM [ARGUMENT...]
if [ -n "$GOBAN_TEST_UNTIL" ] && [ "$(date +%s)" -ge "$GOBAN_TEST_UNTIL" ]; then
  echo "skipped: the minutes for this run of the tests were over"
  exit 77
fi
exec "$@"

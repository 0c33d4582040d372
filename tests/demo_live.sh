#!/usr/bin/env bash
# The live part of the demonstration, shortened: all ten trainings complete, and the analysis knows of
# them.
#   demo_live.sh GOBAN GOBAN-TRAIN FOLDER
set -euo pipefail
out=$3
GOBAN_DEMO_SECONDS=2 bash "$(dirname "$0")/../tools/demo_live.sh" "$1" "$2" "$out" </dev/null
fail() {
  echo "not as expected: $1"
  tail -n 3 "$out"/train-*.out
  exit 1
} >&2
grep -qE '^ +Jobs analysed  +10 ' "$out/analysis.txt" || fail "ten jobs in the analysis"
for log in "$out"/train-*.out; do
  grep -q 'test_loss' "$log" || fail "$log has no result"
done
[[ $(ls "$out"/train-*.out | wc -l) == 10 ]] || fail "ten logs"
head -n 1 "$out/learned.csv" | grep -q '^gpu_type,members' || fail "what sharing learned"

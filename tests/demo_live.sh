#!/usr/bin/env bash
# The live part of the demonstration, shortened: all ten training runs complete, and the analysis
# contains them.
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
head -n 1 "$out/learned.csv" | grep -q '^gpu_type,members' || fail "the learned co-location history"

# If interrupted during training, it leaves no process behind.
out=$3-interrupted
rm -rf "$out" # logs of an earlier run would end the wait below at once
# A shell makes background processes ignore SIGINT.
GOBAN_DEMO_SECONDS=2 python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp("bash", ["bash", *sys.argv[1:]])' "$(dirname "$0")/../tools/demo_live.sh" "$1" "$2" "$out" \
  </dev/null >"$3.log" 2>&1 &
demo=$!
for _ in $(seq 1200); do
  compgen -G "$out/train-*.out" >/dev/null && break
  sleep 0.1
done
kill -INT $demo
code=0
wait $demo || code=$?
[[ $code == 130 ]] || fail "exit code 130, not $code"
for _ in $(seq 300); do
  pgrep -f "$out/" >/dev/null || break
  sleep 0.1
done
! pgrep -af "$out/" || fail "a process is left"

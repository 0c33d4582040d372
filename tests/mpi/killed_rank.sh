#!/bin/bash
# A rank that is killed (SIGKILL) or hangs (SIGSTOP) during a run ends the whole run. It
# is named; the other rank reports its operation; the last checkpoint is intact, and the run
# resumes from it. Arguments: goban-train, mpirun, KILL or STOP.
source "$(dirname "$0")/ranks.sh"
signal=$3
# Seconds from SIGTERM to SIGKILL in Open MPI.
export OMPI_MCA_odls_base_sigkill_timeout=3
head -c 40000 /dev/urandom | base64 > "$work/text"
options=(lm --text "$work/text" --mesh x:2 --layout batch:x --train-limit 64 --test-limit 16
  --batch-size 16 --length 32 --checkpoint "$work/saved" --fixed-order --timeout-s 8)
fail() {
  echo "$1"
  tail -n 20 "$work/log"
  exit 1
}
"$mpirun" -n 2 "$train" "${options[@]}" --epochs 100000 > "$work/log" 2>&1 &
run=$!
for _ in $(seq 300); do
  grep -q "^epoch 3 " "$work/log" && break
  sleep 0.1
done
grep -q "^epoch 3 " "$work/log" || { kill $run; fail "did not train"; }
kill -"$signal" "$(pgrep -P "$run" | tail -n 1)"
wait "$run"
code=$?
[ $code -ne 0 ] || fail "the run ended with success"
call="(all-reduce|all-gather|broadcast|barrier|exchange|all-to-all|reduce-scatter) '"
if [ "$signal" = KILL ]; then
  grep -q "process rank [01] .* exited on signal 9" "$work/log" || fail "no message names the rank"
  grep -Eq "goban: rank [01] was (in|computing, after) $call" "$work/log" ||
    fail "the other rank does not report its operation"
else
  # The first pattern if the rank stopped between two calls, the second if it stopped inside one.
  between="waited 8 s in $call.*rank [01] did not arrive .last seen in $call"
  within="waited [0-9]+ s in $call.*all its peers (had|have) arrived"
  grep -Eq "rank [01] ($between|$within)" "$work/log" || fail "no message names rank and operation"
  grep -Eq "goban: rank [01] has been waiting for 4 s in $call" "$work/log" ||
    fail "no message was printed while it waited"
fi
"$mpirun" -n 2 "$train" "${options[@]}" --epochs 1 > "$work/again" 2>&1 ||
  { cat "$work/again"; fail "does not resume"; }
grep -q "resumed at epoch" "$work/again" || { cat "$work/again"; fail "did not resume"; }
grep -E "rank [01] (was|waited)" "$work/log" | head -n 3

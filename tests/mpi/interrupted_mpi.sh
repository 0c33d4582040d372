#!/bin/bash
# Stopping a run under mpirun: by SIGINT to one rank, by SIGUSR1 to mpirun (which forwards it) and
# by Ctrl-C, SIGINT to mpirun (which ends its ranks by SIGTERM). Each time all ranks agree on a step
# and save; the resumed run has the bits of an uninterrupted run.
# Arguments: goban-train, mpirun.
source "$(dirname "$0")/ranks.sh"
# Seconds from Ctrl-C to SIGTERM, and from SIGTERM to SIGKILL, in Open MPI.
export OMPI_MCA_odls_base_sigkill_timeout=4
seq 20000 > "$work/text"
options=(lm --text "$work/text" --mesh x:2 --layout batch:x --train-limit 800 --test-limit 16
  --batch-size 16 --length 16 --blocks 1 --d-model 16 --d-ff 16 --dropout 0.1 --fixed-order)
fail() {
  echo "$1"
  head -n 5 "$work/log"
  exit 1
}
set -m # so that background jobs receive SIGINT

epoch=0 # the epoch that the last stop interrupted
stop() { # signal, target: rank or mpirun
  rm -f "$work/log"
  "$mpirun" -n 2 "$train" "${options[@]}" --checkpoint "$work/stopped" --epochs 1000000 \
    > "$work/log" 2>&1 &
  local launcher=$! victim
  for _ in $(seq 300); do
    grep -q "^epoch " "$work/log" && break
    sleep 0.1
  done
  grep -q "^epoch " "$work/log" || fail "did not train"
  victim=$launcher
  [ "$2" = rank ] && victim=$(pgrep -P "$launcher" | tail -n 1)
  rm "$work/stopped/checkpoint.goban" # a checkpoint found later was saved after the signal
  kill -"$1" "$victim"
  wait "$launcher"
  code=$?
  [ -s "$work/stopped/checkpoint.goban" ] || fail "no checkpoint after SIG$1 to $2"
  epoch=$(sed -n 's/^epoch=//p' "$work/stopped/checkpoint.goban" | head -n 1)
}

for signal in INT USR1; do
  stop $signal "$([ $signal = INT ] && echo rank || echo mpirun)"
  grep -q "^stopped at epoch" "$work/log" || fail "SIG$signal: not stopped in order"
  [ $code -eq 0 ] || fail "SIG$signal: a run stopped in order ended with $code"
done
stop INT mpirun
[ $code -ne 0 ] || fail "mpirun was interrupted, but exits with 0"

"$mpirun" -n 2 "$train" "${options[@]}" --checkpoint "$work/stopped" --epochs $((epoch + 1)) \
  > "$work/log" 2>&1 || fail "does not resume"
grep -q "resumed at epoch" "$work/log" || fail "did not resume"
"$mpirun" -n 2 "$train" "${options[@]}" --checkpoint "$work/straight" --epochs $((epoch + 1)) \
  > "$work/log" 2>&1 || fail "the straight run failed"
cmp "$work/stopped/checkpoint.goban" "$work/straight/checkpoint.goban" ||
  fail "the resumed run has other bits"
echo "stopped three times, resumed, $((epoch + 1)) epochs: the bits of a straight run"

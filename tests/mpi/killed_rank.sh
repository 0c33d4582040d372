#!/bin/bash
# A rank killed in the middle of a run ends the whole run, with a message that names the rank, and
# leaves the last checkpoint whole: the run resumes from it. Arguments: goban-train, mpirun.
set -u
train=$1 mpirun=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
head -c 40000 /dev/urandom | base64 > "$work/text"
options=(lm --text "$work/text" --mesh x:2 --layout batch:x --train-limit 64 --test-limit 16
  --batch-size 16 --length 32 --checkpoint "$work/saved" --fixed-order)
"$mpirun" -n 2 "$train" "${options[@]}" --epochs 100000 > "$work/log" 2>&1 &
run=$!
for _ in $(seq 300); do
  grep -q "^epoch 3 " "$work/log" && break
  sleep 0.1
done
grep -q "^epoch 3 " "$work/log" || { echo "did not train:"; cat "$work/log"; kill $run; exit 1; }
ranks=$(pgrep -P "$run")
victim=$(echo "$ranks" | tail -n 1)
kill -9 "$victim"
wait "$run"
code=$?
[ $code -ne 0 ] || { echo "the run ended with success"; exit 1; }
grep -q "process rank [01] .* exited on signal 9" "$work/log" ||
  { echo "no message names the rank:"; tail -n 20 "$work/log"; exit 1; }
"$mpirun" -n 2 "$train" "${options[@]}" --epochs 1 > "$work/again" 2>&1 ||
  { echo "does not resume:"; cat "$work/again"; exit 1; }
grep -q "resumed at epoch" "$work/again" || { cat "$work/again"; exit 1; }

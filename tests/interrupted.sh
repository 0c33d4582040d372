#!/bin/bash
# An interrupt (Ctrl-C) makes all ranks save and exit, and the run resumes there.
# Arguments: goban-train.
set -u
train=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1
head -c 40000 /dev/urandom | base64 > "$work/text"
command=("$train" lm --threads 2 --mesh x:2 --layout batch:x --text "$work/text" --train-limit 16
  --test-limit 16 --batch-size 16 --length 16 --blocks 1 --d-model 16 --d-ff 16
  --checkpoint "$work/saved")

set -m # so that background jobs receive SIGINT
"${command[@]}" --epochs 100000 > "$work/log" 2>&1 &
run=$!
for _ in $(seq 600); do
  grep -q "^epoch 1 " "$work/log" && break
  sleep 0.1
done
kill -INT "$run"
wait "$run" || { echo "ended with an error"; cat "$work/log"; exit 1; }
grep -q "^stopped at epoch" "$work/log" || { echo "did not stop in order"; exit 1; }
[ -s "$work/saved/checkpoint.goban" ] || { echo "no checkpoint"; exit 1; }
"${command[@]}" --epochs 1 > "$work/again" 2>&1
grep -q "resumed at epoch" "$work/again" || { cat "$work/again"; exit 1; }

#!/bin/bash
# Ranks of one run with different options or folders are rejected at once, not after the time-out, and
# no checkpoint is overwritten. Arguments: goban-train, mpirun.
source "$(dirname "$0")/ranks.sh"
seq 20000 > "$work/text"
mkdir "$work/a" "$work/b"
# The time-out is longer than the test's own limit: waiting for it fails the test.
options=(lm --text "$work/text" --mesh x:2 --layout batch:x --train-limit 64 --test-limit 16
  --length 16 --blocks 1 --d-model 16 --d-ff 16 --timeout-s 1000)
fail() {
  echo "$1"
  head -n 20 "$work/log"
  exit 1
}

# Each rank has a separate folder, as on machines without a common file system: only rank 0 has saved.
two() { # additional options of rank 1
  timeout 100 "$mpirun" -n 1 --wdir "$work/a" "$train" "${options[@]}" --checkpoint saved \
    --batch-size 16 --epochs "$epochs" : \
    -n 1 --wdir "$work/b" "$train" "${options[@]}" --checkpoint saved --epochs "$epochs" "$@" \
    > "$work/log" 2>&1
}
epochs=1
two --batch-size 16 || fail "does not train"
cp "$work/a/saved/checkpoint.goban" "$work/kept"
epochs=2
two --batch-size 16 && fail "ranks with different checkpoints train together"
grep -q "rank 0 reads checksum [0-9a-f]*, rank 1 finds no file" "$work/log" || fail "not named"
cmp -s "$work/a/saved/checkpoint.goban" "$work/kept" || fail "the checkpoint was overwritten"

# A batch that the mesh does not divide, on rank 1 only: its error is reported, also by rank 0.
rm -r "$work"/[ab]/saved
two --batch-size 15 && fail "a rank that was refused ends with success"
grep -q "goban-train: .*dimension 'batch' has 15 elements" "$work/log" ||
  fail "the error of rank 1 is not reported"
grep -q "ranks diverged: rank 0 is in .* rank 1 is in all-gather '.*(usage error)'" "$work/log" ||
  fail "rank 0 does not report the failure of rank 1"
# On both ranks it is reported once, and the ranks exit in order.
timeout 100 "$mpirun" -n 2 "$train" "${options[@]}" --batch-size 15 > "$work/log" 2>&1
[ "$(grep -c "dimension 'batch' has 15 elements" "$work/log")" -eq 1 ] || fail "not reported exactly once"
echo "refused as they should be"

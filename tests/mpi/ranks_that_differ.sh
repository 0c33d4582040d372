#!/bin/bash
# Ranks of one run with different options or folders are rejected at once, not after the time-out, and
# no checkpoint is overwritten. Arguments: goban-train, mpirun.
source "$(dirname "$0")/ranks.sh"
seq 20000 > "$work/text"
mkdir "$work/a" "$work/b"
# The time-out is longer than the test's own limit: waiting for it fails the test.
options=(lm --mesh x:2 --layout batch:x --train-limit 64 --test-limit 16
  --length 16 --blocks 1 --d-model 16 --d-ff 16 --timeout-s 1000)
fail() {
  echo "$1"
  head -n 20 "$work/log"
  exit 1
}

# Each rank has a separate folder, as on machines without a common file system: only rank 0 has saved.
text=$work/text # of rank 1
two() { # additional options of rank 1
  timeout 100 "$mpirun" -n 1 --wdir "$work/a" "$train" "${options[@]}" --checkpoint saved \
    --batch-size 16 --epochs "$epochs" --text "$work/text" : \
    -n 1 --wdir "$work/b" "$train" "${options[@]}" --checkpoint saved --epochs "$epochs" --text "$text" "$@" \
    > "$work/log" 2>&1
}
epochs=1
two --batch-size 16 || fail "does not train"
cp "$work/a/saved/checkpoint.goban" "$work/kept"
epochs=2
two --batch-size 16 && fail "ranks with different checkpoints train together"
grep -q "rank 0 reads checksum [0-9a-f]*, rank 1 finds no file" "$work/log" || fail "not named"
cmp -s "$work/a/saved/checkpoint.goban" "$work/kept" || fail "the checkpoint was overwritten"

# Options of rank 1 alone: refused before the first step, named, reported once; nothing is saved.
rm -r "$work"/[ab]/saved
differs() { # what the message names, then additional options of rank 1
  local named=$1
  shift
  two --batch-size 16 "$@" && fail "ranks with different options train ($*)"
  [ "$(grep -c "the ranks were started with different options: .*$named" "$work/log")" -eq 1 ] ||
    fail "not named exactly once: $named"
  [ ! -e "$work/a/saved/checkpoint.goban" ] || fail "saved although the ranks differ ($*)"
}
differs "--seed is '1' on rank 0, '2' on rank 1" --seed 2
differs "--learning-rate is '0' on rank 0, '0.1' on rank 1" --learning-rate 0.1
differs "--fixed-order is 'given' on rank 1, 'not given' on rank 0" --fixed-order
differs "--compare-layouts is '2' on rank 1, absent on rank 0" --compare-layouts 2
# The same options, but another text of as many bytes on rank 1.
cp "$work/text" "$work/other"
printf x | dd of="$work/other" bs=1 seek=100 conv=notrunc status=none
text=$work/other
two --batch-size 16 && fail "ranks with different data train"
grep -q "different plans or data: training data is .* on rank 1" "$work/log" || fail "data not named"

# A rank that fails alone, before the first step: its error is reported, also by rank 0.
text=$work/none
two --batch-size 16 && fail "a rank without data ends with success"
grep -q "goban-train: cannot read '$work/none'" "$work/log" || fail "the error of rank 1 is not reported"
# A usage error on both ranks is reported once, and the ranks exit in order.
timeout 100 "$mpirun" -n 2 "$train" "${options[@]}" --text "$work/text" --batch-size 15 > "$work/log" 2>&1
[ "$(grep -c "dimension 'batch' has 15 elements" "$work/log")" -eq 1 ] || fail "not reported exactly once"
echo "refused as they should be"

#!/bin/bash
# The batch-size study, small, in pieces: stopped by its time several times and resumed by the same
# command, it ends with every run and the claims; also with several runs at once, and in the parts that
# a machine with a GPU trains. Arguments: goban-train, bench/batch_size_study.
set -u
train=$1 study=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1 GOBAN_STUDY_DATA=$work
# 400 training and 50 test images of noise: IDX headers, pixels, labels.
mkdir -p "$work/mnist"
for set in train:400:'\x01\x90' t10k:50:'\0\x32'; do
  IFS=: read -r name count bytes <<< "$set"
  { printf '\0\0\x08\x03\0\0%b\0\0\0\x1c\0\0\0\x1c' "$bytes"; head -c $((count * 784)) /dev/urandom; } \
    > "$work/mnist/$name-images-idx3-ubyte"
  { printf '\0\0\x08\x01\0\0%b' "$bytes"; for _ in $(seq $((count / 10))); do
      printf '\0\x01\x02\x03\x04\x05\x06\x07\x08\x09'; done; } > "$work/mnist/$name-labels-idx1-ubyte"
done
fail() {
  echo "$1"
  tail -n 20 "$work/log"
  exit 1
}
bash "$study" "$train" "$work/out" 0.05 --small > "$work/log" 2>&1 || fail "the first piece failed"
grep -q "stopped with [0-9]* of 15 runs complete; the same command resumes" "$work/log" || fail "not stopped"
bash "$study" "$train" "$work/out" 0 --jobs 2 --small > "$work/log" 2>&1 || fail "the rest failed"
# 3 batch sizes x (3 seeds + 2 layouts of one seed) x 2 epochs.
[ "$(grep -c ",plain," "$work/out/sweep.csv")" -eq 30 ] || fail "rows are missing"
grep -q '^S1,' "$work/out/claims.csv" || fail "no claims"
grep -q '^L1,\(holds\|fails\),.*6 curves' "$work/out/claims.csv" || { cat "$work/out/claims.csv"; fail "layouts not compared"; }
# The parts train all runs; the study only reports.
bash "$study" "$train" "$work/parts" --gpu --small > "$work/log" 2>&1 || fail "the parts failed"
[ "$(ls "$work/parts/runs" | wc -l)" -eq 15 ] || fail "the parts are not 15 runs"
bash "$study" "$train" "$work/parts" --small > "$work/log" 2>&1 || fail "no study of the parts"
! grep -q '^run ' "$work/log" || fail "a run of the parts was not complete"
grep -q '^S1,' "$work/parts/claims.csv" || fail "no claims from the parts"
echo "complete after two pieces, and in parts"

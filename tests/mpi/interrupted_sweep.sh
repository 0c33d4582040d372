#!/bin/bash
# A signal to one rank of a sweep under mpirun, at any time, stops all ranks in order; the same
# command resumes the sweep. Arguments: goban-train, mpirun.
source "$(dirname "$0")/ranks.sh"
export OMPI_MCA_mpi_yield_when_idle=1
# A set of 100 training and 20 test images of noise: IDX headers, pixels, labels.
mkdir -p "$work/mnist"
for set in train:100:'\x64' t10k:20:'\x14'; do
  IFS=: read -r name count byte <<< "$set"
  { printf '\0\0\x08\x03\0\0\0%b\0\0\0\x1c\0\0\0\x1c' "$byte"; head -c $((count * 784)) /dev/urandom; } \
    > "$work/mnist/$name-images-idx3-ubyte"
  { printf '\0\0\x08\x01\0\0\0%b' "$byte"; for _ in $(seq $((count / 10))); do
      printf '\0\x01\x02\x03\x04\x05\x06\x07\x08\x09'; done; } > "$work/mnist/$name-labels-idx1-ubyte"
done
sweep=("$mpirun" -n 2 "$train" sweep --data "$work" --model mlp --hidden 8 --batch-size 4,10,20
  --mesh x:2 --layout batch:x --controls none --largest-limit-mb 0 --out "$work/out" --timeout-s 1000)
fail() {
  echo "$1"
  tail -n 20 "$work/log"
  exit 1
}
for try in 1 2 3; do
  : > "$work/log"
  "${sweep[@]}" --epochs 3 --seeds 200 >> "$work/log" 2>&1 &
  launcher=$!
  for _ in $(seq 600); do # wait until it trains
    [ "$(grep -c "^run " "$work/log")" -ge $((5 * try)) ] && break
    sleep 0.1
  done
  kill -INT "$(pgrep -P "$launcher" | tail -n 1)"
  for _ in $(seq 600); do
    kill -0 "$launcher" 2> /dev/null || break
    sleep 0.1
  done
  kill -0 "$launcher" 2> /dev/null && { kill "$launcher"; fail "try $try: the ranks do not end"; }
  wait "$launcher" || fail "try $try: ended with an error"
done
[ -s "$work/out/report.html" ] || fail "no report"
grep -q "was stopped before its end" "$work/out/report.html" || fail "the report does not mention the stop"
echo "stopped $try times"

#!/usr/bin/env bash
# The live part of the demonstration: four virtual GPUs are measured, then `goban serve` gets ten real
# jobs for them (they simulate, which keeps a core busy); the queue, and the analysis of what ran.
#   demo_live.sh GOBAN FOLDER
set -euo pipefail
goban=$(realpath "$1")
out=$2
rm -rf "$out"
mkdir -p "$out"
out=$(realpath "$out")
export GOBAN_STATE=$out/state
export GOBAN_SOCKET=$out/state/goban.sock

echo
echo "== Real jobs on four virtual GPUs of this machine =="
cat >"$out/goban.toml" <<'EOF'
virtual_gpus = 4
virtual_slowness = [1, 1, 1.5] # GPU 2 has to do half as much again
scores = "scores.csv"
EOF
echo "-- Measured first; GPU 2 was made slow"
# --force: whatever else runs on this machine, a demonstration goes on.
"$goban" profile --config "$out/goban.toml" --out "$out/scores.csv" --seconds 15 --force
"$goban" serve --state "$out/state" --config "$out/goban.toml" --listen 127.0.0.1:0 \
  >"$out/serve.txt" 2>"$out/serve.log" &
daemon=$!
trap 'kill $daemon 2>/dev/null || true' EXIT
for _ in $(seq 200); do
  [[ -s $out/serve.txt ]] && break
  kill -0 $daemon 2>/dev/null || { cat "$out/serve.log" >&2; exit 1; }
  sleep 0.05
done
cat "$out/serve.txt"
if [[ -t 1 ]]; then echo "While it runs, open $("$goban" token)"; fi # a secret: for people, not for logs

cat >"$out/train.sh" <<'EOF'
#!/bin/sh
#SBATCH --gpus=1
#SBATCH --time=10
#SBATCH --output=train-%j.out
# A stand-in for a training: a simulation that computes for a moment, seeded by the job.
"$GOBAN" trace generate --like poisson --jobs "$1" --gpus 64 --seed "$GOBAN_JOB_ID" --out "jobs-$GOBAN_JOB_ID.csv"
"$GOBAN" simulate --cluster 8x8 --jobs "jobs-$GOBAN_JOB_ID.csv" --policy las+pal
EOF
export GOBAN=$goban
cd "$out"
for size in 4000 1000 8000 2000 1000; do "$goban" submit train.sh "$size"; done
first=$("$goban" submit --parsable --gpus 4 --name wide train.sh 3000)
"$goban" submit --gpus 2 --name after --dependency "afterok:$first" train.sh 1000
"$goban" submit --array 0-2%2 --gpus 1 --name sweep train.sh 2000
"$goban" queue
for _ in $(seq 1200); do
  "$goban" queue --json | grep -qE '"state": ?"(waiting|running|starting|stopping|depends)"' || break
  sleep 0.1
done
"$goban" stats
kill $daemon
wait $daemon || true
trap - EXIT
echo
echo "-- What ran, from the history store"
printf '[conditions]\nrun_min = "0s"\n' >rules.toml # jobs of a demonstration are short
"$goban" analyze state/store.sqlite --rules rules.toml --out analysis >analysis.txt
head -20 analysis.txt
echo "Open $out/analysis/report.html"

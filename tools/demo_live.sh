#!/usr/bin/env bash
# The live part of the demonstration: measures four virtual GPUs, trains ten small language models on
# them with `goban serve` under the policy `goban`, and analyses the finished jobs.
#   demo_live.sh GOBAN GOBAN-TRAIN FOLDER
# $GOBAN_DEMO_SECONDS: duration of the measurement (15); also scales the amount of training. The link to the dashboard, a secret, is
# printed to descriptor 3 if that is a terminal, never to a log.
set -euo pipefail
{ true >&3; } 2>/dev/null || exec 3>&1
goban=$(realpath "$1")
train=$(realpath "$2")
out=$3
seconds=${GOBAN_DEMO_SECONDS:-15}
if GOBAN_SOCKET=$out/state/goban.sock "$goban" stats >/dev/null 2>&1; then
  echo "demo: a demonstration is already running in $out; stop it first" >&2
  exit 1
fi
rm -rf "$out"
mkdir -p "$out"
out=$(realpath "$out")
export GOBAN_STATE=$out/state
export GOBAN_SOCKET=$out/state/goban.sock

echo
echo "== Real jobs on four virtual GPUs of this machine =="
cat >"$out/goban.toml" <<'EOF'
virtual_gpus = 4
virtual_slowness = [1, 1, 1.5] # GPU 2 is 1.5 times as slow
scores = "scores.csv"
policy = "goban"
energy = "power.toml"
EOF
cat >"$out/power.toml" <<'EOF'
# Assumed power of a machine with four small GPUs: energy below is modelled, not measured.
[[node]]
name = "demonstration"
gpus = 4
host_idle_w = 80
gpu_idle_w = 15
gpu_max_w = 120
gpu_dynamic_w = 90
EOF
echo "-- Measuring the GPUs first; GPU 2 was made slow"
# --force: measure even if the machine is busy with other work.
"$goban" profile --config "$out/goban.toml" --out "$out/scores.csv" --seconds "$seconds" --force
setsid "$goban" serve --state "$out/state" --config "$out/goban.toml" --listen 127.0.0.1:0 \
  >"$out/serve.txt" 2>"$out/serve.log" &
daemon=$!
# Jobs outlive the daemon; an interrupted demonstration must cancel them.
finish() {
  trap '' INT TERM HUP
  "$goban" cancel --all >/dev/null 2>&1 || true
  for _ in $(seq 100); do
    "$goban" queue --json 2>/dev/null | grep -qE '"state": ?"(running|starting|stopping)"' || break
    sleep 0.1
  done
  kill $daemon 2>/dev/null || true
}
trap finish EXIT
trap 'exit 130' INT TERM HUP
for _ in $(seq 200); do
  [[ -s $out/serve.txt ]] && break
  kill -0 $daemon 2>/dev/null || { cat "$out/serve.log" >&2; exit 1; }
  sleep 0.05
done
cat "$out/serve.txt"
if [[ -t 3 ]]; then printf '\nWhile it runs, open %s\n' "$("$goban" token)" >&3; fi

cat >"$out/train.sh" <<'EOF'
#!/bin/sh
#SBATCH --gpus=1
#SBATCH --time=10
#SBATCH --output=train-%j.out
# A small Transformer learns the bytes of a licence; its batch is split over the job's GPUs.
exec "$GOBAN_TRAIN" lm --text /usr/share/common-licenses/GPL-3 --epochs "$1" --seed "$GOBAN_JOB_ID" \
  --length 64 --d-model 32 --heads 4 --d-head 8 --d-ff 128 --batch-size 16 --last-batch drop \
  --threads "$2" --mesh "gpus:$2" --layout batch:gpus
EOF
export GOBAN_TRAIN=$train
cd "$out"
for epochs in 4 1 6 2 1; do "$goban" submit --model gpl-lm train.sh $((epochs * seconds / 2 + 1)) 1; done
first=$("$goban" submit --parsable --gpus 4 --name wide train.sh "$seconds" 4)
"$goban" submit --gpus 2 --name after --dependency "afterok:$first" train.sh "$seconds" 2
"$goban" submit --array 0-2%2 --gpus 1 --name sweep train.sh "$seconds" 1
"$goban" queue
for ((round = 1; ; ++round)); do
  states=$("$goban" queue --json | grep -oE '"state": ?"(waiting|running|starting|stopping|depends)"' || true)
  [[ -n $states ]] || break
  ((round % 50)) || echo "   ... $(grep -c running <<<"$states") running, $(grep -cE 'waiting|depends' <<<"$states") waiting"
  sleep 0.2
done
"$goban" stats
"$goban" colocation export --out learned.csv
if [[ -t 0 && -t 3 ]]; then
  printf '\nThe dashboard is open until you press Enter: %s\n' "$("$goban" token)" >&3
  read -r -t 900 || true
fi
kill $daemon
wait $daemon || true
trap - EXIT
echo
echo "-- Finished jobs, from the history store"
printf '[conditions]\nrun_min = "0s"\n' >rules.toml # the jobs of the demonstration are short
"$goban" analyze state/store.sqlite --rules rules.toml --out analysis >analysis.txt
head -20 analysis.txt
echo "Open $out/analysis/report.html"

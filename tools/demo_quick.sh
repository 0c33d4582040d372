#!/usr/bin/env bash
# The demonstration in under a minute, with an installed program: demo_quick.sh [GOBAN [FOLDER]].
# Compares policies on a generated month, writes the operator's report of a generated week, and runs jobs on virtual
# GPUs. Nothing is read or changed outside of FOLDER.
set -euo pipefail
goban=$(command -v "${1:-goban}") || { echo "demo: no program ${1:-goban}" >&2; exit 1; }
goban=$(realpath "$goban")
mkdir -p "${2:-goban-demo}"
out=$(realpath "${2:-goban-demo}")
cd "$out"
export GOBAN_STATE=$out/state
unset GOBAN_SERVER GOBAN_SOCKET

# progress TEXT: one line, replaced on a terminal.
progress() { if [[ -t 2 ]]; then printf '\r\033[K%s' "$1" >&2; else echo "$1" >&2; fi; }

cat <<EOF
goban demo, about half a minute, in $out:
  1. replays 3,000 generated jobs on 64 GPUs under four policies
  2. writes the operator's report of a generated week on 128 GPUs
  3. runs jobs on four virtual GPUs of this machine
EOF
rm -rf site report state base what-if comparison.html

progress "1/3 comparing policies"
"$goban" trace generate --like poisson --jobs 3000 --cluster sia-64 --load 0.85 --seed 7 --out jobs.csv 2>log.txt
"$goban" profile generate --cluster sia-64 --seed 7 --out scores.csv 2>>log.txt
# The site "ran" Slurm's multifactor priority: its starts are the record that the back-test compares with.
"$goban" simulate --cluster sia-64 --jobs jobs.csv --scores scores.csv --locality-penalty 1.3 \
  --policy slurm-multifactor --out base >>log.txt 2>&1
"$goban" simulate --cluster sia-64 --jobs base/slurm-multifactor/history.csv --scores scores.csv --locality-penalty 1.3 \
  --policy easy-backfill+packed,las+pal,goban --backtest slurm-multifactor --html comparison.html >comparison.txt 2>>log.txt

progress "2/3 analysing a week"
"$goban" trace generate --like abci-2019 --with-gpu-series site --days 7 --jobs 70000 --nodes 32 --seed 7 >>log.txt 2>&1
"$goban" analyze site/jobs.csv --gpu site/series --cluster 32x4 --out report >report.txt 2>>log.txt

progress "3/3 running jobs"
"$goban" serve --virtual-gpus 4 --state state >>log.txt 2>&1 &
daemon=$!
trap 'kill $daemon 2>/dev/null || true; wait $daemon 2>/dev/null || true' EXIT
for _ in $(seq 100); do "$goban" stats >/dev/null 2>&1 && break; sleep 0.1; done
ids=()
for gpus in 1 2 4; do
  ids+=("$("$goban" submit --parsable --gpus $gpus --name "hello-$gpus" --wrap "echo \"\$GOBAN_JOB_ID runs on $gpus GPU(s)\"; sleep 1")")
done
"$goban" wait --timeout 60s "${ids[@]}" >/dev/null
progress ""
[[ -t 2 ]] && printf '\r\033[K' >&2

echo
echo "1. Policies on the same 3,000 jobs (comparison.txt; the error of the simulation beside each gain):"
sed -n '/^policy/,/^$/p' comparison.txt
echo "   (±0.0 %: the simulator made this history itself. With your records the error is that of the simulation.)"
echo "2. Key figures of the week are in report/report.html."
echo "3. Three jobs ran:"
"$goban" queue --all --format job,name,state,gpus,ran
cat <<EOF

Open in a browser:  $out/comparison.html
                    $out/report/report.html
Read:               $out/comparison.txt
With your own records:
  TZ=UTC sacct -a -X -P --noconvert -S now-30days -o ALL | goban analyze - --out report
  TZ=UTC sacct -a -X -P --noconvert -S now-30days -o ALL | goban simulate --cluster 32x4 --jobs - \\
    --policy goban,las+pal --backtest slurm-multifactor --html comparison.html
EOF

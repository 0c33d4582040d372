#!/usr/bin/env bash
# The demonstration:
# - the daemon on four virtual GPUs with real jobs, and an analysis of these jobs;
# - a generated history under seven policies;
# - a month like ABCI's under five policies, with an HTML report;
# - the operator's report from accounting and GPU series;
# - where they are found (./dev data pal, and the unpublished pal/reference), a trace of PAL's paper
#   compared with the results of its artifact.
set -euo pipefail
goban=build/bin/goban
out=out/demo
mkdir -p "$out"

bash "$(dirname "$0")/demo_live.sh" "$goban" build/bin/goban-train "$out/live"

echo
echo "== A month on 64 GPUs: 6,000 generated jobs, GPUs of different speed, 7 policies =="
"$goban" trace generate --like poisson --jobs 6000 --cluster sia-64 --load 0.85 --seed 7 \
  --out "$out/jobs.csv"
"$goban" profile generate --cluster sia-64 --seed 7 --out "$out/scores.csv"
"$goban" simulate --cluster sia-64 --jobs "$out/jobs.csv" --scores "$out/scores.csv" \
  --locality-penalty 1.3 --out "$out" \
  --policy fifo+packed,easy-backfill+packed,easy-backfill+pal,las+packed,las+pal,srtf+pal,goban

echo
echo "== An HTML report: a month like ABCI's (4,352 GPUs, 4.5 times its jobs), 5 policies =="
"$goban" trace generate --like abci-2019 --jobs 2250000 --days 30 --seed 7 \
  --out "$out/abci-jobs.csv"
"$goban" profile generate --cluster abci --bins 6 --seed 7 --out "$out/abci-scores.csv"
"$goban" simulate --cluster abci --jobs "$out/abci-jobs.csv" --scores "$out/abci-scores.csv" \
  --locality-penalty 1.3 --html "$out/report.html" \
  --policy slurm-multifactor,fifo+packed,easy-backfill+packed,multifactor+easy-backfill+pal,las+pal
echo "Open $out/report.html in a browser; it needs no network."

echo
echo "== The operator's report: a week on 128 GPUs, accounting and one sample per GPU and minute =="
rm -rf "$out/site"
"$goban" trace generate --like abci-2019 --with-gpu-series "$out/site" --days 7 --jobs 70000 \
  --nodes 32 --seed 7
"$goban" analyze "$out/site/jobs.csv" --gpu "$out/site/series" --cluster 32x4 \
  --out "$out/analysis" >"$out/analysis.txt"
sed -n '/^== Selection of jobs/,/^$/p;/c5_gpu_use/p' "$out/analysis.txt"
echo "Open $out/analysis/report.html: jobs, GPUs that really compute, waits, users, what-ifs."

# The artifact's outputs are not published: without them the demonstration ends here.
data=$(dirname "$0")/data_sets.py
traces=$(python3 "$data" --find pal/traces) && reference=$(python3 "$data" --find pal/reference) || exit 0
echo
echo "== PAL's own trace (workload-1, 16 nodes x 4 GPUs) compared with its artifact =="
"$goban" simulate --cluster sia-64 --jobs "$traces/workload-1.csv" \
  --scores "$reference/gpu_scores_16x4_binned_code_K2.csv" \
  --filler-interarrivals "$reference/replay_interarrivals_seed1_load2.csv" \
  --policy packed-sticky-artifact,packed-nonsticky-artifact,pm-first-artifact,pal-artifact \
  --json >"$out/pal.json"

# number FILE FIELD [POLICY]: a field of a JSON document with one line per run.
number() { sed -n "/${3:-.}/s/.*\"$2\": \([0-9.]*\).*/\1/p" "$1"; }
printf '%-28s %16s %16s %14s %12s\n' policy 'avg JCT (ours)' 'artifact' 'wall (ours)' 'artifact'
for pair in packed-sticky-artifact:Default-Packed-S packed-nonsticky-artifact:Default-Packed-NS \
  pm-first-artifact:PMFirst pal-artifact:PAL; do
  policy=${pair%%:*}
  reference=$reference/workload-1_Fifo_${pair#*:}_lp1.7.summary.json
  printf '%-28s %14.2f s %14.2f s %12.4f s %10.1f s\n' "$policy" \
    "$(number "$out/pal.json" avg_jct_s "\"$policy\"")" "$(number "$reference" avg_jct)" \
    "$(number "$out/pal.json" wall_s "\"$policy\"")" "$(number "$reference" wall_s)"
done

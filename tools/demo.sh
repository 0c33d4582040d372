#!/usr/bin/env bash
# The demonstration: one line of progress, then a summary.
# - the daemon on four virtual GPUs with real jobs, and an analysis of these jobs;
# - a generated history under seven policies, with the error of the simulation beside each gain;
# - a month like ABCI's under five policies, with an HTML report;
# - the operator's report from accounting and GPU series;
# - where they are found (./dev data pal, and the unpublished pal/reference), a trace of PAL's paper
#   compared with the results of its artifact.
set -euo pipefail
goban=build/bin/goban
out=out/demo
mkdir -p "$out"
log=$out/log.txt
: >"$log"

# progress TEXT: one line, replaced on a terminal.
steps=5
progress() {
  local text="$((++step))/$steps $1"
  if [[ -t 2 ]]; then printf '\r\033[K%s' "$text" >&2; else echo "$text" >&2; fi
}
step=0
trap 'code=$?; ((code == 0)) || tail -5 "$log" >&2; exit $code' EXIT

progress "training ten small models on four virtual GPUs (a minute)"
bash "$(dirname "$0")/demo_live.sh" "$goban" build/bin/goban-train "$out/live" >"$out/live.txt" 2>>"$log" 3>&2

# The showcase: GPUs of different speed, of which the default policy makes use. The site "ran" Slurm's multifactor priority: its
# starts are the record that the back-test compares with.
progress "replaying a month of 6,000 jobs on 64 GPUs under seven policies"
"$goban" trace generate --like poisson --jobs 6000 --cluster sia-64 --load 0.85 --seed 7 --out "$out/jobs.csv" >>"$log" 2>&1
"$goban" profile generate --cluster sia-64 --seed 7 --out "$out/scores.csv" >>"$log" 2>&1
month=(--cluster sia-64 --scores "$out/scores.csv" --locality-penalty 1.3)
"$goban" simulate "${month[@]}" --jobs "$out/jobs.csv" --policy slurm-multifactor --out "$out/base" >>"$log" 2>&1
"$goban" simulate "${month[@]}" --jobs "$out/base/slurm-multifactor/history.csv" --backtest slurm-multifactor \
  --policy fifo+packed,easy-backfill+packed,easy-backfill+pal,las+pal,srtf+pal,goban --html "$out/comparison.html" \
  >"$out/comparison.txt" 2>>"$log"

# A large site, where jobs hardly wait under what sites run, and most other policies are worse.
progress "replaying a month like ABCI's on 4,352 GPUs under five policies (the longest part, minutes)"
"$goban" trace generate --like abci-2019 --jobs 2250000 --days 30 --seed 7 --out "$out/abci-jobs.csv" >>"$log" 2>&1
"$goban" profile generate --cluster abci --bins 6 --seed 7 --out "$out/abci-scores.csv" >>"$log" 2>&1
"$goban" simulate --cluster abci --jobs "$out/abci-jobs.csv" --scores "$out/abci-scores.csv" --locality-penalty 1.3 \
  --html "$out/report.html" --policy slurm-multifactor,easy-backfill+packed,multifactor+easy-backfill+pal,las+pal,goban \
  >"$out/report.txt" 2>>"$log"

progress "analysing a week on 128 GPUs, accounting and one sample per GPU and minute"
rm -rf "$out/site"
"$goban" trace generate --like abci-2019 --with-gpu-series "$out/site" --days 7 --jobs 70000 --nodes 32 --seed 7 >>"$log" 2>&1
"$goban" analyze "$out/site/jobs.csv" --gpu "$out/site/series" --cluster 32x4 --out "$out/analysis" >"$out/analysis.txt" 2>>"$log"

progress "writing the summary"
[[ -t 2 ]] && printf '\r\033[K' >&2
cat <<EOF

Shown:
1. Ten jobs ran on virtual GPUs of this machine (live.txt):
$(sed -n '/Finished jobs/,$p' "$out/live.txt" | grep -E 'Jobs analysed|GPU-hours' | head -3)
2. Policies on 6,000 jobs of a month, 64 GPUs of different speed (comparison.txt; the error of the simulation beside each gain):
$(sed -n '/^policy/,/^$/p' "$out/comparison.txt")
   The simulator made this history itself, so its error is 0. With your records it is that of the simulation.
3. A month of 2.25 million jobs like ABCI's, on 4,352 GPUs (report.txt; nothing to back-test with, so the error of these gains is unknown):
$(sed -n '/^policy/,/^$/p' "$out/report.txt")
4. The operator's report of a week on 128 GPUs.

Open in a browser:  $out/comparison.html         policies on the month
                    $out/analysis/report.html    the operator's report
                    $out/report.html             the large month
With your own records (sacct of Slurm; others: docs/traces.md):
  TZ=UTC sacct -a -X -P --noconvert -S now-30days -o ALL >jobs.txt
  goban analyze jobs.txt --out report
  goban simulate --cluster 32x4 --jobs jobs.txt --policy goban,las+pal --backtest slurm-multifactor --html comparison.html
Cases that the default policy loses: docs/studies/worth.md (it costs money there), docs/studies/ahead.md (waits that were short before).
EOF

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

#!/usr/bin/env python3
"""PAL's gain over Packed-Sticky, with and without the straggler, at several restart costs.

Prints a Markdown table: geomean over the traces of average JCT against packed-sticky-artifact.
Scores: the artifact's own; the same with its straggler (GPU 35) lowered to 1.146 and binned again;
and cluster draws from the profile files, scored by one run, by the median or robustly, 10 seeds.
"""

import csv
import os
import tempfile

from study import geomean, goban, need_shared, percent, simulate

TRACES = ["workload-1", "workload-3", "workload-4", "sia-160job-trace"]
COSTS = [0, 30, 120]
SEEDS = range(1, 11)
BASELINE = "packed-sticky-artifact"
RIVALS = ["pm-first-artifact", "pal-artifact"]

PAL = need_shared("data/pal")
GAPS = f"{PAL}/reference/replay_interarrivals_seed1_load2.csv"
ARTIFACT = f"{PAL}/reference/gpu_scores_16x4_binned_code_K2.csv"
SIM = f"{PAL}/profiles/sim"


def without_straggler(path):
    with open(ARTIFACT, newline="") as source:
        rows = list(csv.DictReader(source))
    names = [name for name in rows[0] if not name.startswith("bin_")]
    rows[35]["PerfVar_classA"] = "1.146"
    with open(path, "w", newline="") as target:
        writer = csv.DictWriter(target, names, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


def drawn(folder, mode, seed):
    path = os.path.join(folder, f"{mode}-{seed}.csv")
    goban("profile", "scores", "--cluster", "sia-64", "--mode", mode, "--seed", seed, "--out", path,
          "--profile", f"A={SIM}/resnet-longhorn-agg.csv",
          "--profile", f"B={SIM}/bert-longhorn-agg.csv",
          "--profile", f"C={SIM}/bert-longhorn-agg.csv",
          "--profile", f"D={SIM}/pagerank-longhorn-agg.csv")
    return path


def ratios(scores, cost):
    """Average JCT against the baseline: rival -> one ratio a trace."""
    result = {rival: [] for rival in RIVALS}
    for trace in TRACES:
        runs = simulate("--cluster", "sia-64", "--jobs", f"{PAL}/traces/{trace}.csv",
                        "--scores", scores, "--filler-interarrivals", GAPS, "--restart-cost", cost,
                        "--policy", ",".join([BASELINE, *RIVALS]))
        for rival in RIVALS:
            result[rival].append(runs[rival]["avg_jct_s"] / runs[BASELINE]["avg_jct_s"])
    return result


def main():
    print("| scores | restart cost | PM-First | PAL |")
    print("|-|-|-|-|")
    with tempfile.TemporaryDirectory() as folder:
        cases = {"artifact, with the straggler": [ARTIFACT],
                 "artifact, straggler at 1.146": [without_straggler(f"{folder}/mild.csv")]}
        for mode in ("run", "median", "robust"):
            cases[f"Longhorn draws, {mode}"] = [drawn(folder, mode, seed) for seed in SEEDS]
        for name, tables in cases.items():
            for cost in COSTS:
                per_table = [ratios(table, cost) for table in tables]
                cells = []
                for rival in RIVALS:
                    gains = [geomean(table[rival]) for table in per_table]
                    text = percent(geomean(gains))
                    if len(gains) > 1:
                        text += f" ({percent(max(gains))} to {percent(min(gains))})"
                    cells.append(text)
                print(f"| {name} | {cost} s | {cells[0]} | {cells[1]} |", flush=True)


main()

#!/usr/bin/env python3
"""The effect of the locality penalty on PM-First, PAL and Packed-Sticky.

Locality penalties from 1.0 to 3.0, PAL's artifact policies, 64 GPUs. Prints two Markdown tables:
gains over Packed-Sticky at the same penalty, and average JCTs against those at penalty 1.0.
"""

import tempfile

from longhorn import ARTIFACT, GAPS, TRACES, drawn, without_straggler
from study import geomean, percent, simulate

PENALTIES = [1.0, 1.2, 1.4, 1.7, 2.0, 2.5, 3.0]
SEEDS = range(1, 6)
BASELINE = "packed-sticky-artifact"
RIVALS = {"pm-first-artifact": "PM-First", "pal-artifact": "PAL"}
POLICIES = [BASELINE, *RIVALS]


def average_jcts(scores, penalty):
    """Policy -> average JCT of each trace."""
    result = {policy: [] for policy in POLICIES}
    for trace in TRACES:
        runs = simulate("--cluster", "sia-64", "--jobs", TRACES[trace],
                        "--scores", scores, "--filler-interarrivals", GAPS,
                        "--locality-penalty", penalty, "--policy", ",".join(POLICIES))
        for policy in POLICIES:
            result[policy].append(runs[policy]["avg_jct_s"])
    return result


def gain(tables, rival):
    """Gain over the baseline: geomean over tables and traces, and the range over traces."""
    per_trace = [geomean([table[rival][trace] / table[BASELINE][trace] for table in tables])
                 for trace in range(len(TRACES))]
    return f"{percent(geomean(per_trace))} ({percent(max(per_trace))} to {percent(min(per_trace))})"


def main():
    with tempfile.TemporaryDirectory() as folder:
        cases = {"artifact, with the straggler": [ARTIFACT],
                 "artifact, straggler at 1.146": [without_straggler(f"{folder}/mild.csv")]}
        for mode in ("run", "median"):
            cases[f"Longhorn draws, {mode}"] = [
                drawn(f"{folder}/{mode}-{seed}.csv", "sia-64", mode, seed) for seed in SEEDS]
        results = {name: {penalty: [average_jcts(table, penalty) for table in tables]
                          for penalty in PENALTIES} for name, tables in cases.items()}

    print("| scores | L | PM-First | PAL |\n|-|-|-|-|")
    for name, by_penalty in results.items():
        for penalty, tables in by_penalty.items():
            cells = " | ".join(gain(tables, rival) for rival in RIVALS)
            print(f"| {name} | {penalty} | {cells} |")
    print("\n| scores | L | Packed-Sticky | PM-First | PAL |\n|-|-|-|-|-|")
    for name, by_penalty in results.items():
        first = by_penalty[PENALTIES[0]]
        for penalty, tables in by_penalty.items():
            cells = " | ".join(
                f"{geomean([now / one for table, base in zip(tables, first) for now, one in zip(table[policy], base[policy])]):.2f}"
                for policy in POLICIES)
            print(f"| {name} | {penalty} | {cells} |")


main()

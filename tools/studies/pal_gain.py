#!/usr/bin/env python3
"""PAL's gain over Packed-Sticky, with and without the straggler, at several restart costs.

Prints a Markdown table: geomean over the traces of average JCT against packed-sticky-artifact.
Scores: the artifact's own; the same with its straggler (GPU 35) lowered to 1.146 and binned again;
and cluster draws from the profile files, scored by one run, by the median or robustly, 10 seeds.
"""

import tempfile

from longhorn import ARTIFACT, GAPS, TRACES, drawn, paper_traces, without_straggler
from study import geomean, percent, simulate

COSTS = [0, 30, 120]
SEEDS = range(1, 11)
BASELINE = "packed-sticky-artifact"
RIVALS = ["pm-first-artifact", "pal-artifact"]


def ratios(scores, cost):
    """Average JCT against the baseline: rival -> one ratio per trace."""
    result = {rival: [] for rival in RIVALS}
    for trace in TRACES:
        runs = simulate("--cluster", "sia-64", "--jobs", TRACES[trace],
                        "--scores", scores, "--filler-interarrivals", GAPS, "--restart-cost", cost,
                        "--policy", ",".join([BASELINE, *RIVALS]))
        for rival in RIVALS:
            result[rival].append(runs[rival]["avg_jct_s"] / runs[BASELINE]["avg_jct_s"])
    return result


def claims():
    """The paper's figures on its eight traces, at no restart cost: average JCT, makespan and utilisation."""
    traces = paper_traces()
    print("\n| scores | policy | avg JCT | makespan | utilisation | avg JCT by trace |")
    print("|-|-|-|-|-|-|")
    with tempfile.TemporaryDirectory() as folder:
        tables = {"artifact, with the straggler": ARTIFACT,
                  "artifact, straggler at 1.146": without_straggler(f"{folder}/mild.csv")}
        for name, scores in tables.items():
            changes = {rival: {} for rival in RIVALS}
            for trace in traces.values():
                runs = simulate("--cluster", "sia-64", "--jobs", trace, "--scores", scores,
                                "--filler-interarrivals", GAPS,
                                "--policy", ",".join([BASELINE, *RIVALS]))
                for rival in RIVALS:
                    for key in ("avg_jct_s", "makespan_s", "goodput"):
                        ratio = runs[rival][key] / runs[BASELINE][key]
                        changes[rival].setdefault(key, []).append(ratio)
            for rival in RIVALS:
                cells = " | ".join(f"{100 * (geomean(ratios) - 1):+.1f} %"
                                   for ratios in changes[rival].values())
                each = " ".join(f"{100 * (ratio - 1):+.0f}" for ratio in changes[rival]["avg_jct_s"])
                print(f"| {name} | {rival} | {cells} | {each} % |", flush=True)


def main():
    print("| scores | restart cost | PM-First | PAL |")
    print("|-|-|-|-|")
    with tempfile.TemporaryDirectory() as folder:
        cases = {"artifact, with the straggler": [ARTIFACT],
                 "artifact, straggler at 1.146": [without_straggler(f"{folder}/mild.csv")]}
        for mode in ("run", "median", "robust"):
            cases[f"Longhorn draws, {mode}"] = [
                drawn(f"{folder}/{mode}-{seed}.csv", "sia-64", mode, seed) for seed in SEEDS]
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
    claims()


main()

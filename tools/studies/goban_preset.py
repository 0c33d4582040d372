#!/usr/bin/env python3
"""The preset goban against its ancestors and baselines, and what each of its parts contributes.

Prints Markdown tables. Workload: `goban trace generate --like gavel`, deadlines drawn as in Gavel,
power of V100 nodes, slowdowns from Gavel's throughputs. The arrival rates are those at which
FIFO on 64 nodes holds 40, 60 and 80 % of the GPUs in its steady state; the same jobs then go to 28
nodes. The preset was tuned on seeds 101 and 102; these are 1 to 10. Also PAL's traces at a restart
cost of 30 s, with the artifact's scores and without their straggler.
"""

import argparse
import os
import statistics
import tempfile

from longhorn import ARTIFACT, GAPS, TRACES, without_straggler
from study import data, geomean, goban, simulate

PAIRS = data("colocation/gavel/simulation_throughputs.json")
LOADS = {"40 %": 0.4, "60 %": 0.6, "80 %": 0.8}
JOBS = {"40 %": 6000, "60 %": 9000, "80 %": 12000}
RIVALS = ["fifo+packed", "best-pair", "random-pair", "eaco-paper", "eaco", "goban"]
PARTS = "las-levels+skip+sticky+pal+share-worth+sleep+consolidate"
ABLATION = {
    "goban": (PARTS, []),
    "without variability (packed)": (PARTS.replace("pal", "packed"), []),
    "without levels (fifo)": (PARTS.replace("las-levels", "fifo").replace("sticky+", ""), []),
    "without skipping blocked jobs (prefix)": (PARTS.replace("skip", "prefix"), []),
    "without sharing": (PARTS.replace("share-worth", "exclusive"), []),
    "without migration": (PARTS.replace("+consolidate", ""), []),
    "without sleep and migration": (PARTS.replace("sleep+consolidate", "on"), []),
    "without power limits": (PARTS, ["power_caps=0"]),
    "without the crowding rule": (PARTS, ["crowded_rates=0"]),
    "service targets spared": (PARTS, ["spare_promises=1"]),
    "price of delay 0": (PARTS, ["delay_price_w=0"]),
    "price 2,000 W": (PARTS, ["delay_price_w=2000"]),
}
T975 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}


def interval(values, digits=1):
    """Mean and half of its 95 % interval."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return f"{mean:.{digits}f}"
    half = T975[len(values)] * statistics.stdev(values) / len(values) ** 0.5
    return f"{mean:.{digits}f} ± {half:.{digits}f}"


def change(ratios):
    return interval([100 * (ratio - 1) for ratio in ratios])


def history(folder, load, seed):
    path = f"{folder}/{load.split()[0]}-{seed}.csv"
    if not os.path.exists(path):
        goban("trace", "generate", "--like", "gavel", "--cluster", "64x8", "--load", LOADS[load],
              "--jobs", JOBS[load], "--seed", seed, "--out", path)
    return path


def run(nodes, path, seed, policies, settings=()):
    options = ["--sharing", ",".join(settings)] if settings else []
    return simulate("--cluster", f"{nodes}x8:V100", "--jobs", path, "--energy", "v100",
                    "--colocation", PAIRS, "--deadlines", "gavel", "--seed", seed,
                    "--policy", ",".join(policies), *options)


def compare(folder, seeds):
    for nodes in (64, 28):
        print(f"\n{nodes} nodes of 8 V100, change against fifo+packed in percent, "
              f"{len(seeds)} seeds\n")
        print("| rate | policy | energy D | avg JCT | slowdown | missed | undone | nodes active |")
        print("|-|-|-|-|-|-|-|-|")
        for load in LOADS:
            runs = [run(nodes, history(folder, load, seed), seed, RIVALS) for seed in seeds]
            for policy in RIVALS:
                rows = [(each[policy], each["fifo+packed"]) for each in runs]
                energy = [r["energy_kwh"]["D"] / b["energy_kwh"]["D"] for r, b in rows]
                jct = [r["avg_jct_s"] / b["avg_jct_s"] for r, b in rows]
                missed = [100 * r["deadline_misses"] / JOBS[load] for r, _ in rows]
                nodes_on = [r["avg_active_nodes"] for r, _ in rows]
                print(f"| {load} | {policy} | {change(energy)} | {change(jct)} | "
                      f"{interval([r['avg_slowdown'] for r, _ in rows], 3)} | "
                      f"{interval(missed, 2)} % | "
                      f"{interval([r['undo_count'] for r, _ in rows])} | {interval(nodes_on)} |",
                      flush=True)


def pal_traces(policies):
    """Average JCT by policy and trace, with and without the straggler; seconds."""
    with tempfile.TemporaryDirectory() as folder:
        tables = {"with": ARTIFACT, "without": without_straggler(f"{folder}/mild.csv")}
        out = {}
        for straggler, scores in tables.items():
            for trace in TRACES:
                for name, (policy, options) in policies.items():
                    runs = simulate("--cluster", "sia-64", "--jobs", TRACES[trace],
                                    "--scores", scores, "--filler-interarrivals", GAPS,
                                    "--restart-cost", 30, "--locality-penalty", 1.7,
                                    "--policy", policy, *options)
                    jct_s = runs[policy]["avg_jct_s"]
                    out.setdefault((name, straggler), []).append(jct_s)
        return out


def pal_table():
    print("\nPAL's traces, restart cost 30 s, penalty 1.7: average JCT, s\n")
    print("| policy | straggler | " + " | ".join(TRACES) + " | geomean |")
    print("|-" * (len(TRACES) + 3) + "|")
    rounds = ["--round", 360]
    policies = {"las+pal, rounds of 360 s": ("las+pal", rounds),
                "las+pal, non-sticky, rounds of 360 s": ("las+pal+non-sticky", rounds),
                "las+skip+pal, non-sticky, rounds of 360 s": ("las+skip+pal+non-sticky", rounds),
                "goban": ("goban", [])}
    for (name, straggler), jct in pal_traces(policies).items():
        cells = " | ".join(f"{each:,.0f}" for each in jct)
        print(f"| {name} | {straggler} | {cells} | {geomean(jct):,.0f} |", flush=True)


def ablation(folder, seeds):
    print(f"\nAblation: change against fifo+packed in percent, {len(seeds)} seeds; "
          "PAL: geomean JCT, s, with the straggler\n")
    print("| | 64 nodes, 60 %: energy D | avg JCT | 28 nodes, 60 %: energy D | avg JCT | missed | "
          "PAL |")
    print("|-|-|-|-|-|-|-|")
    base = {(nodes, seed): run(nodes, history(folder, "60 %", seed), seed, ["fifo+packed"])
            ["fifo+packed"] for nodes in (64, 28) for seed in seeds}
    for name, (policy, settings) in ABLATION.items():
        cells = []
        for nodes in (64, 28):
            rows = [(run(nodes, history(folder, "60 %", seed), seed, [policy], settings)[policy],
                     base[nodes, seed]) for seed in seeds]
            cells.append(change([r["energy_kwh"]["D"] / b["energy_kwh"]["D"] for r, b in rows]))
            cells.append(change([r["avg_jct_s"] / b["avg_jct_s"] for r, b in rows]))
        cells.append(interval([r["deadline_misses"] for r, _ in rows]))
        options = ["--sharing", ",".join(settings)] if settings else []
        # Power and slowdowns are unknown there: no sleep without share-worth's fallback.
        blind = policy if "share-worth" in policy else policy.replace("sleep+consolidate", "on")
        jct = pal_traces({"it": (blind, options)})["it", "with"]
        print(f"| {name} | " + " | ".join(cells) + f" | {geomean(jct):,.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--ablation-only", action="store_true")
    parser.add_argument("--pal-only", action="store_true", help="PAL's traces only")
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    with tempfile.TemporaryDirectory() as folder:
        if not options.ablation_only and not options.pal_only:
            compare(folder, seeds)
        if not options.ablation_only:
            pal_table()
        if not options.pal_only:
            ablation(folder, seeds)


main()

#!/usr/bin/env python3
"""Compares the synthetic ABCI and Philly histories with the numbers they are calibrated on.

Prints two Markdown tables: target, generated, deviation. Takes half a minute.

usage: trace_table.py [--seed N]
"""

import argparse
import collections
import csv
import math
import random
import statistics
import subprocess

import study

HOUR = 3600
BINS = (("Full 1", 1, 1), ("Full 2", 2, 2), ("Full 3-4", 3, 4), ("Full 5-8", 5, 8),
        ("Full 9-34", 9, 34), ("Full 35-68", 35, 68), ("Full 69-136", 69, 136),
        ("Full 137-512", 137, 512))
# Table 2: mean, standard deviation, median, minimum and maximum walltime in hours.
TABLE_2 = {
    "G.small": (2.514, 7.533, .495, .083, 167.385), "G.large": (4.498, 10.072, .552, .084, 71.932),
    "Full 1": (2.848, 8.996, .393, .083, 72.006), "Full 2": (2.212, 3.040, 1.711, .084, 71.998),
    "Full 3-4": (6.024, 7.102, 4.013, .084, 53.502),
    "Full 5-8": (6.304, 11.034, 1.347, .084, 72.006),
    "Full 9-34": (5.538, 8.355, 1.582, .083, 70.662),
    "Full 35-68": (4.108, 10.779, .345, .085, 56.007),
    "Full 69-136": (.441, .902, .173, .084, 4.346), "Full 137-512": (.316, .364, .219, .084, 1.943),
}
# Attempts of Philly by GPUs, and their run times: minimum, maximum, mean, deviation, then quantiles.
PHILLY = {
    "1": (122287, 17621.5, 138020.2, 800, 2612, 12151, 363986),
    "2": (3435, 46776.3, 184745.4, 55, 5022, 103594, 645646),
    "3-4": (11957, 41793.7, 169343.9, 559, 15083, 93292, 710072),
    "5-8": (11681, 61098.0, 210689.9, 1474, 22044, 161708, 927988),
    "9-128": (2456, 33550.2, 119314.8, 1236, 14400, 73379, 610200),
}


def generate(*arguments):
    """The rows of a synthetic history, as dictionaries."""
    command = [study.GOBAN, "trace", "generate", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        rows = list(csv.DictReader(process.stdout))
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    return rows


class Table:
    """A Markdown table of targets and generated values."""

    def __init__(self):
        print("| quantity | target | generated | deviation |\n|-|-:|-:|-:|")

    @staticmethod
    def number(name, target, got, digits=3):
        """A row of numbers; the deviation is relative."""
        off = 100 * (got / target - 1)
        print(f"| {name} | {target:,.{digits}f} | {got:,.{digits}f} | {off:+.2f} % |")

    @staticmethod
    def share(name, target, got):
        """A row of shares in percent; the deviation is in percentage points."""
        print(f"| {name} | {100 * target:.2f} % | {100 * got:.2f} % | {100 * (got - target):+.2f} |")


def mid_ranks(values):
    """Ranks from 0; equal values share their mean rank."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    begin = 0
    while begin < len(order):
        end = begin
        while end < len(order) and values[order[end]] == values[order[begin]]:
            end += 1
        for index in order[begin:end]:
            ranks[index] = (begin + end - 1) / 2
        begin = end
    return ranks


def spearman(pairs):
    """Rank correlation of pairs."""
    return statistics.correlation(mid_ranks([a for a, _ in pairs]), mid_ranks([b for _, b in pairs]))


def bin_of(row):
    """The row of Table 2 that a job belongs to."""
    if row["resource_type"] != "Full":
        return row["resource_type"]
    nodes = int(row["instances"])
    return next(name for name, low, high in BINS if low <= nodes <= high)


def top_share(rows, share, key="user"):
    """Users (or another column), and the share of the most active ones."""
    counts = sorted(collections.Counter(row[key] for row in rows).values(), reverse=True)
    return len(counts), sum(counts[:round(share * len(counts))]) / len(rows)


def abci_shares(table, rows, by_bin):
    """Figures 2 and 3, users, and jobs that reached their limit."""
    total = len(rows)
    multi = [row for row in rows if int(row["instances"]) > 1]
    nodes = [int(row["instances"]) for row in multi]
    table.number("jobs", 497730, total, 0)
    table.share("1 GPU", .4942, len(by_bin["G.small"]) / total)
    table.share("4 GPUs on one node", .4819, (len(by_bin["G.large"]) + len(by_bin["Full 1"])) / total)
    table.share("several nodes", .024, len(multi) / total)
    table.share("Full on one node, of Full", .95,
                len(by_bin["Full 1"]) / (len(by_bin["Full 1"]) + len(multi)))
    table.share("several nodes: 2", .55, nodes.count(2) / len(multi))
    table.share("several nodes: powers of two", .907,
                sum(n & (n - 1) == 0 for n in nodes) / len(multi))
    table.share("several nodes: up to 8", .80, sum(n <= 8 for n in nodes) / len(multi))
    table.number("35 nodes and more", 578, sum(n >= 35 for n in nodes), 0)
    users, top = top_share(rows, .06)
    table.number("submitters", 389, users, 0)
    table.share("jobs of the first 6 % of submitters", .80, top)
    late = sum(float(row["duration"]) > float(row["walltime_s"]) for row in rows)
    table.number("walltime exceeded", 16093, late, 0)
    hours = {True: 0.0, False: 0.0}
    for row in rows:
        if row["resource_type"] == "Full":
            count = int(row["instances"])
            hours[count > 1] += count * float(row["duration"]) / HOUR
    table.number("node x hour, several nodes", 427520.6, hours[True], 1)
    table.number("node x hour, one node (does not reconcile)", 825021.4, hours[False], 1)


def abci(seed):
    """The table of abci-2019."""
    rows = generate("--like", "abci-2019", "--seed", seed)
    by_bin = collections.defaultdict(list)
    for row in rows:
        by_bin[bin_of(row)].append(float(row["duration"]) / HOUR)
    table = Table()
    abci_shares(table, rows, by_bin)
    for name, targets in TABLE_2.items():
        hours = by_bin[name]
        got = (statistics.fmean(hours), statistics.pstdev(hours), statistics.median(hours),
               min(hours), max(hours))
        for what, target, value in zip(("mean", "SD", "median", "min", "max"), targets, got):
            table.number(f"{name}: {what}, h", target, value)
    for name, limit, target in (("G.small", 1, .70), ("G.large", 1, .70), ("Full 1", 1, .70),
                                ("G.small", 24, .983), ("G.large", 24, .939),
                                ("Full 1", 24, .966)):
        hours = by_bin[name]
        table.share(f"{name}: up to {limit} h", target, sum(h <= limit for h in hours) / len(hours))
    two = by_bin["Full 2"]
    table.share("Full 2: 1 to 2 h", .70, sum(1 < h <= 2 for h in two) / len(two))
    multi = [hours for name, low, _ in BINS if low > 1 for hours in by_bin[name]]
    table.share("several nodes: up to 24 h", .98, sum(h <= 24 for h in multi) / len(multi))
    correlations(table, rows)


def correlations(table, rows):
    """Spearman's rho of nodes and walltime, as the paper draws it, and over all multi-node jobs."""
    pairs = collections.defaultdict(list)
    for row in rows:
        if row["resource_type"] == "Full":
            pairs[bin_of(row)].append((int(row["instances"]), float(row["duration"])))
    draw = random.Random(1)
    rhos = sorted(spearman([pair for name in pairs for pair in draw.sample(pairs[name], 100)])
                  for _ in range(400))
    table.number("Spearman, 100 jobs per bin (median of 400 draws)", -.386, statistics.median(rhos))
    multi = [pair for name in pairs if name != "Full 1" for pair in pairs[name]]
    print(f"\n95 % of the draws are between {rhos[10]:.3f} and {rhos[-11]:.3f}; over all multi-node jobs "
          f"the correlation is {spearman(multi):.3f}.\n")


def philly(seed):
    """The table of philly."""
    rows = generate("--like", "philly", "--seed", seed)
    table = Table()
    table.number("attempts", 151816, len(rows), 0)
    table.number("attempts of 300 s and more", 95418,
                 sum(float(row["duration"]) >= 300 for row in rows), 0)
    for name, (count, mean, deviation, *quantiles) in PHILLY.items():
        low, _, high = name.partition("-")
        times = sorted(float(row["duration"]) for row in rows
                       if int(low) <= int(row["num_gpus"]) <= int(high or low))
        table.number(f"{name} GPUs: attempts", count, len(times), 0)
        table.number(f"{name} GPUs: mean run time, s", mean, statistics.fmean(times), 0)
        table.number(f"{name} GPUs: SD, s", deviation, statistics.pstdev(times), 0)
        for part, target in zip((.5, .75, .9, .99), quantiles):
            table.number(f"{name} GPUs: {100 * part:.0f} % quantile, s", target,
                         times[math.floor(part * len(times))], 0)
    clusters = collections.Counter(row["account"] for row in rows)
    table.number("virtual clusters", 15, len(clusters), 0)
    for name, target in (("vc0", .5012), ("vc1", .1956), ("vc2", .1210), ("vc3", .0903)):
        table.share(f"jobs of {name}", target, clusters[name] / len(rows))
    users, top = top_share(rows, 6 / 136)
    table.number("users", 136, users, 0)
    table.share("jobs of the first 6 users", .5704, top)
    states = collections.Counter(row["state"] for row in rows)
    for name, target in (("COMPLETED", .5692), ("FAILED", .3006), ("CANCELLED", .1302)):
        table.share(f"state {name} (not fitted)", target, states[name] / len(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    print("abci-2019\n")
    abci(seed)
    print("philly\n")
    philly(seed)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Which placement gains when the links between racks are over-subscribed: packed, spread, or PAL.

ABCI's 1,088 nodes of 4 GPUs in 32 racks and the first days of an ABCI-like year, whose submit times
are compressed until the demand is a stated share of the GPUs. Prints two Markdown tables.

usage: link_contention.py [--days N]
"""

import argparse
import json
import tempfile

import histories
from study import goban, simulate

GPUS, GPUS_A_NODE, GPUS_A_RACK = 4352, 4, 4 * 34
LOADS = [0.5, 0.7, 0.85]
SHARES = [0.1, 0.3, 0.5, 0.8]
RATIOS = {"1": 1, "1/2": 1 / 2, "1/3": 1 / 3}
PACKED = "easy-backfill+packed"
POLICIES = {PACKED: "packed", "easy-backfill+spread": "spread", "easy-backfill+pal": "PAL"}

CLUSTER = """
name = "abci-without-resource-types"
[[gpu_model]]
name = "V100-SXM2-16GB"
memory = "16 GiB"
[[nodes]]
count = 1088
gpus = 4
gpu_model = "V100-SXM2-16GB"
nodes_per_rack = 34
[[link]]
level = "node"
locality_penalty = 1.0
[[link]]
level = "rack"
locality_penalty = {rack}
[[link]]
level = "cluster"
locality_penalty = {cluster}
"""
# The small penalties only give PAL the order of the levels.
SMALL = {"rack": 1.001, "cluster": 1.002}
LARGE = {"rack": 1.001, "cluster": 1.3}


def untyped(rows):
    """Jobs reduced to their GPUs, which end at their limit at the latest."""
    names = ("submit_time", "num_gpus", "user", "account", "model", "walltime_s")
    return [{name: row[name] for name in names}
            | {"duration": min(row["duration"], float(row["walltime_s"]))} for row in rows]


def across_racks(folder):
    """Of the GPU-hours of jobs larger than a node, the share of those that span racks."""
    length = {row["job_id"]: float(row["finish_s"]) - float(row["start_s"])
              for row in histories.read_csv(f"{folder}/jobs.csv")}
    several = across = 0.0
    with open(f"{folder}/decisions.jsonl") as log:
        for line in log:
            for job, gpus in json.loads(line)[1]:
                if len(gpus) > GPUS_A_NODE:
                    hours = len(gpus) * length[str(job)]
                    several += hours
                    across += hours * (len({gpu // GPUS_A_RACK for gpu in gpus}) > 1)
    return across / several


class Case:
    """A population on a cluster, and its cost without and with contention."""

    def __init__(self, name, rows, penalties, differ, folder):
        self.name = name
        self.rows = rows
        self.folder = folder
        self.cluster = f"{folder}/cluster.toml"
        self.jobs = f"{folder}/jobs.csv"
        with open(self.cluster, "w") as file:
            file.write(CLUSTER.format(**penalties))
        self.scores = []
        if differ:
            self.scores = ["--scores", f"{folder}/scores.csv"]
            goban("profile", "generate", "--cluster", self.cluster, "--seed", 1, "--out",
                  self.scores[1])

    def run(self, *options):
        return simulate("--cluster", self.cluster, "--jobs", self.jobs, *self.scores,
                        "--policy", ",".join(POLICIES), *options)

    def without(self, load):
        """Compresses the history; returns the runs and a row of the first table."""
        histories.write_history(self.jobs, histories.compressed(self.rows, GPUS, load))
        out = f"{self.folder}/out"
        runs = self.run("--out", out, "--decisions")
        cells = [f"{100 * across_racks(f'{out}/{policy}'):.0f} %, "
                 f"{runs[policy]['avg_wait_s'] / 60:.0f} min, "
                 f"{runs[policy]['avg_jct_s'] / 3600:.2f} h" for policy in POLICIES]
        busy = 100 * runs[PACKED]["gpu_occupancy"]
        return runs, f"| {self.name} | {load} | {busy:.0f} % | {' | '.join(cells)} |"

    def contended(self, share, ratio):
        return self.run("--contention", share, "--uplink-ratio", ratio)


def contended_row(case, load, share, alone):
    """The increase of the average JCT by contention, packed / spread / PAL, at each ratio."""
    cells = []
    for ratio in RATIOS.values():
        runs = case.contended(share, ratio)
        longer = [100 * (runs[policy]["avg_jct_s"] / alone[policy]["avg_jct_s"] - 1)
                  for policy in POLICIES]
        best = min(POLICIES, key=lambda policy: runs[policy]["avg_jct_s"])
        cells.append(f"{' / '.join(f'{value:+.1f}' for value in longer)}, {POLICIES[best]}")
    return f"| {case.name} | {load} | {share} | {' | '.join(cells)} |"


def study(cases):
    """Prints the first table; returns the rows of the second one."""
    rows = []
    for case, loads in cases:
        for load in loads:
            alone, row = case.without(load)
            print(row, flush=True)
            rows += [contended_row(case, load, share, alone) for share in SHARES]
    return rows


def large(row):
    return row["num_gpus"] > GPUS_A_NODE


def cases_of(rows, folder):
    """Each case with its loads. They share files, so each must be finished before the next is made."""
    for name, jobs in (("all", rows), ("large", list(filter(large, rows)))):
        yield Case(name, jobs, SMALL, False, folder), LOADS
        yield Case(f"{name}, GPUs differ", jobs, SMALL, True, folder), LOADS[-1:]
        yield Case(f"{name}, GPUs differ, 1.3", jobs, LARGE, True, folder), LOADS[-1:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--days", type=int, default=60)
    days = parser.parse_args().days
    with tempfile.TemporaryDirectory() as folder:
        year = f"{folder}/year.csv"
        goban("trace", "generate", "--like", "abci-2019", "--days", days, "--seed", 1,
              "--out", year)
        rows = untyped(histories.read_generic(year))
        print(f"{len(rows)} jobs, {sum(map(large, rows))} of them larger than a node\n")
        print("| jobs | load | busy | packed | spread | PAL |\n|-|-|-|-|-|-|")
        rows = study(cases_of(rows, folder))
    print(f"\n| jobs | load | share | {' | '.join(f'ratio {name}' for name in RATIOS)} |\n"
          "|-|-|-|-|-|-|")
    print("\n".join(rows))


main()

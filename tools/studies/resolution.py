#!/usr/bin/env python3
"""Cost and gain of more bins and more levels in PAL's matrix.

A cluster of 512 GPUs with NVLink islands, nodes, racks and a spine, each level with its own
penalty; GPUs with synthetic PM scores; generated jobs. Speeds follow the raw scores and all levels;
only what the policy sees is coarsened. Prints a Markdown table.
"""

import os
import tempfile

from study import geomean, goban, simulate

SEEDS = range(1, 6)
BINS = [1, 2, 3, 4, 6, 8, 16, 32]
LEVELS = {"fifo+pm-first": "none (PM-First)", "fifo+pal-paper": "node, cluster (the paper)",
          "fifo+pal": "island, node, rack, cluster"}

CLUSTER = """
name = "study"
[[gpu_model]]
name = "gpu"
memory = "80 GiB"
[[nodes]]
count = 64
gpus = 8
islands = 2
gpu_model = "gpu"
nodes_per_rack = 8
[[link]]
level = "island"
locality_penalty = 1.0
[[link]]
level = "node"
locality_penalty = 1.05
[[link]]
level = "rack"
locality_penalty = 1.15
[[link]]
level = "cluster"
locality_penalty = 1.5
"""


def main():
    with tempfile.TemporaryDirectory() as folder:
        cluster = os.path.join(folder, "cluster.toml")
        with open(cluster, "w") as file:
            file.write(CLUSTER)
        for seed in SEEDS:
            goban("trace", "generate", "--like", "poisson", "--jobs", 4000, "--cluster", cluster,
                  "--load", 0.8, "--seed", seed, "--out", f"{folder}/jobs-{seed}.csv")
        base = {}
        print("| levels the policy sees | bins per class | average JCT, against one bin and no level "
              "| GPU-hours | microseconds per launch |")
        print("|-|-|-|-|-|")
        for policy, levels in LEVELS.items():
            for bins in BINS:
                jct, hours, micros = [], [], []
                for seed in SEEDS:
                    scores = f"{folder}/scores-{seed}-{bins}.csv"
                    goban("profile", "generate", "--cluster", cluster, "--seed", seed, "--bins",
                          bins, "--out", scores)
                    run = simulate("--cluster", cluster, "--jobs", f"{folder}/jobs-{seed}.csv",
                                   "--scores", scores, "--policy", policy)[policy]
                    if policy == "fifo+pm-first" and bins == 1:
                        base[seed] = run
                    jct.append(run["avg_jct_s"] / base[seed]["avg_jct_s"])
                    hours.append(run["gpu_hours_consumed"] / base[seed]["gpu_hours_consumed"])
                    micros.append(1e6 * run["wall_s"] / run["jobs"])
                print(f"| {levels} | {bins} | {geomean(jct):.3f} | {geomean(hours):.3f} "
                      f"| {geomean(micros):.2f} |", flush=True)


main()

#!/usr/bin/env python3
"""The deadlines that EaCO misses if jobs slow each other more or less than predicted.

Gavel's workload on 64 and 28 nodes of 8 V100, the same jobs on both: load 0.6 of 64 nodes, which is
1.37 of 28. True slowdowns deviate from the predicted ones by 0, 5, 10 and 20 %. Two rates of jobs with
a deadline: all misses, most of which come from waiting if there are few nodes; and misses caused by
sharing, of jobs that would have met the deadline alone from their first start. Means over the seeds
(jobs and noise) with 95 % confidence intervals (Student's t). Prints a Markdown table.
"""

import csv
import math
import os
import sys
import tempfile

from study import data, goban, simulate

SEEDS = range(1, 11)
T_95 = 2.262  # nine degrees of freedom
JOBS = 1000
LOAD = 0.6
NODES = [64, 28]
NOISES = [0, 5, 10, 20]
POLICIES = ["fifo+packed", "eaco-paper", "eaco", "goban"]
ROUNDING_S = 0.01


def interval(values):
    mean = sum(values) / len(values)
    std = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1))
    return f"{mean:.2f} ± {T_95 * std / math.sqrt(len(values)):.2f}"


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def misses_of_sharing(history, outcomes):
    """Percentage of the jobs with a deadline that would have met it alone from the first start, but missed it."""
    by_id = {row["job_id"]: row for row in outcomes}
    missed = 0
    with_deadline = 0
    for job in history:
        if not job["deadline_s"]:
            continue
        with_deadline += 1
        due_s = float(job["submit_time"]) + float(job["deadline_s"])
        outcome = by_id[job["job_id"]]
        alone_s = float(outcome["start_s"]) + float(job["duration"])
        if alone_s <= due_s and float(outcome["finish_s"]) > due_s + ROUNDING_S:
            missed += 1
    return 100 * missed / with_deadline


def run(folder, colocation, nodes, noise, seed, jobs):
    out = os.path.join(folder, "out")
    runs = simulate("--cluster", f"{nodes}x8:V100", "--jobs", jobs, "--energy", "v100",
                    "--colocation", colocation, "--prediction-noise", noise, "--seed", seed,
                    "--policy", ",".join(POLICIES), "--out", out)
    history = read(jobs)
    return {policy: {"all": 100 * each["deadline_misses"] / each["deadline_jobs"],
                     "sharing": misses_of_sharing(history,
                                                  read(os.path.join(out, policy, "jobs.csv"))),
                     "undone": each["undo_count"], "kwh": each["energy_kwh"]["D"]}
            for policy, each in runs.items()}


def main():
    colocation = data("colocation/gavel/simulation_throughputs.json")
    print("| nodes | policy | noise % | misses % | of them by sharing % | undone | kWh (D) |")
    print("|-|-|-:|-:|-:|-:|-:|")
    with tempfile.TemporaryDirectory() as folder:
        for seed in SEEDS:
            goban("trace", "generate", "--like", "gavel", "--cluster", "64x8", "--load", LOAD,
                  "--jobs", JOBS, "--seed", seed, "--out", f"{folder}/jobs-{seed}.csv")
        for nodes in NODES:
            results = {noise: [run(folder, colocation, nodes, noise, seed,
                                   f"{folder}/jobs-{seed}.csv") for seed in SEEDS]
                       for noise in NOISES}
            for policy in POLICIES:
                for noise in NOISES if policy != POLICIES[0] else [0]:
                    rows = [each[policy] for each in results[noise]]
                    figures = [interval([row[key] for row in rows])
                               for key in ("all", "sharing", "undone", "kwh")]
                    print(f"| {nodes} | {policy} | {noise} | " + " | ".join(figures) + " |",
                          flush=True)
    return 0


sys.exit(main())

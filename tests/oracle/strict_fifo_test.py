#!/usr/bin/env python3
"""Compares `goban simulate` with an independent strict FIFO queue on generated workloads:
the start, the finish and the nodes of every job.

Jobs start in submit order; one that does not fit blocks all after it. "packed" gives a job the node
with the fewest free GPUs that suffice, and a job larger than a node empty nodes and the best-fitting
node for the remainder. "fungible" ignores the borders of nodes. GPUs are ideal.

usage: strict_fifo_test.py GOBAN
"""

import csv
import heapq
import json
import random
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

NODES, GPUS_PER_NODE, JOBS = 12, 8, 1500
POLICIES = {"fifo-packed-strict": True, "fifo-fungible-strict": False}


@dataclass
class Job:
    id: int
    submit_s: int
    duration_s: int
    num_gpus: int


def best_fit(free, wanted, taken=()):
    """The node with the fewest remaining GPUs, the lowest id among equals; None if none fits."""
    fitting = [(count, node) for node, count in enumerate(free)
               if count >= wanted and node not in taken]
    return min(fitting)[1] if fitting else None


def packed(free, wanted):
    """{node: GPUs} or None."""
    whole, rest = divmod(wanted, GPUS_PER_NODE)
    empty = [node for node, count in enumerate(free) if count == GPUS_PER_NODE][:whole]
    if len(empty) < whole:
        return None
    chosen = dict.fromkeys(empty, GPUS_PER_NODE)
    if rest:
        node = best_fit(free, rest, empty)
        if node is None:
            return None
        chosen[node] = rest
    return chosen


def simulate(jobs, by_node):
    """{job id: (start, finish, {node: GPUs})}; all GPUs count as one node unless by_node."""
    free = [GPUS_PER_NODE] * NODES if by_node else [NODES * GPUS_PER_NODE]
    running, waiting, outcome = [], list(reversed(jobs)), {}
    now_s = 0
    while waiting:
        while running and running[0][0] <= now_s:
            for node, gpus in outcome[heapq.heappop(running)[1]][2].items():
                free[node] += gpus
        head = waiting[-1]
        if head.submit_s <= now_s:
            nodes = packed(free, head.num_gpus) if by_node else (
                {0: head.num_gpus} if head.num_gpus <= free[0] else None)
            if nodes is not None:
                for node, gpus in nodes.items():
                    free[node] -= gpus
                outcome[head.id] = (now_s, now_s + head.duration_s, nodes)
                heapq.heappush(running, (now_s + head.duration_s, head.id))
                waiting.pop()
                continue
        times = [each for each in ([running[0][0]] if running else []) + [head.submit_s]
                 if each > now_s]
        now_s = min(times)
    return outcome


def generated(seed, load):
    rng = random.Random(seed)
    sizes = rng.choices([1, 2, 3, 4, 6, 8, 12, 16, 20, 32],
                        [40, 15, 4, 15, 3, 12, 3, 5, 1, 2], k=JOBS)
    durations = [max(1, int(rng.lognormvariate(6.5, 1.3))) for _ in sizes]
    demand = sum(size * duration for size, duration in zip(sizes, durations))
    gap_s = demand / (NODES * GPUS_PER_NODE * load * JOBS)
    jobs, submit_s = [], 0
    for index, (size, duration) in enumerate(zip(sizes, durations)):
        submit_s += 1 + int(rng.expovariate(1 / gap_s))  # no two at the same time
        jobs.append(Job(index, submit_s, duration, size))
    return jobs


def run_goban(goban, folder, jobs):
    """{policy: (run of the summary, {job id: (start, finish, {node: GPUs})})}."""
    with open(folder / "jobs.csv", "w", encoding="utf-8") as file:
        file.write("job_id,submit_time,duration,num_gpus,user\n")
        file.writelines(f"{job.id},{job.submit_s},{job.duration_s},{job.num_gpus},u\n"
                        for job in jobs)
    done = subprocess.run(
        [goban, "simulate", "--cluster", f"{NODES}x{GPUS_PER_NODE}", "--jobs", folder / "jobs.csv",
         "--policy", ",".join(POLICIES), "--decisions", "--out", folder / "out", "--json"],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"goban ended with {done.returncode}: {done.stderr}")
    results = {}
    for run in json.loads(done.stdout)["runs"]:
        out = folder / "out" / run["policy"]
        nodes = {}
        for line in open(out / "decisions.jsonl", encoding="utf-8"):
            for job, gpus in json.loads(line)[1]:
                nodes[job] = {}
                for gpu in gpus:
                    node = gpu // GPUS_PER_NODE if POLICIES[run["policy"]] else 0
                    nodes[job][node] = nodes[job].get(node, 0) + 1
        with open(out / "jobs.csv", newline="", encoding="utf-8") as file:
            results[run["policy"]] = (run, {
                int(row["job_id"]): (float(row["start_s"]), float(row["finish_s"]),
                                     nodes[int(row["job_id"])]) for row in csv.DictReader(file)})
    return results


def compare(goban, seed, load):
    jobs = generated(seed, load)
    with tempfile.TemporaryDirectory() as folder:
        results = run_goban(goban, Path(folder), jobs)
    failures = 0
    for policy, (run, theirs) in results.items():
        mine = simulate(jobs, POLICIES[policy])
        wrong = [job for job in jobs if theirs[job.id] != mine[job.id]]
        for job in wrong[:1]:
            print(f"seed {seed}, {policy}: {job}\n  oracle: {mine[job.id]}\n"
                  f"  goban:  {theirs[job.id]}")
        jct = statistics.fmean(mine[job.id][1] - job.submit_s for job in jobs)
        wait = statistics.fmean(mine[job.id][0] - job.submit_s for job in jobs)
        for name, value in (("avg_jct_s", jct), ("avg_wait_s", wait)):
            if abs(run[name] - value) > 1e-9 * value + 1e-9:
                print(f"seed {seed}, {policy}: {name} is {run[name]}, not {value}")
                failures += 1
        print(f"seed {seed}, load {load}, {policy}: {len(jobs)} jobs, mean wait {wait:.1f} s")
        failures += len(wrong) > 0
    return failures


def main():
    sys.exit(sum(compare(sys.argv[1], seed, load)
                 for seed, load in ((1, 0.6), (2, 0.8), (3, 0.95), (4, 1.4))) > 0)


main()

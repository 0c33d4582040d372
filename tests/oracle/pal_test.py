#!/usr/bin/env python3
"""Compares `goban simulate` with pal.py, decision by decision: every round, every job's GPU ids in
the order of their selection, every terminated job, every finish time, and the figures of the summary.

Clusters, PM scores and traces are generated from seeds, so this needs no data. With --published it
compares both programs on PAL's published traces instead, and pal.py with the decisions of PAL's
artifact if these are present; without the traces it exits with 77 (skipped).

usage: pal_test.py GOBAN [--published]
"""

import csv
import gzip
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pal

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import data_sets  # noqa: E402

SKIPPED = 77
FILLER_LOAD = 0.2
ARTIFACT_NAMES = {"PAL": "pal-artifact", "PMFirst": "pm-first-artifact",
                  "Default-Packed-S": "packed-sticky-artifact",
                  "Default-Packed-NS": "packed-nonsticky-artifact"}


@dataclass
class Case:
    seed: int
    nodes: int
    gpus_per_node: int
    order: str = "fifo"
    penalty: float = 1.7
    round_s: int = 360
    jobs: int = 60
    load: float = 1.3  # demand over capacity while the jobs of the trace arrive

    def __str__(self):
        return (f"seed {self.seed}: {self.nodes}x{self.gpus_per_node}, {self.order}, penalty "
                f"{self.penalty}, rounds of {self.round_s} s, load {self.load}")


CASES = [
    Case(1, 4, 4), Case(2, 6, 4, "las"), Case(3, 3, 8, "srtf"), Case(4, 16, 4, jobs=120),
    Case(5, 4, 8, "las", penalty=1.2), Case(6, 5, 3, "srtf", penalty=3.0),
    Case(7, 8, 2, penalty=1.05), Case(8, 2, 6, "las", load=2.5), Case(9, 7, 4, "fifo", load=0.7),
    # Long rounds and jobs, so that some wait for more than 1000 hours.
    Case(10, 3, 4, "srtf", round_s=36000, load=2.0), Case(11, 4, 4, "las", round_s=36000, load=2.0),
]


# ---- Generated inputs ---------------------------------------------------------------------------

def generated_cluster(rng, case):
    """Raw scores near 1 with stragglers; bins are the means of the GPUs between random borders."""
    gpus = range(case.nodes * case.gpus_per_node)
    raw, bins = {}, {}
    for app_class, spread in zip("ABCD", (0.12, 0.06, 0.03, 0.01)):
        scores = [rng.lognormvariate(0, spread) * (2.2 if rng.random() < 0.03 else 1) for _ in gpus]
        borders = sorted(rng.sample(scores, min(rng.randint(1, 4), len(scores))))
        groups = [sum(score > border for border in borders) for score in scores]
        means = {}
        for group in set(groups):
            members = [score for score, its in zip(scores, groups) if its == group]
            means[group] = sum(members) / len(members)
        raw[app_class] = scores
        bins[app_class] = [means[group] for group in groups]
    return pal.Cluster(case.nodes, case.gpus_per_node, raw, bins)


def generated_trace(rng, case, num_gpus):
    """Jobs of a few rounds to a few hundred, and the gaps of the fillers."""
    sizes = [size for size in (1, 1, 1, 2, 3, 4, 6, 8, 12, 16) if size <= num_gpus]
    work = []
    for _ in range(case.jobs):
        model = rng.choice(sorted(pal.BASE_S))
        duration_s = 8 * case.round_s * rng.lognormvariate(0, 1.2)
        work.append((rng.choice(sizes), max(1, int(duration_s / pal.BASE_S[model])), model))
    gpu_s = sum(size * iterations * pal.BASE_S[model] for size, iterations, model in work)
    gap_s = gpu_s / num_gpus / case.jobs  # at a load of 1 on GPUs of score 1
    jobs, submit_s = [], 0
    for index, (size, iterations, model) in enumerate(work):
        submit_s += int(rng.expovariate(case.load / gap_s))
        jobs.append(pal.Job(index, size, submit_s, iterations, model))
    return jobs, [int(rng.expovariate(FILLER_LOAD / gap_s)) for _ in range(60 * case.jobs)]


def fresh(trace):
    return [pal.Job(job.id, job.num_gpus, job.submit_s, job.iterations, job.model) for job in trace]


# ---- Goban on the same inputs -------------------------------------------------------------------

def write_csv(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def run_goban(goban, folder, cluster, trace, gaps, case):
    """{policy: (decisions, finish times, summary)} of one run of goban with all policies."""
    classes = "ABCD"
    write_csv(folder / "scores.csv",
              ["GPU_ID", "Node_ID", *(f"PerfVar_class{c}" for c in classes),
               *(f"bin_class{c}" for c in classes)],
              [[gpu, cluster.node(gpu), *(repr(cluster.raw[c][gpu]) for c in classes),
                *(repr(cluster.bins[c][gpu]) for c in classes)] for gpu in range(cluster.num_gpus)])
    write_csv(folder / "jobs.csv", ["job_id", "num_gpus", "submit_time", "duration", "model"],
              [[job.id, job.num_gpus, job.submit_s, job.iterations, job.model] for job in trace])
    write_csv(folder / "gaps.csv", ["k", "inter_arrival_s"], enumerate(gaps))
    done = subprocess.run(
        [goban, "simulate", "--cluster", f"{case.nodes}x{case.gpus_per_node}",
         "--jobs", folder / "jobs.csv", "--scores", folder / "scores.csv",
         "--filler-interarrivals", folder / "gaps.csv", "--policy", ",".join(pal.POLICIES),
         "--order", case.order, "--locality-penalty", str(case.penalty),
         "--round", str(case.round_s), "--decisions", "--out", folder / "out", "--json"],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{case}: goban ended with {done.returncode}: {done.stderr}")
    summaries = json.loads(done.stdout)["runs"]
    results = {}
    for policy in pal.POLICIES:
        # A replaced order is part of the name, such as las+pal-artifact.
        [out] = [path for path in (folder / "out").iterdir() if policy in path.name]
        [figures] = [run for run in summaries if policy in run["policy"]]
        lines = [json.loads(line) for line in open(out / "decisions.jsonl", encoding="utf-8")]
        with open(out / "jobs.csv", newline="", encoding="utf-8") as file:
            finish = {int(row["job_id"]): float(row["finish_s"]) for row in csv.DictReader(file)}
        results[policy] = (lines, [finish[job.id] for job in trace], figures)
    return results


def summary(cluster, jobs):
    """Expected metrics of the jobs of the trace; docs/simulate.md defines them."""
    jct = sorted(job.finish_s - job.submit_s for job in jobs)
    at = 0.99 * (len(jct) - 1)
    ideal_s = sum(job.num_gpus * job.iterations * pal.BASE_S[job.model] for job in jobs)
    makespan_s = max(job.finish_s for job in jobs) - min(job.submit_s for job in jobs)
    return {"avg_jct_s": statistics.fmean(jct), "makespan_s": makespan_s,
            "p99_jct_s": jct[int(at)] + (at - int(at)) * (jct[math.ceil(at)] - jct[int(at)]),
            "avg_wait_s": statistics.fmean(job.finish_s - job.submit_s - job.attained_s
                                           for job in jobs),
            "gpu_hours_consumed": sum(job.num_gpus * job.attained_s for job in jobs) / 3600,
            "gpu_hours_ideal": ideal_s / 3600,
            "goodput": ideal_s / (cluster.num_gpus * makespan_s)}


def first_difference(mine, others):
    for mine_line, other in zip(mine, others):
        if mine_line != other:
            return f"at {mine_line[0]} s\n  oracle: {mine_line}\n  goban:  {other}"
    return f"the oracle has {len(mine)} rounds, goban {len(others)}" if len(mine) != len(others) \
        else None


def compare(goban, cluster, trace, gaps, case):
    """Prints differences; counts what the case covers."""
    failures = 0
    seen = dict.fromkeys(["rounds", "evicted", "moved", "spans nodes", "starved"], 0)
    with tempfile.TemporaryDirectory() as folder:
        theirs = run_goban(goban, Path(folder), cluster, trace, gaps, case)
    for policy, (lines, finish, figures) in theirs.items():
        jobs = fresh(trace)
        mine = pal.simulate(cluster, jobs, policy, case.order, case.round_s, case.penalty, gaps)
        difference = first_difference(mine, lines)
        if difference is None and [job.finish_s for job in jobs] != finish:
            difference = "the finish times differ"
        for name, value in summary(cluster, jobs).items() if difference is None else ():
            if not math.isclose(figures[name], value, rel_tol=1e-9):
                difference = f"{name} is {figures[name]}, not {value}"
        if difference is not None:
            print(f"{case}, {policy}: {difference}")
            failures += 1
        seen["rounds"] += len(mine)
        seen["starved"] += sum(job.starved for job in jobs)
        for _, launched, terminated in mine:
            seen["evicted" if policy == "packed-sticky-artifact" else "moved"] += len(terminated)
            seen["spans nodes"] += sum(len({cluster.node(gpu) for gpu in gpus}) > 1
                                       for _, gpus in launched)
    return failures, seen


def generated(goban):
    failures = 0
    total = {}
    for case in CASES:
        rng = random.Random(case.seed)
        cluster = generated_cluster(rng, case)
        trace, gaps = generated_trace(rng, case, cluster.num_gpus)
        failed, seen = compare(goban, cluster, trace, gaps, case)
        failures += failed
        total = {what: total.get(what, 0) + count for what, count in seen.items()}
        print(f"{case}: {seen}")
    for what, count in total.items():
        if count == 0:
            print(f"no case covers: {what}")
            failures += 1
    return failures


# ---- Published traces and decisions --------------------------------------------------------------

def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def published_trace(path):
    return [pal.Job(index, int(row["num_gpus"]), int(row["submit_time"]), float(row["duration"]),
                    row["model"]) for index, row in enumerate(read_csv(path))]


def against_artifact(reference):
    """Compares pal.py with the decisions of PAL's artifact."""
    rows = read_csv(reference / "gpu_scores_16x4_binned_code_K2.csv")
    raw, bins = ({c: [float(row[f"{column}_class{c}"]) for row in rows] for c in "ABCD"}
                 for column in ("PerfVar", "bin"))
    cluster = pal.Cluster(16, 4, raw, bins)
    gaps = [int(row["inter_arrival_s"])
            for row in read_csv(reference / "replay_interarrivals_seed1_load2.csv")]
    failures = 0
    for file in sorted(reference.glob("*.decisions.jsonl.gz")):
        trace, order, placement = file.name.removesuffix("_lp1.7.decisions.jsonl.gz").split("_")
        mine = pal.simulate(cluster, published_trace(data_sets.find(f"pal/traces/{trace}.csv")),
                            ARTIFACT_NAMES[placement], order.lower(), gaps=gaps)
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            difference = first_difference(mine, [json.loads(line) for line in lines])
        print(f"{file.name}: {difference or 'equal'}")
        failures += difference is not None
    return failures


def published(goban):
    failures = 0
    for name in ("workload-1", "workload-3", "workload-4", "sia-160job-trace"):
        path = data_sets.find(f"pal/traces/{name}.csv")
        if path is None:
            print(f"skipped: data file pal/traces/{name}.csv is absent (./dev data)")
            sys.exit(SKIPPED)
        trace = published_trace(path)
        case = Case(1, 16, 4, jobs=len(trace))
        rng = random.Random(case.seed)
        cluster = generated_cluster(rng, case)
        gaps = [int(rng.expovariate(1 / 1000)) for _ in range(4000)]
        failed, seen = compare(goban, cluster, trace, gaps, case)
        print(f"{name} under generated scores: {seen}")
        failures += failed
    reference = data_sets.find("pal/reference")
    if reference is None:
        print(f"the artifact's own decisions are absent ({data_sets.advice('pal/reference')})")
        return failures
    return failures + against_artifact(reference)


def main():
    goban, *options = sys.argv[1:]
    sys.exit((published(goban) if options == ["--published"] else generated(goban)) > 0)


main()

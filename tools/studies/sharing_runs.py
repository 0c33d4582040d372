"""Runs of policies that share GPUs: histories with deadlines, co-location histories, and a cache of
results, so that an interrupted study can be continued."""

import concurrent.futures
import csv
import hashlib
import inspect
import json
import math
import os
import random
import statistics
import sys
import tempfile
from typing import NamedTuple

from study import GOBAN, data, goban, simulate

GPUS = 512
HOUR = 3600
# Gavel's distribution: mean GPUs per job, mean hours per job.
MEAN_GPUS = 0.70 * 1 + 0.10 * 2 + 0.15 * 4 + 0.05 * 8
MEAN_HOURS = (0.8 * (10**3 - 10**1.5) / 1.5 + 0.2 * (10**4 - 10**3)) / math.log(10) / 60
# EaCO's tables 1 and 2: GPU utilisation alone. Memory is not published; all four fit on one GPU.
TABLE_MODELS = {"AlexNet": 4.72, "ResNet-18": 11.17, "ResNet-50": 36.61, "VGG-16": 48.01}
TABLE_MEMORY = 3 * 2**30

TABLES, TABLES_SIZES, GAVEL = "tables, whole nodes", "tables, Gavel's sizes", "Gavel's pairs"


class Workload(NamedTuple):
    """A history; `load` is relative to 512 GPUs."""
    source: str
    load: float
    seed: int
    days: float = 60
    epoch_h: float = 0.4
    target: str = "deadline"     # or "none", or a maximum slowdown


class Question(NamedTuple):
    workload: Workload
    policies: tuple
    cluster: str
    energy: str = "v100"
    options: tuple = ()
    lost: bool = False           # also count the deadlines missed because of sharing: `lost` of a run


def drawn(workload):
    """Jobs of `trace generate --like gavel`, with the given models and service targets."""
    whole = workload.source == TABLES
    gpus = 8 if whole else MEAN_GPUS
    jobs = round(workload.load * GPUS * 24 * workload.days / (gpus * MEAN_HOURS))
    text = goban("trace", "generate", "--like", "gavel", "--gpus", GPUS, "--jobs", jobs, "--load",
                 workload.load * MEAN_GPUS / gpus, "--seed", workload.seed)
    draw = random.Random(workload.seed)
    for row in csv.DictReader(text.splitlines()):
        if workload.source != GAVEL:
            row["model"], row["batch_size"] = draw.choice(list(TABLE_MODELS)), ""
            row["gpu_util_pct"], row["gpu_mem_bytes"] = TABLE_MODELS[row["model"]], TABLE_MEMORY
        if whole:
            row["num_gpus"] = 8
        row["epochs"] = max(1, round(float(row["duration"]) / HOUR / workload.epoch_h))
        row["max_slowdown"] = ""
        if workload.target != "deadline":
            row["deadline_s"] = ""
            row["max_slowdown"] = workload.target.removeprefix("none")
        yield row


def write_jobs(path, workload):
    rows = drawn(workload)
    first = next(rows)
    with open(path, "w", newline="") as target:
        writer = csv.DictWriter(target, first)
        writer.writeheader()
        writer.writerow(first)
        writer.writerows(rows)


def count_lost(jobs, outcomes):
    """Jobs that missed a deadline that they would have met alone from their start."""
    with open(jobs, newline="") as source:
        asked = {row["job_id"]: row for row in csv.DictReader(source)}
    lost = 0
    with open(outcomes, newline="") as source:
        for row in csv.DictReader(source):
            job = asked[row["job_id"]]
            end = float(job["submit_time"]) + float(job["deadline_s"] or math.inf) + 1e-3
            alone = float(row["start_s"]) + float(job["duration"])
            lost += alone <= end < float(row["finish_s"])
    return lost


class Library:
    """Co-location histories, as written by `goban colocation import`, and cached results."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        with open(GOBAN, "rb") as program:
            code = program.read() + inspect.getsource(drawn).encode()
        self.version = hashlib.sha256(code).hexdigest()
        self.gavel = os.path.join(folder, "gavel.csv")
        self.tables = os.path.join(folder, "tables.csv")
        goban("colocation", "import", "gavel", "--out", self.gavel,
              data("colocation/gavel/simulation_throughputs.json"))
        goban("colocation", "import", "eaco", "--out", self.tables,
              data("colocation/eaco_tables/eaco_table1_2_isolated.csv"),
              data("colocation/eaco_tables/eaco_table3_4_colocated.csv"))
        self.utilisation = self.write_utilisation()

    def write_utilisation(self):
        """Writes the generator's utilisations into Gavel's history, so that pairs can be predicted
        without jobs that declare them; returns them."""
        util = {}
        for row in drawn(Workload(GAVEL, 0.6, 1, days=5)):
            batch = f"@batch {row['batch_size']}" if row["batch_size"] else ""
            util[row["model"] + batch] = float(row["gpu_util_pct"])
        rows = self.rows(self.gavel)
        with open(self.gavel, "w", newline="") as target:
            writer = csv.DictWriter(target, rows[0])
            writer.writeheader()
            for row in rows:
                writer.writerow(row | {"util_pct": util.get(row["members"], "")})
        return util

    @staticmethod
    def rows(path):
        with open(path, newline="") as source:
            return list(csv.DictReader(source))

    def of(self, source):
        return self.gavel if source == GAVEL else self.tables

    def kept(self, question):
        name = hashlib.sha256(f"{self.version}{question}".encode()).hexdigest()[:24]
        return os.path.join(self.folder, f"{name}.json")

    def answer(self, workload, questions):
        """Runs all simulations of one history."""
        with tempfile.TemporaryDirectory() as folder:
            jobs = os.path.join(folder, "jobs.csv")
            write_jobs(jobs, workload)
            for question in questions:
                out = os.path.join(folder, "out")
                runs = simulate("--cluster", question.cluster, "--jobs", jobs, "--energy",
                                question.energy, "--colocation", self.of(workload.source),
                                "--policy", ",".join(question.policies), "--seed", workload.seed,
                                "--threads", 1, *question.options,
                                *(["--out", out] if question.lost else []))
                if question.lost:
                    for policy, run in runs.items():
                        run["lost"] = count_lost(jobs, os.path.join(out, policy, "jobs.csv"))
                path = self.kept(question)
                with open(path + ".part", "w") as target:
                    json.dump(runs, target)
                os.replace(path + ".part", path)

    def ask(self, questions):
        """Runs by policy of each question; those not cached are simulated, two at a time."""
        open_ones = {}
        for question in dict.fromkeys(questions):
            if not os.path.exists(self.kept(question)):
                open_ones.setdefault(question.workload, []).append(question)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            tasks = [pool.submit(self.answer, *item) for item in open_ones.items()]
            for number, task in enumerate(concurrent.futures.as_completed(tasks), 1):
                task.result()
                if sys.stderr.isatty():
                    end = "\n" if number == len(tasks) else ""
                    print(f"\r{number} of {len(tasks)} histories", end=end, file=sys.stderr)
        answers = {}
        for question in questions:
            with open(self.kept(question)) as source:
                answers[question] = json.load(source)
        return answers


# Quantiles of Student's t at 97.5 %, by degrees of freedom.
T_975 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
         2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086)


def interval(values):
    """Mean and half the width of its 95 % interval."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, math.nan
    t = T_975[min(len(values) - 1, len(T_975)) - 1]
    return mean, t * statistics.stdev(values) / math.sqrt(len(values))


METRICS = {
    **{name: (lambda run, name=name: run["energy_kwh"][name]) for name in "ABCD"},
    "active nodes": lambda run: run["avg_active_nodes"],
    "node-days": lambda run: run["avg_active_nodes"] * run["makespan_s"],
    "epoch time": lambda run: run["avg_epoch_s"],
    "run": lambda run: run["avg_jct_s"] - run["avg_wait_s"],
    "JCT": lambda run: run["avg_jct_s"],
    "occupancy": lambda run: 100 * run["gpu_occupancy"],
    "misses": lambda run: 100 * run["deadline_misses"] / max(1, run["deadline_jobs"]),
    "broken": lambda run: 100 * run["max_slowdown_misses"] / run["jobs"],
    "undone": lambda run: run["undo_count"],
    "lost": lambda run: run["lost"],
    "p99 slowdown": lambda run: run["p99_slowdown"],
    "makespan": lambda run: run["makespan_s"],
}


def changes(answers, questions, policy, metric, reference):
    """Change of a metric in percent against the reference, one value per history."""
    of = METRICS[metric]
    return [100 * (of(answers[q][policy]) / of(answers[q][reference]) - 1) for q in questions]


def values(answers, questions, policy, metric):
    return [METRICS[metric](answers[q][policy]) for q in questions]


def signed(value):
    """A change in percent, without a negative zero."""
    text = f"{value:+.1f}"
    return "0.0" if float(text) == 0 else text


def change_cell(answers, questions, policy, metric, reference):
    mean, half = interval(changes(answers, questions, policy, metric, reference))
    return f"{signed(mean)} ±{half:.1f}"


def changes_cell(answers, cases, policy, metric, reference):
    """Means of several cases, and the widest of their intervals."""
    found = [interval(changes(answers, questions, policy, metric, reference))
             for questions in cases]
    if all(signed(mean) == "0.0" for mean, _ in found):
        return "0"
    means = ", ".join(signed(mean) for mean, _ in found)
    return f"{means} ±{max(half for _, half in found):.1f}"


def value_cell(answers, questions, policy, metric, digits=1):
    mean, half = interval(values(answers, questions, policy, metric))
    return f"{mean:,.{digits}f} ±{half:,.{digits}f}"


def values_cell(answers, cases, policy, metric, digits=1, unit=1):
    """Means of several cases."""
    means = [statistics.fmean(values(answers, questions, policy, metric)) / unit
             for questions in cases]
    return ", ".join(f"{mean:,.{digits}f}" for mean in means)

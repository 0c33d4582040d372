#!/usr/bin/env python3
"""Which policy wins on the real Philly and Helios histories, with intervals over resampled days.

Whole days of submissions are drawn with replacement; all policies run on the same resample. Prints
a Markdown table for each history, cluster size and source of limits: means and 95 % percentile
intervals over the resamples; and the back-test where waits were recorded.

usage: who_wins.py [--resamples N] [--only philly-attempts,philly-vc,helios]
"""

import argparse
import datetime
import json
import math
import statistics
import sys
import tempfile

import histories
from study import data, goban, simulate
from user_limits import UserLimits

REFERENCE = "slurm-multifactor"
POLICIES = [REFERENCE, "fifo+packed", "easy-backfill+packed", "fair-share+easy-backfill+packed",
            "easy-backfill+pal", "las+packed", "las+pal"]
BELIEVE_LIMITS = [policy for policy in POLICIES if "backfill" in policy or policy == REFERENCE]
DEAR = "las+pal, 120 s a restart"
GPUS_A_NODE = 8
LOAD = 0.85
PENALTY = 1.16  # of class A, as measured on Frontera for PAL's paper
SLACK = 1.4     # limits also suffice on a slow GPU and across nodes


class Source:
    """A real history: its file, the window of days, the warm-up days, and the number of resamples."""

    def __init__(self, name, path, first, days, warmup_days, resamples):
        self.name = name
        self.path = f"traces/{path}"
        self.first_s = datetime.datetime.fromisoformat(first + "+00:00").timestamp()
        self.days = days
        self.warmup_days = warmup_days
        self.resamples = resamples


SOURCES = {
    "philly-attempts": Source("Philly, attempts", "philly/philly_df_schedule.csv.gz",
                              "2017-10-08", 28, 7, 20),
    "philly-vc": Source("Philly, virtual clusters", "philly/sia_philly.csv.gz",
                        "2017-10-08", 28, 7, 20),
    "helios": Source("Helios", "helios/helios_15k.csv.gz", "1970-01-01", 20, 3, 40),
}


def draw_scores(folder, cluster, seed):
    """PM scores from Longhorn's per-GPU medians for class A, the class of all these jobs."""
    path = f"{folder}/scores.csv"
    goban("profile", "scores", "--cluster", cluster, "--mode", "median", "--seed", seed,
          "--profile", f"A={data('pal/profiles/sim/resnet-longhorn-agg.csv')}", "--out", path)
    return path


def metrics(run):
    values = {"jct": run["avg_jct_s"], "wait": run["avg_wait_s"], "p99": run["p99_jct_s"]}
    if "worst_account" in run:
        values["worst"] = run["worst_account"]["avg_slowdown"]
    return values


def interval(values):
    """Mean, and the 2.5 % and 97.5 % quantiles."""
    cuts = statistics.quantiles(values, n=40, method="inclusive")
    return statistics.fmean(values), cuts[0], cuts[-1]


def ratio_cell(runs, policy, name):
    mean, low, high = interval([run[policy][name] / run[REFERENCE][name] for run in runs])
    return f"{mean:.2f} ({low:.2f} to {high:.2f})"


def value_cell(runs, policy, name, unit=1.0, digits=0):
    mean, low, high = interval([run[policy][name] / unit for run in runs])
    return f"{mean:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"


def print_table(runs):
    worst = "worst" in runs[0][REFERENCE]
    print("| policy | mean JCT, ratio | mean JCT, h | mean wait, min | p99 JCT, ratio |"
          + " worst-off account, slowdown |" * worst)
    print("|-|-|-|-|-|" + "-|" * worst)
    for policy in [*POLICIES, DEAR]:
        cells = [policy, ratio_cell(runs, policy, "jct"), value_cell(runs, policy, "jct", 3600, 1),
                 value_cell(runs, policy, "wait", 60), ratio_cell(runs, policy, "p99")]
        if worst:
            cells.append(value_cell(runs, policy, "worst", digits=1))
        print(f"| {' | '.join(cells)} |")
    for order in ("easy-backfill", "las"):
        share = interval([run[f"{order}+pal"]["jct"] / run[f"{order}+packed"]["jct"]
                          for run in runs])
        print(f"\nMean JCT of {order}+pal against {order}+packed: "
              f"{share[0]:.3f} ({share[1]:.3f} to {share[2]:.3f}).")
    print(flush=True)


def bootstrap(source, days, nodes, limits, resamples, folder, known=None):
    """Metrics by policy of each resample, and the number of jobs killed at their limits. Policies
    that do not use limits are taken from `known`, the same resamples without limits."""
    cluster = f"{nodes}x{GPUS_A_NODE}"
    result, killed = [], 0
    for seed in range(1, resamples + 1):
        rows = histories.resampled(days, seed)
        for row in rows:
            row.pop("start_time", None)
        if limits:
            limits.add(rows, seed)
        jobs = histories.write_history(f"{folder}/jobs.csv", rows)
        options = ["--cluster", cluster, "--jobs", jobs, "--scores",
                   draw_scores(folder, cluster, seed), "--locality-penalty", PENALTY,
                   "--warmup", f"{source.warmup_days}d", "--rejects", f"{folder}/rejects.csv"]
        runs = simulate(*options, "--policy", ",".join(BELIEVE_LIMITS if known else POLICIES))
        if not known:
            runs[DEAR] = simulate(*options, "--policy", "las+pal", "--restart-cost", 120)["las+pal"]
        killed += sum(run["timed_out"] for run in runs.values())
        now = {policy: metrics(run) for policy, run in runs.items()}
        result.append((known[seed - 1] if known else {}) | now)
    return result, killed


def print_backtest(source, peak):
    """The error of simulated waits against those in the table; equal GPUs, because durations are as
    recorded."""
    nodes = math.ceil(peak / GPUS_A_NODE)
    whole = f"{nodes}x{GPUS_A_NODE}"
    print("Back-test on the whole table:\n\n"
          "| policy, cluster | mean wait, min: in the table, simulated | error of waits (95 %) "
          "| error of mean JCT (95 %) | rank correlation |\n|-|-|-|-|-|")
    for policy, cluster in (("fifo-fungible-strict", f"{peak}x1"), ("fifo+packed", whole),
                            ("easy-backfill+packed", whole), (REFERENCE, whole)):
        test = json.loads(goban("simulate", "--json", "--cluster", cluster,
                                "--jobs", data(source.path), "--policy", policy,
                                "--backtest", policy))["backtest"]
        errors = [f"{100 * test[f'{name}_error']:+.1f} % ({100 * test[f'{name}_error_low']:+.1f} "
                  f"to {100 * test[f'{name}_error_high']:+.1f} %)" for name in ("wait", "jct")]
        print(f"| {policy}, {cluster} | {test['wait_recorded_s'] / 60:.1f}, "
              f"{test['wait_simulated_s'] / 60:.1f} | {' | '.join(errors)} "
              f"| {test['rank_correlation']:.3f} |")
    print(flush=True)


def study(source, limits, resamples, folder):
    rows = histories.read_any(data(source.path), folder)
    rows = [row for row in rows if row["num_gpus"] > 0]
    days = histories.by_day(rows, source.first_s, source.days)
    window = histories.joined(days)
    for row in window:
        if "start_time" in row:
            row["start_time"] -= source.first_s
    busy = histories.busy_gpus(window, source.days * histories.DAY_S)
    peak_gpus = histories.peak_gpus(rows)
    peak = math.ceil(peak_gpus / GPUS_A_NODE)
    loaded = math.ceil(busy / LOAD / GPUS_A_NODE)
    print(f"## {source.name}\n\n{len(window)} jobs of {source.days} days request {busy:.0f} GPUs "
          f"on average. Peak: {peak_gpus} GPUs, {peak} nodes. Loaded: {loaded} nodes.\n", flush=True)
    if "start_time" in rows[0]:
        print_backtest(source, peak_gpus)
    known = None
    for label, nodes, given in (("peak", peak, None), ("loaded", loaded, None),
                                ("loaded", loaded, limits)):
        runs, killed = bootstrap(source, days, nodes, given, resamples, folder,
                                 known if given else None)
        known = runs
        print(f"### {source.name}, {label}, {resamples} resamples: {nodes}x{GPUS_A_NODE}, "
              f"load {busy / nodes / GPUS_A_NODE:.2f}, "
              f"{'limits as on ThetaGPU' if given else 'true durations'}\n")
        print_table(runs)
        if killed:
            print(f"{killed} jobs were killed at their limits.\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--resamples", type=int)
    parser.add_argument("--only", default=",".join(SOURCES))
    options = parser.parse_args()
    chosen = [SOURCES[name] for name in options.only.split(",")]
    limits = UserLimits(SLACK)
    for source in chosen:
        with tempfile.TemporaryDirectory() as folder:
            study(source, limits, options.resamples or source.resamples, folder)


main()

#!/usr/bin/env python3
"""Is the policy goban ahead of what sites run, under honest assumptions? (docs/studies/ahead.md)

A row is a history, a load, the share of jobs that may be preempted, the restart cost, and PM scores or
none. Each row is simulated on resamples; a result that is in the results file is not simulated again,
so the study can be stopped and continued. Ratios are means over resamples of goban / baseline.

usage: ahead.py [--results FILE] [--resamples N] [--only HISTORY,...] [--where KEY=VALUE,...] [--minutes M]
                [--pair] [--whole] [--ablation] [--unlimited] [--tuning] [--tables] [--short]
  --where     only rows with these values: load=0.85,restart_s=30
  --pair      goban, the same with packed, and the baseline alone: a third of the time
  --whole     whole histories, as recorded, half of the jobs preemptible, 30 s, no scores; one run each
  --short     two small rows without public data, and checks of their ratios: exit code 1 if one fails
  --ablation  the rules of goban, one left out at a time, instead of the rivals
  --unlimited histories without walltime limits: promised starts that are missed, with and without a
              bound on how late they may be
  --tuning    the windows and seeds on which the constants were chosen, which the study does not report
  --tables    only print the tables of the results file
"""

import argparse
import datetime
import itertools
import json
import math
import os
import random
import statistics
import sys
import tempfile
import time

import histories
from study import data, goban
from user_limits import UserLimits

BASELINE = "slurm-multifactor"
SELF = "goban"
PACKED = "expansion+promise-backfill+priced+packed"
RIVALS = [BASELINE, SELF, PACKED, "easy-backfill+packed", "las+packed", "srtf+packed"]
PAIR = [BASELINE, SELF, PACKED]
# A policy, or a policy and a setting of it, as "goban late_bound_s=600".
BOUNDED = f"{SELF} late_bound_s=600"
ABLATIONS = {
    "goban": SELF,
    "without the tightest node": f"{SELF} tight_nodes=0",
    "without keeping whole nodes": f"{SELF} whole_nodes=0",
    "without variability": PACKED,
    "PAL everywhere": "expansion+promise-backfill+priced+pal",
    "without the price of preemption": "expansion+promise-backfill+sticky+pal-tight",
    "without preemption": "expansion+promise-backfill+non-preemptive+pal-tight",
    "without promises (skip)": "expansion+skip+priced+pal-tight",
    "reservations made anew (EASY)": "expansion+easy-backfill+priced+pal-tight",
    "without predictions (LAS levels)": "las-levels+promise-backfill+priced+pal-tight",
    "without predictions (FCFS)": "fifo+promise-backfill+non-preemptive+pal-tight",
    "goban before": "las-levels+skip+pal",
}
GPUS_A_NODE = 8
PENALTY = 1.16  # of class A, as measured on Frontera for PAL's paper
RESTARTS_S = (30, 300)
LEAST_SLACK_S = 900
LEAST_JOBS = 20


class Source:
    """A public history: its file, and the windows of the study and of tuning."""

    def __init__(self, path, first, days, tuning_first, warmup_days, nodes=None):
        self.path = f"traces/{path}"
        self.first, self.days, self.tuning_first = first, days, tuning_first
        self.warmup_days = warmup_days
        self.nodes = nodes  # of the site; None: as many as the history needs at once


# About 20,000 jobs each; Helios has 20 days only, which tuning uses with other seeds.
SOURCES = {
    "philly-attempts": Source("philly/philly_df_schedule.csv.gz", "2017-10-08", 8, "2017-11-06", 2),
    "philly-vc": Source("philly/sia_philly.csv.gz", "2017-10-08", 14, "2017-11-06", 2),
    "helios": Source("helios/helios_15k.csv.gz", "1970-01-01", 20, "1970-01-01", 2),
    "thetagpu": Source("alcf/data_thetagpu.csv.gz", "2023-06-15", 120, "2023-02-01", 2, 24),
}
GENERATED = ("abci", "gavel", "pal")
PAL_TRACES = ("workload-1", "workload-3", "workload-4", "sia-160job-trace")


def thetagpu_rows():
    """Jobs of whole nodes; users and projects; limits as recorded, with slack for slow GPUs."""
    rows = []
    for row in histories.read_csv(data(SOURCES["thetagpu"].path)):
        run_s, limit_s = float(row["run_time"]), float(row["wall_time"])
        if run_s <= 0:
            continue
        rows.append({"submit_time": float(row["submit_time"]), "duration": run_s,
                     "num_gpus": int(float(row["node_num"])) * GPUS_A_NODE, "user": row["user"],
                     "account": row["project"],
                     "walltime_s": math.ceil(1.4 * max(limit_s, run_s) + LEAST_SLACK_S)})
    return sorted(rows, key=lambda row: row["submit_time"])


class Case:
    """Jobs and cluster of a history at a load, by seed."""

    def __init__(self, name, load, limits, folder, tuning, whole=False):
        self.name, self.load, self.limits, self.folder = name, load, limits, folder
        self.whole = whole
        self.days = None
        if name in SOURCES:
            self.prepare(SOURCES[name], tuning)

    def prepare(self, source, tuning):
        rows = (thetagpu_rows() if self.name == "thetagpu"
                else histories.read_any(data(source.path), self.folder))
        rows = [row for row in rows if row["num_gpus"] > 0]
        peak = math.ceil(histories.peak_gpus(rows) / GPUS_A_NODE)
        first = source.tuning_first if tuning else source.first
        first_s = datetime.datetime.fromisoformat(first + "+00:00").timestamp()
        days = source.days
        if self.whole:
            first_s = rows[0]["submit_time"]
            days = int((rows[-1]["submit_time"] - first_s) // histories.DAY_S) + 1
        self.days = histories.by_day(rows, first_s, days)
        busy = histories.busy_gpus(histories.joined(self.days), days * histories.DAY_S)
        largest = max(row["num_gpus"] for day in self.days for row in day)
        wanted = (source.nodes or peak) if self.load == "recorded" else busy / self.load / GPUS_A_NODE
        self.nodes = max(math.ceil(wanted), math.ceil(largest / GPUS_A_NODE))

    def make(self, seed):
        """The path of the jobs, the cluster, its GPUs, and the warm-up in days."""
        path = f"{self.folder}/jobs.csv"
        if self.days is not None:
            rows = histories.joined(self.days) if self.whole else histories.resampled(self.days, seed)
            for row in rows:
                for name in ("start_time", "end_time", "state"):
                    row.pop(name, None)
            if self.limits is None:
                for row in rows:
                    row.pop("walltime_s", None)
            elif self.name != "thetagpu":
                self.limits.add(rows, seed)
            histories.write_history(path, rows)
            return path, f"{self.nodes}x{GPUS_A_NODE}", f"{SOURCES[self.name].warmup_days}d"
        return getattr(self, self.name)(path, seed)

    def abci(self, path, seed):
        """15 days of the generated year on ABCI, or all 362 of it; loads by compressing the submissions."""
        days = 362 if self.whole else 15
        goban("trace", "generate", "--like", "abci-2019", "--days", days, "--seed", seed, "--out", path)
        if self.load != "recorded":
            rows = histories.read_generic(path)
            histories.write_history(path, histories.compressed(rows, 4352, self.load))
        return path, "abci", "1d"

    def gavel(self, path, seed):
        load = 0.6 if self.load == "recorded" else self.load
        goban("trace", "generate", "--like", "gavel", "--jobs", 4000, "--cluster", "28x8",
              "--load", load, "--seed", seed, "--out", path)
        rows = self.limits.add(histories.read_generic(path), seed) if self.limits else None
        if rows:
            histories.write_history(path, rows)
        return path, "28x8", "0s"

    def pal(self, path, seed):
        trace = data(f"pal/traces/{PAL_TRACES[seed % len(PAL_TRACES)]}.csv")
        rows = histories.read_any(trace, self.folder)
        if self.load != "recorded":
            rows = histories.compressed(rows, 64, self.load)
        histories.write_history(path, self.limits.add(rows, seed))
        return path, "16x4", "0s"


def all_rows(names):
    """Full factorial; a restart costs nothing where nothing restarts."""
    for name, load, share, restart, scores in itertools.product(
            names, (0.85, 0.95, "recorded"), (0.5, 0.0, 1.0), RESTARTS_S, (False, True)):
        if share > 0 or restart == RESTARTS_S[0]:
            yield {"history": name, "load": load, "preemptible": share, "restart_s": restart,
                   "scores": scores}


def whole_rows(names):
    """The generated ones but ABCI's are as long as they are made."""
    for name in names:
        if name in SOURCES or name == "abci":
            yield {"history": name, "load": "recorded", "preemptible": 0.5, "restart_s": RESTARTS_S[0],
                   "scores": False, "whole": True}


def unlimited_rows(names):
    """Where no limit is enforced, promises rest on predictions."""
    for name, share in itertools.product(names, (0.5, 1.0)):
        if name in SOURCES:
            yield {"history": name, "load": 0.85, "preemptible": share, "restart_s": RESTARTS_S[0],
                   "scores": False, "limits": False}


def draw_scores(folder, cluster, seed):
    """PM scores from Longhorn's per-GPU medians for class A."""
    path = f"{folder}/scores.csv"
    profile = f"A={data('pal/profiles/sim/resnet-longhorn-agg.csv')}"
    goban("profile", "scores", "--cluster", cluster, "--mode", "median", "--seed", seed,
          "--profile", profile, "--out", path)
    return path


def worst_wait(path, jobs_path, warmup):
    """The highest mean wait of an account (a user, without accounts) with at least LEAST_JOBS jobs, in s;
    None without accounts and users."""
    owners = {row["job_id"]: row.get("account") or row.get("user") for row in histories.read_csv(path)}
    rows = histories.read_csv(jobs_path)
    counted_s = float(rows[0]["submit_s"]) + histories.DAY_S * int(warmup.rstrip("ds"))
    waits = {}
    for row in rows:
        if float(row["submit_s"]) >= counted_s and owners.get(row["job_id"]):
            waits.setdefault(owners[row["job_id"]], []).append(float(row["wait_s"]))
    means = [statistics.fmean(each) for each in waits.values() if len(each) >= LEAST_JOBS]
    return max(means) if means else None


def run_row(row, seed, made, policies, folder):
    path, cluster, warmup = made
    options = ["--cluster", cluster, "--jobs", path, "--locality-penalty", PENALTY, "--warmup", warmup,
               "--preemptible", row["preemptible"], "--restart-cost", row["restart_s"],
               "--preemption-loses-work", "--seed", seed, "--threads", 1,
               "--rejects", f"{folder}/rejects.csv", "--out", f"{folder}/out"]
    if row["scores"]:
        options += ["--scores", draw_scores(folder, cluster, seed)]
    result = {"row": row, "seed": seed, "runs": {}}
    plain = [policy for policy in policies if " " not in policy]
    documents = [json.loads(goban("simulate", "--json", "--policy", ",".join(plain), *options))]
    result["lower_s"] = documents[0]["jct_bounds"]["lower_s"]
    for policy in policies:
        if " " in policy:
            name, setting = policy.split()
            document = json.loads(goban("simulate", "--json", "--policy", name, "--set", setting, *options))
            document["runs"][0]["policy"] = policy
            documents.append(document)
    for run in itertools.chain.from_iterable(document["runs"] for document in documents):
        figures = {"jct": run["avg_jct_s"], "wait": run["avg_wait_s"], "p99": run["p99_jct_s"],
                   "killed": run["timed_out"], "preemptions": run["preemptions"],
                   "wall_s": run["wall_s"]}
        if run["policy"] in (SELF, BASELINE):
            figures["worst_wait"] = worst_wait(path, f"{folder}/out/{run['policy']}/jobs.csv", warmup)
        if "promises" in run:
            figures["promises"] = run["promises"]
        result["runs"][run["policy"]] = figures
    return result


def key_of(row, seed=None):
    return json.dumps([row, seed], sort_keys=True)


def load_results(path):
    """The results of earlier runs; a line that was cut off is simulated again."""
    results = {}
    if os.path.exists(path):
        with open(path) as lines:
            for line in lines:
                try:
                    result = json.loads(line)
                except json.JSONDecodeError:
                    continue
                results[key_of(result["row"], result["seed"])] = result
    return results


def study(rows, seeds, policies, path, deadline, tuning):
    """Simulates what is missing; seeds first, so that every row has some. False if time ran out."""
    done = load_results(path)
    limits = UserLimits(1.4, LEAST_SLACK_S)
    with tempfile.TemporaryDirectory() as folder, open(path, "a") as target:
        cases = {}
        for seed in seeds:
            for (name, load), group in itertools.groupby(rows, lambda r: (r["history"], r["load"])):
                group = list(group)
                missing = [row for row in group if key_of(row, seed) not in done]
                if not missing:
                    continue
                if (name, load) not in cases:
                    whole = group[0].get("whole", False)
                    given = limits if group[0].get("limits", True) else None
                    cases[name, load] = Case(name, load, given, folder, tuning, whole)
                made = cases[name, load].make(seed)
                for row in missing:
                    if time.monotonic() > deadline:
                        return False
                    result = run_row(row, seed, made, policies, folder)
                    target.write(json.dumps(result) + "\n")
                    target.flush()
    return True


def interval(values):
    """Mean, and the 95 % interval of the mean by bootstrap."""
    generator = random.Random(1)
    means = sorted(statistics.fmean(generator.choices(values, k=len(values))) for _ in range(1000))
    return statistics.fmean(values), means[25], means[974]


def ratios(results, name, policy, against):
    """Without results whose figures are missing, or whose baseline's is too small to divide by (seconds);
    None if none is left."""
    out = []
    for result in results:
        mine = result["runs"].get(policy, {}).get(name)
        theirs = result["runs"].get(against, {}).get(name)
        if mine is None or theirs is None:
            continue
        if theirs < 60:
            continue  # who waits for less than a minute on average does not wait
        out.append(mine / theirs)
    return out or None


def cell(values, most=None, upper=math.inf):
    """Bold: the mean is above `most`, or the interval ends above `upper`."""
    if values is None:
        return "-"
    mean, low, high = interval(values)
    text = f"{mean:.3f} ({low:.3f} to {high:.3f})" if len(values) > 1 else f"{mean:.3f}"
    missed = most is not None and (mean > most or high > upper)
    return f"**{text}**" if missed else text


def targets(row):
    """The largest permitted mean of JCT."""
    if row["load"] != "recorded" and row["preemptible"] == 0.5:
        return 0.90
    if row["load"] != "recorded" and row["preemptible"] == 0:
        return 0.95
    return 1.0


def gap_closed(results, policy):
    """Of the distance from the baseline to the lower bound, relative to SRTF with true durations."""
    out = []
    for result in results:
        runs = result["runs"]
        if "srtf+packed" not in runs:
            continue
        best = runs[BASELINE]["jct"] - runs["srtf+packed"]["jct"]
        if best > 0.01 * runs[BASELINE]["jct"]:
            out.append((runs[BASELINE]["jct"] - runs[policy]["jct"]) / best)
    return out or None


def least(results):
    """The lower bound of the mean JCT / that of the baseline: no policy has a lower ratio."""
    return [result["lower_s"] / result["runs"][BASELINE]["jct"] for result in results]


def by_row(path):
    groups = {}
    for result in load_results(path).values():
        groups.setdefault(key_of(result["row"]), []).append(result)
    return groups


def label(row):
    name = row["history"] + (", whole" if row.get("whole") else "")
    return (f"{name} | {row['load']} | {row['preemptible']:.0%} | {row['restart_s']} | "
            f"{'Longhorn' if row['scores'] else 'none'}").replace("%", " %")


def print_tables(path):
    print("| history | load | preemptible | restart, s | scores | n | JCT | least possible | wait | p99 JCT | worst account's wait "
          "| against packed | against EASY | against LAS | of SRTF's gain | killed |")
    print("|-|-|-|-|-|-|-|-|-|-|-|-|-|-|-|-|")
    for group in by_row(path).values():
        row = group[0]["row"]
        cells = [label(row), str(len(group)),
                 cell(ratios(group, "jct", SELF, BASELINE), targets(row), 1.01),
                 f"{statistics.fmean(least(group)):.3f}",
                 cell(ratios(group, "wait", SELF, BASELINE), 1.0),
                 cell(ratios(group, "p99", SELF, BASELINE), 1.02),
                 cell(ratios(group, "worst_wait", SELF, BASELINE), 1.0),
                 cell(ratios(group, "jct", SELF, PACKED), 1.005),
                 cell(ratios(group, "jct", SELF, "easy-backfill+packed")),
                 cell(ratios(group, "jct", SELF, "las+packed")),
                 cell(gap_closed(group, SELF)),
                 " / ".join(str(sum(result["runs"].get(policy, {}).get("killed", 0) for result in group))
                            for policy in (SELF, BASELINE, "las+packed"))]
        print(f"| {' | '.join(cells)} |")


def print_ablations(path):
    print("| history | load | preemptible | restart, s | scores | n | " + " | ".join(ABLATIONS) + " |")
    print("|-" * (6 + len(ABLATIONS)) + "|")
    for group in by_row(path).values():
        cells = [label(group[0]["row"]), str(len(group))]
        cells += [cell(ratios(group, "jct", policy, BASELINE)) for policy in ABLATIONS.values()]
        print(f"| {' | '.join(cells)} |")


def print_unlimited(path):
    print("| history | load | preemptible | restart, s | scores | n | promised starts | late | 95 % of these by at most "
          "| late, bound | by at most | JCT, bound / none | wait |")
    print("|-|-|-|-|-|-|-|-|-|-|-|-|-|")
    for group in by_row(path).values():
        if group[0]["row"].get("limits", True):
            continue
        cells = [label(group[0]["row"]), str(len(group))]
        for policy in (SELF, BOUNDED):
            promises = [result["runs"][policy].get("promises", {"made": 0, "late": 0, "late_p95_s": 0})
                        for result in group]
            made, late = sum(each["made"] for each in promises), sum(each["late"] for each in promises)
            worst_s = max(each["late_p95_s"] for each in promises)
            cells += [str(made)] if policy == SELF else []
            cells += [f"{100 * late / max(made, 1):.1f} %", f"{worst_s / 60:.0f} min"]
        cells += [cell(ratios(group, "jct", BOUNDED, SELF)), cell(ratios(group, "wait", BOUNDED, SELF))]
        print(f"| {' | '.join(cells)} |")


def short():
    """Two rows on generated jobs of users whose run times differ; a policy that is no longer ahead
    fails."""
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/jobs.csv"
        goban("trace", "generate", "--like", "poisson", "--jobs", 3000, "--cluster", "16x8", "--load", 1.0,
              "--users", 30, "--seed", 11, "--out", path)
        rows = histories.read_generic(path)
        users = sorted({row["user"] for row in rows})
        generator = random.Random(11)
        for row in rows:
            row["duration"] *= 4.0 ** (users.index(row["user"]) % 5 - 3)
            row["walltime_s"] = math.ceil(row["duration"] * generator.choice((2, 4, 8)) + LEAST_SLACK_S)
        histories.write_history(path, histories.compressed(rows, 128, 1.2))
        for share, most in ((0.5, 0.90), (0.0, 0.95)):
            row = {"history": "poisson", "load": 1.2, "preemptible": share, "restart_s": 30,
                   "scores": False}
            result = run_row(row, 11, (path, "16x8", "0s"), [BASELINE, SELF], folder)
            mine, theirs = result["runs"][SELF], result["runs"][BASELINE]
            ratio = mine["wait"] / theirs["wait"]
            print(f"{share:.0%} preemptible: wait {ratio:.3f} of {BASELINE} (at most {most}), "
                  f"{theirs['wait']:.0f} s; JCT {mine['jct'] / theirs['jct']:.3f}")
            failures += ratio > most
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--results", default="ahead.jsonl")
    parser.add_argument("--resamples", type=int, default=20)
    parser.add_argument("--only", default=",".join([*SOURCES, *GENERATED]))
    parser.add_argument("--where", default="")
    parser.add_argument("--minutes", type=float, default=math.inf)
    for flag in ("short", "pair", "whole", "ablation", "unlimited", "tuning", "tables"):
        parser.add_argument(f"--{flag}", action="store_true")
    options = parser.parse_args()
    if options.short:
        return short()
    policies = PAIR if options.pair else RIVALS
    if options.ablation:
        policies = list(dict.fromkeys([BASELINE, *ABLATIONS.values()]))
    if options.unlimited:
        policies = [BASELINE, SELF, BOUNDED]
    wanted = [each.split("=") for each in options.where.split(",") if each]
    made = whole_rows if options.whole else unlimited_rows if options.unlimited else all_rows
    rows = [row for row in made(options.only.split(","))
            if all(str(row[key]) == value for key, value in wanted)]
    if options.ablation:
        rows = [row for row in rows if row["load"] == 0.85 and row["scores"]
                and row["restart_s"] == RESTARTS_S[0] and row["preemptible"] == 0.5]
    if not options.tables:
        first = 101 if options.tuning else 1
        deadline = time.monotonic() + 60 * options.minutes
        seeds = range(first, first + (1 if options.whole else options.resamples))
        if not study(rows, seeds, policies, options.results, deadline, options.tuning):
            print("time is up; the same command goes on\n", file=sys.stderr)
    printed = print_ablations if options.ablation else print_unlimited if options.unlimited else print_tables
    printed(options.results)
    return 0


sys.exit(main())

#!/usr/bin/env python3
"""How often do jobs start inside the forecast 80 % interval? (docs/predict.md, Start times)

Windows of public histories in their own order, at a load of 0.85 by choice of the nodes; runs are cut
at a third of the window. Jobs that have to wait are forecast at their submission from what had ended
by then (goban simulate --start-forecasts).

usage: start_times.py [--only HISTORY,...] [--policies P,...] [--jobs N] [--windows N]
"""

import argparse
import json
import math
import sys
import tempfile

import histories
from study import data, goban
from user_limits import UserLimits

GPUS_A_NODE = 8
LOAD = 0.85
LONGEST_S = 7 * histories.DAY_S
SOURCES = {
    "thetagpu": "traces/alcf/data_thetagpu.csv.gz",
    "helios": "traces/helios/helios_15k.csv.gz",
    "philly-users": "traces/philly/philly_15k_user_status.csv.gz",
    "philly-vc": "traces/philly/sia_philly.csv.gz",
    "philly-attempts": "traces/philly/philly_df_schedule.csv.gz",
}
LIMITED = "thetagpu"


def thetagpu_rows():
    rows = []
    for row in histories.read_csv(data(SOURCES[LIMITED])):
        run_s, limit_s = float(row["run_time"]), float(row["wall_time"])
        if run_s > 0 and limit_s > 0:
            rows.append({"submit_time": float(row["submit_time"]), "duration": min(run_s, limit_s),
                         "num_gpus": int(float(row["node_num"])) * GPUS_A_NODE, "user": row["user"],
                         "account": row["project"], "walltime_s": math.ceil(limit_s)})
    return sorted(rows, key=lambda row: row["submit_time"])


def rows_of(name, folder):
    rows = thetagpu_rows() if name == LIMITED else histories.read_any(data(SOURCES[name]), folder)
    rows = [row for row in rows if row["num_gpus"] > 0 and row["duration"] > 0]
    return sorted(rows, key=lambda row: row["submit_time"])


def windows(rows, jobs, count):
    """`count` stretches of `jobs` jobs, the first at a fifth of the history."""
    step = (len(rows) - jobs) // max(count, 1) if len(rows) > jobs else 0
    for i in range(count):
        first = min(len(rows) // 5 + i * step, max(len(rows) - jobs, 0))
        yield [dict(row) for row in rows[first:first + jobs]]


def prepare(rows, limits, seed, path):
    """Writes the window; returns its nodes."""
    span_s = rows[-1]["submit_time"] - rows[0]["submit_time"]
    first_s = rows[0]["submit_time"]
    longest_s = min(LONGEST_S, span_s / 3)
    for row in rows:
        row["submit_time"] -= first_s
        row["duration"] = min(row["duration"], longest_s)
        for name in ("start_time", "end_time", "state"):
            row.pop(name, None)
    if limits is not None:
        limits.add(rows, seed)
    histories.write_history(path, rows)
    largest = max(row["num_gpus"] for row in rows)
    wanted = histories.busy_gpus(rows, span_s) / LOAD
    return math.ceil(max(wanted, largest) / GPUS_A_NODE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default=",".join(SOURCES))
    parser.add_argument("--policies", default="goban,easy-backfill+packed")
    parser.add_argument("--jobs", type=int, default=4000)
    parser.add_argument("--windows", type=int, default=2)
    options = parser.parse_args()
    print("| history | window | policy | jobs | waited | forecast | inside | before | after | raw inside | "
          "median width, h | median |ln| |")
    print("|-|-|-|-|-|-|-|-|-|-|-|-|")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only.split(","):
            limits = None if name == LIMITED else UserLimits(1.0)
            rows = rows_of(name, folder)
            for number, window in enumerate(windows(rows, options.jobs, options.windows)):
                path = f"{folder}/jobs.csv"
                nodes = prepare(window, limits, number + 1, path)
                document = json.loads(goban(
                    "simulate", "--json", "--start-forecasts", "--cluster", f"{nodes}x{GPUS_A_NODE}", "--jobs",
                    path, "--policy", options.policies, "--preemptible", 0, "--threads", 1,
                    "--rejects", f"{folder}/rejects.csv"))
                for run in document["runs"]:
                    starts = run["starts"]
                    judged = max(starts["judged"], 1)
                    shares = [f"{100 * starts[key] / judged:.1f} %"
                              for key in ("inside", "early", "late", "inside_raw")]
                    print(f"| {name} | {number + 1} | {run['policy']} | {starts['submitted']} | "
                          f"{starts['waited']} | {starts['judged']} | {' | '.join(shares)} | "
                          f"{starts['width_s'] / 3600:.1f} | {starts['error_ln']:.2f} |", flush=True)
    return 0


sys.exit(main())

"""What jobs may choose: time and memory within the site's limits, when and beside what they start, GPU model and nodes; what is forecast of them.
Operators suspend them.

    job_choices.py GOBAN
"""

import json
import os
import sys
import time

from live_daemon import Daemon, expect

CONFIG = """
node = "box"
time_default = "1h"
time_max = "2h"
mem_max = "1TiB"
"""
BEATS = "while :; do echo beat >> beats; sleep 0.02; done"


def submit(daemon, *words):
    run = daemon.goban_run("submit", "--parsable", "--output", "/dev/null", *words)
    expect(run.returncode == 0, run.stderr)
    return run.stdout.strip()


def refused(daemon, *words):
    run = daemon.goban_run("submit", *words, "--wrap", "true")
    expect(run.returncode != 0, f"{words} must be refused")
    return run.stderr


def job(daemon, number):
    return json.loads(daemon.goban_run("show", number, "--json").stdout)[0]


def wait_for_state(daemon, number, state):
    return daemon.wait_for(f"{state} of {number}", lambda: job(daemon, number)["state"] == state)


def limits(daemon):
    number = submit(daemon, "--wrap", "true")
    expect(job(daemon, number)["walltime_s"] == 3600, "the site's default")
    text = refused(daemon, "--time", "3h")
    expect("10800 s" in text and "7200 s" in text and "time_max" in text, text)
    text = refused(daemon, "--mem", "2T")
    expect("2097152 MiB" in text and "1048576 MiB" in text and "mem_max" in text, text)


def forecasts(daemon):
    """Nothing has ended yet: limits stand for run times."""
    model = json.loads(daemon.goban_run("nodes", "--json").stdout)[0]
    everything = str(model["num_gpus"])
    first = submit(daemon, "--gpus", everything, "--time", "30m", "--wrap", "sleep 1000")
    wait_for_state(daemon, first, "running")
    second = submit(daemon, "--gpus", everything, "--wrap", "true")
    start = daemon.wait_for("a forecast start", lambda: job(daemon, second).get("start"))
    submitted = job(daemon, second)["submit_s"]
    expect(submitted < start["p10_s"] <= start["p50_s"] <= start["p90_s"] <= submitted + 1900, str(start))
    expect("STARTS ABOUT" in daemon.goban_run("queue").stdout, "the queue shows it")
    expect("starts      " in daemon.goban_run("show", second).stdout, "show shows it")
    plan = json.loads(daemon.goban_run("submit", "--dry-run", "--gpus", "1", "--wrap", "true").stdout)
    expect(plan["forecast"]["predicted_run"]["from"] == "unknown", str(plan))
    expect(plan["forecast"]["start"]["p50_s"] > submitted, str(plan))
    table = daemon.goban_run("whatif", "--gpus", f"1,{everything}", "--time", "1h,10m")
    expect(table.returncode == 0 and table.stdout.count("\n") == 5, table.stdout + table.stderr)
    expect(daemon.goban_run("whatif").returncode == 2, "what, then?")
    for number in (second, first):
        daemon.goban_run("cancel", number)
    wait_for_state(daemon, first, "done")


def choices(daemon):
    text = refused(daemon, "--gres", "gpu:a100:1")
    expect("no GPU is a 'a100'" in text and "virtual" in text, text)
    text = refused(daemon, "--nodelist", "box,bax")
    expect("there is no node bax" in text and "box" in text, text)
    expect("excludes every node" in refused(daemon, "-x", "box"), "no node is left")
    model = json.loads(daemon.goban_run("nodes", "--json").stdout)[0]["gpu_model"]
    number = submit(daemon, "--gpus", f"{model.upper()}:2", "-w", "box", "--wrap", "true")
    daemon.wait_for("its end", lambda: job(daemon, number).get("result") == "completed")


def begin_and_singleton(daemon):
    later = submit(daemon, "--begin", "now+4", "--wrap", "date +%s.%N > began")
    expect(job(daemon, later)["state"] == "depends", "it is early")
    expect("begins" in daemon.goban_run("queue").stdout, daemon.goban_run("queue").stdout)
    expect("at the earliest" in daemon.goban_run("explain", "--job", later).stdout, "its reason")
    first = submit(daemon, "-J", "nightly", "-d", "singleton", "--wrap", "sleep 1")
    second = submit(daemon, "-J", "nightly", "-d", "singleton", "--wrap", "true")
    expect(job(daemon, second)["state"] == "depends", "one at a time")
    daemon.stop()
    daemon.start()
    for number in later, first, second:
        daemon.wait_for("its end", lambda n=number: job(daemon, n).get("result") == "completed")
    began = float(open(os.path.join(daemon.folder, "began")).read())
    expect(began >= job(daemon, later)["begin_s"], f"it began at {began}")
    expect(job(daemon, second)["first_start_s"] >= job(daemon, first)["end_s"], "they overlapped")


def suspension(daemon):
    beats = os.path.join(daemon.folder, "beats")
    number = submit(daemon, "--gpus", "2", "--wrap", BEATS)
    daemon.wait_for("its first beat", lambda: os.path.exists(beats))
    wait_for_state(daemon, number, "running")
    expect(daemon.goban_run("suspend", number).stdout == f"suspended {number}\n", "suspend")
    expect(job(daemon, number)["state"] == "suspended", "at once")
    expect("suspended" in daemon.goban_run("queue").stdout, "in the queue")
    time.sleep(1)  # until the supervisor has heard of it
    before = os.path.getsize(beats)
    waits = submit(daemon, "--wrap", "true")
    daemon.stop()
    daemon.start()
    time.sleep(1)
    expect(os.path.getsize(beats) == before, "it stands still")
    expect(job(daemon, waits)["state"] == "waiting", "the GPUs stay held")
    expect(daemon.goban_run("resume", number).stdout == f"resumed {number}\n", "resume")
    daemon.wait_for("another beat", lambda: os.path.getsize(beats) > before)
    expect(job(daemon, number)["state"] == "running", "it goes on")
    daemon.goban_run("suspend", number)
    daemon.goban_run("cancel", number)
    daemon.wait_for("its end", lambda: job(daemon, number).get("result") == "cancelled")
    run = job(daemon, number)["past"][0]
    expect(2 < run["suspended_s"] < run["end_s"] - run["start_s"], str(run))
    expect(job(daemon, number)["held_s"] < run["end_s"] - run["start_s"] - 2, "no run time")


def main():
    with Daemon(sys.argv[1], CONFIG) as daemon:
        for check in limits, forecasts, choices, begin_and_singleton, suspension:
            check(daemon)
    print("limits, forecasts, choices, begin times, singletons and suspensions hold")


if __name__ == "__main__":
    main()

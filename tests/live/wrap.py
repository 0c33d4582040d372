"""`goban wrap` through daemon and supervisor: an unmodified DDP training on CPU reports itself, its
slow rank shows, it is stopped behind a checkpoint, and it goes on from there.

    wrap.py GOBAN

Ends with 77 where no Python here has PyTorch.
"""

import json
import os
import re
import subprocess
import sys

from live_daemon import Daemon, expect

HERE = os.path.dirname(os.path.abspath(__file__))
EPOCHS = 8
STEPS = EPOCHS * 8  # 128 samples, 2 ranks, batches of 8


def python_with_torch():
    for python in dict.fromkeys((sys.executable, "/usr/bin/python3")):
        found = subprocess.run(
            [python, "-c", "import torch.distributed as d; assert d.is_available()"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        if found.returncode == 0:
            return python
    return None


def command(python, folder, *words):
    return [python, os.path.join(HERE, "two_ranks.py"), os.path.join(HERE, "ddp_training.py"),
            os.path.join(folder, "checkpoint.pt"), str(EPOCHS), *words]


def final_sum(text):
    """What the script prints of its parameters at the end."""
    return set(re.findall(r"rank \d done from epoch \d+: (\S+)", text))


def untouched(python, folder):
    os.mkdir(folder)
    places = dict(os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT="29641")
    run = subprocess.run(command(python, folder), env=places, stdout=subprocess.PIPE, text=True,
                         check=True)
    return final_sum(run.stdout)


def job_of(daemon, number):
    return json.loads(daemon.goban_run("show", "--json", number).stdout)[0]


def stopped_and_continued(daemon, python):
    """The daemon preempts it; the second run ends as a run that nobody stopped."""
    folder = os.path.join(daemon.folder, "training")
    os.mkdir(folder)
    line = " ".join([daemon.goban, "wrap", *command(python, folder, "1")])
    asked = daemon.goban_run("submit", "--parsable", "--gpus", "2", "--epochs", str(EPOCHS),
                             "--signal", "USR1@60s", "-o", "training.out", "--wrap", line)
    expect(asked.returncode == 0, asked.stderr)
    number = asked.stdout.strip()

    def says(holds):
        job = job_of(daemon, number)
        if job["state"] == "done":
            raise SystemExit(f"it is over: {job}\n{daemon.goban_run('logs', number).stdout}")
        return job if holds(job.get("progress", {})) else None

    first = daemon.wait_for("a checkpoint", lambda: says(lambda p: p.get("checkpointed")), 90)
    expect(first["progress"]["steps"] == STEPS, f"steps of the job: {first['progress']}")
    expect(first["progress"].get("samples_per_s", 0) > 0, f"samples/s: {first['progress']}")
    expect(daemon.goban_run("requeue", number).returncode == 0, "requeue")
    again = daemon.wait_for("a second run", lambda: says(lambda _: True) and
                            (job_of(daemon, number)["runs"] == 2) and job_of(daemon, number), 90)
    expect(again["runs"] == 2, "it was put back, not ended")
    last = daemon.wait_for("its end", lambda: job_of(daemon, number)["state"] == "done" and
                           job_of(daemon, number), 120)
    log = open(os.path.join(daemon.folder, "training.out")).read()
    expect(last["result"] == "completed", f"{last}\n{log}")
    expect(last["progress"]["step"] == STEPS, f"all steps are done: {last['progress']}")
    expect(log.count("goban wrap: rank") == 2, f"both ranks left in order:\n{log}")
    expect(re.search(r"rank 0 done from epoch [1-9]", log), f"it went on from a checkpoint:\n{log}")
    return final_sum(log)


def main():
    python = python_with_torch()
    if python is None:
        print("skipped: no Python here has PyTorch (Debian: python3-torch)")
        sys.exit(77)
    with Daemon(sys.argv[1]) as daemon:
        expected = untouched(python, os.path.join(daemon.folder, "untouched"))
        expect(len(expected) == 1, f"ranks agree: {expected}")
        reached = stopped_and_continued(daemon, python)
        expect(reached == expected, f"same parameters to the last bit: {reached}, {expected}")
    print("as expected:", *expected)


main()

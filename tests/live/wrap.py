"""`goban wrap torchrun` under daemon and supervisor: an unmodified DDP training on CPU reports its progress,
is stopped after a checkpoint, and resumes from it.

    wrap.py GOBAN

Exits with 77 if there is no torchrun, except on a Debian system, where the project installs it
(tools/packages.txt).
"""

import glob
import json
import os
import re
import shutil
import socket
import subprocess
import sys

from live_daemon import Daemon, expect

HERE = os.path.dirname(os.path.abspath(__file__))
EPOCHS = 8
STEPS = EPOCHS * 8  # 128 samples, 2 ranks, batches of 8


def command(folder, *words):
    """The training as two ranks. Debian's torchrun 1.13 needs -r 2 (stderr of ranks into files) and -t 1
    (their stdout shown), or the other way round, under its Python 3.11.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return ["torchrun", "-r", "2", "-t", "1", "--nproc_per_node", "2", "--master_port", str(port),
            "--log_dir", os.path.join(folder, "logs"),
            os.path.join(HERE, "ddp_training.py"), os.path.join(folder, "checkpoint.pt"), str(EPOCHS),
            *words]


def final_sum(text):
    """The parameters that the script prints at the end."""
    return set(re.findall(r"rank \d done from epoch \d+: (\S+)", text))


def untouched(folder):
    os.mkdir(folder)
    run = subprocess.run(command(folder), stdout=subprocess.PIPE, text=True, check=True)
    return final_sum(run.stdout)


def job_of(daemon, number):
    return json.loads(daemon.goban_run("show", "--json", number).stdout)[0]


def stopped_and_continued(daemon):
    """The daemon preempts it; the second run ends like an uninterrupted run."""
    folder = os.path.join(daemon.folder, "training")
    os.mkdir(folder)
    line = " ".join([daemon.goban, "wrap", *command(folder, "1")])
    asked = daemon.goban_run("submit", "--parsable", "--gpus", "2", "--epochs", str(EPOCHS),
                             "--signal", "USR1@60s", "-o", "training.out", "--wrap", line)
    expect(asked.returncode == 0, asked.stderr)
    number = asked.stdout.strip()

    def says(holds):
        job = job_of(daemon, number)
        if job["state"] == "done":
            raise SystemExit(f"the job has finished: {job}\n{daemon.goban_run('logs', number).stdout}")
        return job if holds(job.get("progress", {})) else None

    first = daemon.wait_for("a checkpoint", lambda: says(lambda p: p.get("checkpointed")), 90)
    expect(first["progress"]["steps"] == STEPS, f"steps of the job: {first['progress']}")
    expect(first["progress"].get("samples_per_s", 0) > 0, f"samples/s: {first['progress']}")
    expect(daemon.goban_run("requeue", number).returncode == 0, "requeue")
    again = daemon.wait_for("a second run", lambda: says(lambda _: True) and
                            (job_of(daemon, number)["runs"] == 2) and job_of(daemon, number), 90)
    expect(again["runs"] == 2, "it was requeued, not ended")
    last = daemon.wait_for("its end", lambda: job_of(daemon, number)["state"] == "done" and
                           job_of(daemon, number), 120)
    log = open(os.path.join(daemon.folder, "training.out")).read()
    expect(last["result"] == "completed", f"{last}\n{log}")
    expect(last["progress"]["step"] == STEPS, f"all steps are done: {last['progress']}")
    said = "".join(open(path).read() for path in
                   glob.glob(os.path.join(folder, "logs", "**", "stderr.log"), recursive=True))
    expect(said.count("goban wrap: rank") == 2, f"both ranks exited in order:\n{said}\n{log}")
    expect(re.search(r"rank 0 done from epoch [1-9]", log), f"it resumed from a checkpoint:\n{log}")
    ranks = last["past"][-1].get("ranks", [])
    expect([each["rank"] for each in ranks] == [0, 1], f"each rank reports its times: {last['past']}")
    for each in ranks:
        expect(each["steps"] > 0 and each["busy_s"] > 0 and each["ranks"] == 2, f"{each}")
    # Rank 1 works longer on each step (its argument), and rank 0 waits for it in the all-reduce.
    expect(ranks[1]["busy_s"] > ranks[0]["busy_s"], f"the slow rank computes longer: {ranks}")
    expect(ranks[0]["wait_s"] > ranks[1]["wait_s"], f"the fast rank waits: {ranks}")
    return final_sum(log)


def main():
    if shutil.which("torchrun") is None:
        if os.path.exists("/etc/debian_version"):
            raise SystemExit("torchrun is missing: install python3-torch")
        print("skipped: there is no torchrun here")
        sys.exit(77)
    with Daemon(sys.argv[1]) as daemon:
        expected = untouched(os.path.join(daemon.folder, "untouched"))
        expect(len(expected) == 1, f"ranks agree: {expected}")
        reached = stopped_and_continued(daemon)
        expect(reached == expected, f"same parameters to the last bit: {reached}, {expected}")
    print("passed:", *expected)


main()

"""A disk on which the journal still fits and the run folders do not: no job fails, the daemon says why nothing starts,
and with free space all jobs run once.

    full_disk.py GOBAN     (needs the right to mount; 77 without it)
"""

import contextlib
import json
import os
import subprocess
import sys

from live_daemon import Daemon, expect

JOBS = 46


def jobs_of(daemon):
    return json.loads(daemon.goban_run("queue", "--all", "--json").stdout)


def main():
    with Daemon(sys.argv[1], config='[service]\nrequests_per_s = 1000\n', own_log=True) as daemon:
        daemon.stop()
        runs = os.path.join(daemon.state, "jobs")
        os.makedirs(runs, exist_ok=True)
        # Payloads and journal lie elsewhere, so that every job is confirmed.
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", runs],
                          stderr=subprocess.DEVNULL).returncode != 0:
            print("skipped: this user may not mount")
            daemon.start()
            sys.exit(77)
        try:
            attack(daemon, runs)
        finally:
            daemon.goban_run("cancel", "--all")
            daemon.stop()
            subprocess.run(["umount", "-l", runs], check=True)
            daemon.start()


def attack(daemon, runs):
    daemon.start()
    filler = os.path.join(runs, "filler")
    with open(filler, "wb", buffering=0) as out, contextlib.suppress(OSError):
        while True:
            out.write(b"\0" * 4096)
    marks = os.path.join(daemon.folder, "marks")
    for _ in range(JOBS):
        run = daemon.goban_run("submit", "--output", "/dev/null", "--wrap", f"echo $GOBAN_JOB_ID $GOBAN_RESTARTS >> {marks}")
        expect(run.returncode == 0, run.stderr)
    daemon.wait_for("a hold", lambda: "are held" in daemon.goban_run("stats").stdout)
    shown = daemon.goban_run("queue").stdout
    expect("are held" in shown and "pace" in shown, shown)
    expect("are held" in open(daemon.log).read(), "the log says so")
    states = {job["state"] for job in jobs_of(daemon)}
    expect(states <= {"waiting", "starting"}, f"{states}")
    expect(not os.path.exists(marks), "nothing ran")
    # As after a crash: the hold and the jobs are still there.
    daemon.stop(9)
    daemon.start()
    expect({job["state"] for job in jobs_of(daemon)} <= {"waiting", "starting"}, "after a restart")
    os.remove(filler)
    daemon.wait_for("the end of all jobs", lambda: all(job["state"] == "done" for job in jobs_of(daemon)), 240)
    results = {job["result"] for job in jobs_of(daemon)}
    expect(results == {"completed"}, f"{results}")
    ran = sorted(open(marks).read().split("\n")[:-1])
    expect(len(ran) == JOBS and len(set(ran)) == JOBS, f"{len(ran)} runs of {JOBS} jobs")
    expect(all(line.endswith(" 0") for line in ran), f"restarts are not counted: {ran}")
    expect("are held" not in daemon.goban_run("queue").stdout, "it is over")
    print(f"passed: {JOBS} jobs waited and completed")
    print(f"counts: disks=1 jobs={JOBS}")


main()

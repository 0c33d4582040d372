"""`goban wait` returns with its jobs: their exit code, a timeout, a restart of the daemon, Ctrl-C.

    wait.py GOBAN
"""

import json
import os
import signal
import sys
import time

from live_daemon import Client, Daemon, expect, let_go, waiting_job


def submit(daemon, *words):
    ran = daemon.goban_run("submit", "--parsable", *words)
    expect(ran.returncode == 0, ran.stderr)
    return ran.stdout.strip()


def exit_codes(daemon):
    bad = submit(daemon, "--wrap", "exit 7")
    good = submit(daemon, "--wrap", "true")
    worse = submit(daemon, "--array", "0-1", "--wrap", "kill -KILL $$")
    one = daemon.goban_run("wait", bad)
    expect((one.returncode, one.stdout) == (7, f"{bad} failed, exit code 7\n"), f"{one}")
    expect(daemon.goban_run("wait", good).returncode == 0, "a job that completed")
    several = daemon.goban_run("wait", good, bad, worse)
    expect(several.returncode == 128 + 9 and f"{worse}_1 failed, signal 9\n" in several.stdout, f"{several}")
    listed = json.loads(daemon.goban_run("wait", good, bad, "--json").stdout)
    expect([each["result"] for each in listed] == ["failed", "completed"], listed)
    never = submit(daemon, "--dependency", f"afterok:{bad}", "--wrap", "true")
    expect(daemon.goban_run("wait", never).returncode == 1, "a job that never runs")
    unknown = daemon.goban_run("wait", good, "4000")
    expect(unknown.returncode == 1 and "unknown job 4000" in unknown.stderr, unknown.stderr)


def patience(daemon):
    path, job = waiting_job(daemon, 3, "patience")
    number = submit(daemon, "--wrap", job)
    late = daemon.goban_run("wait", number, "--timeout", "1s")
    expect(late.returncode == 124 and "1s" in late.stderr, f"{late}")
    late = daemon.goban_run("wait", number, "--timeout", "0s", "--json")
    expect(late.returncode == 124 and json.loads(late.stdout)[0]["state"] != "done", f"{late}")
    expect(daemon.goban_run("wait", number, "--timeout", "soon").returncode == 2, "no time")
    interrupted = Client(daemon, "wait", number)
    interrupted.process.send_signal(signal.SIGINT)
    expect(interrupted.end()[1] in (130, -signal.SIGINT), interrupted.said())
    expect(daemon.goban_run("wait", "--user", "me", "--timeout", "0s").returncode == 124, "all of mine")
    held = submit(daemon, "--hold", "--wrap", "true")
    daemon.goban_run("cancel", held)
    absent = Client(daemon, "wait", number, held, "--timeout", "3s")
    absent.until(f"{held} cancelled")
    daemon.stop(signal.SIGKILL)
    began = time.monotonic()
    expect(absent.end()[1] == 124 and time.monotonic() - began < 10, "a timeout without a daemon")
    daemon.start()
    both = Client(daemon, "wait", number, held)
    both.until(f"{held} cancelled")
    for how in (signal.SIGTERM, signal.SIGKILL):
        daemon.stop(how)
        daemon.start()
    let_go(path)
    expect(both.end() == (f"{number} failed, exit code 3\n", 3), both.said())


def forgotten_jobs(daemon):
    """A job that ended while nobody looked, and that the scheduler has forgotten since."""
    path, job = waiting_job(daemon, 4, "forgotten")
    number = submit(daemon, "--wrap", job)
    held = submit(daemon, "--hold", "--wrap", "true")
    daemon.goban_run("cancel", held)
    waits = Client(daemon, "wait", number, held)
    waits.until(f"{held} cancelled")
    daemon.wait_for("it runs", lambda: json.loads(daemon.goban_run("show", number, "--json").stdout)[0]["state"]
                    == "running")
    daemon.stop()
    waits.process.send_signal(signal.SIGSTOP)
    daemon.start()
    let_go(path)

    def is_forgotten():
        daemon.goban_run("run", "true")
        return int(number) not in [each["job"] for each in
                                   json.loads(daemon.goban_run("queue", "--all", "--json").stdout)]

    daemon.wait_for("it is forgotten", is_forgotten, 60)
    waits.process.send_signal(signal.SIGCONT)
    expect(waits.end() == (f"{number} failed, exit code 4\n", 4), waits.said())
    expect(daemon.goban_run("wait", number).returncode == 4, "once more")


def main():
    with Daemon(sys.argv[1], config='keep_ended = "2s"\n') as daemon:
        for part in (exit_codes, patience, forgotten_jobs):
            part(daemon)
            print(part.__name__, "passed")


main()

"""How a running job ends: no stop takes longer than the site allows, a limit holds without the daemon, and stray signals
end nothing.

    stops.py GOBAN
"""

import json
import os
import resource
import signal
import sys
import time

from live_daemon import Daemon, expect

DEAF = "trap '' TERM; echo up > up-$GOBAN_JOB_ID; while :; do sleep 0.1; done"


def submit(daemon, *words):
    run = daemon.goban_run("submit", "--output", "/dev/null", *words)
    expect(run.returncode == 0, run.stderr)
    return run.stdout.split()[-1].rstrip(".")


def job(daemon, number):
    return json.loads(daemon.goban_run("show", number, "--json").stdout)[0]


def path(daemon, name):
    return os.path.join(daemon.folder, name)


def wait_for_file(daemon, name):
    daemon.wait_for(name, lambda: os.path.exists(path(daemon, name)))


def deaf_jobs(daemon):
    refused = daemon.goban_run("submit", "--time", "2s", "--grace", "365d", "--wrap", DEAF)
    expect(refused.returncode != 0 and "grace" in refused.stderr and "300" in refused.stderr, refused.stderr)
    first = submit(daemon, "--time", "1s", "--grace", "4m", "--wrap", DEAF)
    second = submit(daemon, "--grace", "4m", "--wrap", DEAF)
    for number in first, second:
        wait_for_file(daemon, f"up-{number}")
    time.sleep(1.2)  # the first one ignores its limit now
    began = time.monotonic()
    expect(daemon.goban_run("cancel", first, "--now").returncode == 0, "cancel --now")
    for _ in range(2):
        expect(daemon.goban_run("cancel", second).returncode == 0, "a second cancel")
    for number in first, second:
        daemon.wait_for("its end", lambda n=number: job(daemon, n)["state"] == "done")
    expect(time.monotonic() - began < 20, "long before the grace is over")


def limits(daemon):
    """The signal comes before the end, as in Slurm, and both come without a daemon."""
    number = submit(daemon, "--signal", "USR1@3s", "--time", "6s", "--wrap",
                    "trap 'date +%s.%N > usr' USR1; trap 'date +%s.%N > term; exit 1' TERM; "
                    "date +%s.%N > began; while :; do sleep 0.05; done")
    wait_for_file(daemon, "began")
    daemon.stop(signal.SIGKILL)
    wait_for_file(daemon, "term")
    daemon.start()
    began, usr, term = (float(open(path(daemon, name)).read()) for name in ("began", "usr", "term"))
    expect(2.5 < usr - began < 5 and 5.5 < term - began < 9, f"signal after {usr - began:.2f} s, end after {term - began:.2f} s")
    ended = daemon.wait_for("its end", lambda: job(daemon, number) if job(daemon, number)["state"] == "done" else None)
    expect(ended["result"] == "timed_out", str(ended))
    print(f"--signal USR1@3s --time 6s: signal after {usr - began:.2f} s, end after {term - began:.2f} s")


def umask(daemon):
    before = os.umask(0o077)
    number = submit(daemon, "--wrap", "umask > mask")
    os.umask(before)
    daemon.wait_for("its end", lambda: job(daemon, number)["state"] == "done")
    expect(open(path(daemon, "mask")).read() == "0077\n", "the umask of the submitter")
    expect(os.stat(path(daemon, "mask")).st_mode & 0o777 == 0o600, "of a file of the job")


def stray_signals(daemon):
    number = submit(daemon, "--wrap", "echo up > stray; sleep 2")
    wait_for_file(daemon, "stray")
    for stray in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGIO, signal.SIGXFSZ,
                  signal.SIGXCPU):
        daemon.process.send_signal(stray)
    time.sleep(0.3)
    expect(daemon.process.poll() is None and daemon.goban_run("queue").returncode == 0, "the daemon works on")
    ended = daemon.wait_for("its end", lambda: job(daemon, number) if job(daemon, number)["state"] == "done" else None)
    expect(ended["result"] == "completed", str(ended))


def size_limit(daemon):
    """A daemon that may not let its files grow (ulimit -f) is one whose disk is full: it says so, and goes on afterwards."""
    go = path(daemon, "go")
    number = submit(daemon, "--wrap", f"echo up > small; until [ -e {go} ]; do sleep 0.1; done")
    wait_for_file(daemon, "small")
    soft, hard = resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (0, hard))
    run = daemon.goban_run("submit", "--wrap", "true")
    expect(run.returncode == 1 and "File too large" in run.stderr, run.stdout + run.stderr)
    open(go, "w").close()
    time.sleep(0.5)
    expect(daemon.process.poll() is None and daemon.goban_run("queue").returncode == 0, "the daemon lives")
    resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (soft, hard))
    ended = daemon.wait_for("its end", lambda: job(daemon, number) if job(daemon, number)["state"] == "done" else None)
    expect(ended["result"] == "completed", str(ended))
    expect(daemon.goban_run("submit", "--wrap", "true").returncode == 0, "submissions are accepted again")


def replay(daemon):
    """Without a GPU library, and without naming the GPUs."""
    run = daemon.goban_run("replay", daemon.state, "--config", daemon.config)
    expect(run.returncode == 0 and "libnvidia" not in run.stderr, run.stdout + run.stderr)


def main():
    with Daemon(sys.argv[1], own_log=True) as daemon:
        deaf_jobs(daemon)
        limits(daemon)
        umask(daemon)
        stray_signals(daemon)
        size_limit(daemon)
        replay(daemon)
    print("passed")


main()

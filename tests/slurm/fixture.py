"""The Slurm of our tests: it stands up within seconds, two of them beside each other, gives a job exactly the GPUs that were
asked for, and ends exactly what it started, even after its starter was killed.

    fixture.py     (needs root and Slurm; 77 without them)
"""

import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))

from live_daemon import expect
from slurm_site import SlurmSite, skip_where_missing
from loopback_site import processes

SCRIPT = "#!/bin/sh\n(trap '' TERM; sleep 600) &\necho $CUDA_VISIBLE_DEVICES $SLURM_JOB_GPUS $(hostname)\nsleep 600\n"


def two_side_by_side():
    began = time.monotonic()
    with SlurmSite() as first:
        took = time.monotonic() - began
        with SlurmSite(nodes=2, gpus=2, typed=False) as second:
            out = first.path("log/job.out")
            number = first.sbatch("--gres=gpu:g1:1,gpu:g3:1", "-w", "n2", f"--output={out}", script=SCRIPT)
            first.wait_for("the job", lambda: os.path.exists(out) and "1,3" in open(out).read())
            expect(open(out).read().startswith("1,3 1,3 "), open(out).read())
            job = first.job(number)
            expect(job["NodeList"] == "n2" and job["GRES"] == "gpu:g1:1(IDX:1),gpu:g3:1(IDX:3)", str(job))
            expect(second.job(number) == {} and second.idle_nodes() == 2, "the other one knows nothing of it")
            first.kill("slurmctld", signal.SIGTERM)  # SIGKILL would forget a job of the last seconds
            first.start("slurmctld")
            first.wait_for("slurmctld", lambda: first.state(number) == "RUNNING")
            stranger = subprocess.Popen(["sleep", "60"], env=first.environment)
            inside = first.own_processes()
            expect(len(inside) >= 6 + 3, f"six daemons and a job's processes: {inside}")
        expect(second.own_processes() == set(), "the second one is gone")
        expect(first.state(number) == "RUNNING" and first.own_processes() == inside, "and the first one untouched")
    expect(not inside & processes().keys(), "the first one and its job are gone")
    expect(not os.path.exists(first.folder) and not os.path.exists(second.folder), "and their folders")
    expect(stranger.poll() is None, "a stranger's process goes on")
    stranger.kill()
    stranger.wait()
    return took


def killed_starter(after_s):
    site = SlurmSite()
    command = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "slurm_site.py")]
    starter = subprocess.Popen([*command, "up", "--folder", site.folder], stdout=subprocess.DEVNULL)
    time.sleep(after_s)
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    left = site.own_processes()
    down = subprocess.run([*command, "down", "--folder", site.folder], check=False)
    expect(down.returncode == 0 and site.own_processes() == set(), "down cleans up after a starter that was killed")
    expect(not os.path.exists(site.folder), "with its folder")
    return len(left)


def main():
    skip_where_missing()
    took = two_side_by_side()
    left = []
    while len(left) < 4 or (not any(left) and len(left) < 20):  # a busy machine starts nothing in the first second
        left.append(killed_starter(0.15 * (len(left) + 1)))
    expect(any(left), "a killed starter leaves processes behind, else this tests nothing")
    print(f"4 nodes up after {took:.2f} s; {left} processes left by killed starters")


if __name__ == "__main__":
    main()

"""CPU time with 10,000 jobs in the queue, in ten arrays or one by one: slurmctld alone, and with Goban deciding. --release: also how long
`goban engine slurm release-all` takes for them.

    load.py GOBAN [--seconds S] [--singles] [--release] [--poll 1s] [--settle S] [--not-alone]     (needs root and Slurm; 77 without them)
"""

import argparse
import os
import resource
import time

from serving import SERVING_LINES, USER, Serving
from slurm_site import SlurmSite, skip_where_missing

ARRAYS = 10
CONFIG = "MaxJobCount=50000\n"


def cpu_s(process, with_children=False):
    if not with_children:
        return time.clock_gettime((~process << 3) | 2)  # the clock of all its threads, to the nanosecond (clock_getcpuclockid)
    with open(f"/proc/{process}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return sum(int(each) for each in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def fill(site, singles):
    """16 GPUs are busy for long, and 10,000 jobs wait."""
    running = [site.sbatch("--gres=gpu:4", script="#!/bin/sh\nexec sleep 3600\n", user=USER) for _ in range(4)]
    site.wait_for("busy GPUs", lambda: all(site.state(number) == "RUNNING" for number in running), 60)
    if singles:  # all of them by one shell, which is quicker
        site.run("sh", "-c", "for i in $(seq 10000); do sbatch -Q --output=/dev/null --gres=gpu:1 --wrap 'sleep 600'; done", user=USER,
                 timeout=900, check=True)
        return
    for _ in range(ARRAYS):
        site.sbatch("--gres=gpu:1", "--array=0-999", user=USER)


def measure(seconds, *processes):
    """CPU seconds per second, by process."""
    before = [cpu_s(*process) for process in processes]
    began = time.monotonic()
    time.sleep(seconds)
    took = time.monotonic() - began
    return [(cpu_s(*process) - was) / took for process, was in zip(processes, before)]


def release_all(serving):
    """Without the daemon, as when it is gone."""
    site, ctld = serving.site, serving.site.daemon("slurmctld")[0]
    serving.daemon.stop()
    own, before, began = resource.getrusage(resource.RUSAGE_CHILDREN), cpu_s(ctld), time.monotonic()
    ran = site.run(serving.goban, "engine", "slurm", "release-all", "--partitions", "gpu", timeout=1800)
    took, now = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = now.ru_utime + now.ru_stime - own.ru_utime - own.ru_stime
    print(f"release-all: exit code {ran.returncode}, {ran.stdout.strip()} {ran.stderr.strip()[:500]}\n"
          f"{took:.1f} s; {used:.2f} CPU s of goban and Slurm's commands, {cpu_s(ctld) - before:.2f} of slurmctld", flush=True)
    held = site.run("squeue", "-h", "-r", "-t", "PD", "-o", "%Q", timeout=120).stdout.split().count("0")
    print(f"{held} jobs are held", flush=True)
    serving.daemon.start()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("goban")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--singles", action="store_true")
    parser.add_argument("--release", action="store_true")
    parser.add_argument("--poll", default="1s")
    parser.add_argument("--settle", type=float, default=30, help="seconds before the measurement")
    parser.add_argument("--not-alone", action="store_true", help="only with Goban")
    options = parser.parse_args()
    skip_where_missing()
    alone = 0
    if not options.not_alone:
        with SlurmSite(typed=False, config=CONFIG + SERVING_LINES) as site:  # the same pings of nodes
            fill(site, options.singles)
            time.sleep(options.settle)
            alone, = measure(options.seconds, (site.daemon("slurmctld")[0],))
        print(f"slurmctld alone: {alone:.4f} CPU s a second", flush=True)
    with Serving(options.goban, policy="easy-backfill+pal", slurm=CONFIG, poll=options.poll) as serving:
        began = time.monotonic()
        fill(serving.site, options.singles)
        serving.site.wait_for("all jobs", lambda: len(serving.jobs_listed()) >= 1000 * ARRAYS, 300)
        time.sleep(options.settle)
        daemon = serving.daemon.process.pid
        print(f"all jobs are listed after {time.monotonic() - began:.1f} s", flush=True)
        ctld, own, all_of_it = measure(options.seconds, (serving.site.daemon("slurmctld")[0],), (daemon,), (daemon, True))
        print(f"with Goban: slurmctld {ctld:.4f}, daemon {own:.4f}, squeue and scontrol {all_of_it - own:.4f} CPU s a second"
              + (f"; slurmctld {ctld / max(alone, 1e-4):.2f} times" if alone else ""), flush=True)
        if options.release:
            release_all(serving)


if __name__ == "__main__":
    main()

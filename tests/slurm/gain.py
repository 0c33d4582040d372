"""200 jobs on 16 GPUs of which some are slow: Slurm's own order and choice of GPUs against Goban with PAL. A job computes as long as
its slowest GPU takes; the slowness is injected by node and index.

    gain.py GOBAN [--jobs N] [--seed S]     (needs root and Slurm; 77 without them)
"""

import argparse
import os
import random
import statistics
import time

from serving import USER, Serving, expect
from slurm_site import SlurmSite, skip_where_missing

# By node and index: a quarter of the GPUs is slow.
SLOW = {("n1", 0): 1.8, ("n2", 1): 1.6, ("n3", 2): 2.2, ("n4", 3): 1.5}
SCRIPT = """#!/bin/sh
sleep $(awk -v node=$SLURMD_NODENAME -v gpus=,$SLURM_JOB_GPUS, -v seconds={seconds} \\
  '$1 == node && index(gpus, "," $2 ",") && $3 > most {{most = $3}} END {{print seconds * most}}' {table})
"""


def workload(count, seed):
    chosen = random.Random(seed)
    return [(chosen.choice((1, 1, 1, 2, 2, 4)), chosen.choice((4, 6, 8, 12, 16))) for _ in range(count)]


def run(site, jobs):
    """Average of completion times and makespan, in seconds, from squeue's times."""
    table = site.path("slowness")
    with open(table, "w") as out:
        for node in site.node_names():
            out.writelines(f"{node} {gpu} {SLOW.get((node, gpu), 1.0)}\n" for gpu in range(4))
    os.chmod(table, 0o644)
    began = time.time()
    numbers = [site.sbatch(f"--gres=gpu:{gpus}", "-t", "10", script=SCRIPT.format(table=table, seconds=seconds), user=USER)
               for gpus, seconds in jobs]

    def over():
        states = dict(line.split() for line in site.run("squeue", "-h", "-t", "all", "-o", "%A %T").stdout.splitlines())
        return all(states.get(number) == "COMPLETED" for number in numbers)
    site.wait_for("all jobs", over, 3600)
    site.environment["SLURM_TIME_FORMAT"] = "%s"
    ends = {}
    for line in site.run("squeue", "-h", "-t", "all", "-o", "%A %e").stdout.splitlines():
        number, end = line.split()
        ends[number] = int(end)
    times = [ends[number] - began for number in numbers]
    return statistics.mean(times), max(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("goban")
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--policy", default="easy-backfill+pal")
    options = parser.parse_args()
    skip_where_missing()
    jobs = workload(options.jobs, options.seed)
    with SlurmSite() as site:
        alone = run(site, jobs)
    print(f"Slurm alone: average JCT {alone[0]:.1f} s, makespan {alone[1]:.1f} s", flush=True)
    scores = f"/tmp/goban-gain-{os.getpid()}.csv"
    with open(scores, "w") as out:
        out.write("GPU_ID,PerfVar_classA\n")
        for place in range(16):
            out.write(f"{place},{SLOW.get((f'n{place // 4 + 1}', place % 4), 1.0)}\n")
    cluster = scores.replace(".csv", ".toml")
    with open(cluster, "w") as out:
        out.write('name = "lab"\n[[gpu_model]]\nname = "GPU"\n')
        for node in range(1, 5):
            out.write(f'[[nodes]]\nname = "n{node}"\ngpus = 4\ngpu_model = "GPU"\n')
    with Serving(options.goban, policy=options.policy, indices="types", config=f'scores = "{scores}"\ncluster = "{cluster}"\n') as serving:
        ours = run(serving.site, jobs)
        time.sleep(2)
        expect(all(job["state"] == "done" for job in serving.jobs().values()), "all over")
        serving.daemon.stop(9)
        decisions = serving.replay()
        serving.daemon.start()
    print(f"Goban, {options.policy}: average JCT {ours[0]:.1f} s, makespan {ours[1]:.1f} s; {decisions} decisions replayed equal")
    print(f"gain: JCT {1 - ours[0] / alone[0]:.1%}, makespan {1 - ours[1] / alone[1]:.1%}")
    os.remove(scores)
    os.remove(cluster)


if __name__ == "__main__":
    main()

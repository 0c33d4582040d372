"""One mix of jobs on a Kubernetes, on a Slurm and in the simulator, under the same policy and scores: each journal replays to equal
decisions, and the mean completion times of the three are close. A job computes as long as its slowest GPU takes; the slowness is
injected by node and index.

    mix.py GOBAN [--jobs N] [--seed S] [--policy P,...] [--tolerance PERCENT]     (77 without Go; without root and Slurm it leaves Slurm out)

Kubernetes and Slurm run side by side, and their policies, too: their jobs sleep.
"""

import argparse
import concurrent.futures
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "live"))
sys.path.append(os.path.join(HERE, "..", "slurm"))

import slurm_site
from engine import JOBS, give_rights, job
from kube_site import ANY_VERSION, KubeSite, build, skip_where_missing
from live_daemon import Daemon, expect
from serving import USER, Serving

NODES, GPUS = 4, 4
LIMIT_S = 3600
SLURM_LIMIT_S = 3600  # a walltime limit bounds predicted run times
# By node and index: a quarter of the GPUs is slow.
SLOW = {("n1", 0): 1.8, ("n2", 1): 1.6, ("n3", 2): 2.2, ("n4", 3): 1.5}
SCRIPT = """#!/bin/sh
sleep $(awk -v node=$SLURMD_NODENAME -v gpus=,$SLURM_JOB_GPUS, -v seconds={seconds} \\
  '$1 == node && index(gpus, "," $2 ",") && $3 > most {{most = $3}} END {{print seconds * most}}' {table})
date +%s.%N >{ends}/{name}
"""


def workload(count, seed):
    """(submission, GPUs, seconds), of which about as many arrive as the GPUs can serve."""
    chosen, at, jobs = random.Random(seed), 0.0, []
    for _ in range(count):
        jobs.append((at, chosen.choice((1, 1, 1, 2, 2, 4)), chosen.choice((40, 60, 90, 120, 160))))
        at += chosen.expovariate(1 / 9)
    return jobs


def site_files(folder):
    """Lines of a daemon's configuration: its scores, in the order of a cluster's GPUs."""
    with open(f"{folder}/scores.csv", "w") as out:
        out.write("GPU_ID,PerfVar_classA\n")
        for place in range(NODES * GPUS):
            out.write(f"{place},{SLOW.get((f'n{place // GPUS + 1}', place % GPUS), 1.0)}\n")
    with open(f"{folder}/cluster.toml", "w") as out:
        out.write('name = "lab"\n[[gpu_model]]\nname = "GPU"\n')
        for node in range(1, NODES + 1):
            out.write(f'[[nodes]]\nname = "n{node}"\ngpus = {GPUS}\ngpu_model = "GPU"\n')
    return f'scores = "{folder}/scores.csv"\ncluster = "{folder}/cluster.toml"\n'


def submit_all(jobs, submit):
    """Each at its time; when they were submitted."""
    began, submitted = time.time(), []
    for number, (at, gpus, seconds) in enumerate(jobs):
        time.sleep(max(0.0, began + at - time.time()))
        submit(f"j{number}", gpus, seconds)
        submitted.append(time.time())
    return submitted


def decisions(daemon):
    ran = daemon.goban_run("replay", daemon.state, "--config", daemon.config, "--json")
    expect(ran.returncode == 0, f"replay: {ran.stdout} {ran.stderr}")
    fold = json.loads(ran.stdout)
    expect(fold["other"] == 0 and fold["uncompared"] == 0 and not fold["differences"], ran.stdout)
    return fold["reproduced"]


def on_kubernetes(goban, jobs, policy, files):
    with KubeSite(nodes=NODES, gpus=GPUS, scheduler=False) as site:
        give_rights(site, goban, "all")
        for node in range(1, NODES + 1):
            site.patch(f"/api/v1/nodes/n{node}", {"metadata": {"labels": {"goban.dev/gpus": str(GPUS)}}})
        slow = json.dumps({f"{node}/{gpu}": times for (node, gpu), times in SLOW.items()})
        daemon = Daemon(goban, f'engine = "kubernetes"\npolicy = "{policy}"\n{files}\n[kubernetes]\nmode = "all"\nindices = "exact"\n'
                               f'kubeconfig = "{site.path("account.kubeconfig")}"\ntakeover = "3s"{ANY_VERSION}\n', gpus=0, own_log=True)
        try:
            daemon.start()

            def submit(name, gpus, seconds):
                made = job(name, 1, gpus=0, run_s=seconds, **{"goban.dev/gpus": str(gpus)})
                made["spec"]["template"]["metadata"]["annotations"]["kubelab/slow"] = slow
                site.post(JOBS, made)
            ends, limit = {}, time.monotonic() + LIMIT_S
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                submitting = pool.submit(submit_all, jobs, submit)
                while len(ends) < len(jobs):
                    now = time.time()
                    for pod in site.pods():
                        if pod["status"]["phase"] == "Succeeded":
                            ends.setdefault(pod["metadata"]["labels"]["job-name"], now)
                    expect(time.monotonic() < limit, "all jobs end")
                    time.sleep(0.2)
                submitted = submitting.result()
            site.wait_for("the daemon's account", lambda: all(
                each["state"] == "done" for each in daemon.request("GET", "/v1/jobs?all=1")[1]["jobs"]))
            daemon.stop(9)
            return statistics.mean(ends[f"j{n}"] - at for n, at in enumerate(submitted)), decisions(daemon)
        finally:
            if daemon.process.poll() is None:
                daemon.stop(9)
            shutil.rmtree(daemon.folder, ignore_errors=True)


def on_slurm(goban, jobs, policy, files):
    with Serving(goban, policy=policy, indices="types", config=files) as serving, tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        table = serving.site.path("slowness")
        with open(table, "w") as out:
            for node in serving.site.node_names():
                out.writelines(f"{node} {gpu} {SLOW.get((node, gpu), 1.0)}\n" for gpu in range(GPUS))
        os.chmod(table, 0o644)
        submitted = submit_all(jobs, lambda name, gpus, seconds: serving.site.sbatch(
            f"--gres=gpu:{gpus}", "-t", str(SLURM_LIMIT_S // 60), script=SCRIPT.format(table=table, seconds=seconds, ends=folder, name=name), user=USER))
        serving.site.wait_for("all jobs", lambda: len(os.listdir(folder)) == len(jobs) and all(
            os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder)), LIMIT_S)
        ends = []
        for number in range(len(jobs)):
            with open(os.path.join(folder, f"j{number}")) as file:
                ends.append(float(file.read()))
        serving.site.wait_for("the daemon's account", lambda: all(each["state"] == "done" for each in serving.jobs().values()))
        serving.daemon.stop(9)
        count = serving.replay()
        serving.daemon.start()
        return statistics.mean(end - at for end, at in zip(ends, submitted)), count


def simulated(goban, jobs, policy, folder, limit_s):
    """A pod has its GPUs on one node, as a job of sbatch without -N has: a resource type for each number of GPUs."""
    with open(f"{folder}/cluster.toml") as file, open(f"{folder}/types.toml", "w") as out:
        out.write(file.read())
        out.writelines(f'[[resource_type]]\nname = "gpus{gpus}"\ngpus = {gpus}\n' for gpus in sorted({gpus for _, gpus, _ in jobs}))
    with open(f"{folder}/jobs.csv", "w") as out:
        out.write("job_id,submit_time,duration,num_gpus,resource_type,instances,user,class,walltime_s\n")
        out.writelines(f"j{n},{at:.3f},{seconds},{gpus},gpus{gpus},1,u,A,{limit_s}\n" for n, (at, gpus, seconds) in enumerate(jobs))
    ran = subprocess.run([goban, "simulate", "--cluster", f"{folder}/types.toml", "--jobs", f"{folder}/jobs.csv", "--scores", f"{folder}/scores.csv",
                          "--policy", policy, "--restart-cost", "0", "--json"], capture_output=True, text=True, check=False)
    expect(ran.returncode == 0, ran.stdout + ran.stderr)
    return json.loads(ran.stdout)["runs"][0]["avg_jct_s"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("goban")
    parser.add_argument("--jobs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--policy", default="fifo+pal,expansion+promise-backfill+priced+pal-tight")
    parser.add_argument("--tolerance", type=float, default=3, help="percent")
    options = parser.parse_args()
    skip_where_missing()
    build()
    goban = os.path.abspath(options.goban)
    jobs = workload(options.jobs, options.seed)
    without_slurm = slurm_site.missing()
    if without_slurm:
        print(f"without Slurm: {without_slurm}")
    far = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(8) as pool:
        files = site_files(folder)
        runs = {(policy, name): pool.submit(run, goban, jobs, policy, files) for policy in options.policy.split(",")
                for name, run in (("Kubernetes", on_kubernetes), *(() if without_slurm else (("Slurm", on_slurm),)))}
        for policy in options.policy.split(","):
            for (of_policy, name), run in runs.items():
                if of_policy != policy:
                    continue
                mean, count = run.result()
                expected = simulated(goban, jobs, policy, folder, SLURM_LIMIT_S if name == "Slurm" else "")
                difference = mean / expected - 1
                print(f"{policy}: mean JCT on {name} {mean:.1f} s, simulated {expected:.1f} s ({difference:+.1%}); "
                      f"{count} decisions replayed equal", flush=True)
                if abs(difference) > options.tolerance / 100:
                    far.append((policy, name))
    with open("/proc/loadavg") as load:
        print(f"load {load.read().strip()}")
    expect(not far, f"further than {options.tolerance} % from the simulator: {far}")


if __name__ == "__main__":
    main()

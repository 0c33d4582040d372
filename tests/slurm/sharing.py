"""Jobs of shards beside each other on one GPU of a real Slurm: two applications that ran alone before are placed together, the agents'
readings and the jobs' progress show how they slow each other down, and Goban undoes it: the younger one is requeued and runs elsewhere,
the older one goes on. All partitions are managed.

    sharing.py GOBAN     (needs root and Slurm; 77 without them)
"""

import csv
import io
import os
import sys
import time

from agents import Agents, stands
from serving import USER, Serving, expect
from slurm_site import FIRST_WITH_SHARDS, skip_where_missing, version

CLUSTER = """name = "lab"
[[gpu_model]]
name = "V100"
memory = "32 GiB"
[[nodes]]
count = 2
name = "n{}"
start = 1
gpus = 4
gpu_model = "V100"
cores = 16
memory = "5000 MiB"
"""
POWER = """[[node]]
name = "test"
gpus = 4
host_idle_w = 50
gpu_idle_w = 30
gpu_max_w = 300
gpu_dynamic_w = 200
"""
SHARING = ("live", "min_residence_s=0", "observe_max_s=60", "max_slowdown=3", "min_saving=-1")

# An epoch takes .25 s, a fifth of it busy; fifty times as long beside another job on the same GPU, which each job shows by a file of its own.
TRAINING = """
import os, socket, sys, time
folder, stop = sys.argv[1:]
here = os.path.join(folder, os.environ["SLURMD_NODENAME"] + "-" + os.environ["CUDA_VISIBLE_DEVICES"])
os.makedirs(here, exist_ok=True)
own = os.path.join(here, os.environ["SLURM_JOB_ID"])
report = socket.socket(socket.AF_UNIX)
report.connect(os.environ["GOBAN_PROGRESS_SOCKET"])
epoch = 0
while not os.path.exists(stop):
    open(own, "w").close()
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    others = [name for name in os.listdir(here) if time.time() - os.stat(os.path.join(here, name)).st_mtime < 3]
    time.sleep(0.2 if len(others) == 1 else 12)
    epoch += 1
    report.sendall(b"progress epoch=%d epochs=100000\\n" % epoch)
"""


class Trainings:
    def __init__(self, serving, agents):
        self.serving, self.site, self.folder = serving, serving.site, os.path.join(agents.folder, "trainings")
        os.makedirs(self.folder)
        os.chmod(self.folder, 0o777)
        with open(os.path.join(self.folder, "training.py"), "w") as out:
            out.write(TRAINING)
        self.stops = {}

    def submit(self, model):
        stop = os.path.join(self.folder, f"stop-{len(self.stops)}")
        script = f"#!/bin/sh\nexec python3 {self.folder}/training.py {self.folder} {stop}\n"
        number = self.site.sbatch("--gres=shard:2", "-J", model, f"--comment=goban:model={model};gpu-memory=2G", script=script, user=USER)
        self.stops[number] = stop
        return number

    def end(self, number):
        open(self.stops[number], "w").close()
        job = self.serving.wait_state(number, "done", limit_s=60)
        expect(job["result"] == "completed", str(job))

    def runs(self, number):
        return self.serving.wait_state(number, "running", limit_s=60)

    def epochs(self, number):
        job = self.serving.job(number)
        return self.serving.daemon.request("GET", f"/v1/jobs/{job['job']}")[1].get("progress", {}).get("epoch", 0)

    def has_run(self, number, epochs):
        self.site.wait_for(f"{epochs} epochs of {number}", lambda: self.epochs(number) >= epochs, 120)

    def learned(self):
        """Rows of the co-location history, by members."""
        told = self.serving.daemon.goban_run("colocation", "export")
        expect(told.returncode == 0, told.stderr)
        return {row["members"]: row for row in csv.DictReader(io.StringIO(told.stdout))}


def alone(trainings):
    for model in ("alexnet", "bert"):
        number = trainings.submit(model)
        trainings.runs(number)
        trainings.has_run(number, 30)
        trainings.end(number)
    known = trainings.learned()
    for model in ("alexnet", "bert"):
        expect(any(members.split("@")[0] == model and float(row["util_pct"]) > 0.5 for members, row in known.items()),
               f"what the agents measured of {model}: {known}")


def together(trainings):
    site = trainings.site
    older = trainings.submit("alexnet")
    gpus = trainings.runs(older)["gpus"]
    trainings.has_run(older, 8)
    began = site.job(older)["StartTime"]
    younger = trainings.submit("bert")
    site.wait_for("both on one GPU", lambda: trainings.runs(younger)["gpus"] == gpus)
    expect(trainings.serving.places(older) == trainings.serving.places(younger), "Slurm runs them there, too")
    site.wait_for("that it is undone", lambda: site.job(younger).get("Restarts") == "1" and site.state(younger) == "RUNNING", 120)
    moved = site.wait_for("another GPU", lambda: (job := trainings.runs(younger))["gpus"] != gpus and job)
    facts = site.job(older)
    expect((facts["JobState"], facts["StartTime"], facts["Restarts"]) == ("RUNNING", began, "0"), f"the older one goes on: {facts}")
    pair = next((row for members, row in trainings.learned().items() if "alexnet" in members and "bert" in members), None)
    expect(pair is not None and all(float(part) > 2 for part in pair["slowdowns"].split("+")), f"what they did to each other: {pair}")
    trainings.has_run(younger, 4)
    third = trainings.submit("bert")
    where = trainings.runs(third)["gpus"]
    expect(where not in (gpus, moved["gpus"]) or where == moved["gpus"], f"not beside what it is known to disturb: {where}")
    for number in (older, younger, third):
        trainings.end(number)
    return pair["slowdowns"]


def main():
    skip_where_missing()
    if version() < FIRST_WITH_SHARDS:
        print("skipped: this Slurm has no shards")
        sys.exit(77)
    began = time.monotonic()
    agents = Agents()
    files = {name: os.path.join(agents.folder, name) for name in ("cluster.toml", "power.toml")}
    for path, text in zip(files.values(), (CLUSTER, POWER)):
        with open(path, "w") as out:
            out.write(text)
    words = ", ".join(f'"{word}"' for word in SHARING)
    config = f'cluster = "{files["cluster.toml"]}"\nenergy = "{files["power.toml"]}"\nsharing = [{words}]\n'
    with Serving(sys.argv[1], mode="all", policy="easy-backfill+packed+share-eaco", indices="types", nodes=2, config=config, keys=agents.keys) as serving:
        try:
            site = serving.site
            ran = site.run(serving.goban, "engine", "slurm", "setup", "--all", "--agents", "--agent-folder", agents.folder)
            expect(ran.returncode == 0, ran.stderr)
            site.run("scontrol", "reconfigure", check=True)
            for node in site.node_names():
                agents.start(serving, node)
            site.wait_for("the agents", lambda: set(stands(serving).values()) == {"up"})
            trainings = Trainings(serving, agents)
            alone(trainings)
            slowdowns = together(trainings)
        finally:
            agents.stop()
        serving.daemon.stop(9)
        decisions = serving.replay()
        serving.daemon.start()
    agents.end()
    print(f"slowdowns {slowdowns}, undone; {decisions} decisions replayed equal; {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main()

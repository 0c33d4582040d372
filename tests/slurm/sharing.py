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
SHARING = ("live", "min_residence_s=0", "observe_max_s=600", "max_slowdown=3", "min_saving=-1")

# What it has done follows from the clock alone, however busy the machine is: 4 epochs a second, or 0.2 while another job is on the same
# GPU, which each job shows by a file with its process. It rests while the file PAUSE exists.
TRAINING = """
import os, socket, sys, time
folder, stop, pause = sys.argv[1:]
here = os.path.join(folder, os.environ["SLURMD_NODENAME"] + "-" + os.environ["CUDA_VISIBLE_DEVICES"])
os.makedirs(here, exist_ok=True)
own = os.environ["SLURM_JOB_ID"] + "-" + str(os.getpid())
open(os.path.join(here, own), "w").close()
report = socket.socket(socket.AF_UNIX)
report.connect(os.environ["GOBAN_PROGRESS_SOCKET"])
steps, before = 0, time.monotonic()
while not os.path.exists(stop):
    end = time.process_time() + 0.02
    while time.process_time() < end:
        pass
    time.sleep(0.1)
    others = [name for name in os.listdir(here) if name != own and os.path.exists("/proc/" + name.partition("-")[2])]
    now = time.monotonic()
    if not os.path.exists(pause):
        steps += (now - before) * (200 if others else 4000)
        report.sendall(b"progress epochs=100000 step=%d steps=100000000\\n" % steps)
    before = now
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
        script = f"#!/bin/sh\nexec python3 {self.folder}/training.py {self.folder} {stop} {stop}.pause\n"
        number = self.site.sbatch("--gres=shard:2", "-J", model, f"--comment=goban:model={model};gpu-memory=2G", script=script, user=USER)
        self.stops[number] = stop
        return number

    def pause(self, number):
        open(f"{self.stops[number]}.pause", "w").close()

    def go_on(self, number):
        os.remove(f"{self.stops[number]}.pause")

    def begun(self, number):
        """Its script has said where it is."""
        return any(name.startswith(f"{number}-") for _, _, names in os.walk(self.folder) for name in names)

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
    """Each on a GPU of its own: what is not known yet is not shared."""
    models = ("alexnet", "bert")
    numbers = [trainings.submit(model) for model in models]
    places = [trainings.runs(number)["gpus"] for number in numbers]
    expect(places[0] != places[1], str(places))
    for number in numbers:
        trainings.has_run(number, 12)
    for number in numbers:
        trainings.end(number)
    known = trainings.learned()
    for model in models:
        expect(any(members.split("@")[0] == model and float(row["util_pct"]) > 0.5 for members, row in known.items()),
               f"what the agents measured of {model}: {known}")


def together(trainings):
    site = trainings.site
    older = trainings.submit("alexnet")
    gpus = trainings.runs(older)["gpus"]
    trainings.has_run(older, 8)
    began = site.job(older)["StartTime"]
    # On a busy machine Slurm says seconds before its script begins that a job runs: until then the older one would go on at its own pace.
    trainings.pause(older)
    younger = trainings.submit("bert")
    site.wait_for("both on one GPU", lambda: trainings.runs(younger)["gpus"] == gpus)
    expect(trainings.serving.places(older) == trainings.serving.places(younger), "Slurm runs them there, too")
    site.wait_for("its script", lambda: trainings.begun(younger), 120)
    trainings.go_on(older)
    site.wait_for("that it is undone", lambda: site.job(younger).get("Restarts") == "1" and site.state(younger) == "RUNNING", 240)
    moved = site.wait_for("another GPU", lambda: (job := trainings.runs(younger))["gpus"] != gpus and job)
    facts = site.job(older)
    expect((facts["JobState"], facts["StartTime"], facts["Restarts"]) == ("RUNNING", began, "0"), f"the older one goes on: {facts}")
    pair = next((row for members, row in trainings.learned().items() if "alexnet" in members and "bert" in members), None)
    expect(pair is not None and all(float(part) > 10 for part in pair["slowdowns"].split("+")), f"what they did to each other: {pair}")
    trainings.has_run(younger, 4)
    third = trainings.submit("bert")
    where = trainings.runs(third)["gpus"]
    expect(where != gpus, f"beside what it is known to disturb: {where}; {moved['gpus']} is allowed")
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

"""One training over several nodes: Slurm starts it where Goban says, mpirun joins its processes, and what they send crosses a network.
Each node has a network namespace, an address and a host name of its own. The losses are those of a run on one machine, bit by bit; on a
slow network a step takes at least as long as its bytes need.

    several_nodes.py GOBAN GOBAN_TRAIN     (needs root, Slurm and iproute2; 77 without them)
"""

import csv
import json
import os
import subprocess
import sys
import time

from serving import USER, Serving, expect
from slurm_site import node_network, skip_where_missing

EPOCHS, STEPS = 2, 2 * 4  # 64 samples in batches of 16
SLOW_MBIT = 40
HEAD = "#!/bin/sh\nexport OMP_NUM_THREADS=1\n"


def losses(folder):
    """Of each epoch, without what a clock measured."""
    with open(os.path.join(folder, "metrics.csv")) as file:
        rows = [{name: value for name, value in row.items() if not name.endswith("_s")} for row in csv.DictReader(file)]
    expect(len(rows) == EPOCHS, str(rows))
    return rows


def profile(folder):
    with open(os.path.join(folder, "profile.json")) as file:
        return json.load(file)


class Training:
    def __init__(self, serving, train):
        self.serving, self.site = serving, serving.site
        self.folder = self.site.path("run/training")
        os.makedirs(self.folder)
        os.chmod(self.folder, 0o777)
        text = os.path.join(self.folder, "text")
        with open(text, "w") as out:
            out.write("\n".join(str(n) for n in range(5000)))
        self.command = (f"{os.path.abspath(train)} lm --text {text} --train-limit 64 --test-limit 16 --batch-size 16 --length 16 --blocks 1 "
                        f"--epochs {EPOCHS} --mesh x:2 --layout batch:x --fixed-order --device cpu")

    def out(self, name):
        return os.path.join(self.folder, name)

    def on_nodes(self, name):
        """As a batch job with a GPU on each of two nodes; what it printed, and the nodes."""
        script = f"{HEAD}mpirun -n 2 --map-by node sh -c 'hostname; exec {self.command} --out {self.out(name)}'\n"
        number = self.site.sbatch("-N2", "--gres=gpu:1", "--output=" + self.out(name + ".txt"), script=script, user=USER)
        job = self.serving.wait_state(number, "running")
        nodes = sorted(gpu["node"] for gpu in job["gpus"])
        expect(len(set(nodes)) == 2 and self.site.job(number)["AdminComment"].startswith("goban:"), f"placed by goban: {job}")
        job = self.serving.wait_state(number, "done", limit_s=120)
        with open(self.out(name + ".txt")) as file:
            text = file.read()
        expect(job["result"] == "completed", f"{job}\n{text}")
        expect(sorted(line for line in text.splitlines() if line in self.site.node_names()) == nodes, text)
        return nodes

    def on_this_machine(self, name):
        ran = subprocess.run([*self.command.split(), "--threads", "2", "--out", self.out(name)], env={**os.environ, "OMP_NUM_THREADS": "1"}, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        expect(ran.returncode == 0, ran.stdout)

    def from_a_login_node(self, name):
        """A master here, its workers on the nodes: `salloc mpirun`, as somebody at a terminal types it."""
        line = ["salloc", "-N2", "--gres=gpu:1", "-J", name, "mpirun", "-n", "2", "--map-by", "node", *self.command.split(), "--out", self.out(name)]
        ran = self.site.run(*line, user=USER, timeout=120)
        expect(ran.returncode == 0, ran.stderr + ran.stdout)
        facts = self.site.job(self.site.number_of(name))
        expect(facts["AdminComment"].startswith("goban:"), f"placed by goban: {facts}")


def main():
    skip_where_missing(network=True)
    began = time.monotonic()
    with Serving(sys.argv[1], policy="easy-backfill+pal", nodes=3, network=True) as serving:
        network = serving.site.network
        training = Training(serving, sys.argv[2])
        training.on_this_machine("here")
        nodes = training.on_nodes("nodes")
        expect(losses(training.out("nodes")) == losses(training.out("here")), "equal losses")
        quick = profile(training.out("nodes"))
        training.from_a_login_node("login")
        expect(losses(training.out("login")) == losses(training.out("here")), "equal losses from a login node")
        network.shape(SLOW_MBIT)
        before = {name: network.sent_bytes(name) for name in network.names}
        slow_nodes = training.on_nodes("slow")
        expect(losses(training.out("slow")) == losses(training.out("here")), "equal losses on a slow network")
        slow = profile(training.out("slow"))
        step_bytes = slow["bytes_per_step"]["value"]
        for name in slow_nodes:
            sent = network.sent_bytes(name) - before[name]
            expect(sent > STEPS * step_bytes, f"{name} sent {sent} bytes, {STEPS} steps of {step_bytes}")
        least_s = (step_bytes - node_network.BURST_BYTES) * 8 / (SLOW_MBIT * 1e6)
        expect(slow["iteration_s"]["value"] > least_s, f"no step is faster than the network: {slow}")
        share = [each["time_pct"]["exposed communication"] for each in (quick, slow)]
    print(f"trained on nodes {nodes}; exposed communication {share[0]:.0f} %, and {share[1]:.0f} % at {SLOW_MBIT} Mbit/s; {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main()

"""One training over several nodes: Slurm starts it where Goban says, mpirun joins its processes, and what they send crosses a network.
Each node has a network namespace, an address and a host name of its own. The losses are those of a run on one machine, bit by bit; on a
slow network a step takes at least as long as its bytes need.

    several_nodes.py GOBAN GOBAN_TRAIN     (needs root, Slurm and iproute2; 77 without them)
"""

import csv
import json
import os
import pty
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


def read_all(terminal):
    """What is printed at a terminal until its last process has closed it."""
    text = b""
    try:
        while more := os.read(terminal, 65536):
            text += more
    except OSError:  # closed
        pass
    return text.decode(errors="replace").replace("\r\n", "\n")


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

    def at_a_terminal(self, name):
        """`goban run --pty`: a master at a terminal of its own on the first of two nodes, from where it starts workers on both. It waits until
        two nodes are free, and is placed by the core."""
        others = [self.site.sbatch("--gres=gpu:4", user=USER) for _ in range(2)]
        for number in others:
            self.serving.wait_state(number, "running")
        master = (f"test -t 0 && test -t 1 && echo terminal on $(hostname); {HEAD.splitlines()[1]}; "
                  f"mpirun -n 2 --map-by node sh -c 'echo worker on $(hostname); exec {self.command} --out {self.out(name)}'; exit 5")
        line = ["goban", "run", "--gpus", "8", "--nodes", "2", "--name", name, "--pty", "sh", "-c", master]
        environment = {**self.serving.daemon.environment, **{key: self.site.environment[key] for key in ("SLURM_CONF", "PATH")},
                       "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        process, terminal = pty.fork()
        if process == 0:
            os.execve(self.serving.goban, line, environment)
        try:
            number = self.site.wait_for("the allocation", lambda: self.site.number_of(name))
            self.serving.wait_state(number, "waiting")
            self.site.run("scancel", others[0], check=True)
            nodes = sorted({gpu["node"] for gpu in self.serving.wait_state(number, "running")["gpus"]})
            text = read_all(terminal)
        finally:
            os.close(terminal)
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        expect(code == 5, f"the exit code of the master: {code}\n{text}")
        mark = self.site.job(number)["AdminComment"]
        expect(len(nodes) == 2 and mark.startswith("goban:") and mark.endswith(".1"), f"placed by the core, once: {mark} {nodes}")
        said = [line.split()[-1] for line in text.splitlines() if line.startswith("worker on ")]
        expect(f"terminal on {nodes[0]}" in text and sorted(said) == nodes, f"{nodes}: {text}")
        self.serving.wait_state(number, "done")
        self.site.run("scancel", others[1], check=True)
        self.serving.wait_state(others[1], "done")

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
        training.at_a_terminal("terminal")
        expect(losses(training.out("terminal")) == losses(training.out("here")), "equal losses of workers that a terminal started")
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

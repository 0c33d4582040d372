"""A real Slurm. Each scenario has nodes, a partition and a daemon of its own, so that all run side by side."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "slurm"))

from driver import Driver, expect
from slurm_site import SlurmSite

USER = "nobody"


class SlurmDriver(Driver):
    def __init__(self, goban, scenario, site, partition, nodes):
        super().__init__(goban, scenario)
        self.site, self.partition, self.nodes = site, partition, nodes

    def config(self):
        scores = ""
        if self.scenario.scores:
            scores = 'cluster = "cluster.toml"\nscores = "scores.csv"\n'
        return (f'engine = "slurm"\npolicy = "{self.scenario.policy}"\n{scores}\n[slurm]\nmode = "partitions"\n'
                f'partitions = ["{self.partition}"]\nindices = "types"\npoll = "0.3s"\nconf = "{self.site.path("etc/slurm.conf")}"\n'), 0

    def write(self, name, text):
        super().write(name, text)
        if name == "scores.csv":
            nodes = "".join(f'[[nodes]]\nname = "{node}"\ngpus = {self.scenario.node_gpus}\ngpu_model = "GPU"\n' for node in self.nodes)
            super().write("cluster.toml", f'name = "lab"\n[[gpu_model]]\nname = "GPU"\n{nodes}')

    def before(self):
        for node in self.scenario.declined():
            self.slurm("scontrol", "create", "reservation", f"reservationname=r{self.partition}", f"nodes={self.nodes[node]}",
                       "starttime=now", "duration=60", "users=root")
        self.daemon.wait_for("the nodes", lambda: all(
            f"{node} " in self.daemon.goban_run("nodes").stdout for node in self.nodes))

    def slurm(self, *words):
        ran = self.site.run(*words)
        expect(ran.returncode == 0, f"{words}: {ran.stderr}")
        return ran.stdout

    def submit(self, job):
        nodes = max(1, job.gpus // self.scenario.node_gpus)
        return self.site.sbatch("-p", self.partition, f"-N{nodes}", f"--gres=gpu:{job.gpus // nodes}", user=USER,
                                script=f"#!/bin/sh\nexec sleep {job.work_s * self.scale}\n")

    def number_of(self, job):
        return job.get("engine_id")

    def word(self, name):
        return f"@{self.numbers[name]}"

    def cancel(self, name, where=""):
        if where != "there":
            return super().cancel(name)
        self.slurm("scancel", self.numbers[name])

    def lose(self, node):
        name = self.nodes[int(node)]
        self.site.kill(name)
        self.slurm("scontrol", "update", f"nodename={name}", "state=down", "reason=test")  # else after SlurmdTimeout

    def restore(self, node):
        self.site.start(self.nodes[int(node)])

    def found(self, name, *gpus):
        """Started by somebody else, in a partition that is not ours."""
        node = self.nodes[int(gpus[0]) // self.scenario.node_gpus]
        types = ",".join(f"gpu:g{int(gpu) % self.scenario.node_gpus}:1" for gpu in gpus)
        self.numbers[name] = self.site.sbatch("-p", "other", "-w", node, f"--gres={types}")
        self.site.wait_for(f"{name} of others", lambda: self.site.state(self.numbers[name]) == "RUNNING")

    def gone(self, name):
        self.slurm("scancel", self.numbers[name])

    def look(self, wanted=None):
        found = super().look(wanted)
        for name in set(self.numbers) - set(self.scenario.jobs):  # of others
            self.ends.pop(name, None)
            self.end_s.pop(name, None)
            self.seen = {key: seen for key, seen in self.seen.items() if key[0] != name}
        return found


class SlurmConformance:
    def __init__(self, goban, scenarios):
        self.goban, self.drivers = goban, {}
        first, lines = 1, "PartitionName=other Nodes=ALL\nSlurmdTimeout=5\n"
        for index, scenario in enumerate(scenarios):
            nodes = sorted(f"n{first + i}" for i in range(scenario.nodes))  # as the daemon counts them
            lines += f"PartitionName=s{index} Nodes={','.join(nodes)}\n"
            self.drivers[scenario.name] = (f"s{index}", nodes)
            first += scenario.nodes
        self.site = SlurmSite(nodes=first - 1, gpus=max(each.node_gpus for each in scenarios), config=lines,
                              scheduler="sched_interval=1,bf_interval=1,batch_sched_delay=0")

    def __enter__(self):
        self.site.__enter__()
        try:
            ran = self.site.run(self.goban, "engine", "slurm", "setup", "--partitions", ",".join(name for name, _ in self.drivers.values()))
            expect(ran.returncode == 0, ran.stderr)
            self.site.run("scontrol", "reconfigure", check=True)
            return self
        except BaseException:
            self.site.down()
            raise

    def __exit__(self, *_):
        self.site.down()

    def driver(self, scenario):
        return SlurmDriver(self.goban, scenario, self.site, *self.drivers[scenario.name])

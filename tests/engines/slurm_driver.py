"""A real Slurm. Each scenario has nodes, a partition and a daemon of its own, so that all run side by side."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "slurm"))

from driver import ClusterDriver, expect, nodes_of
from slurm_site import FIRST_WITH_SHARDS, SlurmSite, missing, version

USER = "nobody"


class SlurmDriver(ClusterDriver):
    def __init__(self, goban, scenario, site, partition, nodes):
        super().__init__(goban, scenario, site, nodes)
        self.partition = partition

    def config(self):
        return (f'engine = "slurm"\npolicy = "{self.scenario.policy}"\n{self.scores()}\n[slurm]\nmode = "partitions"\n'
                f'partitions = ["{self.partition}"]\nindices = "types"\npoll = "0.3s"\nconf = "{self.site.path("etc/slurm.conf")}"\n'), 0

    def before(self):
        for node in self.scenario.declined():
            self.slurm("scontrol", "create", "reservation", f"reservationname=r{self.partition}", f"nodes={self.nodes[node]}",
                       "starttime=now", "duration=60", "users=root")
        self.wait_for_nodes()

    def slurm(self, *words):
        ran = self.site.run(*words)
        expect(ran.returncode == 0, f"{words}: {ran.stderr}")
        return ran.stdout

    def submit(self, job):
        nodes, gpus = self.shares_of(job)
        request = [f"--gres={'shard:2' if job.shares else f'gpu:{gpus}'}"]
        if job.app:
            request.append(f"--comment=goban:model={job.app};gpu-memory=1G")
        return self.site.sbatch("-p", self.partition, f"-N{nodes}", *request, user=USER,
                                script=f"#!/bin/sh\nexec sleep {job.work_s * self.scale}\n")

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


class SlurmConformance:
    missing = staticmethod(missing)
    left_out = {"higher_priority_preempts": "policies preempt no jobs of Slurm's"}

    @staticmethod
    def why_not(scenario):
        """This release cannot have it."""
        return "this Slurm has no shards" if scenario.apps and version() < FIRST_WITH_SHARDS else ""

    def __init__(self, goban, scenarios):
        self.goban, self.scenarios, self.drivers = goban, scenarios, {}
        lines = "PartitionName=other Nodes=ALL\nSlurmdTimeout=5\n"
        nodes, count = nodes_of(scenarios)
        for index, scenario in enumerate(scenarios):
            lines += f"PartitionName=s{index} Nodes={','.join(nodes[scenario.name])}\n"
            self.drivers[scenario.name] = (f"s{index}", nodes[scenario.name])
        self.site = SlurmSite(nodes=count, gpus=max(each.node_gpus for each in scenarios), config=lines,
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

    def stages(self):
        yield self.scenarios

    def driver(self, scenario):
        return SlurmDriver(self.goban, scenario, self.site, *self.drivers[scenario.name])

"""`goban serve` with engine = "slurm" on a real Slurm, for the tests in this folder."""

import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))

from live_daemon import Daemon, expect
from slurm_site import SlurmSite

USER = "nobody"
SERVING_LINES = "PartitionName=other Nodes=ALL\nSlurmdTimeout=5\n"  # of slurm.conf


class Serving:
    """A Slurm of `nodes` x `gpus` that is set up for Goban, and a daemon that decides for it."""

    def __init__(self, goban, mode="partitions", policy="fifo+packed", indices="nodes", config="", slurm="", poll="0.2s",
                 partitions=("gpu",), keys="", **site):
        """`config` and `keys`: lines of the daemon's configuration, before and in its table [slurm]; `slurm`: of slurm.conf."""
        self.goban = os.path.abspath(goban)
        slurm += SERVING_LINES
        self.site = SlurmSite(typed=indices == "types", config=slurm, **site)
        self.mode, self.partitions = mode, partitions
        names = ", ".join(f'"{name}"' for name in partitions)
        partitions = f"partitions = [{names}]\n" if mode == "partitions" else ""
        self.text = (f'engine = "slurm"\npolicy = "{policy}"\n{config}\n[slurm]\nmode = "{mode}"\n{partitions}'
                     f'indices = "{indices}"\npoll = "{poll}"\nconf = "{self.site.path("etc/slurm.conf")}"\n{keys}')
        self.daemon = None

    def __enter__(self):
        self.site.up()
        try:
            if self.mode != "observe":
                which = ["--all"] if self.mode == "all" else ["--partitions", ",".join(self.partitions)]
                ran = self.site.run(self.goban, "engine", "slurm", "setup", *which)
                expect(ran.returncode == 0, ran.stderr)
                self.site.run("scontrol", "reconfigure", check=True)
            self.daemon = Daemon(self.goban, self.text, gpus=0, own_log=True)
            self.daemon.environment["PATH"] += ":/usr/sbin:/sbin"
            self.daemon.start()
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        try:
            if self.daemon:
                if sys.exc_info()[0]:
                    print(self.log(), file=sys.stderr)
                self.daemon.stop()
                shutil.rmtree(self.daemon.folder, ignore_errors=True)
        finally:
            self.site.down()

    def log(self):
        with open(self.daemon.log) as log:
            return log.read()

    def restart(self):
        """The daemon is killed, and another one starts."""
        self.daemon.stop(9)
        self.daemon.start()

    def jobs(self):
        """By Slurm's number, what the daemon lists: the latest of each."""
        status, answer = self.daemon.request("GET", "/v1/jobs?all=1")
        expect(status == 200, str(answer))
        return {job["engine_id"]: job for job in answer["jobs"]}

    def jobs_listed(self):
        jobs, after = [], 0
        while True:
            page = self.daemon.request("GET", f"/v1/jobs?all=1&limit=10000&after={after}")[1]["jobs"]
            jobs += page
            if len(page) < 10000:
                return jobs
            after = page[-1]["job"]

    def job(self, number):
        return self.jobs().get(str(number), {})

    def wait_state(self, number, *states, limit_s=90):
        """Waits until the daemon and Slurm agree that the job is in one of these states of the daemon."""
        return self.site.wait_for(f"job {number} {states}",
                                  lambda: (job := self.job(number)).get("state") in states and job, limit_s)

    def places(self, number):
        """Where Slurm runs the job: node and indices."""
        job = self.site.job(number)
        return job.get("NodeList"), job.get("GRES")

    def replay(self):
        ran = self.daemon.goban_run("replay", self.daemon.state, "--config", self.daemon.config, "--json")
        expect(ran.returncode == 0, f"replay: {ran.stdout} {ran.stderr}")
        fold = json.loads(ran.stdout)
        expect(fold["other"] == 0 and fold["uncompared"] == 0 and not fold["differences"], ran.stdout)
        return fold["reproduced"]

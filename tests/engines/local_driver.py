"""The local engine: a machine with virtual GPUs."""

from driver import Driver, expect


class LocalDriver(Driver):
    gpu_type = "virtual"

    def config(self):
        scores = 'scores = "scores.csv"\n' if self.scenario.scores else ""
        return f'policy = "{self.scenario.policy}"\n{scores}{self.knowledge()}learn = "none"\n', self.scenario.node_gpus

    def submit(self, job):
        known = ["--model", job.app, "--gpu-mem", "1G", *(["--share"] if job.shares else [])] if job.app else []
        ran = self.daemon.goban_run("submit", "--parsable", *known, "--gpus", str(job.gpus), "--priority", str(job.priority), "-o", "/dev/null", "--signal", "TERM@1s",
                                    "--wrap", f"exec sleep {job.work_s * self.scale}")
        expect(ran.returncode == 0, ran.stderr)
        return ran.stdout.strip()

    def number_of(self, job):
        return job["id"]


class LocalSite:
    """What all scenarios share: nothing."""

    left_out = {
        "a_lost_node_gives_its_jobs_back": "one machine is one node",
        "gangs_start_whole": "one machine is one node",
        "jobs_of_others_are_respected": "nobody else starts jobs there",
        "what_is_declined_starts_elsewhere": "one machine is one node",
    }

    @staticmethod
    def missing():
        return ""

    def __init__(self, goban, scenarios):
        self.goban, self.scenarios = goban, scenarios

    def stages(self):
        """Scenarios that run side by side, one group after the other; prepares each."""
        yield self.scenarios

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def driver(self, scenario):
        return LocalDriver(self.goban, scenario)

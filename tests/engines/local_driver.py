"""The local engine: a machine with virtual GPUs."""

from driver import Driver, expect


class LocalDriver(Driver):
    def config(self):
        scores = 'scores = "scores.csv"\n' if self.scenario.scores else ""
        return f'policy = "{self.scenario.policy}"\n{scores}learn = "none"\n', self.scenario.node_gpus

    def submit(self, job):
        ran = self.daemon.goban_run("submit", "--parsable", "--gpus", str(job.gpus), "--priority", str(job.priority), "-o", "/dev/null", "--signal", "TERM@1s",
                                    "--wrap", f"exec sleep {job.work_s * self.scale}")
        expect(ran.returncode == 0, ran.stderr)
        return ran.stdout.strip()

    def number_of(self, job):
        return job["id"]


class LocalSite:
    """What all scenarios share: nothing."""

    def __init__(self, goban, scenarios):
        self.goban = goban

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def driver(self, scenario):
        return LocalDriver(self.goban, scenario)

"""Scenario files of this folder, for engines; tests/scenario/README.md describes the format. The simulator has run each of them
(core_scheduler_test), so that what is expected here is what it did."""

import dataclasses
import os


@dataclasses.dataclass
class Job:
    name: str
    gpus: int
    submit_s: float
    work_s: float
    priority: int = 0
    app: str = ""
    shares: bool = False


@dataclasses.dataclass
class Scenario:
    name: str
    engines: list = dataclasses.field(default_factory=list)
    nodes: int = 1
    node_gpus: int = 1
    policy: str = ""
    scores: list = dataclasses.field(default_factory=list)
    apps: list = dataclasses.field(default_factory=list)  # (name, utilisation, watts)
    together: list = dataclasses.field(default_factory=list)  # (applications, slowdowns)
    jobs: dict = dataclasses.field(default_factory=dict)
    incidents: list = dataclasses.field(default_factory=list)  # (seconds, words)
    starts: list = dataclasses.field(default_factory=list)  # (seconds, job, GPUs), of those that an engine carries out
    ends: dict = dataclasses.field(default_factory=dict)  # job -> finish or cancel
    end_s: dict = dataclasses.field(default_factory=dict)  # job -> when

    def declined(self):
        """The nodes that the engine's own rules keep closed."""
        return [int(words[2]) for _, words in self.incidents if words[0] == "decline"]

    def over_s(self):
        return max(time for time, _, _ in self.starts) + max(job.work_s for job in self.jobs.values())


def expect_line(scenario, time_s, what, job, *gpus):
    declined = {words[1]: at for at, words in scenario.incidents if words[0] == "decline"}
    if what == "start" and time_s >= declined.get(job, -1):
        scenario.starts.append((time_s, job, tuple(int(gpu) for gpu in gpus)))
    elif what in ("finish", "cancel"):
        scenario.ends[job], scenario.end_s[job] = what, time_s


def read(path):
    scenario = Scenario(os.path.splitext(os.path.basename(path))[0])
    expecting = False
    with open(path) as file:
        for line in file:
            words = line.partition("#")[0].split()
            if not words:
                continue
            key, rest = words[0], words[1:]
            if expecting:
                expect_line(scenario, float(key), *rest)
            elif key == "expect":
                expecting = True
            elif key == "engines":
                scenario.engines = rest
            elif key == "cluster":
                scenario.nodes, scenario.node_gpus = (int(each) for each in rest[0].partition(":")[0].split("x"))
            elif key == "policy":
                scenario.policy = rest[0]
            elif key == "scores":
                scenario.scores = [float(each) for each in rest]
            elif key == "job":
                options = dict(word.split("=") for word in rest[4:])
                scenario.jobs[rest[0]] = Job(rest[0], int(rest[1]), float(rest[2]), float(rest[3]), int(options.get("priority", 0)),
                                             options.get("app", ""), options.get("share") == "yes")
            elif key == "app":
                scenario.apps.append(tuple(rest))
            elif key == "together":
                scenario.together.append(tuple(zip(*(word.split(":") for word in rest))))
            elif key == "at":
                scenario.incidents.append((float(rest[0]), rest[1:]))
    return scenario


def read_all(engine):
    """The scenarios that an engine can have."""
    return [each for each in read_folder() if engine in each.engines]


def left_out(engine):
    """The names of the others."""
    return [each.name for each in read_folder() if engine not in each.engines]


def read_folder():
    folder = os.path.dirname(os.path.abspath(__file__))
    return [read(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".scn")]

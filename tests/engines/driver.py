"""What the drivers of engines have in common: a daemon of `goban serve`, and a record of what it says of the scenario's jobs."""

import os
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))

from live_daemon import Daemon, expect


POWER = """[[node]]
name = "test"
gpus = {gpus}
host_idle_w = 100
gpu_idle_w = 30
gpu_max_w = 300
gpu_dynamic_w = 200
"""


class Driver:
    """Runs one scenario, `scale` times as slowly as it is written. An engine's driver adds: config(), submit(), number_of(), and the incidents that the engine can have."""

    def __init__(self, goban, scenario):
        self.goban, self.scenario = goban, scenario
        self.daemon, self.scale = None, 1.0
        self.numbers = {}  # job -> its number at the engine
        self.seen = {}  # (job, run) -> time of the start, GPUs
        self.ends, self.end_s = {}, {}
        self.done = []  # (seconds as planned, time) of our own commands
        self.late_s = 0.0
        self.error = None

    # ---- of an engine

    def config(self):
        """Lines of the daemon's configuration, and its number of virtual GPUs."""
        raise NotImplementedError

    def submit(self, job):
        """The number of a new job at the engine."""
        raise NotImplementedError

    def number_of(self, job):
        """Of a job as the daemon lists it."""
        raise NotImplementedError

    def before(self):
        """Before the first job."""

    # ---- what is known of applications, where jobs share GPUs

    gpu_type = "V100"

    def knowledge(self):
        """Lines of the configuration."""
        return 'energy = "power.toml"\ncolocation = "colocation.csv"\nsharing = ["live"]\n' if self.scenario.apps else ""

    def write_knowledge(self):
        self.write("power.toml", POWER.format(gpus=self.scenario.node_gpus))
        rows = [(app, "", util, watts) for app, util, watts in self.scenario.apps]
        rows += [(" + ".join(apps), " + ".join(slowdowns), "", "") for apps, slowdowns in self.scenario.together]
        self.write("colocation.csv", "gpu_type,members,slowdowns,util_pct,mem_bytes,power_w\n" + "".join(
            f"{self.gpu_type},{members},{slowdowns},{util},{'1 GiB' if util else ''},{watts}\n" for members, slowdowns, util, watts in rows))

    def index_of(self, gpu):
        """Of a GPU as the daemon lists it, in the scenario."""
        return gpu["gpu"]

    # ---- incidents

    def cancel(self, name, *_):
        ran = self.daemon.goban_run("cancel", self.word(name))
        expect(ran.returncode == 0, ran.stderr)

    def requeue(self, name):
        ran = self.daemon.goban_run("requeue", self.word(name))
        expect(ran.returncode == 0, ran.stderr)

    def restart(self):
        self.daemon.stop(9)
        self.daemon.start()

    def decline(self, *_):
        """Set up by before()."""

    def word(self, name):
        return self.numbers[name]

    # ---- a scenario

    def write(self, name, text):
        with open(os.path.join(self.daemon.folder, name), "w") as out:
            out.write(text)

    def run(self):
        try:
            text, gpus = self.config()
            self.daemon = Daemon(self.goban, text, gpus=gpus, own_log=True)
            self.daemon.environment["PATH"] += ":/usr/sbin:/sbin"
            if self.scenario.scores:
                self.write("scores.csv", "GPU_ID,PerfVar_classA\n" + "".join(f"{i},{each}\n" for i, each in enumerate(self.scenario.scores)))
            if self.scenario.apps:
                self.write_knowledge()
            self.daemon.start()
            self.before()
            self.play()
            self.settle()
        except BaseException as error:  # of a thread: said by the caller
            self.error = error

    def play(self):
        actions = [(job.submit_s, 1, "submit", [name]) for name, job in self.scenario.jobs.items()]
        actions += [(at, 0, words[0], words[1:]) for at, words in self.scenario.incidents]
        self.began = zero = time.time()
        for at, _, what, words in sorted(actions, key=lambda action: action[:2]):
            while (left := zero + at * self.scale - time.time()) > 0:
                self.look()
                time.sleep(min(left, 0.2))
            planned = time.time()
            if what == "submit":
                self.numbers[words[0]] = self.submit(self.scenario.jobs[words[0]])
            else:
                getattr(self, what)(*words)
            if what == "submit":
                self.daemon.wait_for("the job in the list", lambda name=words[0]: self.look(name))
            # What the machine needed for it is not the engine's fault, and moves what follows.
            now = time.time()
            self.late_s = max(self.late_s, now - planned)
            zero += now - planned
            self.done.append((at, now, words[0] if what == "submit" else None))

    def look(self, wanted=None):
        """Takes what the daemon lists; returns whether `wanted` is among it."""
        began = time.monotonic()
        status, answer = self.daemon.request("GET", "/v1/jobs?all=1")
        self.late_s = max(self.late_s, time.monotonic() - began)
        expect(status == 200, str(answer))
        names = {number: name for name, number in self.numbers.items()}
        listed = {self.number_of(job) for job in answer["jobs"]}
        for job in answer["jobs"]:
            name = names.get(self.number_of(job))
            if name is None:
                continue
            if job["state"] == "running" and "run_start_s" in job:
                gpus = tuple(sorted(self.index_of(gpu) for gpu in job["gpus"]))
                self.seen.setdefault((name, job["runs"]), (job["run_start_s"], gpus))
            if "result" in job:
                self.ends[name], self.end_s[name] = job["result"], job["end_s"]
        return self.numbers.get(wanted) in listed

    def settle(self):
        end = time.monotonic() + self.scale * self.scenario.over_s() + 60
        while len(self.ends) < len(self.scenario.jobs) and time.monotonic() < end:
            self.look()
            time.sleep(0.2)

    def stop(self):
        if not self.daemon:
            return
        if self.daemon.process and self.daemon.process.poll() is None:
            self.daemon.stop(9)
        if self.error:
            with open(self.daemon.log) as log:
                print(log.read()[-2000:], file=sys.stderr)
        shutil.rmtree(self.daemon.folder, ignore_errors=True)

    # ---- what is compared

    def starts(self):
        return sorted((at, name, gpus) for (name, _), (at, gpus) in self.seen.items())

    def cause(self, name, start_s):
        """When the engine could start a job that the simulator starts at `start_s`: after the last of what had happened until then."""
        causes = [done for at, done, submitted in self.done if at <= start_s and submitted in (None, name)]
        causes += [self.end_s[other] for other, at in self.scenario.end_s.items() if at <= start_s and other != name]
        return max(causes)

    def check(self, within_s):
        """Order of starts, GPUs, and times. Returns by how much the latest start was late, in seconds."""
        wanted, found = self.scenario.starts, self.starts()
        told = f"{self.scenario.name}: expected {wanted}, ends {self.scenario.ends}; found {[(round(at - self.began, 1), *rest) for at, *rest in found]}, ends {self.ends}"
        # Starts at the same time have no order.
        order = sorted(wanted, key=lambda start: start[:2])
        expect(len(found) == len(wanted), told)
        for time_s in sorted({start[0] for start in wanted}):
            same = [start for start in order if start[0] == time_s]
            first = sum(start[0] < time_s for start in order)
            expect(sorted((name, gpus) for _, name, gpus in same) == sorted((name, gpus) for _, name, gpus in found[first:first + len(same)]), told)
        ends = {name: "cancel" if result == "cancelled" else "finish" for name, result in self.ends.items()}
        expect(ends == self.scenario.ends, told)
        pairs = zip(sorted((name, at) for at, name, _ in wanted), sorted((name, at) for at, name, _ in found))
        worst = max(got - self.cause(name, want_s) for (name, want_s), (_, got) in pairs)
        expect(worst <= within_s * self.scale + self.late_s, f"{worst:.1f} s off, and our own commands {self.late_s:.1f} s late; {told}")
        return worst


class ClusterDriver(Driver):
    """Of an engine with a queue of its own and named nodes, some of which are this scenario's."""

    def __init__(self, goban, scenario, site, nodes):
        super().__init__(goban, scenario)
        self.site, self.nodes = site, nodes

    def scores(self):
        """Lines of the configuration that name the files of write()."""
        scores = 'scores = "scores.csv"\n' if self.scenario.scores else ""
        return ('cluster = "cluster.toml"\n' if scores or self.scenario.apps else "") + scores + self.knowledge()

    def write(self, name, text):
        super().write(name, text)
        if name in ("scores.csv", "colocation.csv"):
            nodes = "".join(f'[[nodes]]\nname = "{node}"\ngpus = {self.scenario.node_gpus}\ngpu_model = "{self.gpu_type}"\n' for node in self.nodes)
            super().write("cluster.toml", f'name = "lab"\n[[gpu_model]]\nname = "{self.gpu_type}"\nmemory = "32 GiB"\n{nodes}')

    def wait_for_nodes(self):
        self.daemon.wait_for("the nodes", lambda: all(
            f"{node} " in self.daemon.goban_run("nodes").stdout for node in self.nodes))

    def shares_of(self, job):
        """Nodes that a job is divided among, and its GPUs on each."""
        nodes = max(1, job.gpus // self.scenario.node_gpus)
        return nodes, job.gpus // nodes

    def number_of(self, job):
        return job.get("engine_id")

    def word(self, name):
        return f"@{self.numbers[name]}"

    def look(self, wanted=None):
        found = super().look(wanted)
        for name in set(self.numbers) - set(self.scenario.jobs):  # of others
            self.ends.pop(name, None)
            self.end_s.pop(name, None)
            self.seen = {key: seen for key, seen in self.seen.items() if key[0] != name}
        return found


def nodes_of(scenarios):
    """By the scenario's name, its nodes among n1, n2, ..., as a daemon sorts them; and their number."""
    found, first = {}, 1
    for scenario in scenarios:
        found[scenario.name] = sorted(f"n{first + i}" for i in range(scenario.nodes))
        first += scenario.nodes
    return found, first - 1

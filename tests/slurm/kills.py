"""Daemon, slurmctld, slurmd and munged are killed or hang in random order while jobs arrive, and stand-bys take over from daemons that are
killed or hang: no job is lost, completes twice or is held for ever, no GPU gets two jobs, and the account is complete. A daemon that
hung while another took over ends as soon as it goes on, and its late orders do no harm.

    kills.py GOBAN [--kills N] [--seed S]     (needs root and Slurm; 77 without them)

slurmctld ends by SIGTERM or hangs: after SIGKILL it has forgotten its last five seconds itself.
"""

import argparse
import collections
import os
import random
import re
import signal
import subprocess
import sys
import time

from serving import USER, Serving, expect
from slurm_site import skip_where_missing

# The parent folder is open to the job's user; a line is written at once.
SCRIPT = """#!/bin/sh
echo "start $SLURM_JOB_ID $SLURMD_NODENAME $SLURM_JOB_GPUS" >> {lines}
sleep {seconds}
echo "end $SLURM_JOB_ID $SLURMD_NODENAME $SLURM_JOB_GPUS" >> {lines}
"""


class Kills:
    def __init__(self, serving, seed):
        self.serving, self.site, self.random = serving, serving.site, random.Random(seed)
        self.lines = self.site.path("lines")
        open(self.lines, "w").close()
        os.chmod(self.lines, 0o666)
        self.submitted, self.completed, self.logs = [], set(), []
        self.counts = collections.Counter()

    def submit(self):
        gpus, nodes = self.random.choice(((1, 1), (1, 1), (2, 1), (4, 1), (4, 2), (1, 2)))
        script = SCRIPT.format(lines=self.lines, seconds=self.random.choice((1, 2, 4)))
        try:
            self.submitted.append(self.site.sbatch(f"--gres=gpu:{gpus}", f"-N{nodes}", script=script, user=USER))
        except (SystemExit, subprocess.TimeoutExpired):
            self.counts["submissions_refused"] += 1  # slurmctld or munged is gone

    def kill(self):
        try:
            self.states()
        except subprocess.TimeoutExpired:
            pass  # slurmctld hangs
        what = self.random.choice(("daemon", "standby takes over", "standby of one that hangs", "slurmctld", "slurmctld hangs", "slurmd", "munged"))
        self.counts[what.replace(" ", "_")] += 1
        pause = self.random.uniform(0.1, 2)
        if what == "daemon":
            self.serving.daemon.stop(signal.SIGKILL)
            time.sleep(pause)
            self.serving.daemon.start()
        elif what.startswith("standby"):
            self.take_over(hangs=what.endswith("hangs"))
        elif what == "slurmctld hangs":
            for process in self.site.daemon("slurmctld"):
                os.kill(process, signal.SIGSTOP)
            time.sleep(2 * pause)
            for process in self.site.daemon("slurmctld"):
                os.kill(process, signal.SIGCONT)
        else:
            name = self.random.choice(self.site.node_names()) if what == "slurmd" else what
            self.site.kill(name, signal.SIGTERM if what == "slurmctld" else signal.SIGKILL)
            time.sleep(pause)
            self.site.start(name)

    def take_over(self, hangs):
        daemon = self.serving.daemon
        log = f"{daemon.log}.{self.counts.total()}"
        self.logs.append(log)
        with open(log, "wb") as out:
            waiting = subprocess.Popen([daemon.goban, "serve", "--state", daemon.state, "--config", daemon.config, "--standby",
                                        "--takeover-after", "2"], env=daemon.environment, stdout=out, stderr=out)
        self.site.wait_for("a stand-by", lambda: "standby: " in open(log).read())
        time.sleep(self.random.uniform(0, 1))
        epoch = self.epoch()
        old, daemon.process = daemon.process, waiting
        old.send_signal(signal.SIGSTOP if hangs else signal.SIGKILL)
        self.site.wait_for("its takeover", lambda: self.epoch() > epoch, 60)
        self.site.wait_for("its answer", self.answers, 120)
        if hangs:
            old.send_signal(signal.SIGCONT)
        code = old.wait(60)
        expect(not hangs or code == 1, f"taken over, but it exited with {code}")

    def epoch(self):
        with open(os.path.join(self.serving.daemon.state, "journal", "epoch")) as text:
            return int(text.read())

    def answers(self):
        try:
            # Until the new one has replaced the socket, the one that hangs accepts connections to it, and never answers.
            return self.serving.daemon.goban_run("stats", timeout=5).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def states(self):
        ran = self.site.run("squeue", "-h", "-t", "all", "-o", "%A %T")
        states = dict(line.split() for line in ran.stdout.splitlines())
        # Slurm forgets ended jobs after ten minutes (MinJobAge).
        self.completed |= {number for number, state in states.items() if state == "COMPLETED"}
        return {**dict.fromkeys(self.completed, "COMPLETED"), **states}

    def settle(self):
        def over():
            states = self.states()
            return all(states.get(number) == "COMPLETED" for number in self.submitted) and states
        try:
            # 16 GPUs run about two jobs a second, fewer where the machine is busy.
            self.site.wait_for("the end of all jobs", over, 120 + 3 * len(self.submitted))
        except SystemExit:
            states = self.states()
            left = {number: states.get(number) for number in self.submitted if states.get(number) != "COMPLETED"}
            for name in self.logs[-1:]:
                with open(name) as log:
                    print(f"{name}: {log.read()}", file=sys.stderr)
            for number in list(left)[:3]:
                print(self.site.job(number), self.serving.job(number), file=sys.stderr)
            raise SystemExit(f"not completed: {left}") from None

    def requeued_by_slurm(self):
        """The jobs that slurmctld requeued since a node or a launch failed."""
        with open(self.site.path("log/slurmctld.log"), errors="replace") as log:
            said = log.read()
        # The second: a node reports, after a kill of its slurmd or slurmctld, that a launch failed, though the job may have run.
        return set(re.findall(r"[Rr]equeue job JobId=(\d+) due to (?:node failure|failure of node)", said)) | set(
            re.findall(r"_job_complete: requeue JobId=(\d+) per user/system request", said))

    def log_of(self, number):
        """What slurmctld wrote of a job."""
        with open(self.site.path("log/slurmctld.log"), errors="replace") as log:
            return "".join(line for line in log if re.search(rf"JobId={number}\b", line))

    def check(self):
        with open(self.lines) as lines:
            said = [line.split() for line in lines]
        without = [line for line in said if len(line) != 4]
        expect(not without, f"runs without GPUs: {without}; {self.log_of(without[0][1]) if without else ''}")
        ends = collections.Counter(line[1] for line in said if line[0] == "end")
        missed = [number for number in self.submitted if number not in ends]
        expect(not missed, f"without an end: {missed}")
        # Slurm itself requeues the job of a node that it believes lost, even if the job had just ended there.
        twice = {number for number, count in ends.items() if count > 1} - self.requeued_by_slurm()
        expect(not twice, f"ended more than once: {twice}; {''.join(self.log_of(number) for number in twice)}")
        held = {}
        for what, job, node, gpus in said:
            for gpu in gpus.split(","):
                if what == "end":
                    held.pop((node, gpu), None)
                    continue
                # A job whose node failed does not say that it ended; it starts again.
                other = held.get((node, gpu), job)
                expect(other == job or ends[other] >= 1, f"GPU {gpu} of {node}: {job} beside {other}")
                held[(node, gpu)] = job
        self.counts["starts"] = sum(line[0] == "start" for line in said)
        ours = self.site.wait_for("the account", lambda: (jobs := self.serving.jobs()) and all(
            jobs.get(number, {}).get("state") == "done" for number in self.submitted) and jobs)
        wrong = {n: ours[n].get("result") for n in self.submitted if ours[n].get("result") != "completed"}
        first = next(iter(wrong), None)
        expect(not wrong, f"not completed here: {wrong}; {first and ours[first]}; {first and self.log_of(first)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("goban")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    skip_where_missing()
    seed = options.seed if options.seed is not None else random.randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    began = time.monotonic()
    with Serving(options.goban, slurm="SlurmctldTimeout=5\n") as serving:
        kills = Kills(serving, seed)
        for _ in range(12):
            kills.submit()
        for _ in range(options.kills):
            kills.submit()
            kills.submit()
            kills.kill()
        kills.settle()
        kills.check()
        serving.daemon.stop(signal.SIGKILL)
        replayed = serving.replay()
        serving.daemon.start()
    counts = {**kills.counts, "jobs": len(kills.submitted), "replayed": replayed, "seconds": round(time.monotonic() - began)}
    print("counts: " + " ".join(f"{name}={count}" for name, count in counts.items()))


if __name__ == "__main__":
    main()

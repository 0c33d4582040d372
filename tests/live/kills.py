"""Repeatedly kills `goban serve` with SIGKILL at random times while jobs are submitted and run, then
checks: every job completed, none was started twice, no process is left behind, and the history
store has each of them once.

    kills.py GOBAN [--kills 500] [--seed 1] [--jobs-per-life 6]
"""

import argparse
import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout_s=30):
        super().__init__("localhost", timeout=timeout_s)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class World:
    timeout_s = 30
    environment = None  # of the daemon; None: ours

    def __init__(self, goban, seed):
        self.goban = goban
        self.random = random.Random(seed)
        self.folder = tempfile.mkdtemp(prefix="goban-kills-")
        self.state = os.path.join(self.folder, "state")
        self.marks = os.path.join(self.folder, "marks")
        os.mkdir(self.marks)
        self.log = open(os.path.join(self.folder, "serve.log"), "w")
        self.daemon = None
        self.asked = 0  # submissions attempted; each writes its own file
        self.answered = {}  # number of the file -> job

    def start(self):
        self.daemon = subprocess.Popen(
            [self.goban, "serve", "--state", self.state, "--virtual-gpus", "4"],
            stdout=self.log,
            stderr=self.log,
            env=self.environment,
        )

    def kill(self):
        self.daemon.send_signal(signal.SIGKILL)
        self.daemon.wait()

    def call(self, method, path, body=None, timeout_s=None):
        connection = UnixConnection(
            os.path.join(self.state, "goban.sock"), timeout_s or self.timeout_s
        )
        try:
            connection.request(
                method, path, json.dumps(body) if body is not None else None,
                {"Content-Type": "application/json"},
            )
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            connection.close()

    def wait_until_up(self, limit_s=60):
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            if self.daemon.poll() is not None:
                raise SystemExit(f"the daemon exited by itself; see {self.log.name}")
            try:
                return self.call("GET", "/v1/stats")
            except (OSError, http.client.HTTPException):
                time.sleep(0.01)
        raise SystemExit(f"the daemon does not respond; see {self.log.name}")

    def more(self):
        """Further fields of the next submission."""
        return {}

    def submit(self):
        """Submits one job. It may have been accepted even if no reply arrives."""
        number = self.asked
        self.asked += 1
        mark = os.path.join(self.marks, str(number))
        takes = self.random.choice([0, 0.02, 0.1, 0.4])
        script = f'#!/bin/sh\necho "start $GOBAN_JOB_ID" >> {mark}\nsleep {takes}\necho end >> {mark}\n'
        spec = {
            "name": f"n{number}",
            "script": script,
            "num_gpus": self.random.choice([1, 1, 2, 4]),
            "work_folder": self.folder,
            "stdout_path": "/dev/null",
            **self.more(),
        }
        try:
            status, answer = self.call("POST", "/v1/jobs", spec)
        except (OSError, http.client.HTTPException, ValueError):
            return
        if status == 503:
            return  # the daemon is being killed
        if status not in (200, 201):
            raise SystemExit(f"a job was refused: {answer}")
        self.answered[number] = answer["job"]

    def live(self, jobs):
        """Starts the daemon, submits jobs, and kills the daemon at a random time."""
        self.start()
        deadline = time.monotonic() + self.random.expovariate(1 / 0.25)
        if self.random.random() < 0.3:  # while it starts
            time.sleep(self.random.uniform(0, 0.05))
        else:
            self.wait_until_up()
            for _ in range(jobs):
                if time.monotonic() > deadline:
                    break
                self.submit()
            time.sleep(max(0, min(deadline - time.monotonic(), 0.5)))
        self.kill()

    def drain(self, limit_s=600):
        """Waits until all jobs have finished and are in the history store."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            _, answer = self.call("GET", "/v1/jobs?limit=10000")
            left = [job for job in answer["jobs"] if job["state"] not in DONE]
            if not left:
                left = self.unaccounted()
            if not left:
                return
            time.sleep(0.1)
        raise SystemExit(f"unfinished jobs: {left[:5]}; see {self.folder}")

    def unaccounted(self):
        if self.answered and not os.path.exists(os.path.join(self.state, "store.sqlite")):
            return list(self.answered.values())
        stored = {record["job_id"] for record in self.export()} if self.answered else set()
        return [job for job in self.answered.values() if str(job) not in stored]

    def finish(self):
        """Runs the daemon once more, without a kill, until all jobs have finished."""
        self.start()
        self.wait_until_up()
        self.drain()
        self.daemon.send_signal(signal.SIGTERM)
        if self.daemon.wait(timeout=60) != 0:
            raise SystemExit(f"the daemon did not shut down cleanly; see {self.log.name}")

    def export(self):
        text = subprocess.run(
            [self.goban, "history", "export", "--store",
             os.path.join(self.state, "store.sqlite"), "--out", "-", "--plain"],
            capture_output=True, text=True, check=True,
        ).stdout.splitlines()
        header = text[0].split(",")
        return [dict(zip(header, line.split(","))) for line in text[1:]]

    def replay(self):
        """Replays the decisions since the snapshot."""
        self.start()
        self.wait_until_up()
        for _ in range(8):
            self.submit()
        self.kill()
        # Only the daemon writes to the journal, and none runs now.
        told = subprocess.run(
            [self.goban, "replay", self.state, "--virtual-gpus", "4", "--json"],
            capture_output=True, text=True,
        )
        counts = json.loads(told.stdout or "{}")
        if told.returncode != 0 or counts.get("reproduced", 0) < 8:
            return [f"replay: {told.stdout} {told.stderr}"]
        return []

    def check(self):
        problems = []
        for number in range(self.asked):
            path = os.path.join(self.marks, str(number))
            lines = open(path).read().split("\n")[:-1] if os.path.exists(path) else []
            starts = [line for line in lines if line.startswith("start")]
            ends = [line for line in lines if line == "end"]
            if number in self.answered and (len(starts), len(ends)) != (1, 1):
                problems.append(f"job {self.answered[number]}: {lines}")
            if len(ends) != len(starts):
                problems.append(f"submission {number} started but did not end: {lines}")
            if len(starts) > 1:
                problems.append(f"submission {number} started {len(starts)} times: {lines}")
        return problems

    def check_processes(self):
        """Every started process has our folder in its arguments or its environment."""
        found = []
        for process in os.listdir("/proc"):
            try:
                for name in ("cmdline", "environ"):
                    with open(f"/proc/{process}/{name}", "rb") as file:
                        if process.isdigit() and self.folder.encode() in file.read():
                            found.append(process)
            except OSError:
                pass
        return sorted(set(found))

    def left_behind(self, limit_s=60):
        """Supervisors exit shortly after their report."""
        end = time.monotonic() + limit_s
        while self.check_processes() and time.monotonic() < end:
            time.sleep(0.05)
        return [f"left behind: process {each}" for each in self.check_processes()]

    def conclude(self, problems):
        """Prints the problems and returns the exit code; without one the folder is removed."""
        for problem in problems[:20]:
            print("FAILED:", problem)
        if problems:
            print("left in", self.folder)
            return 1
        shutil.rmtree(self.folder, ignore_errors=True)
        return 0

    def check_store(self):
        stored = {}
        for record in self.export():
            stored.setdefault(record["job_id"], []).append(record)
        missing = [job for job in self.answered.values() if str(job) not in stored]
        doubled = [job for job, some in stored.items() if len(some) > 1]
        problems = [f"not accounted: {missing[:10]}"] if missing else []
        return problems + ([f"accounted more than once: {doubled[:10]}"] if doubled else [])


DONE = {"completed", "failed", "cancelled", "timed_out", "out_of_memory", "node_failed", "never_runs",
        "done"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("goban")
    parser.add_argument("--kills", type=int, default=int(os.environ.get("GOBAN_KILLS", "15")))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs-per-life", type=int, default=6)
    arguments = parser.parse_args()
    world = World(os.path.abspath(arguments.goban), arguments.seed)
    began = time.monotonic()
    try:
        for _ in range(arguments.kills):
            world.live(arguments.jobs_per_life)
        world.finish()
        problems = world.check() + world.check_store()
        answered = len(world.answered)
        problems += world.replay()
        world.finish()  # for the jobs that replay() submitted
        problems += world.check() + world.check_store() + world.left_behind()
    except BaseException:
        if world.daemon is not None and world.daemon.poll() is None:
            world.kill()
        print("left in", world.folder)
        raise
    print(
        f"{arguments.kills} kills, {answered} submissions answered, "
        f"{time.monotonic() - began:.0f} s, seed {arguments.seed}"
    )
    print(f"counts: kills={arguments.kills} submissions={answered}")
    return world.conclude(problems)


if __name__ == "__main__":
    sys.exit(main())

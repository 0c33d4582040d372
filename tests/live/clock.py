"""Sets the daemon's clock back and forth, by seconds to years, while jobs are submitted and run, and kills the daemon now and
then. Limits hold by a clock that nobody sets: no job ends as timed out before its limit, none runs for long after it, every
job runs once, and the recorded durations are true.

    clock.py GOBAN FAKE_CLOCK [--jumps 12] [--seed 1]
"""

import argparse
import os
import sys
import time

from kills import World

STEPS_S = (1, 60, 3600, 86400, 400 * 86400)
LIMIT_S = 2


class Clocks(World):
    def __init__(self, goban, library, seed):
        super().__init__(goban, seed)
        self.offset = os.path.join(self.folder, "offset")
        self.jump(0)
        self.environment = dict(os.environ, LD_PRELOAD=library, FAKE_CLOCK=self.offset)
        self.endless = {}  # job -> its file

    def jump(self, offset_s):
        with open(self.offset + ".new", "w") as out:
            out.write(str(offset_s))
        os.replace(self.offset + ".new", self.offset)

    def more(self):
        return {"walltime_s": self.random.choice([0, 60, 60, 86400])}

    def submit_endless(self):
        """A job that ends by its limit only; it notes the machine's clock, which nobody sets."""
        number = len(self.endless)
        mark = os.path.join(self.folder, f"endless-{number}")
        script = (f"#!/bin/sh\ntrap 'cut -d\" \" -f1 /proc/uptime >> {mark}; exit 1' TERM\n"
                  f"cut -d' ' -f1 /proc/uptime > {mark}\nwhile :; do sleep 0.1; done\n")
        status, answer = self.call("POST", "/v1/jobs", {
            "name": "endless", "script": script, "num_gpus": 1, "work_folder": self.folder,
            "stdout_path": "/dev/null", "walltime_s": LIMIT_S})
        if status not in (200, 201):
            raise SystemExit(f"a job was refused: {answer}")
        self.endless[answer["job"]] = mark

    def check_ends(self):
        problems = []
        _, answer = self.call("GET", "/v1/jobs?all=1&limit=10000")
        results = {job["job"]: job for job in answer["jobs"]}
        for job, mark in self.endless.items():
            began, *ended = (float(line) for line in open(mark).read().split())
            if len(ended) != 1 or not LIMIT_S - 0.2 <= ended[0] - began < LIMIT_S + 15:
                problems.append(f"job {job}: limit {LIMIT_S} s, began {began}, ended {ended}")
            if results.get(job, {}).get("result", "timed_out") != "timed_out":
                problems.append(f"job {job}: {results[job]['result']} at its limit")
        for job in self.answered.values():
            if results.get(job, {}).get("result", "completed") != "completed":
                problems.append(f"job {job}: {results[job]['result']}")
        return problems

    def check_durations(self):
        problems = []
        for record in self.export():
            job = int(record["job_id"])
            longest = LIMIT_S + 60 if job in self.endless else 60
            took = float(record["end_unix_s"]) - float(record["start_unix_s"])
            if not 0 <= took <= longest:
                problems.append(f"job {job}: recorded as running for {took} s")
        return problems


def check_progress(world):
    """After a restart with a clock that was set back, the scheduler's time does not stand still."""
    world.kill()
    world.jump(-STEPS_S[-1])
    world.start()
    world.wait_until_up()
    times = []
    for _ in range(2):
        world.submit()
        _, job = world.call("GET", f"/v1/jobs/{max(world.answered.values())}")
        times.append(job["submit_s"])
        time.sleep(0.5)
    return [] if times[1] - times[0] > 0.1 else [f"the scheduler's time stands still: {times}"]


def attack(world, jumps):
    world.start()
    world.wait_until_up()
    for number in range(jumps):
        for _ in range(3):
            world.submit()
        if number % 4 == 0:
            world.submit_endless()
        step_s = world.random.choice(STEPS_S)
        world.jump(world.random.choice([-step_s, step_s, 0]))
        time.sleep(world.random.uniform(0, 0.4))
        if world.random.random() < 0.25:
            world.kill()
            world.jump(world.random.choice([-step_s, step_s]))
            world.start()
        world.wait_until_up()
    problems = check_progress(world)
    world.drain()
    problems += world.check() + world.check_ends() + world.check_durations()
    world.daemon.terminate()
    if world.daemon.wait(timeout=60) != 0:
        problems.append("the daemon did not shut down cleanly")
    return problems + world.left_behind()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("goban")
    parser.add_argument("library")
    parser.add_argument("--jumps", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    world = Clocks(os.path.abspath(arguments.goban), os.path.abspath(arguments.library), arguments.seed)
    try:
        problems = attack(world, arguments.jumps)
    finally:
        if world.daemon is not None and world.daemon.poll() is None:
            world.kill()
    print(f"counts: jumps={arguments.jumps} jobs={len(world.answered) + len(world.endless)}")
    return world.conclude(problems)


if __name__ == "__main__":
    sys.exit(main())

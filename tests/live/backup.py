"""A backup of a daemon under load, restored on an empty machine: every job that was confirmed before
the backup began is present and completes, jobs that were running start again, and the history is
complete.

    backup.py GOBAN [--rounds 2] [--seed 1]
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

from kills import DONE, World


class Loaded(World):
    def __init__(self, goban, seed):
        super().__init__(goban, seed)
        self.ends = threading.Event()

    def load(self):
        while not self.ends.is_set():
            self.submit()
            self.ends.wait(self.random.expovariate(1 / 0.03))

    def jobs(self):
        _, answer = self.call("GET", "/v1/jobs?limit=10000")
        return {job["job"]: job for job in answer["jobs"]}


def expect(holds, what, world):
    if not holds:
        raise SystemExit(f"check failed: {what}; see {world.folder}")


def one_round(world, copy):
    world.start()
    world.wait_until_up()
    load = threading.Thread(target=world.load)
    load.start()
    time.sleep(world.random.uniform(0.5, 1.5))
    known = {"profiles/0-of-an-application.json": "{}", "scores.csv": "what counts",
             "scores.learned.json": "what jobs said", "scores.profile.json": "what was measured"}
    for name, text in known.items():
        with open(os.path.join(world.state, name), "w") as out:
            out.write(text)
    confirmed = set(world.answered.values())
    ended = {number for number, job in world.jobs().items() if job["state"] == "done"}
    told = subprocess.run(
        [world.goban, "backup", copy, "--state", world.state], capture_output=True, text=True
    )
    expect(told.returncode == 0, f"goban backup: {told.stderr}", world)
    world.ends.set()
    load.join()
    for name, text in known.items():
        with open(os.path.join(copy, name)) as copied:
            expect(copied.read() == text, f"{name} is in the copy", world)
        os.remove(os.path.join(copy, name))  # must not affect the restored daemon
    expect(os.stat(copy).st_mode & 0o077 == 0, "only its owner may read the copy", world)
    again = subprocess.run(
        [world.goban, "backup", copy, "--state", world.state], capture_output=True, text=True
    )
    expect(again.returncode == 1, "a second backup into the same folder is refused", world)
    # The machine is lost: the daemon, its state, and all running jobs.
    world.drain()
    world.kill()
    shutil.rmtree(world.state)

    restored = World(world.goban, 0)
    shutil.rmtree(restored.folder)
    restored.folder, restored.state = world.folder, os.path.join(world.folder, "restored")
    restored.log = world.log
    shutil.copytree(copy, restored.state)
    restored.start()
    try:
        restored.wait_until_up()
        restored.answered = {job: job for job in confirmed}
        restored.drain()
        _, answer = restored.call("GET", "/v1/jobs?limit=10000")
        after = {job["job"]: job for job in answer["jobs"]}
        lost = [job for job in confirmed if job not in after]
        expect(not lost, f"confirmed before the backup, but not in it: {lost[:5]}", world)
        wrong = [job for job in confirmed if after[job]["state"] not in DONE]
        expect(not wrong, f"jobs that do not finish: {wrong[:5]}", world)
        details = [restored.call("GET", f"/v1/jobs/{job}")[1] for job in sorted(confirmed)]
        failed = [each for each in details if each.get("result") != "completed"]
        expect(not failed, f"jobs that did not complete: {failed[:2]}", world)
        twice = sum(1 for job in confirmed - ended if after[job].get("runs", 1) > 1)
        expect(not restored.unaccounted(), "the history has all of them", world)
    finally:
        restored.daemon.send_signal(signal.SIGTERM)
        restored.daemon.wait(60)
    shutil.rmtree(restored.state)
    return len(confirmed), len(ended), twice, told.stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("goban")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    total = 0
    for number in range(arguments.rounds):
        world = Loaded(os.path.abspath(arguments.goban), arguments.seed + number)
        copy = os.path.join(world.folder, "copy")
        try:
            confirmed, ended, twice, told = one_round(world, copy)
        finally:
            world.ends.set()
            if world.daemon.poll() is None:
                world.kill()
        total += confirmed
        print(f"{confirmed} jobs confirmed before, {ended} of them finished, {twice} started again "
              f"after the restore")
        shutil.rmtree(world.folder, ignore_errors=True)
    print(f"counts: restores={arguments.rounds} jobs={total}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

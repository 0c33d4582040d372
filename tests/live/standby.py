"""A standby repeatedly takes over from a daemon under load: half of the daemons are killed,
half are frozen (SIGSTOP) and resumed after the takeover. Every submission
that got a reply runs exactly once, no daemon writes or starts anything after it was taken over, and
a daemon that was taken over reports this and exits.

    standby.py GOBAN [--rounds 4] [--seed 1] [--takeover-after 2]
"""

import argparse
import hashlib
import http.client
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

from kills import World


class Line(World):
    """An active daemon and a standby."""

    timeout_s = 3  # a frozen daemon never answers

    def __init__(self, goban, seed, patience_s):
        super().__init__(goban, seed)
        self.patience_s = patience_s
        self.lock = threading.Lock()
        self.ends = threading.Event()
        self.waiting = None
        self.number_of_logs = 0

    def spawn(self, *options):
        self.number_of_logs += 1
        log = open(os.path.join(self.folder, f"serve-{self.number_of_logs}.log"), "w")
        daemon = subprocess.Popen(
            [self.goban, "serve", "--state", self.state, "--virtual-gpus", "4", *options],
            stdout=log, stderr=log,
        )
        daemon.log_name = log.name
        return daemon

    def stand_by(self):
        self.waiting = self.spawn("--standby", "--takeover-after", str(self.patience_s))
        self.wait_for("the stand-by says whom it watches",
                      lambda: "standby: " in open(self.waiting.log_name).read())

    def wait_for(self, what, holds, limit_s=120):
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            found = holds()
            if found:
                return found
            time.sleep(0.02)
        raise SystemExit(f"{what}: not within {limit_s} s; see {self.folder}")

    def load(self):
        """Submits to whichever daemon replies; a request to a frozen daemon is abandoned."""
        while not self.ends.is_set():
            self.submit()
            self.ends.wait(self.random.expovariate(1 / 0.05))

    def daemon_answers(self):
        try:
            # The socket may still be that of the frozen daemon.
            status, _ = self.call("GET", "/v1/stats", timeout_s=0.3)
            return status == 200
        except (OSError, http.client.HTTPException):
            return False

    def written(self, epoch):
        """The content of the journals of this epoch."""
        folder = os.path.join(self.state, "journal")
        files = sorted(name for name in os.listdir(folder) if f"-{epoch}-" in name)
        return {
            name: hashlib.sha256(open(os.path.join(folder, name), "rb").read()).hexdigest()
            for name in files
        }

    def epoch(self):
        with open(os.path.join(self.state, "journal", "epoch")) as text:
            return int(text.read())


def take_over(line, freeze):
    """One takeover. Returns the seconds until the next daemon replied."""
    old, epoch = line.daemon, line.epoch()
    old.send_signal(signal.SIGSTOP if freeze else signal.SIGKILL)
    began = time.monotonic()
    line.wait_for("the stand-by takes over", lambda: line.epoch() > epoch)
    line.daemon, line.waiting = line.waiting, None
    line.wait_for("the next daemon answers", line.daemon_answers, limit_s=60)
    seconds = time.monotonic() - began
    if freeze:
        before = line.written(epoch)
        old.send_signal(signal.SIGCONT)
        if old.wait(timeout=60) != 1:
            raise SystemExit(f"taken over, but it exited with {old.returncode}; see {old.log_name}")
        said = open(old.log_name).read()
        if "another daemon has taken over" not in said:
            raise SystemExit(f"taken over, but it does not report it; see {old.log_name}")
        # The next daemon may remove journals older than its fallback, but must not change anything else.
        after = line.written(epoch)
        changed = [name for name in after if before.get(name) != after[name]]
        if changed:
            raise SystemExit(f"taken over, but it wrote to {changed}; see {line.folder}")
        if line.epoch() != epoch + 1 or not line.daemon_answers():
            raise SystemExit(f"the old daemon disturbed the new one; see {line.folder}")
    else:
        old.wait()
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("goban")
    parser.add_argument("--rounds", type=int, default=int(os.environ.get("GOBAN_TAKEOVERS", "4")))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--takeover-after", type=float, default=2)
    arguments = parser.parse_args()
    line = Line(os.path.abspath(arguments.goban), arguments.seed, arguments.takeover_after)
    took = {True: [], False: []}
    line.daemon = line.spawn()
    try:
        line.wait_until_up()
        load = threading.Thread(target=line.load)
        load.start()
        for round_number in range(arguments.rounds):
            line.stand_by()
            time.sleep(random.Random(f"{arguments.seed} {round_number}").uniform(0.2, 1.5))
            freeze = round_number % 2 == 0
            took[freeze].append(take_over(line, freeze))
        line.ends.set()
        load.join()
        line.drain()
        problems = line.check() + line.check_store()
    finally:
        line.ends.set()
        for daemon in (line.daemon, line.waiting):
            if daemon is not None and daemon.poll() is None:
                daemon.send_signal(signal.SIGCONT)
                daemon.kill()
    for freeze, name in ((True, "frozen"), (False, "killed")):
        times = sorted(took[freeze])
        if times:
            print(f"{len(times)} {name}: the next one responded after {times[0]:.2f} to "
                  f"{times[-1]:.2f} s, median {times[len(times) // 2]:.2f} s")
    print(f"{len(line.answered)} submissions answered, patience {arguments.takeover_after:g} s, "
          f"seed {arguments.seed}")
    print(f"counts: takeovers={arguments.rounds} submissions={len(line.answered)}")
    return line.conclude(problems)


if __name__ == "__main__":
    sys.exit(main())

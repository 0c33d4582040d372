"""goban-train as a job: on threads, under mpirun, and with --find-largest. A job gets the variables of a
run with one rank (OMPI_COMM_WORLD_SIZE=1 ...), which must not be mistaken for a launcher's.

    mesh_jobs.py GOBAN GOBAN_TRAIN MPIRUN
"""

import json
import os
import sys

from live_daemon import Daemon, expect

EPOCHS = 3
STEPS = EPOCHS * 4  # 64 samples in batches of 16


class Jobs:
    def __init__(self, daemon, train, mpirun):
        self.daemon = daemon
        text = os.path.join(daemon.folder, "text")
        with open(text, "w") as out:
            out.write("\n".join(str(n) for n in range(5000)))
        self.train = (f"{os.path.abspath(train)} lm --text {text} --mesh x:2 --layout batch:x "
                      "--train-limit 64 --test-limit 16 --batch-size 16 --length 16 --blocks 1")
        self.mpirun = ("OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
                       f"{mpirun} --oversubscribe -n 2")

    def run(self, name, line):
        """The finished job, and its output."""
        asked = self.daemon.goban_run("submit", "--parsable", "--gpus", "2", "-J", name, "-o",
                                      f"{name}.out", "--wrap", line)
        expect(asked.returncode == 0, asked.stderr)
        number = asked.stdout.strip()

        def over():
            job = json.loads(self.daemon.goban_run("show", "--json", number).stdout)[0]
            return job if job["state"] == "done" else None

        job = self.daemon.wait_for(f"the end of {name}", over, 120)
        with open(os.path.join(self.daemon.folder, f"{name}.out")) as out:
            log = out.read()
        expect(job["result"] == "completed", f"{job}\n{log}")
        return job, log

    def check_training(self, name, launcher, *options):
        # The daemon keeps profiles of jobs of at least 5 s.
        line = f"{launcher} {self.train} --epochs {EPOCHS} --out {name}"
        job, log = self.run(name, " ".join([line, *options, "&& sleep 6"]))
        seen = job["progress"]
        expect(seen["step"] == STEPS and seen["epoch"] == EPOCHS, f"{seen}\n{log}")
        expect(seen["loss"] > 0 and seen["samples_per_s"] > 0, seen)
        with open(os.path.join(self.daemon.folder, name, "profile.json")) as out:
            profile = json.load(out)
        # Two ranks: gradients are summed between them.
        expect(profile["bytes_per_step"]["value"] > 0, profile)
        expect("x:2" in profile["input"], profile)


def main():
    with Daemon(sys.argv[1]) as daemon:
        jobs = Jobs(daemon, *sys.argv[2:4])
        jobs.check_training("threads", "", "--threads 2")
        jobs.check_training("mpirun", jobs.mpirun)
        folder = os.path.join(daemon.state, "profiles")
        files = daemon.wait_for("two profiles", lambda: len(os.listdir(folder)) == 2 and
                                os.listdir(folder))
        for each in files:
            with open(os.path.join(folder, each)) as text:
                profile = json.load(text)
            expect(profile["model"] in ("threads", "mpirun"), profile)
            expect(profile["iteration_s"]["value"] > 0, profile)
        search = f"{jobs.train} --find-largest d_ff --ranks 1,2 --memory-limit-mb 4"
        _, log = jobs.run("search", search)
        expect("d_ff" in log, log)
    print("passed")


main()

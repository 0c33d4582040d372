"""Small runs of goban-train in a folder of their own, for the tests in this folder."""

import argparse
import os
import random
import re
import resource
import shutil
import subprocess
import tempfile

GIGABYTES_MAX = 16  # of addresses: what a damaged length asks for fails at once
# Ranks that share this machine's cores, also as root; 3 s from SIGTERM to SIGKILL.
ENVIRONMENT = dict(os.environ, OMP_NUM_THREADS="1", OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1",
                   OMPI_MCA_odls_base_sigkill_timeout="3", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
CRASHED = ("terminate called", "AddressSanitizer", "runtime error:", "std::bad_alloc")


class SmallTraining:
    """Two epochs on a text take a second. `reference`: what an undisturbed run prints about its last epoch."""

    def __init__(self, train, seed):
        self.train = os.path.abspath(train)
        self.random = random.Random(seed)
        self.folder = tempfile.mkdtemp(prefix="goban-train-")
        self.text = os.path.join(self.folder, "text")
        with open(self.text, "w") as out:
            out.write("".join(f"{self.random.randrange(10**9)}\n" for _ in range(2000)))
        self.problems = []

    def words(self, checkpoint, epochs, text=None):
        return [self.train, "lm", "--text", text or self.text, "--train-limit", "32", "--test-limit", "16", "--batch-size", "16",
                "--length", "16", "--blocks", "1", "--d-model", "16", "--d-ff", "16", "--epochs", str(epochs), "--checkpoint",
                checkpoint]

    def run(self, words, limit_s=100):
        limit = GIGABYTES_MAX << 30
        return subprocess.run(words, text=True, errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=limit_s, env=ENVIRONMENT,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))

    def finish(self, epochs):
        """The result of an undisturbed run."""
        checkpoint = os.path.join(self.folder, "reference")
        ran = self.run(self.words(checkpoint, epochs))
        if ran.returncode != 0:
            raise SystemExit(f"does not train: {ran.stdout}")
        shutil.rmtree(checkpoint)
        return last_epoch(ran.stdout)

    def refused(self, what, ran, says):
        """A run that must end with an error that names one of these."""
        if ran.returncode not in (1, 2, 3) or any(word in ran.stdout for word in CRASHED):
            self.problems.append(f"{what}: exit code {ran.returncode}: {ran.stdout[-300:]}")
        elif not any(word in ran.stdout for word in says):
            self.problems.append(f"{what}: the error does not name {says[0]}: {ran.stdout[-300:]}")

    def conclude(self, counts):
        shutil.rmtree(self.folder, ignore_errors=True)
        print(f"counts: {counts}")
        for problem in self.problems[:20]:
            print("FAILED:", problem)
        return 1 if self.problems else 0


def last_epoch(text):
    """Epoch, step, losses and accuracy of the last line about an epoch, without times."""
    lines = re.findall(r"^(epoch \d+ step \d+ .*?test_loss [-\d.a-z]+)", text, re.MULTILINE)
    return lines[-1] if lines else ""


def arguments(description, rounds, *more):
    parser = argparse.ArgumentParser(description=description.split("\n\n")[0])
    parser.add_argument("train")
    for name in more:
        parser.add_argument(name)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()

"""One rank of a training run under mpirun is started with another option or data, or is killed or frozen at any time.
The run ends with an error that says so, soon, and a run whose ranks differ saves nothing.

    wrong_ranks.py GOBAN-TRAIN MPIRUN [--rounds 2] [--seed 1]
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

from small_training import ENVIRONMENT, SmallTraining, arguments

TIMEOUT_S = 3
OTHER = {"--seed": "7", "--learning-rate": "0.01", "--optimizer": "sgd", "--batch-size": "32", "--epochs": "5", "--dropout": "0.1",
         "--d-model": "32", "--d-ff": "64", "--heads": "2", "--length": "32", "--train-limit": "48", "--micro-batches": "2",
         "--precision": "bf16", "--fixed-order": None, "--masked": None, "--lr-scale": "sqrt", "--last-batch": "drop",
         "--blocks": "2", "--recompute": None}


def with_option(words, name, value):
    out = list(words)
    if name in out:
        at = out.index(name)
        del out[at:at + (1 if value is None else 2)]
    return out + [name] + ([] if value is None else [value])


def differ(training, mpirun, saved):
    """Rank 1 has another option, or another text."""
    words = training.words(saved, 2) + ["--mesh", "x:2", "--layout", "batch:x"]
    name = training.random.choice([*OTHER, "--text"])
    value = OTHER.get(name)
    if name == "--text":
        value = os.path.join(training.folder, "other")
        with open(training.text, "rb") as text, open(value, "wb") as out:
            data = text.read()
            at = training.random.randrange(400)
            out.write(data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])
    ran = training.run([mpirun, "-n", "1", *words, ":", "-n", "1", *with_option(words, name, value)])
    training.refused(f"rank 1 with {name} {value}", ran, [name, "training data is"])
    if os.path.exists(os.path.join(saved, "checkpoint.goban")):
        training.problems.append(f"rank 1 with {name} {value}: saved although the ranks differ")


def children_of(process):
    """Processes of goban-train under this mpirun."""
    out = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(process)], text=True, stdout=subprocess.PIPE).stdout
    return [int(pid) for pid in re.findall(r"(\d+) goban-train", out)]


def lose(training, mpirun, saved):
    """A rank is killed or frozen at a random time after the first epoch."""
    how = training.random.choice([signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGSEGV])
    words = [mpirun, "-n", "2", *training.words(saved, 100000), "--mesh", "x:2", "--layout", "batch:x", "--timeout-s", str(TIMEOUT_S)]
    log = os.path.join(training.folder, "log")
    with open(log, "w") as out:
        run = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=ENVIRONMENT)
    end = time.monotonic() + 60
    while "epoch 1 " not in open(log).read() and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(training.random.uniform(0, 1))
    lost = training.random.choice(children_of(run.pid))
    os.kill(lost, how)
    try:
        run.wait(60)
    except subprocess.TimeoutExpired:
        training.problems.append(f"a rank got {how.name}, and the run does not end: {open(log).read()[-300:]}")
        run.kill()
        run.wait()
        os.kill(lost, signal.SIGKILL)
    # SIGTERM is a request to save and end.
    if run.returncode == 0 and how != signal.SIGTERM:
        training.problems.append(f"a rank got {how.name}, and the run succeeds: {open(log).read()[-300:]}")


def main():
    options = arguments(__doc__, 2, "mpirun")
    training = SmallTraining(options.train, options.seed)
    saved = os.path.join(training.folder, "saved")
    for number in range(options.rounds):
        (lose if number % 2 else differ)(training, options.mpirun, saved)
        shutil.rmtree(saved, ignore_errors=True)
    return training.conclude(f"runs={options.rounds}")


if __name__ == "__main__":
    sys.exit(main())

"""The disk of a training run's checkpoints and metrics fills up at any time. The run ends with an error that names the file
and the reason, or does without; the last checkpoint stays whole: with free space the run resumes and ends as an
undisturbed one.

    full_disk.py GOBAN-TRAIN [--rounds 3] [--seed 1]     (needs the right to mount; 77 without it)
"""

import contextlib
import os
import shutil
import subprocess
import sys
import threading

from small_training import SmallTraining, arguments, last_epoch

EPOCHS = 3
DISK_KB = 600  # a checkpoint has 110 KB
NO_SPACE = "No space left on device"


def fill(path, left_kb):
    """Takes all space but so much."""
    with open(path, "wb", buffering=0) as out, contextlib.suppress(OSError):
        while True:
            out.write(b"\0" * 4096)
    kept = max(0, os.path.getsize(path) - left_kb * 1024)
    os.truncate(path, kept)


def one_round(training, disk, reference):
    random = training.random
    saved = os.path.join(disk, "saved")
    filler = os.path.join(disk, "filler")
    words = training.words(saved, EPOCHS) + (["--out", disk] if random.random() < 0.5 else [])
    ran = training.run(training.words(saved, 1))
    if ran.returncode != 0:
        training.problems.append(f"does not begin: {ran.stdout[-300:]}")
    left_kb = random.choice([0, 4, random.randrange(0, 300)])
    if random.random() < 0.5:
        fill(filler, left_kb)
        ran = training.run(words)
    else:
        later = threading.Timer(random.uniform(0, 1.2), fill, (filler, left_kb))
        later.start()
        ran = training.run(words)
        later.join()
    if ran.returncode == 0:
        if last_epoch(ran.stdout) != reference:
            training.problems.append(f"ends otherwise: {last_epoch(ran.stdout)}, not {reference}")
    else:
        training.refused(f"{left_kb} KB left", ran, [NO_SPACE])
        training.refused(f"{left_kb} KB left", ran, [disk])
    os.remove(filler)
    again = training.run(training.words(saved, EPOCHS))
    if again.returncode != 0 or (last_epoch(again.stdout) not in (reference, "")):
        training.problems.append(f"does not resume with free space: {again.stdout[-300:]}")
    return ran.returncode != 0


def main():
    options = arguments(__doc__, 3)
    training = SmallTraining(options.train, options.seed)
    reference = training.finish(EPOCHS)
    disk = os.path.join(training.folder, "disk")
    full = 0
    for _ in range(options.rounds):
        os.mkdir(disk)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_KB}k", "tmpfs", disk],
                          stderr=subprocess.DEVNULL).returncode != 0:
            shutil.rmtree(training.folder)
            print("skipped: this user may not mount")
            return 77
        try:
            full += one_round(training, disk, reference)
        finally:
            subprocess.run(["umount", "-l", disk], check=True)
            os.rmdir(disk)
    return training.conclude(f"runs={options.rounds} ended_for_want_of_space={full}")


if __name__ == "__main__":
    sys.exit(main())

"""Damages checkpoints, texts and images of training runs at random. A run either refuses the file by name, or ends as
one with the undamaged file; none crashes, and none changes the damaged checkpoint.

    damaged_files.py GOBAN-TRAIN [--rounds 6] [--seed 1]
"""

import os
import shutil
import struct
import sys

from small_training import SmallTraining, arguments, last_epoch

IMAGES = 48


def damage(random, data):
    """Changes some bytes; returns what it did, and the new bytes."""
    out = bytearray(data)
    kind = random.choice(["flip", "flip", "header", "cut", "longer", "zeros", "swap", "empty"])
    if kind in ("flip", "header"):
        end = len(out) if kind == "flip" else min(len(out), 200)
        for _ in range(random.randrange(1, 4)):
            out[random.randrange(end)] ^= 1 << random.randrange(8)
    elif kind == "cut":
        del out[random.randrange(len(out)):]
    elif kind == "longer":
        out += random.randbytes(random.randrange(1, 5000))
    elif kind == "zeros":
        at = random.randrange(len(out))
        out[at:at + 512] = bytes(len(out[at:at + 512]))
    elif kind == "swap":
        a, b = sorted(random.randrange(len(out)) for _ in range(2))
        out = out[b:] + out[a:b] + out[:a]
    else:
        out = bytearray()
    return kind, bytes(out)


def checkpoint_round(training, saved, reference):
    folder = os.path.join(training.folder, "damaged")
    path = os.path.join(folder, "checkpoint.goban")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    kind, data = damage(training.random, saved)
    with open(path, "wb") as out:
        out.write(data)
    ran = training.run(training.words(folder, 2))
    if ran.returncode == 0 and last_epoch(ran.stdout) == reference and data == saved:
        return
    what = f"checkpoint, {kind}"
    if ran.returncode == 0:
        training.problems.append(f"{what}: resumed: {ran.stdout[-300:]}")
    training.refused(what, ran, [path])
    with open(path, "rb") as left:
        if left.read() != data:
            training.problems.append(f"{what}: the file was changed")


def text_round(training, saved):
    """A checkpoint of a run on another text."""
    folder = os.path.join(training.folder, "damaged")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    with open(os.path.join(folder, "checkpoint.goban"), "wb") as out:
        out.write(saved)
    other = os.path.join(training.folder, "other")
    with open(training.text, "rb") as text:
        data = text.read()
    # Within what is read for so few samples.
    at = training.random.randrange(400)
    with open(other, "wb") as out:
        out.write(data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])
    training.refused("text, one bit", training.run(training.words(folder, 2, other)), [folder])


def write_images(random, folder):
    os.makedirs(folder)
    for stem in "train", "t10k":
        with open(os.path.join(folder, f"{stem}-images-idx3-ubyte"), "wb") as out:
            out.write(struct.pack(">IIII", 0x803, IMAGES, 28, 28) + random.randbytes(IMAGES * 28 * 28))
        with open(os.path.join(folder, f"{stem}-labels-idx1-ubyte"), "wb") as out:
            out.write(struct.pack(">II", 0x801, IMAGES) + bytes(random.randrange(10) for _ in range(IMAGES)))


def images_round(training):
    data = os.path.join(training.folder, "data")
    shutil.rmtree(data, ignore_errors=True)
    write_images(training.random, os.path.join(data, "mnist"))
    name = training.random.choice(sorted(os.listdir(os.path.join(data, "mnist"))))
    path = os.path.join(data, "mnist", name)
    with open(path, "rb") as undamaged:
        before = undamaged.read()
    kind, after = damage(training.random, before)
    with open(path, "wb") as out:
        out.write(after)
    ran = training.run([training.train, "mnist", "--data", data, "--batch-size", "16", "--epochs", "1"])
    header = 16 if "images" in name else 8
    # Other pixels, and other labels of the ten, are data like any other.
    plausible = (after[:header] == before[:header] and len(after) == len(before)
                 and ("images" in name or max(after[header:]) < 10))
    if not plausible:
        training.refused(f"{name}, {kind}", ran, [path])
    elif ran.returncode != 0 or "nan" in ran.stdout:
        training.problems.append(f"{name}, {kind}: exit code {ran.returncode}: {ran.stdout[-300:]}")


def kept_sources(training):
    """Commands that write a file replace none that they read."""
    def path(name):
        return os.path.join(training.folder, name)
    os.mkdir(path("parts"))
    for name in ("parts/a.x", "book.txt"):
        with open(path(name), "w") as out:
            out.write("the only copy")
    packed = training.run([training.train, "data", "pack", path("parts"), "--to", path("shard-%d.tar")])
    if packed.returncode != 0:
        training.problems.append(f"data pack: {packed.stdout}")
    for source, words in (("shard-0.tar", ["index", path("shard-0.tar"), "--out", path("shard-0.tar")]),
                          ("book.txt", ["tokens", path("book.txt"), "--to", path("book.txt")])):
        with open(path(source), "rb") as file:
            before = file.read()
        ran = training.run([training.train, "data", *words])
        with open(path(source), "rb") as file:
            if ran.returncode != 2 or file.read() != before:
                training.problems.append(f"data {words[0]} replaced {source}, or ended with {ran.returncode}, not 2")


def main():
    options = arguments(__doc__, 6)
    training = SmallTraining(options.train, options.seed)
    reference = training.finish(2)
    saved_in = os.path.join(training.folder, "saved")
    training.run(training.words(saved_in, 1))
    with open(os.path.join(saved_in, "checkpoint.goban"), "rb") as file:
        saved = file.read()
    resumed = training.run(training.words(saved_in, 2))
    if last_epoch(resumed.stdout) != reference:
        training.problems.append(f"resumed: {last_epoch(resumed.stdout)}, not {reference}")
    kept_sources(training)
    for number in range(options.rounds):
        if number % 3 == 0:
            images_round(training)
        elif number % 9 == 4:
            text_round(training, saved)
        else:
            checkpoint_round(training, saved, reference)
    return training.conclude(f"files={options.rounds}")


if __name__ == "__main__":
    sys.exit(main())

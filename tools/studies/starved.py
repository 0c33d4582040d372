#!/usr/bin/env python3
"""Are jobs that wait for their input the best neighbours? A simulation fed by profiles of real runs.

goban-train trains two models on the same compressed shards: a small one without loader threads, which
waits for each batch, and a convolution, which computes all the time. Their job profiles say so.
Then jobs of both models are simulated on GPUs that they may share: the policy sees the shares of
time of these profiles and nothing else of the models. Prints Markdown tables.

    starved.py            120 jobs, three seeds
    starved.py --short    48 jobs, one seed; fails if sharing does not follow the profiles
"""

import argparse
import csv
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import zlib

from study import GOBAN, simulate

TRAIN = os.environ.get("GOBAN_TRAIN", os.path.join(os.path.dirname(GOBAN), "goban-train"))
SIDE = 28
TEXT = 20000  # bytes that describe a picture
HOUR = 3600
STARVED, BUSY = "mnist-mlp", "mnist-conv"
NAMES = {STARVED: "starved", BUSY: "computing"}
POLICIES = ["fifo+packed", "eaco", "goban"]
PARTS = ["input", "compute", "evaluation", "idle", "other"]


def png(pixels, text):
    def chunk(kind, content):
        body = kind + content
        return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))

    rows = b"".join(b"\0" + pixels[i:i + SIDE] for i in range(0, SIDE * SIDE, SIDE))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", SIDE, SIDE, 8, 0, 0, 0, 0)) +
            chunk(b"tEXt", b"Comment\0" + text) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          env=dict(os.environ, OMP_NUM_THREADS="1"))
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def shards(folder, name, count):
    """Compressed shards of images of ten kinds of stripes with noise."""
    source = os.path.join(folder, name)
    os.makedirs(source)
    draw = random.Random(name)
    for i in range(count):
        kind = i % 10
        pixels = bytes((200 if (x + y * kind) % 10 < 5 else 20) + draw.randrange(40)
                       for y in range(SIDE) for x in range(SIDE))
        # As pictures of cameras have; on every processor, reading takes longer than the small model computes.
        text = bytes(draw.choices(b"0123456789abcdef", k=TEXT))
        with open(os.path.join(source, f"{i:05}.png"), "wb") as out:
            out.write(png(pixels, text))
        with open(os.path.join(source, f"{i:05}.cls"), "w") as out:
            out.write(str(kind))
    packed = os.path.join(folder, f"{name}-%02d.tar.gz")
    run(TRAIN, "data", "pack", source, "--to", packed, "--max-count", max(count // 4, 1))
    return sorted(
        os.path.join(folder, each) for each in os.listdir(folder)
        if each.startswith(name + "-") and each.endswith(".tar.gz"))


def profiles(folder, images):
    """Trains both models and returns the paths of their profiles, and what they say, by model."""
    train = "::".join(shards(folder, "train", images))
    test = "::".join(shards(folder, "test", 100))
    found = {}
    for model, words in ((STARVED, ["--model", "mlp", "--hidden", 8, "--batch-size", 1000, "--loader-threads", 0]),
                         (BUSY, ["--model", "conv", "--batch-size", 200, "--loader-threads", 1])):
        out = os.path.join(folder, model)
        run(TRAIN, "mnist", *words, "--data", train, "--test-data", test, "--epochs", 2, "--out", out)
        path = os.path.join(out, "profile.json")
        with open(path) as file:
            found[model] = (path, json.load(file))
    return found


def write_jobs(path, count, seed):
    """Half of the jobs are of each model; one GPU each, 1 to 4 hours, twice as many as there are GPUs for."""
    draw = random.Random(seed)
    models = {}
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["job_id", "submit_time", "duration", "num_gpus", "user", "model", "epochs", "gpu_mem_bytes"])
        at = 0.0
        for i in range(count):
            model = draw.choice([STARVED, BUSY])
            models[f"j{i}"] = model
            out.writerow([f"j{i}", round(at), draw.randrange(1 * HOUR, 4 * HOUR), 1, "u", model, 10, 2 << 30])
            at += draw.expovariate(16 / (2.5 * HOUR) * 1.2)
    return models


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def shared_hours(decisions, names, finish_s):
    """GPU-hours in which several jobs were on one GPU, by their models. Names and ends by number of the job."""
    hours = {}
    on_gpu, since = {}, {}

    def change(gpu, now, job, adds):
        jobs = on_gpu.setdefault(gpu, set())
        if len(jobs) > 1:
            pair = tuple(sorted(names[each] for each in jobs))
            hours[pair] = hours.get(pair, 0) + (now - since[gpu]) / HOUR
        since[gpu] = now
        (jobs.add if adds else jobs.discard)(job)

    def leave(job, now):
        for gpu in [gpu for gpu, jobs in on_gpu.items() if job in jobs]:
            change(gpu, now, job, False)

    ends = sorted((end, job) for job, end in enumerate(finish_s))
    with open(decisions) as file:
        lines = [json.loads(line) for line in file]
    for now, launched, stopped in (line[:3] for line in [*lines, [math.inf, [], []]]):
        while ends and ends[0][0] <= now:
            end, job = ends.pop(0)
            leave(job, end)
        for job in [*stopped, *(each[0] for each in launched)]:
            leave(job, now)
        for job, gpus in (each[:2] for each in launched):
            for gpu in gpus:
                change(gpu, now, job, True)
    return hours


def outcome(folder, models, policy):
    """Mean time from first start to end over the time alone, of the jobs of each model; the GPU-hours of each pair."""
    place = os.path.join(folder, "out", policy)
    ratios = {STARVED: [], BUSY: []}
    history = read(os.path.join(folder, "jobs.csv"))
    outcomes = {row["job_id"]: row for row in read(os.path.join(place, "jobs.csv"))}
    for row in history:
        each = outcomes[row["job_id"]]
        took_s = float(each["finish_s"]) - float(each["start_s"])
        ratios[models[row["job_id"]]].append(took_s / float(row["duration"]))
    pairs = shared_hours(os.path.join(place, "decisions.jsonl"), [models[row["job_id"]] for row in history],
                         [float(outcomes[row["job_id"]]["finish_s"]) for row in history])
    return {model: sum(each) / len(each) for model, each in ratios.items()}, pairs


def add(sums, name, run, slowdown, pairs, seeds):
    each = sums.setdefault(name, {"jct": 0, "kwh": 0, "slow": {STARVED: 0, BUSY: 0}, "pairs": {}})
    each["jct"] += run["avg_jct_s"] / HOUR / seeds
    each["kwh"] += run["energy_kwh"]["D"] / seeds
    for model, value in slowdown.items():
        each["slow"][model] += value / seeds
    for pair, value in pairs.items():
        each["pairs"][pair] = each["pairs"].get(pair, 0) + value / seeds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--short", action="store_true")
    short = parser.parse_args().short
    jobs, seeds = (48, [1]) if short else (120, [1, 2, 3])
    with tempfile.TemporaryDirectory() as folder:
        found = profiles(folder, 2000 if short else 4000)
        print("| run | " + " | ".join(f"{part}, %" for part in PARTS) + " |")
        print("|-|" + "-:|" * len(PARTS))
        for model, (_, profile) in found.items():
            shares = profile["time_pct"]
            print(f"| {NAMES[model]} | " + " | ".join(f"{shares.get(part, 0):.1f}" for part in PARTS) + " |")
        sums = {}
        for seed in seeds:
            models = write_jobs(os.path.join(folder, "jobs.csv"), jobs, seed)
            words = [word for path, _ in found.values() for word in ("--job-profile", path)]
            for told, more in (("", words), (", without profiles", [])):
                policies = [policy for policy in POLICIES if policy != "fifo+packed" or not told]
                runs = simulate("--cluster", "4x4:V100", "--jobs", os.path.join(folder, "jobs.csv"), "--energy", "v100",
                                *more, "--policy", ",".join(policies), "--decisions", "--out",
                                os.path.join(folder, "out"))
                for policy in policies:
                    add(sums, policy + told, runs[policy], *outcome(folder, models, policy), len(seeds))
        print()
        kinds = [(STARVED, STARVED), (BUSY, STARVED), (BUSY, BUSY)]
        print("| policy | JCT, h | kWh (D) | run time of starved | of computing | "
              "GPU-hours shared by two starved | by one of each | by two computing | by more |")
        print("|-|" + "-:|" * 8)
        for policy, each in sums.items():
            two = [each["pairs"].get(tuple(sorted(kind)), 0) for kind in kinds]
            more = sum(each["pairs"].values()) - sum(two)
            print(f"| {policy} | {each['jct']:.2f} | {each['kwh']:.1f} | {each['slow'][STARVED]:.3f} | "
                  f"{each['slow'][BUSY]:.3f} | " + " | ".join(f"{value:.1f}" for value in [*two, more]) + " |")
    if short:
        shares = {model: profile["time_pct"] for model, (_, profile) in found.items()}
        assert shares[STARVED]["input"] > shares[BUSY]["input"], "the small model waits for its input"
        assert shares[STARVED]["compute"] < shares[BUSY]["compute"], "and computes less of its time"
        assert not sums["fifo+packed"]["pairs"], "it shares nothing"
        for policy in POLICIES[1:]:
            pairs = sums[policy]["pairs"]
            with_starved = sum(value for pair, value in pairs.items() if STARVED in pair)
            assert with_starved > 0, f"{policy}: starved jobs have neighbours"
            assert with_starved > pairs.get((BUSY, BUSY), 0), f"{policy}: more than computing ones with each other"


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares `goban profile scores` with an independent computation of PM scores and bins from generated
runs.

As in PAL (SC24, arXiv 2408.11919) and its artifact: runs are divided by the median of all runs, and
the score of a GPU is the median of its own; outliers lie more than 3 sample standard deviations above
the mean; the silhouette of the others selects K1 in 2..10 (the artifact: always 2); K1 + outliers
clusters over all GPUs; a bin is its centroid over the median of the centroids. Clusters in one
dimension are intervals, so the optimum is found by trying all interval borders.

usage: binning_test.py GOBAN
"""

import csv
import math
import random
import statistics
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

CLASSES = "ABCD"


def best_clusters(values, k):
    """The k intervals of the sorted values with the minimum sum of squared distances to their means."""
    values = sorted(values)

    @lru_cache(maxsize=None)
    def cost(begin, end):
        part = values[begin:end]
        mean = sum(part) / len(part)
        return sum((value - mean) ** 2 for value in part)

    @lru_cache(maxsize=None)
    def best(end, clusters):  # (cost, borders) of the first `end` values
        if clusters == 1:
            return cost(0, end), (0,)
        return min(((best(begin, clusters - 1)[0] + cost(begin, end),
                     best(begin, clusters - 1)[1] + (begin,))
                    for begin in range(clusters - 1, end)), key=lambda each: each[0])

    borders = best(len(values), k)[1] + (len(values),)
    return [values[begin:end] for begin, end in zip(borders, borders[1:])]


def silhouette(clusters):
    """Mean over all values of (b - a) / max(a, b); 0 for a cluster of one value."""
    total, count = 0.0, sum(map(len, clusters))
    for own in clusters:
        for value in own:
            if len(own) == 1:
                continue
            a = sum(abs(value - each) for each in own) / (len(own) - 1)
            b = min(sum(abs(value - each) for each in other) / len(other)
                    for other in clusters if other is not own)
            total += (b - a) / max(a, b) if max(a, b) > 0 else 0
    return total / count


def bins(scores, rule):
    """{score: bin}, K1 and the number of outliers."""
    fence = statistics.fmean(scores) + 3 * statistics.stdev(scores)
    ordinary = [score for score in scores if score <= fence]
    if rule == "artifact":
        k1 = 2
    else:
        k1 = max(range(2, 11), key=lambda k: silhouette(best_clusters(ordinary, k)))
    clusters = best_clusters(scores, k1 + len(scores) - len(ordinary))
    centroids = [statistics.fmean(cluster) for cluster in clusters]
    middle = statistics.median(centroids)
    return ({score: centroid / middle for cluster, centroid in zip(clusters, centroids)
             for score in cluster}, k1, len(scores) - len(ordinary))


def generated_runs(rng, gpus):
    """Runs of each GPU: some groups of equal speed, sometimes stragglers, and one-off slow runs."""
    speeds = [rng.uniform(0.9, 1.2) for _ in range(rng.randint(2, 6))]
    runs = []
    for gpu in range(gpus):
        speed = rng.choice(speeds) * rng.lognormvariate(0, 0.01)
        speed *= rng.choice((1.6, 2.4)) if rng.random() < 0.04 else 1
        for _ in range(rng.randint(1, 7)):
            slow = rng.uniform(1.5, 3) if rng.random() < 0.03 else 1
            runs.append((f"GPU-{gpu:03}", 100 * speed * slow * rng.lognormvariate(0, 0.004)))
    rng.shuffle(runs)
    return runs


def median_scores(runs):
    middle = statistics.median(time for _, time in runs)
    by_gpu = {}
    for gpu, time in runs:
        by_gpu.setdefault(gpu, []).append(time / middle)
    return [statistics.median(times) for times in by_gpu.values()]


def close(ours, theirs):
    return math.isclose(ours, theirs, rel_tol=1e-9)


def compare(goban, seed, nodes, rule):
    rng = random.Random(seed)
    failures, notes = 0, []
    with tempfile.TemporaryDirectory() as folder:
        command = [goban, "profile", "scores", "--cluster", f"{nodes}x4", "--mode", "median",
                   "--seed", str(seed), "--k1", rule, "--out", f"{folder}/scores.csv"]
        runs = {}
        for name in CLASSES:
            runs[name] = generated_runs(rng, 4 * nodes)
            path = Path(folder, f"{name}.csv")
            rows = "".join(f"{gpu},{time!r}\n" for gpu, time in runs[name])
            path.write_text("uuid,perf\n" + rows, encoding="utf-8")
            command += ["--profile", f"{name}={path}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"goban ended with {done.returncode}: {done.stderr}")
        with open(f"{folder}/scores.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    for name in CLASSES:
        theirs = [(float(row[f"PerfVar_class{name}"]), float(row[f"bin_class{name}"]))
                  for row in rows]
        mine = median_scores(runs[name])
        if not all(map(close, sorted(mine), sorted(score for score, _ in theirs))):
            print(f"seed {seed}, class {name}: the scores differ")
            failures += 1
            continue
        wanted, k1, outliers = bins([score for score, _ in theirs], rule)
        wrong = [(score, bin_) for score, bin_ in theirs if not close(wanted[score], bin_)]
        if wrong:
            print(f"seed {seed}, class {name}: score {wrong[0][0]} is in bin {wrong[0][1]}, "
                  f"not {wanted[wrong[0][0]]}")
            failures += 1
        notes.append((k1, outliers))
    print(f"seed {seed}, {4 * nodes} GPUs, {rule}: (K1, outliers) of the classes {notes}")
    return failures, notes


def main():
    failures, seen = 0, []
    for seed, nodes, rule in ((1, 16, "artifact"), (2, 16, "silhouette"), (3, 5, "silhouette"),
                              (4, 10, "silhouette"), (5, 25, "artifact"), (6, 12, "silhouette")):
        failed, notes = compare(sys.argv[1], seed, nodes, rule)
        failures += failed
        seen += notes
    if len({k1 for k1, _ in seen}) < 3 or not any(outliers for _, outliers in seen):
        print("the generated runs do not cover enough cases")
        failures += 1
    sys.exit(failures > 0)


main()

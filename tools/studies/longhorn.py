"""PM scores used by several studies of PAL: the artifact's table, and draws from Longhorn's runs."""

import csv

from study import data, goban

ARTIFACT = data("pal/reference/gpu_scores_16x4_binned_code_K2.csv")
GAPS = data("pal/reference/replay_interarrivals_seed1_load2.csv")
TRACES = {name: data(f"pal/traces/{name}.csv")
          for name in ("workload-1", "workload-3", "workload-4", "sia-160job-trace")}


def paper_traces():
    """The eight traces of the paper, by name."""
    return {f"workload-{i}": data(f"pal/traces/workload-{i}.csv") for i in range(1, 9)}


def without_straggler(path):
    """The artifact's table with GPU 35 at 1.146 for class A, without bins, so that it is binned again."""
    with open(ARTIFACT, newline="") as source:
        rows = list(csv.DictReader(source))
    names = [name for name in rows[0] if not name.startswith("bin_")]
    rows[35]["PerfVar_classA"] = "1.146"
    with open(path, "w", newline="") as target:
        writer = csv.DictWriter(target, names, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


def drawn(path, cluster, mode, seed):
    """Draws the cluster's GPUs from the profiles: A resnet, B and C bert, D pagerank."""
    sim = data("pal/profiles/sim")
    goban("profile", "scores", "--cluster", cluster, "--mode", mode, "--seed", seed, "--out", path,
          "--profile", f"A={sim}/resnet-longhorn-agg.csv",
          "--profile", f"B={sim}/bert-longhorn-agg.csv",
          "--profile", f"C={sim}/bert-longhorn-agg.csv",
          "--profile", f"D={sim}/pagerank-longhorn-agg.csv")
    return path

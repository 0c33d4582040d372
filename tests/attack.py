#!/usr/bin/env python3
"""Attacks the programs for minutes, each time with another seed: the long form of tests that ./dev test runs briefly.

    attack.py [NAME...] [--minutes 10] [--seed 1] [--build build] [--list]

The attacks share the time. Prints a table; exits with 1 after a failure, whose command it prints.
"""

import argparse
import dataclasses
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STEPS = 120_000  # of each of nine policies, in a round: a million checks
SHARED_STEPS = 200_000  # of each of five
SEEDS_PER_ROUND = 1000


@dataclasses.dataclass(frozen=True)
class Attack:
    """`words`: the command of a round; {seed} and paths are replaced. `needs`: programs of the build, or of the machine."""
    name: str
    what: str
    needs: tuple
    words: tuple
    environment: tuple = ()


def live(name, what, script, *options, needs=()):
    return Attack(name, what, ("goban", *needs), ("python3", f"tests/live/{script}.py", "{goban}", *options))


def training(name, what, script, *options, needs=()):
    return Attack(name, what, ("goban-train", *needs), ("python3", f"tests/train/{script}.py", "{goban-train}", *options,
                                                        "--seed", "{seed}"))


ATTACKS = (
    live("kills", "the daemon is killed while jobs are submitted and run", "kills", "--kills", "25", "--seed", "{seed}"),
    live("takeovers", "a standby takes over from killed and frozen daemons", "standby", "--rounds", "4", "--seed", "{seed}"),
    live("backups", "backup and restore under load", "backup", "--rounds", "1", "--seed", "{seed}"),
    live("disks", "run folders on a full disk", "full_disk"),
    live("clock", "the clock is set back and forth", "clock", "{libgoban_fake_clock.so}", "--jumps", "25", "--seed", "{seed}",
         needs=("libgoban_fake_clock.so",)),
    live("users", "several users at once", "users", "--requests", "600", "--seed", "{seed}"),
    live("slurm", "daemon, stand-by, slurmctld, slurmd and munged are killed or hang", "../slurm/kills", "--kills", "200", "--seed", "{seed}"),
    live("slurm-versions", "the shared scenarios on Slurm 24.11 and 20.11", "../slurm/versions", needs=("mmdebstrap",)),
    live("kubernetes", "daemon, stand-by, API server, etcd, controllers and kubelets are killed or hang", "../kubelab/kills", "--kills", "200",
         "--seed", "{seed}"),
    Attack("kubernetes-kubelet", "pods on a real kubelet whose runtime runs nothing", ("goban", "kube_engine_check"),
           ("python3", "tests/kubelab/hollow.py", "{kube_engine_check}", "{goban}")),
    Attack("kubernetes-versions", "the engine and the daemon on Kubernetes 1.32 and 1.36", ("goban", "kube_engine_check"),
           ("python3", "tests/kubelab/versions.py", "{kube_engine_check}", "{goban}")),
    Attack("scenarios", "simulated faults; every step is checked", ("live_loop_test",),
           ("{live_loop_test}", "--gtest_filter=Policies/Faults*"),
           (("GOBAN_FAULT_STEPS", str(STEPS)), ("GOBAN_FAULT_SEED", "{fault_seed}"))),
    Attack("shared-cluster", "a simulated cluster that others use, too; every step is checked", ("live_loop_test",),
           ("{live_loop_test}", "--gtest_filter=Policies/ClusterFaults*"),
           (("GOBAN_FAULT_STEPS", str(SHARED_STEPS)), ("GOBAN_FAULT_SEED", "{fault_seed}"))),
    Attack("journal", "damaged journals, failing disks, killed writers", ("live_journal_test",),
           ("{live_journal_test}", "--gtest_filter=Journal*"), (("RC_PARAMS", "seed={seed}"),)),
    training("ranks", "ranks with other options or data, killed and frozen ones", "wrong_ranks", "{mpirun}", "--rounds", "4",
             needs=("mpirun",)),
    training("files", "damaged checkpoints, texts and images of training", "damaged_files", "--rounds", "20"),
    training("training-disks", "checkpoints on a full disk", "full_disk", "--rounds", "4"),
)


@dataclasses.dataclass
class Result:
    rounds: int = 0
    failed: int = 0
    seconds: float = 0
    skipped: str = ""
    counts: dict = dataclasses.field(default_factory=dict)


def find(name, build):
    for folder in "bin", "src":
        path = os.path.join(build, folder, name)
        if os.path.exists(path):
            return path
    return shutil.which(name)


def counts_in(attack, text):
    """What the programs count, on a line of its own."""
    counts = {}
    for line in re.findall(r"^counts: (.*)$", text, re.MULTILINE):
        for each in line.split():
            name, count = each.split("=")
            counts[name] = counts.get(name, 0) + int(count)
    passed = re.search(r"^\[  PASSED  \] (\d+) test", text, re.MULTILINE)
    steps = dict(attack.environment).get("GOBAN_FAULT_STEPS")
    if passed and steps:
        counts["checks"] = int(passed[1]) * int(steps)
    elif passed:
        counts["tests"] = int(passed[1])
    return counts


def one_round(attack, paths, seed, result):
    values = {"seed": str(seed), "fault_seed": str(seed * SEEDS_PER_ROUND), **paths}
    words = [re.sub(r"\{(.*?)\}", lambda found: values[found[1]], word) for word in attack.words]
    extra = {name: value.format(**values) if "{" in value else value for name, value in attack.environment}
    began = time.monotonic()
    try:
        ran = subprocess.run(words, cwd=ROOT, env={**os.environ, **extra}, text=True, errors="replace", stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1800)
        code, text = ran.returncode, ran.stdout
    except subprocess.TimeoutExpired as late:
        code, text = "none within 1800 s", str(late.stdout or "")
    result.seconds += time.monotonic() - began
    if code == 77:
        result.skipped = text.strip().split("\n")[-1]
        return
    result.rounds += 1
    for name, count in counts_in(attack, text).items():
        result.counts[name] = result.counts.get(name, 0) + count
    if code != 0:
        result.failed += 1
        command = " ".join([*(f"{name}={value}" for name, value in extra.items()), *words])
        print(f"{attack.name}: FAILED with exit code {code}\n  {command}", flush=True)
        print("".join(f"  | {line}\n" for line in text.strip().split("\n")[-20:]), end="", flush=True)


def run(attack, build, seed, seconds):
    result = Result()
    paths = {name: find(name, build) for name in attack.needs}
    missing = [name for name, path in paths.items() if path is None]
    if missing:
        result.skipped = f"needs {', '.join(missing)}"
        return result
    end = time.monotonic() + seconds
    while not result.skipped and (result.rounds == 0 or time.monotonic() < end):
        one_round(attack, paths, seed + result.rounds, result)
    return result


def row(attack, result):
    if result.skipped:
        return f"{attack.name:<20} {result.skipped}"
    counts = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in result.counts.items())
    return f"{attack.name:<20} {result.rounds:>6} {result.failed:>6} {result.seconds:>7.0f}  {counts}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], prog="./dev attack")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--list", action="store_true", help="print the names and exit")
    options = parser.parse_args()
    known = {attack.name: attack for attack in ATTACKS}
    for name in options.names:
        if name not in known:
            parser.error(f"no attack is called '{name}'; there are: {', '.join(known)}")
    if options.list:
        for attack in ATTACKS:
            print(f"{attack.name:<20} {attack.what}")
        return 0
    chosen = [known[name] for name in options.names] or list(ATTACKS)
    results = []
    for attack in chosen:
        print(f"{attack.name}: {attack.what}", flush=True)
        results.append((attack, run(attack, options.build, options.seed, 60 * options.minutes / len(chosen))))
    print(f"\nseed {options.seed}, {options.minutes:g} minutes\n{'attack':<20} {'rounds':>6} {'failed':>6} {'seconds':>7}  counts")
    for attack, result in results:
        print(row(attack, result))
    return 1 if any(result.failed for _, result in results) else 0


if __name__ == "__main__":
    sys.exit(main())

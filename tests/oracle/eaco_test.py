#!/usr/bin/env python3
"""Compares `goban energy replay-tables` with an independent computation: from tables 1 to 4 of
K. Haghshenas, M. Hashemi, "EaCO: Resource Sharing Dynamics and Its Impact on Energy Efficiency for
DNN Training" (arXiv 2412.08294v1), typed below, and from generated tables.

The models are those of docs/energy.md: node power by mean GPU utilisation, node power composed of
the power of its members alone, and the energy saved against running the members one after the other.

usage: eaco_test.py GOBAN
"""

import random
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

# set: (node W, kWh, JCT h, mean GPU utilisation %)
PUBLISHED = {
    "J1": (712, 24.73, 34.76, 4.72), "J2": (959, 33.69, 35.13, 11.17),
    "J3": (1330, 47.87, 36.01, 36.61), "J4": (1533, 55.38, 36.13, 48.01),
    "J1+J3": (1390, 50.93, 36.63, 40.25), "J1+J4": (1506, 54.97, 36.51, 55.16),
    "J2+J4": (1644, 60.84, 37.01, 61.06), "J1+J2+J3": (1541, 59.01, 38.28, 52.24),
    "J1+J2+J4": (1713, 65.55, 38.26, 66.99), "J1+J2+J3+J4": (1944, 93.66, 44.21, 96.64)}
MODELS = {"J1": "AlexNet", "J2": "ResNet-18", "J3": "ResNet-50", "J4": "VGG-16"}
BASE_W = 704  # power of the node with idle GPUs, fitted


def curve_w(util_pct):
    return 360 + 1610 * (util_pct / 100) ** 0.48


def composed_w(name, table):
    """Power of each member above the base in watts, at its speed in the set."""
    members = name.split("+")
    speed = statistics.fmean(table[member][2] for member in members) / table[name][2]
    return BASE_W + sum((table[member][0] - BASE_W) * speed for member in members)


def expected(table):
    """The rows of the report: watts, hours, energy; numbers as printed."""
    rows = []
    for name, (watts, _, _, util) in table.items():
        curve, composed = curve_w(util), composed_w(name, table)
        rows.append((name, f"{watts:.0f}", f"{watts:.0f}", f"{curve:.0f}", percent(curve, watts),
                     f"{composed:.0f}", percent(composed, watts)))
    for name, (_, _, hours, _) in table.items():
        rows.append((name, f"{hours:.2f}", f"{hours:.2f}"))
    for name, (watts, energy, hours, _) in table.items():
        alone = sum(table[member][1] for member in name.split("+"))
        saved = (f"{alone:.2f}", f"{100 * (1 - energy / alone):.1f}") if "+" in name else ()
        rows.append((name, f"{energy:.2f}", f"{watts * hours / 1000:.2f}",
                     percent(watts * hours / 1000, energy), *saved))
    return rows


def percent(value, measured):
    return f"{100 * (value / measured - 1):+.1f}"


def errors(table):
    """Mean and maximum error of the two models, as printed."""
    curve = [abs(curve_w(row[3]) / row[0] - 1) for row in table.values()]
    composed = [abs(composed_w(name, table) / row[0] - 1)
                for name, row in table.items() if "+" in name]
    return [(f"{100 * statistics.fmean(each):.2f}", f"{100 * max(each):.2f}")
            for each in (curve, composed)]


def same(mine, theirs):
    """Compares printed numbers: -0.0 equals 0.0, and the last digit may be rounded differently."""
    if mine[0] != theirs[0] or len(mine) > len(theirs):
        return False
    return all(abs(float(a) - float(b)) <= 1.01 * 10 ** -len(a.partition(".")[2])
               and len(a.partition(".")[2]) == len(b.partition(".")[2])
               for a, b in zip(mine[1:], theirs[1:]))


def compare(goban, what, table, *files):
    done = subprocess.run([goban, "energy", "replay-tables", *files], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"goban ended with {done.returncode}: {done.stderr}")
    rows = [line.replace("%", " ").split() for line in done.stdout.splitlines()
            if re.match(r"\s*J\d", line)]
    wanted = expected(table)
    failures = 0
    if len(rows) != len(wanted):
        print(f"{what}: {len(rows)} rows, not {len(wanted)}")
        failures += 1
    for mine, theirs in zip(wanted, rows):
        if not same(mine, theirs):
            print(f"{what}: oracle {mine}\n  goban {theirs}")
            failures += 1
    stated = re.findall(r"([\d.]+) %[^\d]*([\d.]+) %$", done.stdout, re.MULTILINE)
    for mine in errors(table):
        if not any(same(("", *mine), ("", *theirs)) for theirs in stated):
            print(f"{what}: errors {stated}, none of them {mine}")
            failures += 1
    print(f"{what}: {len(rows)} rows, errors {errors(table)}")
    return failures


def generated(seed):
    rng = random.Random(seed)
    table = {}
    for name in PUBLISHED:
        watts, hours = rng.randint(750, 2300), round(rng.uniform(5, 60), 2)
        table[name] = (watts, round(watts * hours / 1000 * rng.uniform(0.9, 1.1), 2), hours,
                       round(rng.uniform(2, 99), 2))
    return table


def write(path, table, alone):
    names = "job,model" if alone else "job_set,n_jobs"
    hours = "jct_h" if alone else "avg_jct_h"
    lines = [f"{names},avg_power_w,total_energy_kwh,{hours},avg_gpu_util_pct"]
    for name, row in table.items():
        if ("+" in name) != alone:
            second = MODELS[name] if alone else name.count("+") + 1
            lines.append(f"{name},{second},{','.join(map(str, row))}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def main():
    failures = compare(sys.argv[1], "published tables", PUBLISHED)
    for seed in range(1, 6):
        table = generated(seed)
        with tempfile.TemporaryDirectory() as folder:
            failures += compare(sys.argv[1], f"generated tables {seed}", table,
                                write(Path(folder, "alone.csv"), table, True),
                                write(Path(folder, "together.csv"), table, False))
    sys.exit(failures > 0)


main()

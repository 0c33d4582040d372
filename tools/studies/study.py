"""Common to all studies: running goban, and means over traces."""

import json
import math
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GOBAN = os.environ.get("GOBAN", os.path.join(ROOT, "build", "bin", "goban"))
sys.path.insert(0, os.path.join(ROOT, "tools"))

import data_sets  # noqa: E402


def data(path):
    """The place of a file or folder of the public data sets; ends the study without it."""
    place = data_sets.find(path)
    if place is None:
        sys.exit(f"this study needs {path} ({data_sets.advice(path)})")
    return str(place)


def goban(*arguments):
    """Runs goban, ends the study if it fails, and returns what it printed."""
    done = subprocess.run([GOBAN, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"goban {' '.join(map(str, arguments))}\n{done.stderr}")
    return done.stdout


def simulate(*arguments):
    """Runs of `goban simulate --json`, by policy."""
    runs = json.loads(goban("simulate", "--json", *arguments))["runs"]
    return {run["policy"]: run for run in runs}


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def percent(ratio):
    """A ratio of JCTs as a gain: 0.57 -> '43.0 %'."""
    return f"{100 * (1 - ratio):.1f} %"

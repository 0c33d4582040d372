"""Common to all studies: running goban, and means over traces."""

import json
import math
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GOBAN = os.path.join(ROOT, "build", "bin", "goban")
SHARED = os.environ.get("GOBAN_SHARED", os.path.join(ROOT, "..", "shared"))


def need_shared(relative):
    path = os.path.join(SHARED, relative)
    if not os.path.exists(path):
        sys.exit(f"this study needs {relative} in the folder that GOBAN_SHARED names")
    return path


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

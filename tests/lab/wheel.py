#!/usr/bin/env python3
"""Builds the wheel of lab/ and tests it in an empty virtual environment: the cases of *cases.py, the
example, and its types by mypy. Cases of packages that cannot be installed are skipped by name. Exits
with 77 (skipped) where PyPI cannot be reached.

usage: wheel.py BUILD GOBAN
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

SKIPPED = 77
ROOT = Path(__file__).resolve().parents[2]


def run(*command, **options):
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        print(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}", file=sys.stderr)
    return done


def environment(folder):
    venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


def install(python, *what):
    """pip install; ends the test as skipped where PyPI cannot be reached."""
    done = run(python, "-m", "pip", "-q", "--disable-pip-version-check", "install", *what)
    if done.returncode == 0:
        return
    unreachable = ("Could not find a version", "Failed to establish", "Max retries", "Temporary failure")
    if any(text in done.stderr for text in unreachable) and "hash" not in done.stderr.lower():
        print("skipped: PyPI cannot be reached")
        sys.exit(SKIPPED)
    sys.exit(1)


def build_plugin(python, folder, goban):
    """Builds examples/lab/plugin with the wheel's header, and a library of another version of the
    interface. Returns what plugin_cases.py finds them by; None if something fails."""
    where = run(python, "-m", "goban_lab", "cmake-dir").stdout.strip()
    for step in (["cmake", "-S", ROOT / "examples" / "lab" / "plugin", "-B", folder / "plugin", f"-Dgoban_lab_DIR={where}"],
                 ["cmake", "--build", folder / "plugin"]):
        if run(*step).returncode != 0:
            return None
    header = (Path(where).parent / "include" / "goban_lab.hpp").read_text()
    (folder / "old").mkdir()
    other, count = re.subn(r"(#define GOBAN_LAB_VERSION) \d+\n", r"\1 999\n", header)
    assert count == 1
    (folder / "old" / "goban_lab.hpp").write_text(other)
    source = ROOT / "examples" / "lab" / "plugin" / "small_first.cpp"
    if run("c++", "-std=c++20", "-shared", "-fPIC", f"-I{folder / 'old'}", source, "-o",
           folder / "old" / "libold.so").returncode != 0:
        return None
    library = folder / "plugin" / "libmine.so"
    (folder / "jobs.csv").write_text("job_id,submit_time,duration,num_gpus,user,walltime_s\n1,0,100,4,a,200\n2,1,50,4,a,60\n3,2,10,4,b,20\n")
    compare = [goban, "simulate", "--cluster", "1x4", "--jobs", folder / "jobs.csv", "--plugin", library, "--policy",
               "fifo+packed,small-first", "--json"]
    done = run(*compare)
    if done.returncode != 0:
        return None
    means = {each["policy"]: round(each["avg_jct_s"], 3) for each in json.loads(done.stdout)["runs"]}
    # Job 1 runs first; then 2 and 3 in either order: 100, 149, 158 s or 100, 159, 108 s.
    if means != {"fifo+packed": round(407 / 3, 3), "small-first": round(367 / 3, 3)}:
        print(f"goban simulate --plugin: {means}", file=sys.stderr)
        return None
    compare[compare.index(library)] = folder / "old" / "libold.so"
    refused = subprocess.run(list(map(str, compare)), capture_output=True, text=True, check=False)
    if refused.returncode == 0 or "was built for version 999 of the interface" not in refused.stderr:
        print(f"goban simulate --plugin libold.so: {refused.stderr}", file=sys.stderr)
        return None
    return {"GOBAN_LAB_PLUGIN": str(library), "GOBAN_LAB_OLD_PLUGIN": str(folder / "old" / "libold.so")}


def main(build, goban):
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        builder = environment(folder / "builder")
        install(builder, "--require-hashes", "-r", ROOT / "lab" / "build-requirements.txt")
        wheels = folder / "wheels"
        if run(builder, "-m", "pip", "-q", "wheel", "--no-build-isolation", "--no-deps", "-w", wheels,
               f"-Cbuild-dir={build}/lab", ROOT / "lab",
               env={**os.environ, "CMAKE_BUILD_PARALLEL_LEVEL": "2"}).returncode != 0:
            return 1
        wheel, = wheels.glob("goban_lab-*.whl")
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
        empty = environment(folder / "empty")
        install(empty, wheel, "mypy")
        for optional in ("nanoarrow", "gymnasium"):
            if run(empty, "-m", "pip", "-q", "--disable-pip-version-check", "install", optional).returncode != 0:
                print(f"skipped: what needs {optional}, which cannot be installed")
        plugin = build_plugin(empty, folder, goban)
        if plugin is None:
            return 1
        data = {name: os.environ[name] for name in ("GOBAN_DATA", "GOBAN_SHARED") if name in os.environ}
        # No compiler is found.
        away = {"cwd": folder, "env": {"PATH": "/nowhere", "HOME": str(folder), "GOBAN_PROGRAM": str(goban), **plugin, **data}}
        steps = ([empty, "-m", "unittest", "discover", "-s", ROOT / "tests" / "lab", "-p", "*cases.py"],
                 [empty, ROOT / "examples" / "lab" / "small_first.py"],
                 [empty, "-m", "mypy", "--strict", ROOT / "examples" / "lab" / "small_first.py"])
        for step in steps:
            done = run(*step, **away)
            if done.returncode != 0:
                return 1
            print(done.stdout + done.stderr)
        for python, code, text in ((empty, 0, "usage: goban lab verify"), (builder, 2, "has no package goban_lab")):
            done = subprocess.run([goban, "lab", "verify", "--help"], env={"GOBAN_LAB_PYTHON": str(python)}, cwd=folder,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            if done.returncode != code or text not in done.stdout:
                print(f"goban lab: exit code {done.returncode}: {done.stdout}", file=sys.stderr)
                return 1
        libraries = run("ldd", next((folder / "empty").glob("lib/*/site-packages/goban_lab/_core*.so"))).stdout
        unwanted = [each for each in ("sqlite", "curl", "torch", "fmt", "tomlplusplus", "microhttpd", "mariadb", "libpq")
                    if each in libraries]
        if unwanted:
            print(f"the module needs {', '.join(unwanted)}:\n{libraries}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))

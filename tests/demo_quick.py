#!/usr/bin/env python3
"""The demonstration of an installed program: its files, its summary, and its time: demo_quick.py GOBAN."""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    with tempfile.TemporaryDirectory(prefix="goban-demo-") as folder:
        done = subprocess.run([ROOT / "tools/demo_quick.sh", pathlib.Path(sys.argv[1]).resolve(), f"{folder}/out"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
        assert done.returncode == 0, done.stdout
        for name in ("comparison.html", "report/report.html", "comparison.txt"):
            assert (pathlib.Path(folder) / "out" / name).stat().st_size > 500, name
            assert name in done.stdout, name
        lines = [line.split() for line in done.stdout.splitlines()]
        jct = {words[0]: float(words[1]) for words in lines if len(words) > 9 and words[2:3] == ["h"]}
        assert jct["goban"] < jct["slurm-multifactor"], jct
        assert sum("completed" in words for words in lines) == 3, done.stdout
    print("ok")


if __name__ == "__main__":
    main()

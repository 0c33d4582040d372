#!/usr/bin/env python3
"""Makes the pictures of README and docs from fixed seeds: pictures.py GOBAN [FOLDER].

The operator's report, a comparison of policies and the dashboard of a daemon with virtual GPUs, in headless
Chromium at 1280 x 800. Data and seeds are fixed; what shows a clock differs between runs.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SIZE = "1280,800"
USERS_JOBS = ("resnet50 2 1h", "bert-large 4 12h", "gpt-small 8 2d", "eval 1 30m", "sweep 1 4h", "vit 4 8h")


def run(words, **options):
    subprocess.run(words, check=True, timeout=300, **options)


def screenshot(address, path, profile, size=SIZE):
    """Waits for scripts, but not for the dashboard's endless stream of events."""
    run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}",
         f"--window-size={size}", "--timeout=6000", f"--screenshot={path}", address], stderr=subprocess.DEVNULL)
    if not path.exists() or path.stat().st_size < 10_000:
        raise SystemExit(f"no picture of {address}")


def report(goban, work):
    run([goban, "trace", "generate", "--like", "abci-2019", "--with-gpu-series", work / "site", "--days", "7", "--jobs", "70000",
         "--nodes", "32", "--seed", "7"], stderr=subprocess.DEVNULL)
    run([goban, "analyze", work / "site/jobs.csv", "--gpu", work / "site/series", "--cluster", "32x4", "--out", work / "report"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return (work / "report/report.html").as_uri()


def comparison(goban, work):
    run([goban, "trace", "generate", "--like", "poisson", "--jobs", "3000", "--cluster", "sia-64", "--load", "0.85", "--seed", "7",
         "--out", work / "jobs.csv"])
    run([goban, "profile", "generate", "--cluster", "sia-64", "--seed", "7", "--out", work / "scores.csv"])
    run([goban, "simulate", "--cluster", "sia-64", "--jobs", "jobs.csv", "--scores", "scores.csv", "--locality-penalty", "1.3",
         "--policy", "easy-backfill+packed,slurm-multifactor,las+pal,goban", "--html", "comparison.html"],
        cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return (work / "comparison.html").as_uri()


def dashboard(goban, work, picture, profile):
    environment = dict(os.environ, GOBAN_STATE=str(work / "state"))
    for name in ("GOBAN_SERVER", "GOBAN_SOCKET", "GOBAN_TOKEN"):
        environment.pop(name, None)
    daemon = subprocess.Popen([goban, "serve", "--virtual-gpus", "16", "--state", work / "state", "--listen", "127.0.0.1:0"],
                              env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            if subprocess.run([goban, "stats"], env=environment, capture_output=True, check=False).returncode == 0:
                break
            time.sleep(0.1)
        for each in USERS_JOBS:
            name, gpus, limit = each.split()
            run([goban, "submit", "--name", name, "--gpus", gpus, "--time", limit, "--output", "/dev/null", "--wrap", "sleep 600"],
                env=environment, stdout=subprocess.DEVNULL)
        time.sleep(3)
        link = subprocess.run([goban, "token"], env=environment, capture_output=True, text=True, check=True).stdout.split()
        screenshot(next(word for word in link if word.startswith("http")) + "&page=cluster", picture, profile, "1280,560")
        run([goban, "cancel", "--all", "--now"], env=environment, stdout=subprocess.DEVNULL)
    finally:
        daemon.send_signal(signal.SIGTERM)
        daemon.wait(60)


def main():
    goban = pathlib.Path(sys.argv[1]).resolve()
    out = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "docs/pictures").resolve()
    out.mkdir(parents=True, exist_ok=True)
    work = pathlib.Path(tempfile.mkdtemp(prefix="goban-pictures-"))
    try:
        screenshot(report(goban, work), out / "report.png", work / "chromium")
        screenshot(comparison(goban, work), out / "comparison.png", work / "chromium")
        dashboard(goban, work, out / "dashboard.png", work / "chromium")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for path in sorted(out.glob("*.png")):
        print(path, path.stat().st_size)


if __name__ == "__main__":
    main()

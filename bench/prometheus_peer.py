#!/usr/bin/env python3
"""Job values from Prometheus, with one range query per job and value, compared with the series store.

Takes a folder of `goban trace generate --like abci-2019 --with-gpu-series`, loads its samples into a
real Prometheus (promtool tsdb create-blocks-from openmetrics), queries mean, standard deviation and
maximum of each job's GPUs, and compares the means with truth.csv. Prints JSON.

usage: prometheus_peer.py GOBAN FOLDER [JOBS = 200]
"""

import csv
import json
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

PORT = 19191
METRIC = "goban_gpu_utilization_percent"


def write_openmetrics(goban, folder, path):
    """Writes all values of the store as OpenMetrics; returns their number."""
    count = 0
    show = subprocess.Popen([goban, "series", "show", f"{folder}/series"], stdout=subprocess.PIPE,
                            text=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"# TYPE {METRIC} gauge\n")
        for row in csv.DictReader(show.stdout):
            if not row["gpu_utilization"].isdigit():
                continue
            out.write(f'{METRIC}{{gpu="{row["device"]}",instance="{row["node"]}"}} '
                      f'{row["gpu_utilization"]} {row["time_s"]}\n')
            count += 1
        out.write("# EOF\n")
    if show.wait() != 0:
        sys.exit("goban series show failed")
    return count


def query(expression, at_s):
    form = urllib.parse.urlencode({"query": expression, "time": at_s}).encode()
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/api/v1/query", form) as answer:
        return json.load(answer)["data"]["result"]


def means_of(job):
    """The mean of each GPU of a job; queries the other two values as well."""
    gpus = [one.split("|")[:2] for one in job["gpus"].split(";")]
    nodes = "|".join(sorted({node for node, _ in gpus}))
    index = "|".join(sorted({gpu for _, gpu in gpus}))
    start, end = int(job["start_unix_s"]), int(job["end_unix_s"])
    window = f'{METRIC}{{instance=~"{nodes}",gpu=~"{index}"}}[{end - start}s]'
    for function in ("stddev_over_time", "max_over_time"):
        query(f"{function}({window})", end)
    return [float(one["value"][1]) for one in query(f"avg_over_time({window})", end)]


def cpu_s(pid):
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def main():
    goban, folder = sys.argv[1:3]
    wanted = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    with open(f"{folder}/jobs.csv", encoding="utf-8", newline="") as file:
        jobs = [job for job in csv.DictReader(file) if job["gpus"]]
    with open(f"{folder}/truth.csv", encoding="utf-8", newline="") as file:
        truth = {row["job_id"]: row for row in csv.DictReader(file)}
    jobs = jobs[:: max(1, len(jobs) // wanted)][:wanted]
    with tempfile.TemporaryDirectory() as place:
        samples = write_openmetrics(goban, folder, f"{place}/all.om")
        subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", f"{place}/all.om",
                        f"{place}/data"], check=True, stdout=subprocess.DEVNULL)
        stored = sum(f.stat().st_size for f in Path(f"{place}/data").rglob("*") if f.is_file())
        Path(f"{place}/empty.yml").write_text("global: {}\n", encoding="utf-8")
        server = subprocess.Popen(
            ["prometheus", f"--config.file={place}/empty.yml", f"--storage.tsdb.path={place}/data",
             "--storage.tsdb.retention.time=100y", "--log.level=error",
             f"--web.listen-address=127.0.0.1:{PORT}"])
        try:
            for _ in range(300):
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{PORT}/-/ready")
                    break
                except OSError:
                    time.sleep(0.1)
            compared = worst = job_samples = 0
            begin, begin_cpu = time.monotonic(), cpu_s(server.pid)
            for job in jobs:
                means = means_of(job)
                row = truth[job["job_id"]]
                job_samples += int(row["samples"])
                if row["used_gpus"] == row["gpus"]:
                    compared += 1
                    worst = max(worst, abs(sum(means) / len(means) - float(row["used_mean_pct"])))
            wall, cpu = time.monotonic() - begin, cpu_s(server.pid) - begin_cpu
        finally:
            server.terminate()
            server.wait()
    print(json.dumps({
        "samples": samples, "prometheus_bytes_a_sample": round(stored / samples, 3),
        "jobs": len(jobs), "job_samples": job_samples, "wall_s": round(wall, 2),
        "server_cpu_s": round(cpu, 2), "cpu_ms_a_job": round(1000 * cpu / len(jobs), 2),
        "jobs_compared": compared, "largest_difference_points": worst}, indent=1))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares the readers of public job histories, and the summaries of what they read, with known jobs.
The same generated jobs are written in each format as its publishers define it. `goban trace convert`,
`trace inspect` and `analyze` must return these jobs, with the statistics that Python's statistics
module computes. Some records are invalid and must be rejected.

usage: histories_test.py GOBAN
"""

import csv
import datetime
import io
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

JOBS = 400
EPOCH_S = 1_600_000_000  # submissions start after this time
END = {"completed": ("Pass", "COMPLETED", 1), "failed": ("Failed", "FAILED", 0),
       "cancelled": ("Killed", "CANCELLED", 5)}  # of Lumos, of Slurm, of SWF


@dataclass
class Job:
    id: str
    submit_s: int
    wait_s: int
    run_s: int
    gpus: int
    cores: int
    user: str
    account: str
    limit_s: int
    end: str

    @property
    def start_s(self):
        return self.submit_s + self.wait_s

    @property
    def end_s(self):
        return self.start_s + self.run_s


def generated(seed):
    rng = random.Random(seed)
    jobs, submit_s = [], EPOCH_S
    for index in range(JOBS):
        submit_s += int(rng.expovariate(1 / 1500))
        gpus = rng.choices([0, 1, 2, 4, 8, 16], [10, 50, 10, 15, 10, 5])[0]
        run_s = max(1, int(rng.lognormvariate(6, 2)))
        jobs.append(Job(str(index), submit_s, int(rng.expovariate(1 / 200)), run_s, gpus,
                        rng.choice((1, 4, 36)), str(int(rng.paretovariate(0.6)) % 40 + 1),
                        str(rng.randint(1, 6)), 60 * rng.randint(1, 3000), rng.choice(list(END))))
    return jobs


# ---- The formats: text, its jobs, a job as `convert` prints it, number of rejected records --------

def table(header, rows):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header.split(","), *rows])
    return text.getvalue()


def local(seconds, form="%Y-%m-%d %H:%M:%S"):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime(form)


def only_gpus(jobs):
    return [job for job in jobs if job.gpus > 0]


def philly_attempts(jobs):
    jobs = only_gpus(jobs)
    rows = [(job.id, job.run_s, job.wait_s, job.submit_s, job.gpus) for job in jobs]
    rows.insert(7, ("x", -5, 0, EPOCH_S, 1))
    return (table(",run_time,wait_time,submit_time,gpu_num", rows), jobs,
            lambda job: {"start_time": job.start_s}, 1)


def philly_sia(jobs):
    jobs = [Job(**{**vars(job), "id": str(row)}) for row, job in enumerate(only_gpus(jobs))]
    rows = [(local(job.submit_s), float(job.run_s), job.gpus, job.run_s * job.gpus,
             f"vc{job.account}") for job in jobs]
    rows.append(("2020-13-01 00:00:00", 1.0, 1, 1, "vc1"))
    return (table("timestamp,duration,num_gpus,gpu_time,cluster", rows), jobs,
            lambda job: {"account": f"vc{job.account}", "partition": f"vc{job.account}"}, 1)


def lumos(jobs):
    rows = [(row, job.id, job.user, job.account, 0, job.gpus, job.cores, 1, float(job.submit_s),
             job.wait_s, float(job.run_s), job.limit_s, 0, END[job.end][0])
            for row, job in enumerate(jobs)]
    rows.insert(3, (999, "bad", 1, 1, 0, 1, 1, 1, "soon", 0, 1, 60, 0, "Pass"))
    return (table(",job,user,project,state,gpu_num,cpu_num,node_num,submit_time,wait_time,run_time,"
                  "wall_time,node_hour,new_status", rows), jobs,
            lambda job: {"user": job.user, "account": job.account, "walltime_s": job.limit_s,
                         "start_time": job.start_s, "state": END[job.end][1]}, 1)


def lumos_intervals(jobs):
    rows, before = [], EPOCH_S
    for job in jobs:
        rows.append((job.id, job.user, job.gpus, job.cores, 1, job.submit_s - before, job.run_s,
                     job.limit_s, END[job.end][0]))
        before = job.submit_s
    jobs = [Job(**{**vars(job), "submit_s": job.submit_s - EPOCH_S}) for job in jobs]
    return (table("u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status",
                  rows), jobs,
            lambda job: {"user": job.user, "walltime_s": job.limit_s, "state": END[job.end][1]}, 0)


def chronus(jobs):
    jobs = only_gpus(jobs)
    rows = [(job.id, f"vc{job.account}", job.gpus, job.submit_s, 100, "vgg16", job.run_s, 14, 0, 0,
             0, "strict") for job in jobs]
    return (table("job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,"
                  "expect_time_list,expect_value_list,best_effort,job_type", rows), jobs,
            lambda job: {"account": f"vc{job.account}", "partition": f"vc{job.account}",
                         "model": "vgg16"}, 0)


def openb(jobs):
    rows = [(job.id, 1000 * job.cores, 1024, job.gpus, 1000 if job.gpus else 0, "", "LS",
             "Succeeded", job.submit_s, job.end_s, job.start_s) for job in jobs]
    rows.append(("late", 1000, 1024, 1, 1000, "", "LS", "Succeeded", EPOCH_S, EPOCH_S - 9,
                 EPOCH_S))
    return (table("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
                  "deletion_time,scheduled_time", rows), jobs,
            lambda job: {"qos": "LS", "start_time": job.start_s}, 1)


def swf(jobs):
    jobs = only_gpus(jobs)
    lines = ["; Version: 2.2", f"; UnixStartTime: {EPOCH_S}"]
    for job in jobs:
        fields = [int(job.id) + 1, job.submit_s - EPOCH_S, job.wait_s, job.run_s, job.gpus, -1, -1,
                  job.gpus, job.limit_s, -1, END[job.end][2], job.user, job.account, -1, 3, 1, -1,
                  -1]
        lines.append(" ".join(map(str, fields)))
    lines.insert(9, "990 5 0 -1 1 -1 -1 1 60 -1 1 1 1 -1 1 3 -1 -1")  # without run time
    lines.insert(20, "991 6 0 10 1 -1 -1 1 60 -1 2 1 1 -1 1 3 -1 -1")  # part of another job
    jobs = [Job(**{**vars(job), "id": str(int(job.id) + 1)}) for job in jobs]
    return ("\n".join(lines) + "\n", jobs,
            lambda job: {"user": job.user, "account": job.account, "walltime_s": job.limit_s,
                         "start_time": job.start_s, "state": END[job.end][1], "partition": "3"}, 2)


def slurm(jobs):
    """sacct -X -P --noconvert; the column names identify the format."""
    def clock(seconds):
        days, rest = divmod(seconds, 86400)
        return f"{days}-" * (days > 0) + f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"

    def row(job):
        gpus = f",gres/gpu={job.gpus},gres/gpu:v100={job.gpus}" if job.gpus else ""
        state = END[job.end][1] + (" by 1000" if job.end == "cancelled" else "")
        return (job.id, "main", "batch", "normal", f"u{job.user}", f"a{job.account}", state,
                *(local(at, "%Y-%m-%dT%H:%M:%S") for at in (job.submit_s, job.start_s, job.end_s)),
                clock(job.limit_s), f"billing={job.cores},cpu={job.cores}{gpus},mem=8G,node=1", "1",
                "node-[01-02]" if job.gpus > 8 else "node-07")

    names = "JobID|Cluster|Partition|QOS|User|Account|State|Submit|Start|End|Timelimit|AllocTRES|" \
            "NNodes|NodeList"
    lines = [names, *("|".join(row(job)) for job in jobs)]
    lines.insert(5, lines[1].replace("COMPLETED", "FOO").replace("FAILED", "FOO")
                 .replace("CANCELLED by 1000", "FOO").replace("0|main", "990|main", 1))
    return ("\n".join(lines) + "\n", jobs,
            lambda job: {"user": f"u{job.user}", "account": f"a{job.account}", "partition": "batch",
                         "qos": "normal", "walltime_s": job.limit_s, "start_time": job.start_s,
                         "end_time": job.end_s, "state": END[job.end][1]}, 1)


FORMATS = {"philly-attempts": philly_attempts, "philly-sia": philly_sia, "lumos": lumos,
           "lumos-intervals": lumos_intervals, "chronus": chronus, "openb": openb, "swf": swf,
           "slurm": slurm}


# ---- Expected statistics -------------------------------------------------------------------------

def quantile(values, share):
    """Interpolates linearly between the two nearest values."""
    values = sorted(values)
    at = share * (len(values) - 1)
    below = math.floor(at)
    above = min(below + 1, len(values) - 1)
    return values[below] + (at - below) * (values[above] - values[below])


def gini(values):
    """Mean absolute difference of all pairs / twice the mean."""
    pairs = sum(abs(a - b) for a in values for b in values)
    return pairs / (2 * len(values) * sum(values))


def distribution(values):
    return {"count": len(values), "mean": statistics.fmean(values), "sd": statistics.stdev(values),
            **{f"p{share}": quantile(values, share / 100)
               for share in (0, 10, 25, 50, 75, 90, 99, 100)}}


def summary(jobs, known):
    """Expected output of `trace inspect`; durations, waits and limits are of jobs with GPUs. `known` are
    the columns of the format."""
    on_gpus = only_gpus(jobs)
    sizes = Counter(job.gpus for job in jobs)
    hours = {size: sum(job.run_s for job in jobs if job.gpus == size) * size / 3600
             for size in sizes}
    wanted = {"jobs": len(jobs), "gpu_hours": sum(hours.values()),
              "duration_s": distribution([job.run_s for job in on_gpus]),
              "sizes": [{"num_gpus": size, "jobs": sizes[size], "gpu_hours": hours[size]}
                        for size in sorted(sizes)]}
    if jobs[0].submit_s >= EPOCH_S:
        times = [datetime.datetime.fromtimestamp(job.submit_s, datetime.timezone.utc)
                 for job in jobs]
        wanted["by_hour"] = [sum(time.hour == hour for time in times) for hour in range(24)]
        wanted["by_weekday"] = [sum(time.weekday() == day for time in times) for day in range(7)]
    if "start_time" in known:
        wanted["wait_s"] = distribution([job.wait_s for job in on_gpus])
    if "walltime_s" in known:
        wanted["walltime_limit_s"] = distribution([job.limit_s for job in on_gpus])
        wanted["request_accuracy"] = distribution([job.run_s / job.limit_s for job in on_gpus])
    if "state" in known:
        ends = Counter(job.end for job in jobs)
        wanted["ends"] = {name: ends[name] for name in END}
    if "user" in known:
        work = Counter()
        for job in jobs:
            work[job.user] += job.run_s * job.gpus
        top = sorted(work.values(), reverse=True)[:max(1, math.ceil(0.06 * len(work) - 1e-9))]
        wanted["users"] = {"count": len(work), "gini": gini(list(work.values())),
                           "top_6_percent_share": sum(top) / sum(work.values())}
    return wanted


def differences(wanted, found, where=""):
    if found is None:
        return [f"{where} is absent"]
    if isinstance(wanted, dict):
        return [each for key, value in wanted.items()
                for each in differences(value, found.get(key), f"{where}.{key}")]
    if isinstance(wanted, list):
        if len(wanted) != len(found):
            return [f"{where} has {len(found)} entries, not {len(wanted)}"]
        return [each for index, value in enumerate(wanted)
                for each in differences(value, found[index], f"{where}[{index}]")]
    same = math.isclose(wanted, found, rel_tol=1e-9, abs_tol=1e-9) \
        if isinstance(wanted, (int, float)) and isinstance(found, (int, float)) else wanted == found
    return [] if same else [f"{where} is {found}, not {wanted}"]


# ---- Goban on the same jobs ----------------------------------------------------------------------

def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def check_jobs(goban, file, jobs, row_of):
    rows = {row["job_id"]: row for row in csv.DictReader(io.StringIO(
        run(goban, "trace", "convert", file)))}
    wanted = {job.id: {"submit_time": job.submit_s, "duration": job.run_s, "num_gpus": job.gpus,
                       **row_of(job)} for job in jobs}
    found = {name: {key: float(row[key]) if isinstance(value, int) else row[key]
                    for key, value in wanted[name].items()}
             for name, row in rows.items() if name in wanted}
    unknown = rows.keys() - wanted.keys()
    return differences(wanted, found) + [f"unexpected job {name}" for name in unknown]


def check_analysis(goban, file, jobs):
    """Statistics of the run times of jobs with GPUs of at least five minutes, as in `goban analyze`."""
    report = json.loads(run(goban, "analyze", file, "--json"))
    hours = [job.run_s / 3600 for job in only_gpus(jobs) if job.run_s >= 300]
    scalars = {item["key"]: item["value"] for item in report["scalars"]}
    [table2] = [item["rows"] for item in report["tables"] if item["id"] == "table2_walltime"]
    [everything] = [row for row in table2 if row[0] == "all"]
    return differences([len(hours)], [scalars["analysed_jobs"]], "analysed_jobs") + differences(
        [len(hours), statistics.fmean(hours), statistics.stdev(hours), statistics.median(hours),
         min(hours), max(hours)], everything[2:8], "table2_walltime")


def check(goban, name, seed):
    text, jobs, row_of, refused = FORMATS[name](generated(seed))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "history")
        file.write_text(text, encoding="utf-8")
        found = json.loads(run(goban, "trace", "inspect", file, "--json"))
        wrong = check_jobs(goban, file, jobs, row_of)
        wanted = {"format": name, "records": len(jobs) + refused, "rejected": refused,
                  "cpu_jobs": len(jobs) - len(only_gpus(jobs)),
                  **summary(jobs, row_of(jobs[0]))}
        wrong += differences(wanted, found, "inspect")
        wrong += check_analysis(goban, file, jobs)
    print(f"{name}, seed {seed}: {len(jobs)} jobs, {refused} rejected, {len(wrong)} differences")
    for each in wrong[:5]:
        print(f"  {each}")
    return len(wrong) > 0


def main():
    sys.exit(sum(check(sys.argv[1], name, seed) for name in FORMATS for seed in (1, 2)) > 0)


main()

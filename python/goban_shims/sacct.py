"""sacct."""

import datetime
import os
import re
import time

from goban_shims.client import ask, fail
from goban_shims.jobs import clock, cores_of, is_among, moment, ran, reason, split_names, state, wanted, where
from goban_shims.options import listed, read_simple
from goban_shims.squeue import details_of

# Known without `goban show`.
SHORT = ("jobid", "jobidraw", "jobname", "partition", "account", "state", "exitcode", "user")
NAMES = {"start": "s", "jobs": "j", "user": "u", "users": "u", "uid": "u", "starttime": "S", "endtime": "E", "format": "o",
         "state": "s", "name": "W", "partition": "r", "partitions": "r", "accounts": "A", "noheader": "n", "parsable2": "P",
         "parsable": "p", "allocations": "X", "allusers": "a", "duplicates": "D", "long": "l", "brief": "b", "noconvert": "T",
         "units": "i", "delimiter": "delimiter", "cluster": "M", "clusters": "M", "nodelist": "N", "array": "array", "qos": "q",
         "completion": "c", "helpformat": "e", "truncate": "T", "submit-line": "submit-line"}


def epoch(text):
    """now-2days, 2026-11-01, 2026-11-01T12:00:00, 11/01/26, 11/01 or 14:30 as seconds since 1970, in this zone."""
    units = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
    relative = re.fullmatch(r"now(?:([-+])(\d+)([a-z]*?)s?)?", text)
    if relative:
        span = int(relative[2] or 0) * units.get(relative[3] or "second", 1)
        return time.time() + (span if relative[1] == "+" else -span)
    today = datetime.date.today()
    day = today.strftime("%Y-%m-%d")
    text = {"today": day, "midnight": day, "yesterday": (today - datetime.timedelta(days=1)).strftime("%Y-%m-%d")}.get(text, text)
    for form in ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d", "%m/%d/%y-%H:%M:%S", "%m/%d/%y-%H:%M", "%m/%d/%y"):
        try:
            return time.mktime(time.strptime(text, form))
        except ValueError:
            continue
    for form, start in (("%Y-%m-%d %H:%M:%S", day + " "), ("%Y-%m-%d %H:%M", day + " "), ("%Y/%m/%d", f"{today.year}/"),
                        ("%Y%m%d", str(today.year))):
        try:
            return time.mktime(time.strptime(start + text, form))
        except ValueError:
            continue
    fail(f"'{text}' is not a valid time")


def sacct_fields(job):
    """The fields of one job by lower-case name, from its details."""
    spec, usage = job.get("spec", {}), job.get("usage", {})
    code, signal = max(0, job.get("exit_code", 0)), job.get("signal", 0)
    seconds, gpus, cores = ran(job), job["num_gpus"], cores_of(job)
    memory = spec.get("mem_bytes", 0)
    tres = ",".join(part for part in (f"cpu={cores}" if cores else "", f"gres/gpu={gpus}" if gpus else "",
                                      f"mem={memory // 2 ** 20}M" if memory else "", "node=1") if part)
    limit = job.get("walltime_s")
    elapsed, total = clock(seconds), clock(usage.get("cpu_s", 0))
    peak = f"{usage.get('mem_bytes_max', 0) // 1024}K"
    # A signal that ended the job.
    code = 0 if signal else code
    out = {"jobid": job["id"], "jobidraw": str(job["job"]), "jobname": job.get("name", ""), "user": job["user"],
           "uid": str(spec.get("owner", {}).get("uid", "")), "gid": str(spec.get("owner", {}).get("gid", "")),
           "account": job.get("account", ""), "group": job["user"], "partition": job.get("partition", "goban"),
           "state": state(job)[1], "exitcode": f"{code}:{signal}", "derivedexitcode": f"{code}:{signal}", "elapsed": elapsed,
           "elapsedraw": str(int(seconds)), "cputime": clock(seconds * cores), "cputimeraw": str(int(seconds * cores)),
           "totalcpu": total, "usercpu": total, "systemcpu": "00:00:00",
           "start": moment(job.get("first_start_s"), "Unknown"), "end": moment(job.get("end_s"), "Unknown"),
           "submit": moment(job.get("submit_s"), "Unknown"), "eligible": moment(job.get("submit_s"), "Unknown"),
           "alloccpus": str(cores), "ncpus": str(cores), "reqcpus": str(cores), "nnodes": "1", "allocnodes": "1", "reqnodes": "1",
           "nodelist": where(job) or "None assigned", "alloctres": tres, "reqtres": tres,
           "reqmem": f"{memory // 2 ** 20}M" if memory else "0", "maxrss": peak, "averss": peak, "maxvmsize": "",
           "timelimit": clock(limit) if limit else "UNLIMITED", "timelimitraw": str(int(limit // 60)) if limit else "",
           "workdir": spec.get("work_folder", ""), "qos": spec.get("qos") or "normal", "priority": str(job.get("priority", 0)),
           "cluster": "goban", "ntasks": "1", "reason": reason(job), "comment": "", "admincomment": "", "wckey": "",
           "submitline": spec.get("script_path", ""), "reservation": job.get("reservation", ""), "suspended": "00:00:00",
           "planned": clock((job.get("first_start_s") or time.time()) - job.get("submit_s", time.time())),
           "consumedenergyraw": str(int(usage.get("energy_j", 0))), "consumedenergy": str(int(usage.get("energy_j", 0)))}
    out["allocgres"] = out["reqgres"] = f"gpu:{gpus}" if gpus else ""
    return out


def batch_step(fields):
    """The line of the script, which Slurm shows below that of the job."""
    names = ("jobid", "jobidraw")
    empty = ("partition", "user", "uid", "gid", "group", "timelimit", "timelimitraw", "qos", "priority", "workdir", "reqmem",
             "reqtres", "reqcpus", "reqnodes", "submitline", "reservation", "reason", "planned", "derivedexitcode")
    out = dict(fields, jobname="batch")
    out.update({name: f"{fields[name]}.batch" for name in names})
    out.update({name: "" for name in empty})
    return out


def columns_of(form, known):
    columns = []
    for part in listed(form):
        name, _, width = part.partition("%")
        if name.lower() not in known:
            fail(f'Invalid field requested: "{name}"')
        try:
            columns.append((name, int(width or (12 if name.lower() == "jobid" else 10))))
        except ValueError:
            fail(f'Invalid width: "{part}"')
    return columns


def chosen_jobs(got):
    ids, users = split_names([got.get("j", "")]), set(listed(got.get("u")))
    ids = [name.split(".")[0] for name in ids]
    everyone = got.get("a") or users or ids
    begin = epoch(got["S"]) if got.get("S") else 0 if ids else epoch("today")
    end = epoch(got["E"]) if got.get("E") else time.time() + 1
    past = ask("history", "jobs", *(["--all"] if everyone and os.geteuid() == 0 else []), "--limit", "10000", *ids)
    live = ask("queue", "--all", "--limit", "0", *([] if everyone else ["--me"]))
    by_number = {job["job"]: job for job in [*past, *live]}
    states = {text.upper() for text in listed(got.get("s"))}
    accounts, parts = set(listed(got.get("A"))), set(listed(got.get("r")))
    rows = []
    for _, job in sorted(by_number.items()):
        if not wanted(job, ids) or not is_among(job, set(), users, parts, accounts):
            continue
        if (job.get("end_s") or end) < begin or job["submit_s"] > end:
            continue
        if states and not states & set(state(job)) or got.get("W") and job.get("name") not in listed(got["W"]):
            continue
        rows.append(job)
    return rows


def sacct(words):
    got, _ = read_simple(words, set("juSEosrANMqiW") | {"delimiter"}, set("nPpXaDlbBLTcev"), NAMES)
    known = list(sacct_fields({"id": "", "job": 0, "user": "", "state": "done", "num_gpus": 0, "submit_s": 0}))
    if got.get("e"):
        print(" ".join(known))
        return 0
    form = got.get("o") or os.environ.get("SACCT_FORMAT") or (
        "JobID,State,ExitCode" if got.get("b") else "JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode")
    if form.lower() == "all" or got.get("l"):
        form = ",".join(known)
    columns = columns_of(form, known)
    rows = chosen_jobs(got)
    if any(name.lower() not in SHORT for name, _ in columns):
        rows = details_of(rows)
    separator = got.get("delimiter") or "|"
    is_parsable = got.get("P") or got.get("p")

    def line(cells):
        if is_parsable:
            return separator.join(cells) + (separator if got.get("p") else "")
        return " ".join((cell if len(cell) <= abs(width) else cell[:abs(width) - 1] + "+").rjust(width) if width > 0
                        else cell.ljust(-width) for cell, (_, width) in zip(cells, columns)) + " "
    if not got.get("n"):
        print(line([name for name, _ in columns]))
        if not is_parsable:
            print(" ".join("-" * abs(width) for _, width in columns) + " ")
    for job in rows:
        fields = sacct_fields(job)
        has_batch = not got.get("X") and job.get("first_start_s")
        for each in [fields, batch_step(fields)] if has_batch else [fields]:
            print(line([each[name.lower()] for name, _ in columns]))
    return 0

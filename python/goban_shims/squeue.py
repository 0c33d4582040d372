"""squeue."""

import os
import sys

from goban_shims.client import ask, fail, note
from goban_shims.hosts import ranges
from goban_shims.jobs import (cores_of, end_of, gpus_of, is_among, moment, ran, reason, short_clock, split_names, start_of, state,
                              wanted, where)
from goban_shims.options import listed, read_simple
from goban_shims.tables import letters_in, long_form, print_form

TITLES = {"i": "JOBID", "A": "JOBID", "F": "ARRAY_JOB_ID", "K": "ARRAY_TASK_ID", "P": "PARTITION", "j": "NAME", "u": "USER",
          "t": "ST", "T": "STATE", "M": "TIME", "l": "TIME_LIMIT", "L": "TIME_LEFT", "D": "NODES", "N": "NODELIST",
          "R": "NODELIST(REASON)", "r": "REASON", "a": "ACCOUNT", "V": "SUBMIT_TIME", "S": "START_TIME", "e": "END_TIME",
          "Q": "PRIORITY", "p": "PRIORITY", "b": "TRES_PER_NODE", "C": "CPUS", "g": "GROUP", "q": "QOS", "B": "EXEC_HOST",
          "Z": "WORK_DIR", "o": "COMMAND", "m": "MIN_MEMORY", "U": "USER", "k": "COMMENT", "E": "DEPENDENCY", "y": "NICE",
          "v": "RESERVATION", "h": "OVER_SUBSCRIBE", "f": "FEATURES", "c": "MIN_CPUS", "x": "EXC_NODES", "n": "REQ_NODES"}
# What only `goban show` tells.
DETAILS = set("CcZomUqExn")
# Of --Format.
LONG = {"jobarrayid": "i", "jobid": "A", "arrayjobid": "F", "arraytaskid": "K", "name": "j", "jobname": "j", "username": "u",
        "userid": "U", "statecompact": "t", "state": "T", "partition": "P", "timeused": "M", "timelimit": "l", "timeleft": "L",
        "numnodes": "D", "nodelist": "N", "reasonlist": "R", "reason": "r", "account": "a", "submittime": "V", "starttime": "S",
        "endtime": "e", "priority": "p", "prioritylong": "Q", "tres-per-node": "b", "numcpus": "C", "groupname": "g", "qos": "q",
        "batchhost": "B", "workdir": "Z", "command": "o", "minmemory": "m", "comment": "k", "dependency": "E", "nice": "y",
        "reservation": "v", "mincpus": "c", "gres": "b", "feature": "f"}
USUAL = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
USUAL_LONG = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R"


def queue_words(got):
    words = ["queue", "--limit", "0"]
    if got.get("me"):
        return words + ["--me"]
    users = listed(got.get("u"))
    return words + ["--user", users[0]] if len(users) == 1 else words


def details_of(jobs):
    """The jobs with what `goban show` adds; those of others stay as they are."""
    more = {}
    names = [job["id"] for job in jobs]
    for first in range(0, len(names), 100):
        for job in ask("show", *names[first:first + 100]):
            more[job["job"]] = job
    return [dict(job, **more.get(job["job"], {})) for job in jobs]


def collapsed(jobs):
    """Waiting tasks of one array and reason as one row, whose "tasks" are their indexes."""
    rows, arrays = [], {}
    for job in jobs:
        array, _, task = job["id"].partition("_")
        key = (array, state(job), reason(job) if reason(job) != "Resources" else "Priority")
        if not task or state(job)[0] != "PD":
            rows.append(job)
        elif key in arrays:
            arrays[key]["tasks"].append(int(task))
        else:
            arrays[key] = dict(job, tasks=[int(task)])
            rows.append(arrays[key])
    for row in rows:
        if len(row.get("tasks", [])) > 1:
            row["tasks"] = ranges([str(task) for task in sorted(row["tasks"])])
            row["id"] = f"{row['id'].partition('_')[0]}_[{row['tasks']}]"
        else:
            row.pop("tasks", None)
    return rows


def dependencies_of(job):
    parts = [f"{each['kind']}:{each['job']}" if "job" in each else each["kind"]
             for each in job.get("spec", {}).get("dependencies", [])]
    return ",".join(f"{part}(unfulfilled)" for part in parts) or "(null)"


def cells(job):
    spec = job.get("spec", {})
    nodes = where(job)
    limit = job.get("walltime_s")
    array, _, task = job["id"].partition("_")
    left = short_clock(max(0, limit - ran(job))) if limit else "UNLIMITED"
    memory = spec.get("mem_bytes", 0) // 2 ** 20
    cores = str(cores_of(job) or 1)
    gpus = gpus_of(job)
    return {"i": job["id"], "A": str(job["job"]), "F": array, "K": str(job.get("tasks") or task or "N/A"),
            "P": job.get("partition", "goban"), "j": job.get("name", ""), "u": job["user"], "t": state(job)[0],
            "T": state(job)[1], "M": short_clock(ran(job)), "l": short_clock(limit) if limit else "UNLIMITED", "L": left, "D": "1",
            "N": nodes, "R": nodes or f"({reason(job)})", "r": reason(job), "a": job.get("account", "") or "(null)",
            "V": moment(job.get("submit_s")), "S": moment(start_of(job)), "e": moment(end_of(job)),
            "Q": str(job.get("priority", 0)), "p": str(job.get("priority", 0)), "b": f"gres:gpu:{gpus}" if gpus else "N/A",
            "C": cores, "c": cores, "g": job["user"], "q": spec.get("qos") or "normal", "B": nodes or "n/a",
            "Z": spec.get("work_folder", "(null)"), "o": spec.get("script_path", "(null)"), "m": f"{memory}M" if memory else "0",
            "U": str(spec.get("owner", {}).get("uid", job["user"])), "k": "(null)", "E": dependencies_of(job),
            "y": str(-min(0, job.get("priority", 0))), "v": job.get("reservation", "(null)"), "h": "OK", "f": "(null)",
            "n": ",".join(spec.get("node_list", [])), "x": ",".join(spec.get("exclude_nodes", []))}


def unknown_field(name):
    fail(f"Invalid job format specification: {name}")


def chosen_jobs(got, names):
    states = {text.upper() for text in listed(got.get("t"))}
    titles, users, parts, accounts = (set(listed(got.get(letter))) for letter in "nupA")
    rows = []
    for job in ask(*queue_words(got), *(["--all"] if states or names else [])):
        short, full = state(job)
        if states and not states & {short, full, "ALL"} or not states and job["state"] == "done":
            continue
        if is_among(job, titles, users, parts, accounts) and wanted(job, names):
            rows.append(job)
    return rows


def is_number(name):
    return name.replace("_", "").isdigit()


def is_known(name):
    """Whether goban has, or had, a job of this name."""
    return any(wanted(job, [name]) for job in ask("queue", "--limit", "0", "--all"))


def squeue(words):
    got, _ = read_simple(words, set("ujtonpSOMwiAq"), set("hlarsv"), {
        "user": "u", "users": "u", "me": "me", "job": "j", "jobs": "j", "states": "t", "state": "t", "format": "o", "Format": "O",
        "name": "n", "partition": "p", "sort": "S", "noheader": "h", "long": "l", "all": "a", "array": "r",
        "nodelist": "w", "start": "start", "account": "A", "steps": "s", "verbose": "v", "iterate": "i", "clusters": "M",
        "qos": "q"})
    for letter, what in (("s", "steps are not listed"), ("i", "it prints once"), ("w", "all nodes are listed"),
                         ("q", "all QOS are listed")):
        if got.get(letter):
            note(f"warning: {what}")
    names = split_names([got.get("j", "")])
    if len(names) == 1 and not is_number(names[0]):
        fail_load()
    rows = chosen_jobs(got, names)
    if len(names) == 1 and not rows and not is_known(names[0]):
        fail_load()
    form = USUAL_LONG if got.get("l") else USUAL
    if got.get("start"):
        form = "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20N %R"
    if got.get("O"):
        form = long_form(got["O"], LONG, unknown_field)
    if form == USUAL and os.environ.get("SQUEUE_FORMAT"):
        form = os.environ["SQUEUE_FORMAT"]
    form = got.get("o") or form
    if letters_in(form) & DETAILS:
        rows = details_of(rows)
    if not got.get("r"):
        rows = collapsed(rows)
    print_form(form, cells, rows, TITLES, not got.get("h"))
    return 0


def fail_load():
    """As Slurm's commands say that a job is unknown."""
    print("slurm_load_jobs error: Invalid job id specified", file=sys.stderr)
    raise SystemExit(1)

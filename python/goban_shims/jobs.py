"""Jobs of goban in Slurm's words: states, reasons, times."""

import datetime
import functools
import re
import time

from goban_shims.client import ask

STATES = {"running": ("R", "RUNNING"), "starting": ("CF", "CONFIGURING"), "waiting": ("PD", "PENDING"), "held": ("PD", "PENDING"),
          "depends": ("PD", "PENDING"), "suspended": ("S", "SUSPENDED"), "stopping": ("CG", "COMPLETING")}
RESULTS = {"completed": ("CD", "COMPLETED"), "failed": ("F", "FAILED"), "cancelled": ("CA", "CANCELLED"),
           "timed_out": ("TO", "TIMEOUT"), "node_failed": ("NF", "NODE_FAIL"), "never_runs": ("CA", "CANCELLED"),
           "out_of_memory": ("OOM", "OUT_OF_MEMORY")}


def clock(seconds):
    """sacct's: 00:05:03, 1-00:00:00."""
    days, rest = divmod(int(max(0, seconds)), 86400)
    text = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}-{text}" if days else text


def short_clock(seconds):
    """squeue's: 0:03, 5:03, 1:02:03, 1-00:00:00."""
    text = clock(seconds)
    if "-" in text:
        return text
    return text.removeprefix("00:").removeprefix("0")


def moment(seconds, absent="N/A"):
    if not seconds:
        return absent
    return datetime.datetime.fromtimestamp(seconds).strftime("%Y-%m-%dT%H:%M:%S")


def state(job):
    """Short and long."""
    if job["state"] == "done":
        return RESULTS.get(job.get("result", ""), ("F", "FAILED"))
    return STATES.get(job["state"], ("PD", "PENDING"))


def reason(job):
    if job["state"] == "held":
        return "JobHeldUser"
    if job.get("begin_s", 0) > time.time():
        return "BeginTime"
    if job["state"] == "depends":
        return "DependencyNeverSatisfied" if "never" in job.get("blocked", "") else "Dependency"
    if job["state"] == "waiting":
        return "Resources" if job.get("position") == 1 else "Priority" if job.get("position") else "JobArrayTaskLimit"
    return "None"


def ran(job):
    """Seconds that it has run in all."""
    if job["state"] in ("running", "suspended", "stopping") and job.get("run_start_s"):
        return job.get("held_s", 0) + time.time() - job["run_start_s"]
    return job.get("held_s", 0)


def start_of(job):
    return job.get("run_start_s") or job.get("first_start_s")


def end_of(job):
    """When it ended, or must have."""
    if job.get("end_s"):
        return job["end_s"]
    start, limit = start_of(job), job.get("walltime_s")
    return start + limit if start and limit and job["state"] != "waiting" else None


@functools.cache
def only_node():
    """The node of a site of one; empty if there are several."""
    nodes = ask("nodes")
    return nodes[0]["node"] if len(nodes) == 1 else ""


def where(job):
    """The nodes of its GPUs; a job without GPUs runs on the only node."""
    started = job["state"] in ("running", "suspended", "stopping") or job["state"] == "done" and job.get("first_start_s")
    if not job.get("gpus") and not job.get("num_gpus") and started:
        return only_node()
    nodes = []
    for gpu in job.get("gpus", []):
        if gpu["node"] not in nodes:
            nodes.append(gpu["node"])
    return ",".join(nodes)


def gpus_of(job):
    return job.get("num_gpus", 0)


def cores_of(job):
    spec = job.get("spec", {})
    return spec.get("cores", 0) * spec.get("instances", 1)


def wanted(job, names):
    """Whether one of "7", "7_2", "7_[0-3]" means the job."""
    if not names:
        return True
    array, _, task = job["id"].partition("_")
    for name in names:
        if name in (job["id"], array, str(job["job"])):
            return True
        chosen = re.fullmatch(r"(\d+)_\[?([\d,-]+)\]?", name)
        if chosen and task and chosen[1] == array:
            for part in chosen[2].split(","):
                least, _, most = part.partition("-")
                if least.isdigit() and int(least) <= int(task) <= int(most or least):
                    return True
    return False


def is_among(job, names, users, partitions, accounts):
    """Whether a job is one of those that are asked for by these sets; an empty set asks for all."""
    return ((not names or job.get("name") in names) and (not users or job["user"] in users)
            and (not partitions or job.get("partition", "goban") in partitions)
            and (not accounts or job.get("account") in accounts))


def split_names(words):
    """Job names of several words: "7,8 9_[1,3]" as [7, 8, 9_[1,3]]."""
    return [name for word in words for name in re.findall(r"[^,\[\]]+(?:\[[^\]]*\])?", word)]

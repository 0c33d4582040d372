"""scontrol: what scripts ask of it, and the changes that goban knows."""

import os
import re
import subprocess
import sys

from goban_shims.client import GOBAN, ask, ask_or_none, fail, goban, said_by
from goban_shims.hosts import compress, expand
from goban_shims.jobs import clock, cores_of, end_of, gpus_of, moment, ran, reason, split_names, start_of, state, where
from goban_shims.options import time_limit_s
from goban_shims.sinfo import FULL, gres_of, state_of
from goban_shims.squeue import dependencies_of, fail_load

ACTIONS = {"hold": "hold", "uhold": "hold", "release": "release", "requeue": "requeue", "suspend": "suspend", "resume": "resume"}


# ---- show ---------------------------------------------------------------------------------------


def pair(name, value):
    return f"{name}={value}"


def job_lines(job):
    """The lines of `scontrol show job`, as lists of NAME=value."""
    spec = job.get("spec", {})
    array, _, task = job["id"].partition("_")
    limit, cores, gpus = job.get("walltime_s"), cores_of(job) or 1, gpus_of(job)
    memory = spec.get("mem_bytes", 0) // 2 ** 20
    code, signal = max(0, job.get("exit_code", 0)), job.get("signal", 0)
    uid, gid = (spec.get("owner", {}).get(name, "?") for name in ("uid", "gid"))
    started = job["state"] not in ("waiting", "held", "depends")
    head = [pair("JobId", job["job"])]
    if task:
        head += [pair("ArrayJobId", array), pair("ArrayTaskId", task)]
        if spec.get("array_limit"):
            head.append(pair("ArrayTaskThrottle", spec["array_limit"]))
    tres = [f"cpu={cores}", *([f"mem={memory}M"] if memory else []), "node=1", *([f"gres/gpu={gpus}"] if gpus else [])]
    submitted = moment(job.get("submit_s"), "Unknown")
    lines = [
        [*head, pair("JobName", job.get("name", ""))],
        [f"UserId={job['user']}({uid})", f"GroupId={job['user']}({gid})", "MCS_label=N/A"],
        [pair("Priority", job.get("priority", 0)), pair("Nice", -min(0, job.get("priority", 0))),
         pair("Account", job.get("account") or "(null)"), pair("QOS", spec.get("qos") or "normal")],
        [pair("JobState", state(job)[1]), pair("Reason", reason(job)), pair("Dependency", dependencies_of(job))],
        [pair("Requeue", int(spec.get("requeue", True))), pair("Restarts", max(0, job.get("runs", 1) - 1)), "BatchFlag=1", "Reboot=0",
         f"ExitCode={0 if signal else code}:{signal}"],
        [pair("RunTime", clock(ran(job))), pair("TimeLimit", clock(limit) if limit else "UNLIMITED"), "TimeMin=N/A"],
        [pair("SubmitTime", submitted), pair("EligibleTime", moment(job.get("begin_s"), submitted))],
        [pair("StartTime", moment(start_of(job) if started else None, "Unknown")),
         pair("EndTime", moment(end_of(job), "Unknown")), "Deadline=N/A"],
        [pair("Partition", job.get("partition", "goban"))],
        [pair("ReqNodeList", ",".join(spec.get("node_list", [])) or "(null)"),
         pair("ExcNodeList", ",".join(spec.get("exclude_nodes", [])) or "(null)")],
        [pair("NodeList", where(job))],
        *([[pair("BatchHost", where(job).split(",")[0])]] if where(job) else []),
        ["NumNodes=1", pair("NumCPUs", cores)],
        [pair("TRES", ",".join(tres))],
        [pair("MinMemoryNode", f"{memory}M" if memory else "0")],
        [pair("Command", spec.get("script_path", "(null)"))],
        [pair("WorkDir", spec.get("work_folder", "(null)"))],
        [pair("StdErr", job.get("stderr_file", "/dev/null"))],
        [pair("StdIn", spec.get("stdin_path", "/dev/null"))],
        [pair("StdOut", job.get("stdout_file", "/dev/null"))]]
    return lines + ([[f"TresPerNode=gres:gpu:{gpus}"]] if gpus else [])


def node_lines(node):
    short = state_of(node)
    gpus = node.get("num_gpus", 0)
    cores, used = node.get("cores", 0), node.get("held_cores", 0)
    memory = node.get("mem_bytes", 0) // 2 ** 20
    lines = [
        [pair("NodeName", node["node"]), pair("Arch", os.uname().machine)],
        [pair("CPUAlloc", f"{used:.0f}"), pair("CPUTot", f"{cores:.0f}")],
        ["AvailableFeatures=(null)"],
        [pair("Gres", gres_of(node))],
        [pair("NodeAddr", node["node"]), pair("NodeHostName", node["node"])],
        [pair("RealMemory", f"{memory:.0f}")],
        [pair("State", FULL.get(short, short).upper())],
        ["Partitions=goban "],
        [f"CfgTRES=cpu={cores:.0f},mem={memory:.0f}M" + (f",gres/gpu={gpus}" if gpus else "")],
        [f"AllocTRES=gres/gpu={node.get('held_gpus', 0)}" if gpus else "AllocTRES="]]
    return lines + ([[pair("Reason", node["reason"])]] if node.get("reason") else [])


def partition_lines(nodes):
    names = compress([node["node"] for node in nodes])
    cores, gpus = (sum(node.get(name, 0) for node in nodes) for name in ("cores", "num_gpus"))
    return [["PartitionName=goban"], ["AllowGroups=ALL", "AllowAccounts=ALL", "AllowQos=ALL"],
            ["AllocNodes=ALL", "Default=YES", "QoS=N/A"], ["MaxNodes=UNLIMITED", "MaxTime=UNLIMITED", "MinNodes=0"],
            [pair("Nodes", names)], ["State=UP", pair("TotalCPUs", f"{cores:.0f}"), pair("TotalNodes", len(nodes))],
            [f"TRES=cpu={cores:.0f},node={len(nodes)},gres/gpu={gpus}"]]


def print_entity(lines, is_one_line):
    texts = [" ".join(line) for line in lines]
    print(" ".join(texts) if is_one_line else "\n   ".join(texts) + "\n")


def show_jobs(names, is_one_line):
    if not names:
        names = [job["id"] for job in ask("queue", "--all", "--limit", "0")]
        if not names:
            print("No jobs in the system")
    for first in range(0, len(names), 100):
        jobs, problem = ask_or_none("show", *names[first:first + 100])
        if jobs is None:
            if "unknown job" in problem or "no job" in problem:
                fail_load()
            fail(problem)
        for job in jobs:
            print_entity(job_lines(job), is_one_line)


def show_nodes(names, is_one_line):
    nodes = {node["node"]: node for node in ask("nodes")}
    for name in names or nodes:
        if name not in nodes:
            print(f"Node {name} not found")
            return 1
        print_entity(node_lines(nodes[name]), is_one_line)
    return 0


def host_list(words):
    text = ",".join(words) or os.environ.get("SLURM_JOB_NODELIST", "")
    if not text:
        fail("host list is empty")
    try:
        return expand(text)
    except ValueError:
        print(f"Invalid hostlist: {text}", file=sys.stderr)
        raise SystemExit(1) from None


def show(words, is_one_line):
    if not words:
        fail("too few arguments for keyword:show")
    entity, _, value = words[0].lower().partition("=")
    names = words[1:]
    if value:
        names = [words[0].partition("=")[2], *names]
    if entity in ("job", "jobs", "jobid"):
        show_jobs([name.split(".")[0] for name in split_names(names)], is_one_line)
    elif entity in ("node", "nodes", "nodename"):
        return show_nodes(host_list(names) if names else [], is_one_line)
    elif entity in ("hostname", "hostnames"):
        print("\n".join(host_list(names)))
    elif entity == "hostlist":
        print(compress(host_list(names)))
    elif entity == "hostlistsorted":
        print(compress(sorted(host_list(names), key=lambda name: [int(part) if part.isdigit() else part
                                                                  for part in re.split(r"(\d+)", name)])))
    elif entity in ("partition", "partitions", "partitionname"):
        if any(name != "goban" for name in names):
            print(f"Partition {names[0]} not found")
            return 1
        print_entity(partition_lines(ask("nodes")), is_one_line)
    elif entity in ("config", "reservation", "reservations", "step", "steps", "licenses", "topology", "daemons", "assoc_mgr"):
        fail(f"show {entity} is not supported on a site of goban; see goban --help")
    else:
        print(f"invalid entity:{words[0]} for keyword:show ", file=sys.stderr)
        return 1
    return 0


# ---- changes ------------------------------------------------------------------------------------


def job_names(words):
    """ "7", "7,8", "jobid=7", "JobId 7"."""
    names = []
    for word in words:
        name, sign, value = word.partition("=")
        if name.lower() in ("job", "jobid", "jobs"):
            word = value if sign else ""
        names += split_names([word])
    return names


def change(words):
    """Runs a goban command that prints what it did."""
    done = goban(*words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode:
        text = said_by(done)
        print("Invalid job id specified" if "unknown job" in text else text, file=sys.stderr)
    return done.returncode


def requeue(names):
    """A job that is being stopped for its return is content: its handler of the signal asks again."""
    codes = []
    for name in names:
        jobs, _ = ask_or_none("show", name)
        if jobs and jobs[0]["state"] == "stopping":
            codes.append(0)
        else:
            codes.append(change(["requeue", name]))
    return max(codes)


def changed_limit(name, text):
    """The new limit in seconds: "90", "+30", "-10", in minutes or with colons."""
    sign = text[0] if text[:1] in "+-" else ""
    seconds = time_limit_s(text[len(sign):])
    if seconds is None:
        fail("a limit cannot be removed; goban alter --time gives another")
    if not sign:
        return seconds
    jobs, problem = ask_or_none("show", name)
    if jobs is None:
        fail(problem)
    return max(1, jobs[0].get("walltime_s", 0) + (seconds if sign == "+" else -seconds))


def update_jobs(names, values):
    if not names:
        fail("name the job: jobid=NUMBER")
    words = []
    for field, value in values:
        if field == "nice" and not re.fullmatch(r"[-+]?\d+|", value):
            fail(f"'{value}' is not a number for Nice")
        if field == "timelimit":
            continue
        option = {"priority": "--priority", "arraytaskthrottle": "--throttle", "nice": "--priority"}.get(field)
        if option is None:
            print(f"Update of this parameter is not supported: {field}={value}\nRequest aborted", file=sys.stderr)
            return 1
        words += [option, str(-int(value or 100)) if field == "nice" else value]
    codes = []
    for name in names:
        limit = dict(values).get("timelimit")
        time_words = ["--time", f"{changed_limit(name, limit)}s"] if limit else []
        codes.append(change(["alter", name, *time_words, *words]))
    return max(codes)


def update_nodes(names, values):
    given = dict(values)
    wish = given.pop("state", "").lower()
    why = given.pop("reason", "")
    if given or wish not in ("drain", "resume", "undrain", "idle", "down"):
        print("Update of this parameter is not supported: "
              + " ".join(f"{field}={value}" for field, value in values) + "\nRequest aborted", file=sys.stderr)
        return 1
    if wish in ("drain", "down"):
        return change(["nodes", "drain", *names, *(["--reason", why] if why else []), *(["--now"] if wish == "down" else [])])
    return change(["nodes", "resume", *names])


def update(words):
    values = [(name.lower(), value) for name, sign, value in (word.partition("=") for word in words) if sign]
    if len(values) != len(words) or not values:
        fail("update takes FIELD=value")
    kind = next((name for name, _ in values if name in ("job", "jobid", "nodename", "node")), None)
    if kind is None:
        fail("name what to update: jobid=NUMBER or nodename=NAME")
    names, rest = dict(values)[kind], [each for each in values if each[0] != kind]
    return update_jobs(split_names([names]), rest) if kind.startswith("job") else update_nodes(host_list([names]), rest)


def ping():
    done = goban("stats", "--json", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print(f"Slurmctld(primary) at {os.uname().nodename} is {'DOWN' if done.returncode else 'UP'}")
    return 1 if done.returncode else 0


def scontrol(words):
    options = {"-o": "o", "--oneliner": "o", "-d": "", "--details": "", "-dd": "", "-Q": "", "--quiet": "", "-v": "", "-a": "",
               "--all": "", "-F": "", "--future": "", "--local": ""}
    is_one_line = any(options.get(word) == "o" for word in words)
    words = [word for word in words if word not in options]
    if not words:
        fail("no command is given; scontrol has no prompt here")
    for word in words:
        if word.startswith("-") and not re.fullmatch(r"-\d.*", word):
            fail(f"unrecognized option '{word}'")
    keyword, rest = words[0].lower(), words[1:]
    if keyword == "show":
        return show(rest, is_one_line)
    if keyword == "update":
        return update(rest)
    if keyword == "ping":
        return ping()
    if keyword in ACTIONS:
        names = job_names(rest)
        if not names:
            fail(f"too few arguments for keyword:{keyword}")
        return requeue(names) if keyword == "requeue" else change([ACTIONS[keyword], *names])
    if keyword in ("reboot", "reconfigure", "shutdown", "create", "delete", "write", "top", "wait_job", "token", "notify", "setdebug",
                   "cancel_reboot", "takeover", "requeuehold", "power", "fsdampeningfactor"):
        fail(f"{keyword} is not supported on a site of goban; see {os.path.basename(GOBAN)} --help")
    print(f"invalid keyword: {words[0]}", file=sys.stderr)
    return 1

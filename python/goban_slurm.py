"""sbatch, squeue, scancel, sinfo, sacct and srun on top of goban, for a site of one machine.

`goban shims DIR` writes the commands; each calls main() of this file with its own name. What a script in
public use asks for is translated; what has no meaning here is reported on stderr and left out.
"""

import datetime
import json
import os
import re
import subprocess
import sys
import time

GOBAN = os.environ.get("GOBAN_PROGRAM", "goban")

# Options of sbatch and srun without a value, and those of one letter that have one.
FLAGS = set("""exclusive hold requeue no-requeue parsable wait quiet verbose contiguous overcommit oversubscribe share
    test-only spread-job use-min-nodes ignore-pbs get-user-env propagate nice no-kill hetjob packjob reboot unbuffered
    label pty exact overlap no-allocate preserve-env disable-status kill-on-bad-exit multi-prog help version
    export-none wait-all-nodes""".split())
LETTERS = set("AaBbCcDdeFGiJLMmNnopqrSTtwx")
# What Slurm has and a site of one machine has no use for.
LEFT_OUT = set("""kill-on-invalid-dep no-kill spread-job use-min-nodes ignore-pbs bb bbf wckey uid gid thread-spec core-spec
    profile power acctg-freq cluster-constraint delay-boot export-file mcs-label reboot container prefer extra batch
    gpu-freq gpus-per-socket mincpus gres-flags mpi cpu-bind mem-bind exact overlap unbuffered no-allocate
    preserve-env disable-status kill-on-bad-exit wait-all-nodes resv-ports cpu-freq network slurmd-debug msg-timeout
    het-group step-name task-epilog task-prolog epilog prolog bcast compress jobid relative threads""".split())
SHORT_TO_LONG = {"n": "ntasks", "W": "wait", "Q": "quiet", "v": "verbose", "k": "no-kill", "u": "unbuffered", "l": "label",
                 "h": "help", "V": "version", "K": "kill-on-bad-exit"}


def fail(message, code=1):
    print(f"{os.path.basename(sys.argv[0])}: error: {message}", file=sys.stderr)
    sys.exit(code)


def note(message):
    print(f"{os.path.basename(sys.argv[0])}: {message}", file=sys.stderr)


def goban(*words, **options):
    try:
        return subprocess.run([GOBAN, *words], text=True, **options)
    except OSError as problem:
        fail(f"cannot run {GOBAN}: {problem.strerror}")


def ask(*words):
    """The JSON that a goban command prints."""
    done = goban(*words, "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        return json.loads(done.stdout)
    except ValueError:
        fail(done.stderr.strip().removeprefix("goban: error: ") or "goban printed nothing", done.returncode or 1)


# ---- command lines ------------------------------------------------------------------------------


def split_options(words):
    """[(name, value or None)] of sbatch or srun, and the words from the script or the command on."""
    options, at = [], 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return options, words[at + 1:]
        if not word.startswith("-") or word == "-":
            break
        at += 1
        if word.startswith("--"):
            name, sign, value = word[2:].partition("=")
            if not sign and name not in FLAGS:
                if at == len(words):
                    fail(f"option --{name} needs a value")
                value, sign = words[at], "="
                at += 1
            options.append((name, value if sign else None))
            continue
        letters = word[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            name = SHORT_TO_LONG.get(letter, letter)
            if letter not in LETTERS:
                options.append((name, None))
                continue
            if not letters:
                if at == len(words):
                    fail(f"option -{letter} needs a value")
                letters = words[at]
                at += 1
            options.append((name, letters.removeprefix("=")))
            letters = ""
    return options, words[at:]


def as_words(options, left_out=()):
    """The options as goban reads them."""
    words = []
    for name, value in options:
        if name in left_out:
            continue
        if name in LEFT_OUT:
            note(f"warning: --{name} has no effect here")
            continue
        if name == "exclusive":
            value = None
        if name == "nice":  # whose value is optional
            value = value or "100"
        dashed = f"-{name}" if len(name) == 1 else f"--{name}"
        if value is None:
            words.append(dashed)
        elif len(name) == 1:
            words += [dashed, value]
        else:
            words.append(f"{dashed}={value}")
    return words


def number_of_tasks(options, script):
    """-n, or nodes x tasks per node, of the command line or of the script; 1 if nothing is said."""
    said = {}
    for line in script.splitlines():
        if line.startswith("#SBATCH"):
            said.update(split_options(line.split("#SBATCH", 1)[1].split(" #")[0].split())[0])
    said.update(options)
    try:
        if "ntasks" in said:
            return int(said["ntasks"])
        nodes = said.get("N", said.get("nodes", "1"))
        return int(nodes.split("-")[0]) * int(said.get("ntasks-per-node", said.get("tasks-per-node", "1")))
    except ValueError:
        return 1


# ---- sbatch, srun -------------------------------------------------------------------------------


def sbatch(words):
    options, rest = split_options(words)
    given = dict(options)
    script = ""
    if rest:
        try:
            with open(rest[0], errors="replace") as file:
                script = file.read(1 << 20)
        except OSError as problem:
            fail(f"Unable to open file {rest[0]}: {problem.strerror}")
    os.environ["GOBAN_SLURM_NTASKS"] = str(number_of_tasks(options, script))
    own = ("parsable", "wait", "quiet", "verbose", "test-only")
    command = ["submit", "--as-slurm", "--parsable", *as_words(options, own)]
    if "test-only" in given:
        command.insert(1, "--dry-run")
    done = goban(*command, *rest, stdout=subprocess.PIPE)
    if done.returncode != 0 or "test-only" in given:
        return done.returncode
    job = done.stdout.strip()
    if "parsable" in given:
        print(job, flush=True)
    elif "quiet" not in given:
        print(f"Submitted batch job {job}", flush=True)
    return goban("wait", job, stdout=subprocess.DEVNULL).returncode if "wait" in given else 0


def run_step(count, words, label):
    """Starts the command once per task within a job; the worst exit code."""
    tasks = []
    for rank in range(count):
        environment = dict(os.environ, SLURM_PROCID=str(rank), SLURM_LOCALID=str(rank), SLURM_NTASKS=str(count),
                           SLURM_NPROCS=str(count), SLURM_STEP_NUM_TASKS=str(count), SLURM_NODEID="0",
                           SLURM_STEP_ID=os.environ.get("SLURM_STEP_ID", "0"))
        if label:
            command = ["sh", "-c", '"$@" 2>&1 | sed "s/^/$SLURM_PROCID: /"', "sh", *words]
        else:
            command = words
        try:
            tasks.append(subprocess.Popen(command, env=environment))
        except OSError as problem:
            fail(f"{words[0]}: {problem.strerror}", 2)
    return max(code if code >= 0 else 128 - code for code in [task.wait() for task in tasks])


def srun(words):
    options, rest = split_options(words)
    given = dict(options)
    if not rest:
        fail("no command is given")
    if "SLURM_JOB_ID" not in os.environ and "GOBAN_JOB_ID" not in os.environ:
        own = ("quiet", "verbose", "label", "parsable", "wait", "exclusive")
        return goban("run", "--as-slurm", *as_words(options, own), "--", *rest).returncode
    count = given.get("ntasks") or os.environ.get("GOBAN_SLURM_NTASKS") or os.environ.get("SLURM_NTASKS", "1")
    try:
        return run_step(max(1, int(count)), rest, "label" in given)
    except ValueError:
        fail(f"'{count}' is not a number of tasks")


# ---- tables -------------------------------------------------------------------------------------


def clock(seconds):
    days, rest = divmod(int(max(0, seconds)), 86400)
    text = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}-{text}" if days else text


def short_clock(seconds):
    """squeue's: 5:03, 1:02:03, 1-00:00:00."""
    text = clock(seconds)
    return text if "-" in text or int(seconds) >= 3600 and not text.startswith("0") else text.removeprefix("00:").removeprefix("0")


def moment(seconds):
    if not seconds:
        return "N/A"
    return datetime.datetime.fromtimestamp(seconds).strftime("%Y-%m-%dT%H:%M:%S")


def print_form(form, cells_of, rows, titles, header):
    """A format such as "%.18i %j": `cells_of(row)` gives texts by letter."""
    def line(cells):
        def cell(match):
            dot, width, letter = match.groups()
            text = str(cells.get(letter, ""))
            if width:
                text = text[:int(width)]
                text = text.rjust(int(width)) if dot else text.ljust(int(width))
            return text
        return re.sub(r"%(\.?)(\d*)([a-zA-Z#])", cell, form.replace("%#P", "%P"))
    if header:
        print(line(titles))
    for row in rows:
        print(line(cells_of(row)))


def where(job):
    nodes = []
    for gpu in job.get("gpus", []):
        if gpu["node"] not in nodes:
            nodes.append(gpu["node"])
    return ",".join(nodes)


STATES = {"running": ("R", "RUNNING"), "starting": ("CF", "CONFIGURING"), "waiting": ("PD", "PENDING"), "held": ("PD", "PENDING"),
          "depends": ("PD", "PENDING"), "suspended": ("S", "SUSPENDED"), "stopping": ("CG", "COMPLETING")}
RESULTS = {"completed": ("CD", "COMPLETED"), "failed": ("F", "FAILED"), "cancelled": ("CA", "CANCELLED"),
           "timed_out": ("TO", "TIMEOUT"), "node_failed": ("NF", "NODE_FAIL"), "never_runs": ("CA", "CANCELLED"),
           "out_of_memory": ("OOM", "OUT_OF_MEMORY")}


def state(job):
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
    if job["state"] in ("running", "suspended", "stopping") and job.get("run_start_s"):
        return job.get("held_s", 0) + time.time() - job["run_start_s"]
    return job.get("held_s", 0)


def wanted(job, names):
    """Whether one of "7", "7_2", "7_[0-3]" means the job."""
    return not names or job["id"] in names or job["id"].split("_")[0] in names or str(job["job"]) in names


def listed(value):
    return [part for part in (value or "").split(",") if part]


def read_simple(words, with_value, flags, long_names):
    """Options of a table command as a dictionary by their letter, and the other words."""
    got, rest, at = {}, [], 0
    while at < len(words):
        word = words[at]
        at += 1
        if word.startswith("--"):
            name, sign, value = word[2:].partition("=")
            letter = long_names.get(name)
            if letter is None:
                note(f"warning: --{name} has no effect here")
            elif letter in with_value:
                if not sign and at < len(words):
                    value = words[at]
                    at += 1
                got[letter] = value
            else:
                got[letter] = True
        elif word.startswith("-") and len(word) > 1:
            letters = word[1:]
            while letters:
                letter, letters = letters[0], letters[1:]
                if letter in with_value:
                    if not letters and at < len(words):
                        letters = words[at]
                        at += 1
                    got[letter], letters = letters.removeprefix("="), ""
                elif letter in flags:
                    got[letter] = True
                else:
                    note(f"warning: -{letter} has no effect here")
        else:
            rest.append(word)
    return got, rest


def queue_words(got):
    words = ["queue", "--limit", "0"]
    if got.get("me"):
        return words + ["--me"]
    users = listed(got.get("u"))
    return words + ["--user", users[0]] if len(users) == 1 else words


def squeue(words):
    got, _ = read_simple(words, set("ujtonpSOMwi"), set("hlars"), {
        "user": "u", "users": "u", "me": "me", "job": "j", "jobs": "j", "states": "t", "state": "t", "format": "o",
        "name": "n", "partition": "p", "sort": "S", "noheader": "h", "long": "l", "all": "a", "array": "r",
        "nodelist": "w", "start": "s"})
    names, users, parts = (set(listed(got.get(letter))) for letter in "nup")
    states = {text.upper() for text in listed(got.get("t"))}
    jobs = ask(*queue_words(got), *(["--all"] if states else []))
    rows = []
    for job in jobs:
        short, full = state(job)
        if states and not states & {short, full, "ALL"} or not states and job["state"] == "done":
            continue
        if names and job.get("name") not in names or users and job["user"] not in users:
            continue
        if parts and job.get("partition", "goban") not in parts or not wanted(job, listed(got.get("j"))):
            continue
        rows.append(job)

    def cells(job):
        nodes = where(job)
        limit = job.get("walltime_s")
        array, _, task = job["id"].partition("_")
        left = clock(max(0, limit - ran(job))) if limit else "UNLIMITED"
        return {"i": job["id"], "A": str(job["job"]), "F": array, "K": task or "N/A", "P": job.get("partition", "goban"),
                "j": job.get("name", ""), "u": job["user"], "t": state(job)[0], "T": state(job)[1], "M": short_clock(ran(job)),
                "l": clock(limit) if limit else "UNLIMITED", "L": left, "D": "1", "N": nodes, "R": nodes or f"({reason(job)})",
                "r": reason(job), "a": job.get("account", ""), "V": moment(job.get("submit_s")), "S": moment(job.get("run_start_s")),
                "e": "N/A", "Q": str(job.get("priority", 0)), "p": str(job.get("priority", 0)), "b": f"gres:gpu:{job['num_gpus']}",
                "C": "1", "g": job["user"], "q": "normal", "B": nodes, "Z": "", "o": ""}
    titles = {"i": "JOBID", "A": "JOBID", "F": "ARRAY_JOB_ID", "K": "ARRAY_TASK_ID", "P": "PARTITION", "j": "NAME", "u": "USER",
              "t": "ST", "T": "STATE", "M": "TIME", "l": "TIME_LIMIT", "L": "TIME_LEFT", "D": "NODES", "N": "NODELIST",
              "R": "NODELIST(REASON)", "r": "REASON", "a": "ACCOUNT", "V": "SUBMIT_TIME", "S": "START_TIME", "e": "END_TIME",
              "Q": "PRIORITY", "p": "PRIORITY", "b": "TRES_PER_NODE", "C": "CPUS", "g": "GROUP", "q": "QOS", "B": "EXEC_HOST"}
    usual = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R" if got.get("l") else "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
    print_form(got.get("o") or usual, cells, rows, titles, not got.get("h"))
    return 0


def scancel(words):
    got, names = read_simple(words, set("unptsAqw"), set("bfiQv"), {
        "user": "u", "me": "me", "name": "n", "jobname": "n", "partition": "p", "state": "t", "signal": "s", "quiet": "Q",
        "batch": "b", "full": "f", "account": "A"})
    now = ["--now"] if got.get("s", "").upper().removeprefix("SIG") in ("KILL", "9") else []
    if got.get("s") and not now:
        note(f"warning: signal {got['s']} is not sent; the job is stopped with its own signal")
    filters = {letter: set(listed(got.get(letter))) for letter in "nupt"}
    if any(filters.values()) or got.get("me"):
        states = {text.upper() for text in filters["t"]}
        chosen = []
        for job in ask(*queue_words(got)):
            if filters["n"] and job.get("name") not in filters["n"] or filters["u"] and job["user"] not in filters["u"]:
                continue
            if states and not states & set(state(job)) or filters["p"] and job.get("partition", "goban") not in filters["p"]:
                continue
            if wanted(job, names):
                chosen.append(job["id"])
        names = chosen
        if not names:
            return 0
    if not names:
        fail("No job identification provided")
    return goban("cancel", *now, *names, stdout=subprocess.DEVNULL,
                 stderr=subprocess.DEVNULL if got.get("Q") else None).returncode


def sinfo(words):
    got, _ = read_simple(words, set("opntSMOi"), set("NhlsRae"), {
        "format": "o", "partition": "p", "nodes": "n", "states": "t", "Node": "N", "noheader": "h", "long": "l",
        "summarize": "s", "list-reasons": "R"})
    rows = []
    for node in ask("nodes"):
        used, total = node.get("held_gpus", 0), node.get("num_gpus", 0)
        short = {"down": "down", "draining": "drng", "drained": "drain"}.get(
            node["state"], "alloc" if total and used >= total else "mix" if used else "idle")
        rows.append((node, short))
    if not got.get("N"):
        grouped = {}
        for node, short in rows:
            grouped.setdefault((short, node.get("num_gpus"), node.get("gpu_model")), []).append(node)
        rows = [(dict(nodes[0], node=",".join(node["node"] for node in nodes), count=len(nodes)), key[0])
                for key, nodes in grouped.items()]
    full = {"alloc": "allocated", "mix": "mixed", "drain": "drained", "drng": "draining"}

    def cells(row):
        node, short = row
        gres = f"gpu:{node.get('gpu_model') or 'gpu'}:{node.get('num_gpus', 0)}".replace(" ", "_")
        return {"P": "goban*", "R": "goban", "a": "up", "l": "infinite", "D": str(node.get("count", 1)), "t": short,
                "T": full.get(short, short), "N": node["node"], "n": node["node"], "c": f"{node.get('cores', 0):.0f}",
                "m": f"{node.get('mem_bytes', 0) / 2 ** 20:.0f}", "G": gres, "E": node.get("reason") or "none",
                "f": "(null)", "O": "N/A", "C": "N/A", "z": "N/A"}
    titles = {"P": "PARTITION", "R": "PARTITION", "a": "AVAIL", "l": "TIMELIMIT", "D": "NODES", "t": "STATE", "T": "STATE",
              "N": "NODELIST", "n": "HOSTNAMES", "c": "CPUS", "m": "MEMORY", "G": "GRES", "E": "REASON", "f": "AVAIL_FEATURES",
              "O": "CPU_LOAD", "C": "CPUS(A/I/O/T)", "z": "S:C:T"}
    usual = "%N %.6D %.9P %t" if got.get("N") else "%.9P %.5a %.10l %.6D %.6t %N"
    print_form(got.get("o") or usual, cells, rows, titles, not got.get("h"))
    return 0


def epoch(text):
    """now-2days, 2026-11-01, 2026-11-01T12:00:00, 11/01/26 or MM/DD as seconds since 1970, in this machine's zone."""
    units = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
    relative = re.fullmatch(r"now(?:-(\d+)([a-z]*?)s?)?", text)
    if relative:
        return time.time() - int(relative[1] or 0) * units.get(relative[2] or "second", 1)
    today = datetime.date.today().strftime("%Y-%m-%d")
    text = {"today": today, "midnight": today}.get(text, text)
    for form in ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d", "%m/%d/%y-%H:%M:%S", "%m/%d/%y"):
        try:
            return time.mktime(time.strptime(text, form))
        except ValueError:
            continue
    fail(f"'{text}' is not a valid time")


def sacct_fields(job):
    """The fields of one job by lower-case name, from its details."""
    spec, usage = job.get("spec", {}), job.get("usage", {})
    code, signal = max(0, job.get("exit_code", 0)), job.get("signal", 0)
    seconds, gpus = ran(job), job["num_gpus"]
    cores = spec.get("cores", 0) * spec.get("instances", 1)
    memory = spec.get("mem_bytes", 0)
    tres = ",".join(part for part in (f"cpu={cores}" if cores else "", f"gres/gpu={gpus}" if gpus else "",
                                      f"mem={memory // 2 ** 20}M" if memory else "", "node=1") if part)
    limit = job.get("walltime_s")
    elapsed, total = clock(seconds), clock(usage.get("cpu_s", 0))
    return {"jobid": job["id"], "jobidraw": str(job["job"]), "jobname": job.get("name", ""), "user": job["user"],
            "uid": str(spec.get("owner", {}).get("uid", "")), "account": job.get("account", ""), "group": job["user"],
            "partition": job.get("partition", "goban"), "state": state(job)[1], "exitcode": f"{code}:{signal}",
            "derivedexitcode": f"{code}:{signal}", "elapsed": elapsed, "elapsedraw": str(int(seconds)),
            "cputime": clock(seconds * cores), "cputimeraw": str(int(seconds * cores)), "totalcpu": total,
            "start": moment(job.get("first_start_s")).replace("N/A", "Unknown"),
            "end": moment(job.get("end_s")).replace("N/A", "Unknown"), "submit": moment(job.get("submit_s")),
            "alloccpus": str(cores), "ncpus": str(cores), "reqcpus": str(cores), "nnodes": "1", "allocnodes": "1",
            "nodelist": where(job) or "None assigned", "alloctres": tres, "reqtres": tres,
            "reqmem": f"{memory // 2 ** 20}M" if memory else "0", "maxrss": f"{usage.get('mem_bytes_max', 0) // 1024}K",
            "timelimit": clock(limit) if limit else "UNLIMITED", "workdir": spec.get("work_folder", ""), "qos": "normal",
            "priority": str(job.get("priority", 0)), "cluster": "goban", "ntasks": "1", "reason": reason(job),
            "consumedenergyraw": str(int(usage.get("energy_j", 0)))}


def sacct(words):
    got, _ = read_simple(words, set("juSEosrANMqiW"), set("nPpXaDlbBLT"), {
        "jobs": "j", "user": "u", "users": "u", "uid": "u", "starttime": "S", "endtime": "E", "format": "o", "state": "s",
        "name": "W", "partition": "r", "accounts": "A", "noheader": "n", "parsable2": "P", "parsable": "p",
        "allocations": "X", "allusers": "a", "duplicates": "D", "long": "l", "brief": "b", "noconvert": "T", "units": "i"})
    ids, users = listed(got.get("j")), set(listed(got.get("u")))
    everyone = got.get("a") or users or ids
    begin = epoch(got["S"]) if got.get("S") else 0 if ids else epoch("today")
    end = epoch(got["E"]) if got.get("E") else time.time() + 1
    names = [name for name in ids]
    past = ask("history", "jobs", *(["--all"] if everyone and os.geteuid() == 0 else []), "--limit", "10000", *names) \
        if names or not ids else []
    live = ask("queue", "--all", "--limit", "0", *([] if everyone else ["--me"]))
    by_number = {job["job"]: job for job in [*past, *live]}
    states = {text.upper() for text in listed(got.get("s"))}
    rows = []
    for number in sorted(by_number):
        job = by_number[number]
        if not wanted(job, ids) or users and job["user"] not in users:
            continue
        if (job.get("end_s") or end) < begin or job["submit_s"] > end:
            continue
        if states and not states & set(state(job)) or got.get("W") and job.get("name") not in listed(got["W"]):
            continue
        rows.append(job)
    known = list(sacct_fields({"id": "", "job": 0, "user": "", "state": "done", "num_gpus": 0}))
    default = "JobID,State,ExitCode" if got.get("b") else "JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode"
    form = got.get("o") or default
    if form.lower() == "all":
        form = ",".join(known)
    columns = []
    for part in listed(form):
        name, _, width = part.partition("%")
        if name.lower() not in known:
            fail(f'Invalid field requested: "{name}"')
        columns.append((name, int(width or (12 if name.lower() == "jobid" else 10))))
    details = {}
    if any(name.lower() not in ("jobid", "jobname", "partition", "account", "state", "exitcode", "user") for name, _ in columns):
        for first in range(0, len(rows), 100):
            part = rows[first:first + 100]
            for job in ask("show", *(job["id"] for job in part)):
                details[job["job"]] = job
    separator = "|" if got.get("P") or got.get("p") else " "

    def line(cells):
        if separator == "|":
            return "|".join(cells) + ("|" if got.get("p") else "")
        return " ".join((cell if len(cell) <= abs(width) else cell[:abs(width) - 1] + "+").rjust(width) if width > 0
                        else cell.ljust(-width) for cell, (_, width) in zip(cells, columns)) + " "
    if not got.get("n"):
        print(line([name for name, _ in columns]))
        if separator == " ":
            print(" ".join("-" * abs(width) for _, width in columns) + " ")
    for job in rows:
        fields = sacct_fields(dict(job, **details.get(job["job"], {})))
        print(line([fields[name.lower()] for name, _ in columns]))
    return 0


COMMANDS = {"sbatch": sbatch, "srun": srun, "squeue": squeue, "scancel": scancel, "sinfo": sinfo, "sacct": sacct}


def main(name, words):
    sys.argv[0] = name
    if any(word in ("--version", "-V") for word in words[:1]):
        # Scripts look for the number of a release of Slurm.
        print("slurm 22.05.0 (goban)")
        return 0
    try:
        return COMMANDS[name](words)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

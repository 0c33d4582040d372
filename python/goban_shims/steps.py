"""srun within a job: one process per task, with the variables that Slurm gives a task."""

import os
import re
import shlex
import socket
import hashlib
import time

from goban_shims.client import fail, note
from goban_shims.hosts import expand
from goban_shims.options import SRUN_LETTERS, SRUN_NAMES, dashed, split_options, time_limit_s
from goban_shims.submit import run_outside
from goban_shims.task_group import TaskGroup

# Options that mean nothing in a job of one machine, as nothing is lost without them.
WITHOUT_MEANING = set("""exact exclusive overlap unbuffered quiet verbose job-name nodes immediate disable-status
    no-kill preserve-env partition account qos reservation resv-ports use-min-nodes spread-job wckey msg-timeout slurmd-debug
    whole interactive oversubscribe mail-type mail-user comment constraint exclude send-libs gres-flags""".split())
# Options that change less than a user may expect.
REMARKS = {"mem": "the memory of a step is not limited, that of the job is", "mem-per-cpu": "the memory of a step is not limited",
           "mem-per-gpu": "the memory of a step is not limited", "cpu-bind": "tasks are not bound to cores",
           "mem-bind": "tasks are not bound to memory", "distribution": "there is one node", "hint": "tasks are not bound to cores",
           "threads-per-core": "tasks are not bound to cores", "ntasks-per-core": "tasks are not bound to cores",
           "ntasks-per-socket": "tasks are not bound to cores", "cores-per-socket": "tasks are not bound to cores",
           "sockets-per-node": "tasks are not bound to cores", "extra-node-info": "tasks are not bound to cores",
           "core-spec": "tasks are not bound to cores", "overcommit": "tasks share the cores of the job",
           "cpu-freq": "frequencies are not set", "gpu-freq": "frequencies are not set", "threads": "all tasks start at once",
           "profile": "steps are not measured on their own", "acctg-freq": "steps are not measured on their own",
           "propagate": "limits are those of the job", "signal": "a step gets the signals of the job",
           "licenses": "licences are not managed", "network": "networks are not managed", "bb": "there is no burst buffer",
           "tmp": "local disk is not managed", "contiguous": "there is one node", "cpus-per-gpu": "tasks share the cores of the job"}
TAKEN = set("""ntasks ntasks-per-node cpus-per-task gpus gpus-per-node gpus-per-task gres gpu-bind ntasks-per-gpu label output
    error input chdir export time kill-on-bad-exit wait multi-prog pty mpi nodelist open-mode jobid""".split())
REFUSED = set("""bcast prolog epilog task-prolog task-epilog relative het-group container no-allocate test-only export-file
    uid gid""".split())
# Options that only a job has.
OUTSIDE = set("""dependency begin array hold requeue no-requeue priority nice deadline time-min reboot wait-all-nodes mincpus
    get-user-env hetjob packjob switches clusters cluster-constraint power prefer mcs-label delay-boot thread-spec help
    nodefile kill-on-invalid-dep batch extra bbf""".split())
# Values that a job without ranks has; anything else was set by its script, which knows better.
RANKS = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1"}
# Lists of one entry per GPU of the job.
GPU_LISTS = ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "GOBAN_GPUS", "GOBAN_GPU_UUIDS", "SLURM_JOB_GPUS")


def unrecognized(name):
    fail(f"unrecognized option '{dashed(name)}'", 255)


def checked(options):
    """The options as a dictionary. Fails for those that srun has not, or that would change what is run."""
    given = {}
    for name, value in options:
        if name in TAKEN:
            given[name] = value
        elif name in REMARKS:
            note(f"warning: --{name} has no effect in a step: {REMARKS[name]}")
        elif name in REFUSED:
            fail(f"--{name} is not supported")
        elif name in OUTSIDE:
            note(f"warning: --{name} has no effect in a step")
    if given.get("mpi") not in (None, "none", "list"):
        note(f"warning: --mpi={given['mpi']} has no effect: start programs of MPI with mpirun")
    return given


def number(given, name, default=None):
    text = given.get(name)
    if text is None:
        return default
    if not re.fullmatch(r"\d+", text):
        fail(f"'{text}' is not a number for --{name}")
    return int(text)


def number_of_gpus(text, name):
    """4, gpu:4, gpu:a100:4, none; None: no GPUs are meant."""
    if text is None:
        return None
    if text == "none":
        return 0
    total = None
    for part in text.split(","):
        words = part.split(":")
        if name == "gres" and words[0] != "gpu":
            note(f"warning: unknown resource '{part}'")
            continue
        count = words[-1] if re.fullmatch(r"\d+", words[-1]) else "1"
        total = (total or 0) + int(count)
    return total


def gpus_of_step(given):
    """How many GPUs are asked for in all; None: nothing is said of them."""
    return next((number_of_gpus(given[name], name) for name in ("gpus", "gpus-per-node", "gres") if name in given), None)


def count_of_tasks(given, rest_of_step):
    """How many tasks the step has."""
    nodes = dict(rest_of_step).get("nodes")
    if nodes and nodes.partition("-")[0] not in ("0", "1"):
        fail(f"Only allocated 1 nodes asked for {nodes}")
    if "ntasks" in given:
        return max(1, number(given, "ntasks"))
    if "ntasks-per-node" in given:
        return max(1, number(given, "ntasks-per-node"))
    gpus = gpus_of_step(given)
    if gpus and number(given, "gpus-per-task"):
        return max(1, gpus // number(given, "gpus-per-task"))
    if gpus and number(given, "ntasks-per-gpu"):
        return gpus * number(given, "ntasks-per-gpu")
    told = os.environ.get("SLURM_NTASKS") or os.environ.get("SLURM_NTASKS_PER_NODE") or "1"
    return max(1, int(told)) if told.isdigit() else 1


# ---- GPUs ---------------------------------------------------------------------------------------


class GpuClaims:
    """Which GPUs of the job other steps use: a name in the kernel per GPU, which lives as long as its step."""

    def __init__(self):
        key = os.environ.get("GOBAN_RUN_KEY", os.environ.get("SLURM_JOB_ID", ""))
        self.start = "\0goban-step-" + hashlib.sha256(key.encode()).hexdigest()[:24]
        self.held = []

    def take(self, count, total):
        """The indexes of `count` free ones of `total`; waits until there are as many."""
        told = False
        while True:
            chosen = self._try(count, total)
            if chosen is not None:
                return chosen
            if not told:
                note(f"Job {os.environ.get('SLURM_JOB_ID', '')} step creation temporarily disabled, "
                     "retrying (Requested nodes are busy)")
                told = True
            time.sleep(0.1)

    def _try(self, count, total):
        chosen = []
        for index in range(total):
            if len(chosen) == count:
                break
            name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            try:
                name.bind(f"{self.start}-{index}")
            except OSError:
                name.close()
                continue
            self.held.append(name)
            chosen.append(index)
        if len(chosen) == count:
            return chosen
        for name in self.held:
            name.close()
        self.held = []
        return None


def gpus_of_tasks(given, count, overlaps, claims):
    """For each task the positions of its GPUs in the job's lists; None: all of them."""
    visible = [part for part in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if part]
    asked = gpus_of_step(given)
    per_task = number(given, "gpus-per-task")
    bound = re.fullmatch(r"(?:verbose,)?(?:single|per_task):(\d+)", given.get("gpu-bind") or "")
    if asked is None and per_task is None and os.environ.get("SLURM_GPUS_PER_TASK", "").isdigit():
        per_task = int(os.environ["SLURM_GPUS_PER_TASK"])
    if per_task is None and bound:
        per_task = int(bound[1])
    if asked is None and per_task is None:
        return None
    needed = per_task * count if asked is None else asked
    if per_task is not None and per_task * count > needed or needed > len(visible):
        fail(f"Unable to create step for job {os.environ.get('SLURM_JOB_ID', '')}: Invalid generic resource (gres) "
             f"specification: {max(needed, (per_task or 0) * count)} GPUs are requested, the job has {len(visible)}")
    if given.get("gpu-bind") and not bound and given["gpu-bind"] not in ("none", "verbose,none"):
        note(f"warning: --gpu-bind={given['gpu-bind']} has no effect; single:N and per_task:N have")
    chosen = list(range(needed)) if overlaps else claims.take(needed, len(visible))
    if per_task is None:
        return [chosen] * count
    return [chosen[task * per_task:(task + 1) * per_task] for task in range(count)]


def with_gpus(environment, positions):
    """Restricts the lists of GPUs to these positions."""
    total = len(environment.get("CUDA_VISIBLE_DEVICES", "").split(","))
    for name in GPU_LISTS:
        parts = environment.get(name, "").split(",")
        if name == "SLURM_JOB_GPUS":
            name = "SLURM_STEP_GPUS"
        if len(parts) == total:
            environment[name] = ",".join(parts[position] for position in positions)
    if not positions:
        environment["CUDA_VISIBLE_DEVICES"] = ""
        environment["NVIDIA_VISIBLE_DEVICES"] = "void"
    environment["SLURM_GPUS_ON_NODE"] = str(len(positions))


# ---- environment, files -------------------------------------------------------------------------


def exported(text):
    """The variables of a task by --export."""
    if text is None:
        return dict(os.environ)
    names, values, everything = [], {}, False
    for part in text.split(","):
        name, sign, value = part.partition("=")
        if part == "ALL":
            everything = True
        elif sign:
            values[name] = value
        elif part not in ("NONE", "NIL"):
            names.append(name)
    kept = re.compile("SLURM|GOBAN_|CUDA_|NVIDIA_|MASTER_")
    # Slurm sets no PATH here and then finds no program; these are what any program needs.
    basic = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TMPDIR")
    out = {name: value for name, value in os.environ.items()
           if everything or name in names or name in basic or kept.match(name)}
    return {**out, **values}


def environments(given, count, gpus):
    """The environment of each task."""
    base = exported(given.get("export"))
    base.update(SLURM_NTASKS=str(count), SLURM_NPROCS=str(count), SLURM_STEP_NUM_TASKS=str(count), SLURM_STEP_NUM_NODES="1",
                SLURM_STEP_TASKS_PER_NODE=str(count), SLURM_TASKS_PER_NODE=str(count), SLURM_NODEID="0", SLURM_STEP_ID="0",
                SLURM_STEPID="0", SLURM_STEP_NODELIST=base.get("SLURM_JOB_NODELIST", ""), SLURM_DISTRIBUTION="block",
                SLURM_GTIDS=",".join(str(task) for task in range(count)), SLURM_LAUNCH_NODE_IPADDR="127.0.0.1",
                SLURM_SRUN_COMM_HOST="127.0.0.1")
    if "cpus-per-task" in given:
        base["SLURM_CPUS_PER_TASK"] = str(number(given, "cpus-per-task"))
    if "ntasks-per-node" in given:
        base["SLURM_NTASKS_PER_NODE"] = str(number(given, "ntasks-per-node"))
    out = []
    for task in range(count):
        one = dict(base, SLURM_PROCID=str(task), SLURM_LOCALID=str(task))
        if count > 1:
            ranks = {"RANK": task, "LOCAL_RANK": task, "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count}
            for name, default in RANKS.items():
                if one.get(name, default) == default:
                    one[name] = str(ranks[name])
            for name in ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"):
                if name in one:
                    one[name] = str(task)
            for name in ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"):
                if name in one:
                    one[name] = str(count)
        if gpus is not None:
            with_gpus(one, gpus[task])
        out.append(one)
    return out


def file_name(pattern, task):
    """A pattern of srun: %j %J %A %a %t %n %N %s %u %x %%."""
    job = os.environ.get("SLURM_JOB_ID", os.environ.get("GOBAN_JOB_ID", ""))
    array = os.environ.get("SLURM_ARRAY_JOB_ID", job)
    node = os.environ.get("SLURMD_NODENAME", "")
    letters = {"j": job, "J": f"{job}.0", "A": array, "a": os.environ.get("SLURM_ARRAY_TASK_ID", "0"), "t": str(task), "n": "0",
               "N": node.split(".")[0], "s": "0", "u": os.environ.get("USER", ""), "x": os.environ.get("SLURM_JOB_NAME", ""),
               "%": "%"}
    return re.sub(r"%(\d*)([a-zA-Z%])", lambda found: letters[found[2]].rjust(int(found[1] or 0), "0")
                  if found[2] in letters else found[0], pattern)


def programs(path, count):
    """The command of each task by a file of --multi-prog."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = [line.strip() for line in file]
    except OSError as problem:
        fail(f"{path}: {problem.strerror}")
    commands = {}
    for at, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        try:
            ranks, *words = shlex.split(line)
            chosen = range(count) if ranks == "*" else [int(rank) for rank in expand(f"[{ranks}]")]
        except ValueError:
            fail(f"{path}:{at}: not a line of tasks and their command")
        for offset, rank in enumerate(chosen):
            commands.setdefault(rank, [word.replace("%t", str(rank)).replace("%o", str(offset)) for word in words])
    missing = [rank for rank in range(count) if not commands.get(rank)]
    if missing:
        fail(f"{path}: no command for task {missing[0]}")
    return [commands[rank] for rank in range(count)]


# ---- the command --------------------------------------------------------------------------------


def run_step(options, rest):
    given = checked(options)
    if given.get("jobid") and given["jobid"] not in (os.environ.get("SLURM_JOB_ID"), os.environ.get("GOBAN_JOB_ID")):
        fail("--jobid: steps of other jobs are not supported; goban attach goes to a job's terminal")
    node = os.environ.get("SLURM_JOB_NODELIST", "")
    if given.get("nodelist") and node and given["nodelist"] not in (node, "localhost"):
        fail(f"Requested node configuration is not available: the job has {node}, not {given['nodelist']}")
    count = count_of_tasks(given, options)
    if "pty" in given:
        count = 1
    claims = GpuClaims()
    gpus = gpus_of_tasks(given, count, any(name == "overlap" for name, _ in options), claims)
    all_environments = environments(given, count, gpus)
    commands = programs(rest[0], count) if "multi-prog" in given else [rest] * count
    if given.get("chdir"):
        try:
            os.chdir(given["chdir"])
        except OSError as problem:
            fail(f"{given['chdir']}: {problem.strerror}")
    kills = given.get("kill-on-bad-exit", "no")
    if kills == "no":
        kills = os.environ.get("SLURM_KILL_BAD_EXIT", "0")
    group = TaskGroup(
        is_labelled="label" in given or os.environ.get("SLURM_LABELIO", "0") not in ("", "0"),
        kills_on_failure=kills is None or kills not in ("", "0"),
        limit_s=time_limit_s(given["time"]) if given.get("time") else None,
        wait_s=number(given, "wait") or None)
    outputs = {name: given.get(name) for name in ("output", "error", "input")}
    for task in range(count):
        names = {name: file_name(text, task) if text else None for name, text in outputs.items()}
        group.add(commands[task], all_environments[task], names, append=(given.get("open-mode") or "").startswith("a"))
    return group.run()


def srun(words):
    options, rest = split_options(words, SRUN_LETTERS, SRUN_NAMES, with_value=("wait",))
    if ("help", None) in options:
        print("srun [OPTIONS] COMMAND [ARGUMENTS...]: tasks within a job; outside of one, goban run. See docs/from-slurm.md")
        return 0
    for name, _ in options:
        if name not in TAKEN and name not in REMARKS and name not in WITHOUT_MEANING and name not in REFUSED and name not in OUTSIDE:
            unrecognized(name)
    if not rest:
        fail("No command given to execute.")
    if "SLURM_JOB_ID" not in os.environ and "GOBAN_JOB_ID" not in os.environ:
        return run_outside(options, rest)
    return run_step(options, rest)

"""sbatch, and srun outside of a job."""

import os
import signal
import subprocess
import sys
import tempfile

from goban_shims.client import GOBAN, become_goban, fail
from goban_shims.options import as_words, split_options

# Environment variables that sbatch reads as options, below its command line.
VARIABLES = {"SBATCH_ACCOUNT": "account", "SBATCH_PARTITION": "partition", "SBATCH_QOS": "qos", "SBATCH_TIMELIMIT": "time",
             "SBATCH_EXPORT": "export", "SBATCH_GPUS": "gpus", "SBATCH_GPUS_PER_NODE": "gpus-per-node",
             "SBATCH_GPUS_PER_TASK": "gpus-per-task", "SBATCH_GRES": "gres", "SBATCH_JOB_NAME": "job-name",
             "SBATCH_MEM_PER_NODE": "mem", "SBATCH_MEM_PER_CPU": "mem-per-cpu", "SBATCH_MEM_PER_GPU": "mem-per-gpu",
             "SBATCH_OUTPUT": "output", "SBATCH_ERROR": "error", "SBATCH_INPUT": "input", "SBATCH_OPEN_MODE": "open-mode",
             "SBATCH_RESERVATION": "reservation", "SBATCH_SIGNAL": "signal", "SBATCH_ARRAY_INX": "array",
             "SBATCH_CONSTRAINT": "constraint", "SBATCH_EXCLUSIVE": "exclusive", "SBATCH_REQUEUE": "requeue",
             "SBATCH_NO_REQUEUE": "no-requeue", "SBATCH_WAIT": "wait"}
FLAGS = ("exclusive", "requeue", "no-requeue", "wait")


def of_environment():
    return [(name, None if name in FLAGS else os.environ[variable]) for variable, name in VARIABLES.items() if variable in os.environ]


def add_to_path():
    """Jobs find these commands, wherever this one was called from."""
    folder = os.environ.get("GOBAN_SHIMS")
    if folder and folder not in os.environ.get("PATH", "").split(":"):
        os.environ["PATH"] = f"{folder}:{os.environ.get('PATH', '/usr/local/bin:/usr/bin:/bin')}"


def sbatch(words):
    options, rest = split_options(words)
    if ("help", None) in options:
        become_goban("submit", "--help")
    if rest and not os.path.isfile(rest[0]) and rest[0] != "-":
        fail(f"Unable to open file {rest[0]}")
    add_to_path()
    become_goban("submit", "--as-slurm", *as_words(of_environment() + options), *rest)


def run_to_end(command):
    """Runs it with the signals that we get; at a terminal it gets Ctrl-C by itself."""
    try:
        child = subprocess.Popen(command)
    except OSError as problem:
        fail(f"cannot run {command[0]}: {problem.strerror}")
    signal.signal(signal.SIGINT, lambda number, _: None if sys.stdin.isatty() else child.send_signal(number))
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: child.send_signal(number))
    return child.wait()


def run_outside(options, rest):
    """srun without a job: goban run, and in the job srun again where there are several tasks."""
    of_step = ("label", "kill-on-bad-exit", "wait", "unbuffered", "multi-prog", "mpi", "cpu-bind", "mem-bind", "exact", "overlap",
               "gpu-bind", "distribution", "disable-status", "threads")
    given = dict(options)
    unknown = [name for name in ("jobid", "relative", "bcast", "task-prolog", "task-epilog", "prolog", "epilog", "het-group", "input",
                                 "test-only", "no-allocate") if name in given]
    if unknown:
        fail(f"--{unknown[0]} is not supported")
    add_to_path()
    common = [(name, value) for name, value in options if name not in (*of_step, "export", "quiet", "verbose", "immediate")]
    if "export" in given:
        common.append(("export", given["export"]))
    step = as_words((name, value) for name, value in options if name in of_step)
    if "pty" in given:
        become_goban("run", "--as-slurm", *as_words(common), "--", *rest)
    is_plain = not step and given.get("ntasks", "1") == "1" and not {"ntasks-per-node", "gpus-per-task", "ntasks-per-gpu"} & set(given)
    again = [] if is_plain else [
        sys.executable, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "goban_slurm.py"), "srun", *step, "--"]
    name = [] if "job-name" in given else ["--job-name", os.path.basename(rest[0])]
    words = ["run", "--as-slurm", *name, *as_words(common)]
    if "output" in given:
        become_goban(*words, "--", *again, *rest)
    # The output is printed; srun leaves no file.
    with tempfile.TemporaryDirectory(prefix="srun-") as folder:
        return run_to_end([GOBAN, *words, "--output", f"{folder}/out", "--", *again, *rest])

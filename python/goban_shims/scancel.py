"""scancel, and the signals that it sends to processes of a job."""

import os
import signal
import subprocess
import sys

from goban_shims.client import ask, fail, goban, note, said_by
from goban_shims.jobs import is_among, split_names, state, wanted
from goban_shims.options import listed, read_simple
from goban_shims.squeue import queue_words

# Which daemon a process belongs to.
ADDRESSES = ("GOBAN_STATE", "GOBAN_SOCKET", "GOBAN_SERVER")


def environment_of(process):
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            text = file.read()
    except OSError:
        return {}
    return dict(part.partition("=")[::2] for part in text.decode(errors="replace").split("\0") if part)


def processes_of(job):
    """(process, environment) of the processes of a job that we may see."""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            found = environment_of(entry)
            same_daemon = all(found.get(name) == os.environ.get(name) for name in ADDRESSES)
            if found.get("GOBAN_JOB_ID") == str(job) and same_daemon:
                yield int(entry), found


def is_batch(process):
    """Whether it is the job's script: the process that leads the session."""
    try:
        return os.getsid(process) == process
    except OSError:
        return False


def send(job, number, got):
    """The signal to the tasks of steps, the script (-b) or all processes (-f)."""
    for process, environment in list(processes_of(job["job"])):
        if got.get("b"):
            chosen = is_batch(process)
        else:
            chosen = got.get("f") or "SLURM_STEP_ID" in environment
        if chosen and process != os.getpid():
            try:
                os.kill(process, number)
            except OSError:
                continue


def signal_number(text):
    name = text.upper().removeprefix("SIG")
    if name.isdigit() and 0 < int(name) < signal.NSIG:
        return int(name)
    try:
        return int(signal.Signals["SIG" + name])
    except KeyError:
        fail(f"Unknown job signal: {text}")


def cancel(names, now, is_quiet, is_verbose):
    done = goban("cancel", *now, *names, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode == 0:
        return 0
    # Slurm is content with jobs that have ended, and with numbers that it does not know.
    lines = said_by(done).splitlines()
    over = [line for line in lines if " ended on " in line or " is finished" in line or "unknown job" in line or "no job" in line]
    for line in lines:
        if not is_quiet and (line not in over or is_verbose):
            print(f"scancel: error: {line}", file=sys.stderr)
    return 0 if len(over) == len(lines) else done.returncode


def scancel(words):
    got, names = read_simple(words, set("unptsAqwMR"), set("bfiQvH"), {
        "user": "u", "me": "me", "name": "n", "jobname": "n", "partition": "p", "state": "t", "signal": "s", "quiet": "Q",
        "batch": "b", "full": "f", "account": "A", "verbose": "v", "interactive": "i", "nodelist": "w", "qos": "q",
        "hurry": "H", "reservation": "R", "clusters": "M"})
    names = split_names(names)
    for letter in "wqR":
        if got.get(letter):
            fail(f"-{letter} is not supported; name the jobs")
    for name in names:
        if not name.split("_")[0].isdigit():
            fail(f"Invalid job id {name}")
    number = signal_number(got["s"]) if got.get("s") else 0
    filters = {letter: set(listed(got.get(letter))) for letter in "nuptA"}
    if any(filters.values()) or got.get("me"):
        states = {text.upper() for text in filters["t"]}
        chosen = []
        for job in ask(*queue_words(got)):
            if states and not states & set(state(job)):
                continue
            if is_among(job, *(filters[letter] for letter in "nupA")) and wanted(job, names):
                chosen.append(job["id"])
        names = chosen
        if not names:
            return 0
    if not names:
        fail("No job identification provided")
    if number in (0, signal.SIGKILL) and not got.get("b"):
        return cancel(names, ["--now"] if number else [], got.get("Q"), got.get("v"))
    running = [job for job in ask("queue", "--limit", "0") if wanted(job, names) and job["state"] in ("running", "suspended")]
    for job in running:
        send(job, number, got)
    for name in names:
        if not any(wanted(job, [name]) for job in running) and not got.get("Q"):
            note(f"error: Kill job error on job id {name}: Job not running")
    return 0

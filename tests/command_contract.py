#!/usr/bin/env python3
"""What every command of goban promises: command_contract.py GOBAN.

A command that prints data prints it as JSON, too. Wrong input ends with the exit codes of docs/exit-codes.md, and says why on
standard error. Tables fit the terminal."""

import contextlib
import fcntl
import functools
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

from help_pages import commands_in, help_page

# Commands without --json, and why they have none.
TEXT = "prints text for people or a shell"
FILES = "writes a file in a format of its own"
ACTS = "acts, and says in a line what it did"
OTHERS = "runs another program, whose output it passes on"
WITHOUT_JSON = {
    "run": OTHERS, "attach": OTHERS, "wrap": OTHERS, "lab": OTHERS, "logs": OTHERS,
    "serve": ACTS, "collect textfile": ACTS, "collect exporter": ACTS, "agent": ACTS, "backup": ACTS, "shims": FILES,
    "completion": TEXT, "man": TEXT, "version": TEXT, "help": TEXT, "token": TEXT,
    "trace generate": FILES, "trace convert": FILES, "cluster toml": FILES, "cluster import": FILES, "profile scores": FILES,
    "profile generate": FILES, "colocation import": FILES, "colocation export": FILES, "history export": FILES,
    "history import": ACTS, "history prune": ACTS, "history forget": ACTS, "series import": ACTS, "series prune": ACTS,
    "reservations cancel": ACTS,
    "engine slurm setup": TEXT, "engine slurm release-all": ACTS, "engine slurm watchdog": ACTS, "engine slurm observe-report": FILES,
    "engine kubernetes manifests": FILES, "engine kubernetes observe-report": FILES,
}

# Commands that read a file, in whose place FILE stands.
JOBS = "job_id,submit_time,duration,num_gpus,user,model\na,0,100,4,u1,m1\nb,10,50,2,u2,m1\n"
READERS = [
    "simulate --cluster 4x4 --policy fifo+packed --jobs FILE",
    "simulate --cluster FILE.toml --policy fifo+packed --jobs jobs.csv",
    "simulate --cluster 4x4 --policy fifo+packed --jobs jobs.csv --scores FILE",
    "analyze FILE",
    "analyze jobs.csv --cluster 4x4 --rules FILE",
    "history import FILE --store new.db",
    "history status --store FILE",
    "history export --store FILE",
    "trace inspect FILE",
    "trace convert FILE --out converted.csv",
    "predict FILE",
    "cluster show FILE.toml",
    "energy show FILE.toml",
    "energy replay-tables FILE",
    "profile bins FILE",
    "profile classify FILE",
    "profile scores --cluster 4x4 --profile A=FILE",
    "colocation import gavel FILE",
    "colocation predict FILE 'A + B'",
    "series import FILE --store series",
    "pilot simulate --cluster 4x4 --policy fifo,las --jobs FILE",
]
KINDS = {  # of FILE: its content and the exit code
    "missing": (None, 1),
    "directory": ("/", 1),
    "empty": (b"", 3),
    "binary": (bytes(range(256)) * 16, 3),
    "other": (b"when,what\n1,2\n", 3),
    "unreadable": (JOBS.encode(), 1),
}
# (command, kind): another code, and why it is right.
OTHERWISE = {("analyze jobs.csv --cluster 4x4 --rules FILE", "empty"): 0}  # all rules have defaults
# A history may be a folder of tables: then another folder is input of another kind.
OTHERWISE |= {(line, "directory"): 3 for line in READERS
              if line.startswith(("analyze FILE", "history import", "trace ", "predict")) or line.endswith("--jobs FILE")}


@functools.cache
def commands(program):
    """(name, help) of each command that does something by itself."""
    return list(leaves(program))


def leaves(program, path=()):
    page = help_page(program, path)
    below = commands_in(page)
    if path and (not below or path == ("help",) or re.search(r"(?m)^Usage: .*\[COMMAND\]", page)):
        yield " ".join(path), page
    for command in below if path != ("help",) else ():  # its page is that of the program
        yield from leaves(program, (*path, command))


def check_json(program):
    pages = dict(commands(program))
    for name, page in pages.items():
        has = re.search(r"(?m)^ +(?:-\w, ?)?--json\b", page) is not None
        if has == (name in WITHOUT_JSON):
            yield f"{name}: {'has --json, but stands among those without' if has else 'has no --json'}"
    for name in WITHOUT_JSON:
        if name not in pages:
            yield f"{name}: no such command"
    if len(pages) < 50:
        yield f"only {len(pages)} commands were found"


def run(line, folder, **more):
    return subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, errors="replace", check=False,
                          stdin=subprocess.DEVNULL, timeout=120, **more)


def wrong(what, done, code):
    """A complaint unless it ended with this code and an error message."""
    says = done.stderr.splitlines()
    if done.returncode != code:
        return f"{what}: exit code {done.returncode} instead of {code}: {says[-1] if says else ''}"
    if code != 0 and (not says or "Traceback" in done.stderr or (code != 2 and not says[-1].startswith(("goban: ", "data: ", "    remedy: ")))):
        return f"{what}: no error message: {done.stderr[-200:]}"
    return None


def check_files(goban, folder):
    (folder / "jobs.csv").write_text(JOBS)
    plain_user = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    for kind, (content, code) in KINDS.items():
        for number, line in enumerate(READERS):
            name = f"{kind}-{number}"
            line = line.replace("FILE", name)
            path = folder / re.search(rf"{name}\S*", line)[0].removesuffix("'")
            if content == "/":
                path.mkdir()
            elif content is not None:
                path.write_bytes(content)
            if kind == "unreadable":
                path.chmod(0)
            done = run(f"{goban} {line}", folder, **(plain_user if kind == "unreadable" else {}))
            yield wrong(line, done, OTHERWISE.get((READERS[number], kind), code))


def check_usage(goban, folder):
    for name, page in commands(goban):
        if "[OPTIONS]" in page and name not in ("run", "wrap", "lab"):
            yield wrong(f"{name} --no-such-option", run(f"{goban} {name} --no-such-option", folder), 2)
    yield wrong("an unknown command", run(f"{goban} sumbit", folder), 2)


def check_daemon(goban, folder):
    """Commands that need a daemon, without one."""
    for line in ("queue", "top --once", "stats", "show 1", "eff 1", "logs 1", "wait 1", "cancel 1", "hold 1", "release 1", "requeue 1",
                 "alter 1 --time 1h", "suspend 1", "resume 1", "explain 1", "history jobs", "nodes", "nodes drain n1", "reservations",
                 "reserve n1 --from +1d --for 1h", "pilot status", "colocation export", "submit --wrap true", "run true", "attach 1",
                 "whatif --gpus 1"):
        yield wrong(f"{line} without a daemon", run(f"{goban} {line}", folder, env={**os.environ, "GOBAN_SOCKET": f"{folder}/none"}), 1)


def check_full_disk(goban, folder):
    for line in ("policies", "policies --json", "cluster list", "cluster show abci", "energy show v100", "energy replay-tables", "series info",
                 "simulate --cluster 4x4 --policy fifo+packed --jobs jobs.csv", "trace generate --like philly --jobs 1000",
                 "trace inspect jobs.csv", "man submit", "completion bash", "analyze jobs.csv --cluster 4x4", "data --list"):
        yield wrong(f"{line} >/dev/full", run(f"{goban} {line} >/dev/full", folder), 1)
    for line in ("trace generate --like philly --jobs 10 --out /dev/full", "analyze jobs.csv --cluster 4x4 --out /dev/full",
                 "simulate --cluster 4x4 --policy fifo+packed --jobs jobs.csv --out /dev/full",
                 "profile generate --cluster 4x4 --out /dev/full", "cluster toml abci >/dev/full"):
        yield wrong(line, run(f"{goban} {line}", folder), 1)


def on_terminal(words, folder, columns):
    """What a command writes to a terminal of this width."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"TERM": "dumb"}
    text = b""
    with subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=follower, stderr=subprocess.DEVNULL, env=environment) as child:
        os.close(follower)
        with contextlib.suppress(OSError):  # EIO: nobody has it open any more
            while block := os.read(leader, 65536):
                text += block
        os.close(leader)
        assert child.wait() == 0, words
    return text.decode(errors="replace").replace("\r", "").splitlines()


def check_width(goban, folder):
    for line in ("policies", "cluster list", "series info", "simulate --cluster 4x4 --policy fifo+packed,las+pal --jobs jobs.csv",
                 "analyze jobs.csv --cluster 4x4",
                 "simulate --cluster 4x4 --policy slurm-multifactor,goban --jobs jobs.csv --energy v100"):
        for columns in (60, 80):
            for text in on_terminal([goban, *line.split()], folder, columns):
                if len(text) > columns and re.search(r"\S\s+\S", text[columns - 20:columns]):
                    yield f"{line}: {len(text)} characters on a terminal of {columns}: {text}"


def main():
    goban = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory(prefix="goban-contract-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o777)
        checks = (check_files, check_usage, check_daemon, check_full_disk, check_width)
        found = list(check_json(goban)) + [each for check in checks for each in check(goban, folder) if each]
    print("\n".join(found) or "ok")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

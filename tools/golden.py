#!/usr/bin/env python3
"""Runs the transcripts of tests/golden: commands and their exact output.

A transcript is a text file that an operator can read:

    # A line of comment.
    > jobs.csv
    | job_id,submit_time
    | a,0
    $ goban simulate --jobs jobs.csv
    what the command printed, standard output first, then standard error
    [exit 3]

`> FILE` writes the `| ` lines that follow into FILE; commands run in an empty folder that they share.
`[exit N]` is omitted for 0. With GOBAN_BLESS=1 the transcripts are rewritten from the current output of
the program; read the difference before committing it.

usage: golden.py GOBAN_PROGRAM TRANSCRIPT...
"""

import difflib
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path


def run_command(line, program, folder):
    """The lines that `$ goban ...` prints, and its exit code unless it is 0."""
    words = shlex.split(line[2:])
    if not words or words[0] != "goban":
        return [f"golden.py: only goban can be run, not: {line[2:]}"]
    try:
        done = subprocess.run([program, *words[1:]], cwd=folder, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return ["[timeout after 120 s]"]
    output = (done.stdout + done.stderr).decode("utf-8", "replace").splitlines()
    return output + ([f"[exit {done.returncode}]"] if done.returncode != 0 else [])


def replay(lines, program, folder):
    """The current transcript: comments, files and commands kept, output replaced."""
    result = []
    file, in_output = None, False
    for before, line in zip([""] + lines, lines):
        if in_output and before == "" and result[-1] != "" and line.startswith(("$ ", "> ", "#")):
            result.append("")  # separates commands
        if line.startswith("$ "):
            file, in_output = None, True
            result += [line, *run_command(line, program, folder)]
        elif line.startswith("#"):
            file, in_output = None, False
            result.append(line)
        elif line.startswith("> "):
            file, in_output = Path(folder) / Path(line[2:]).name, False
            file.write_text("", encoding="utf-8")
            result.append(line)
        elif file is not None and line.startswith("|"):
            with file.open("a", encoding="utf-8") as out:
                out.write(line[2:] + "\n")
            result.append(line)
        elif not in_output:
            result.append(line)
    return result


def check(path, program, bless):
    """True if the transcript equals the output, or was rewritten."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if not any(line.startswith("$ ") for line in lines):
        print(f"{path}: contains no command")
        return False
    with tempfile.TemporaryDirectory() as folder:
        now = replay(lines, program, folder)
    if now == lines:
        return True
    if bless:
        path.write_text("\n".join(now) + "\n", encoding="utf-8")
        print(f"{path}: rewritten")
        return True
    print("\n".join(difflib.unified_diff(lines, now, str(path), "current output of goban", n=2,
                                         lineterm="")))
    print("If the change is intended, run ./dev bless and review the difference.")
    return False


def main(arguments):
    if len(arguments) < 2:
        print(__doc__.strip().splitlines()[-1], file=sys.stderr)
        return 2
    program = str(Path(arguments[0]).resolve())
    bless = os.environ.get("GOBAN_BLESS") == "1"
    good = [check(Path(name), program, bless) for name in arguments[1:]]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

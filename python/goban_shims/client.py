"""Calls goban, and reports what went wrong as the command that the user called."""

import json
import os
import subprocess
import sys

GOBAN = os.environ.get("GOBAN_PROGRAM", "goban")


def fail(message, code=1):
    print(f"{os.path.basename(sys.argv[0])}: error: {message}", file=sys.stderr)
    sys.exit(code)


def note(message):
    print(f"{os.path.basename(sys.argv[0])}: {message}", file=sys.stderr, flush=True)


def goban(*words, **options):
    """Runs goban to its end."""
    try:
        return subprocess.run([GOBAN, *words], text=True, **options)
    except OSError as problem:
        fail(f"cannot run {GOBAN}: {problem.strerror}")


def become_goban(*words):
    """Goes on as goban, so that it gets the signals and the terminal."""
    sys.stdout.flush()
    try:
        os.execvp(GOBAN, [GOBAN, *words])
    except OSError as problem:
        fail(f"cannot run {GOBAN}: {problem.strerror}")


def said_by(done):
    """The message of a goban command that failed."""
    return done.stderr.strip().removeprefix("goban: ").removeprefix("error: ") or "goban printed nothing"


def ask(*words):
    """The JSON that a goban command prints."""
    done = goban(*words, "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        return json.loads(done.stdout)
    except ValueError:
        fail(said_by(done), done.returncode or 1)


def ask_or_none(*words):
    """The same; None and the message if goban refuses, or knows nothing of what it is asked for."""
    done = goban(*words, "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        found = json.loads(done.stdout)
    except ValueError:
        found = None
    return (found, "") if found or done.returncode == 0 else (None, said_by(done))

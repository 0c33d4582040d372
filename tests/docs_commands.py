#!/usr/bin/env python3
"""Runs the commands of README and docs in clean folders: docs_commands.py GOBAN PAGE...

A block of code that begins with ```sh is run, all blocks of a page by one shell that stops at the first failure. A block
whose line before is `<!-- not run: REASON -->` is not. On the pages named here, a block that names goban and is neither fails.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^(?P<before>[^\n]*)\n```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S)


def blocks_of(text):
    """(text, reason not to run it or None); raises for a block that is neither."""
    for match in BLOCK.finditer("\n" + text):
        reason = re.fullmatch(r"<!-- not run: (.+) -->", match["before"].strip())
        if match["language"] == "sh":
            yield match["text"], reason[1] if reason else None
        elif not reason and re.search(r"^ *(?:\S+=\S+ )*goban ", match["text"], re.M):
            raise SystemExit(f"a block of commands is not marked as ```sh:\n{match['text']}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run_page(goban, page):
    """An error message, or None."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = [block for block, reason in blocks_of(text) if reason is None]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="goban-docs-"))
    (folder / "bin").mkdir()
    (folder / "bin/goban").symlink_to(goban)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GOBAN_")}
    environment |= {"PATH": f"{folder}/bin:{environment['PATH']}", "GOBAN_STATE": f"{folder}/state", "HOME": str(folder)}
    script = "set -eu\n" + "\n".join(blocks)
    script = script.replace("goban serve ", "goban serve --state \"$GOBAN_STATE\" ")
    script = script.replace("127.0.0.1:8080", f"127.0.0.1:{free_port()}")
    # What follows a daemon in a page is typed by a person, after it is there.
    script = re.sub(r"^(goban serve .*)$", r"\1" + "\nfor _ in $(seq 150); do goban stats >/dev/null 2>&1 && break; sleep 0.1; done",
                    script, flags=re.M)
    (folder / "work").mkdir()
    out = folder / "out"
    try:
        with out.open("w") as file:
            shell = subprocess.Popen(["bash", "-c", script], cwd=folder / "work", env=environment, stdin=subprocess.DEVNULL,
                                     stdout=file, stderr=subprocess.STDOUT, start_new_session=True)
            try:
                code = shell.wait(300)
            except subprocess.TimeoutExpired:
                code = "none after 300 s"
        with contextlib.suppress(ProcessLookupError):  # a daemon that the page started
            os.killpg(shell.pid, signal.SIGTERM)
        shell.wait(30)
        if code != 0:
            return f"{page}: exit code {code}\n" + "\n".join(out.read_text(encoding="utf-8").splitlines()[-15:])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{page}: {len(blocks)} blocks")
    return None


def main():
    goban = pathlib.Path(sys.argv[1]).resolve()
    problems = [problem for page in sys.argv[2:] if (problem := run_page(goban, page))]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compiles each header alone: it must include everything that it uses.

usage: check_headers.py BUILD [--since COMMIT] [--jobs N] [--seconds N]

BUILD is a build folder without precompiled headers; a header gets the flags of a source of its
module. With --since only headers that differ from the commit are compiled, with --seconds only
those whose turn comes in time; the others are named. Prints the compiler's errors for each that
does not compile; exits with 1 if there are any, or no headers.
"""

import argparse
import json
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def headers(since):
    """Paths of all headers under src/, and of those that changed since a commit if one is given."""
    every = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "src").rglob("*.hpp"))
    if not since:
        return every, every
    ask = subprocess.run(["git", "diff", "--name-only", since, "--", "src"], cwd=ROOT, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if ask.returncode != 0:  # the commit is unknown here
        return every, every
    changed = set(ask.stdout.split())
    return every, [path for path in every if path in changed]


def flags_by_folder(build):
    """(folder relative to the root, is a test) -> the compile command of such a source, without file names."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        try:
            folder = Path(entry["file"]).relative_to(ROOT).parent.as_posix()
        except ValueError:
            continue
        words = shlex.split(entry["command"])
        begin = next((i for i, word in enumerate(words) if word.endswith(("c++", "g++", "clang++-19"))),
                     0)
        words = words[begin:words.index("-o")]
        is_test = entry["file"].endswith("_test.cpp")
        commands.setdefault((folder, is_test), words)
    return commands


def command_for(header, commands):
    """Test material gets the flags of a test, if there is one in its folder or above."""
    is_test = Path(header).name.startswith("test_")
    for folder in Path(header).parents:
        for kind in (is_test, not is_test):
            if (folder.as_posix(), kind) in commands:
                return commands[folder.as_posix(), kind]
    return next(iter(commands.values()))


def compile_alone(header, commands, until):
    """The header, whether it compiles (None: its turn came too late), and what the compiler says."""
    if time.monotonic() >= until:
        return header, None, ""
    words = [*command_for(header, commands), "-fsyntax-only", "-x", "c++", "-"]
    source = f'#include "{header.removeprefix("src/")}"\n'
    if Path(header).name.startswith("test_"):
        source = "#include <gtest/gtest.h>\n" + source  # test headers may rely on it
    done = subprocess.run(words, input=source, text=True, capture_output=True, cwd=ROOT, check=False)
    return header, done.returncode == 0, done.stderr


def main(arguments):
    parser = argparse.ArgumentParser(description="Compiles headers alone.")
    parser.add_argument("build")
    parser.add_argument("--since")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    options = parser.parse_args(arguments)
    until = time.monotonic() + options.seconds
    every, chosen = headers(options.since)
    if not every:
        print("no header under src/", file=sys.stderr)
        return 1
    commands = flags_by_folder(ROOT / options.build)
    if not commands:
        print(f"{options.build}/compile_commands.json contains no source", file=sys.stderr)
        return 1
    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for header, good, said in pool.map(lambda each: compile_alone(each, commands, until), chosen):
            if good is None:
                print(f"{header}: not compiled alone, the time is over")
            elif not good:
                failed += 1
                print(f"{header}: does not compile alone\n{said}")
    print(f"{len(chosen)} of {len(every)} headers compiled alone, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

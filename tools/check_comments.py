#!/usr/bin/env python3
"""Checks what comments of C++ sources refer to: a file that they name must exist, and a document that
they cite must be one that everyone has (a paper, or a page under docs/).

usage: check_comments.py [ROOT]
"""

import re
import subprocess
import sys
from pathlib import Path

FOLDERS = ("src/", "bench/", "tests/", "examples/")
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*')
# Extensions of files that we write; data files that programs produce have others.
FILE = re.compile(r"(?<![\w<*/.-])[A-Za-z_][\w./-]*\.(?:hpp|cpp|md|py|cmake|tsx?)\b")
PRIVATE = re.compile(r"\bDESIGN\b|\bSTYLE\.md\b|\bspecs? (?:[a-z]+, )?\d|\b(?:the|of|by) spec\b(?! of)"
                     r"|\bshared/(?:spec|data)\b")
# Files of other projects, named with their project in the same comment.
FOREIGN = {"run_sim.py", "unit_fits.py"}


def comments(text):
    """(line number, comment) of each // comment; strings are skipped."""
    for match in COMMENT.finditer(text):
        if match.group().startswith("//"):
            yield text.count("\n", 0, match.start()) + 1, match.group()


def exists(name, folder, tracked, endings):
    name = name.removeprefix("./")
    return name in tracked or f"src/{name}" in tracked or f"{folder}/{name}" in tracked \
        or name in endings


def problems(path, text, tracked, endings):
    folder = path.rsplit("/", 1)[0]
    for line, comment in comments(text):
        for name in FILE.findall(comment):
            if name not in FOREIGN and not exists(name, folder, tracked, endings):
                yield line, f"there is no file {name}"
        cited = PRIVATE.search(comment)
        if cited:
            yield line, f'"{cited.group()}" is no document that everyone has; cite docs/papers.md or a paper'


def files_under(root):
    """The files of the checkout, or of an unpacked archive: without build folders."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root,
                            text=True, capture_output=True, check=False)
    if listed.returncode == 0:
        names = listed.stdout.split("\n")
    else:
        names = [path.relative_to(root).as_posix() for path in root.rglob("*")
                 if "node_modules" not in path.parts and not path.relative_to(root).parts[0].startswith("build")]
    return {name for name in names if name and (root / name).is_file()}


def endings_of(tracked):
    """Every way to name a tracked file by the end of its path."""
    found = set()
    for path in tracked:
        parts = path.split("/")
        found.update("/".join(parts[i:]) for i in range(len(parts)))
    return found


def main(arguments):
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    tracked = files_under(root)
    sources = sorted(path for path in tracked
                     if path.startswith(FOLDERS) and path.endswith((".cpp", ".hpp")))
    if not sources:
        print(f"check_comments: no C++ source under {root}", file=sys.stderr)
        return 1
    endings = endings_of(tracked)
    count = 0
    for path in sources:
        text = (root / path).read_text(encoding="utf-8")
        for line, message in problems(path, text, tracked, endings):
            print(f"{path}:{line}: {message}")
            count += 1
    print(f"comments of {len(sources)} files checked, {count} violations")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Checks the Markdown files: relative links lead to files and headings that exist, and every page
under docs/ is listed in docs/README.md. Prints `file:line: message`; exits with 1 if any.

usage: check_docs.py [ROOT]
"""

import re
import subprocess
import sys
from pathlib import Path

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
SKIPPED = ("build", "out", "node_modules", ".git")


def markdown_files(root):
    """The Markdown files of the repository, except those that git ignores (in a git tree)."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard", "*.md"], capture_output=True, check=False)
    if listed.returncode == 0:
        names = [name for name in listed.stdout.decode().split("\0") if name]
        return sorted({root / name for name in names if (root / name).is_file()})
    return sorted(path for path in root.rglob("*.md")
                  if not path.relative_to(root).parts[0].startswith(SKIPPED))


def lines_outside_code(text):
    """(number, line) of the lines outside fenced code, with inline `code` removed."""
    fenced = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, re.sub(r"`[^`]*`", "``", line)


def anchors_of(text):
    """The anchors of headings: lower case, spaces become dashes, punctuation is dropped."""
    anchors = set()
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        match = HEADING.match(line)
        if match and not fenced:
            words = re.sub(r"[^\w\- ]", "", match.group(1).lower())
            anchors.add(words.replace(" ", "-"))
    return anchors


def check_tree(root):
    """All violations, as strings."""
    root = Path(root).resolve()
    violations = []
    linked = {}
    files = markdown_files(root)
    for file in files:
        name = file.relative_to(root).as_posix()
        linked[name] = set()
        for number, line in lines_outside_code(file.read_text(encoding="utf-8")):
            for target in LINK.findall(line):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                to = (file.parent / path).resolve() if path else file
                if not to.exists():
                    violations.append(f"{name}:{number}: {target} does not exist")
                    continue
                if not to.is_relative_to(root):
                    violations.append(f"{name}:{number}: {target} is outside of the repository")
                    continue
                linked[name].add(to.relative_to(root).as_posix())
                if anchor and to.suffix == ".md" and anchor not in anchors_of(
                        to.read_text(encoding="utf-8")):
                    violations.append(f"{name}:{number}: {target}: no such heading")
    index = linked.get("docs/README.md")
    if index is None:
        violations.append("docs/README.md:1: missing")
        index = set()
    for name in linked:
        if name.startswith("docs/") and name != "docs/README.md" and name not in index:
            violations.append(f"docs/README.md:1: does not list {name}")
    return violations, len(files)


def main(arguments):
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    violations, count = check_tree(root)
    for violation in violations:
        print(violation)
    print(f"{count} pages checked, {len(violations)} violations")
    return 1 if violations or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

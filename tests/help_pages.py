#!/usr/bin/env python3
"""No help page of a program shows how its options are checked: help_pages.py PROGRAM."""

import re
import subprocess
import sys

# Forms of the parser, which mean nothing to a reader.
REFUSED = {
    "type of a value": r"(?:^|\s)(?:U?INT|FLOAT|TEXT|ENUM|BOOLEAN)(?![\w-])",
    "check behind a value": r"\w:\{|\b(?:POSITIVE|NONNEGATIVE|WHOLE|PROBABILITY|FINITE)\b|:(?:INT|FLOAT|POSITIVE|NONNEGATIVE|FINITE)\b| in \[\S+ - ",
    "condition": r"\b(?:Needs|Excludes):|\bREQUIRED\b",
    "empty lines": r"\n\n\n|\n\n\Z",
    "positional argument in lower case": r"(?m)^Usage: [^\n]*\[OPTIONS\][^\n]*[a-z]",
}
OPTIONS = ("Options:", "Positionals:", "Examples:", "Example:")


def help_page(program, path):
    done = subprocess.run([program, *path, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{path}: exit code {done.returncode}: {done.stderr}"
    return done.stdout


def commands_in(page):
    """The commands that a page lists: entries under headings other than those of options."""
    if not re.search(r"(?m)^Usage: .*COMMAND", page):
        return []
    found, listing = [], False
    for line in page.splitlines():
        if re.fullmatch(r"[A-Z][\w ]*:", line):
            listing = line not in OPTIONS
        elif not line:
            listing = False
        elif listing and (entry := re.match(r"  ([a-z][\w-]*)(?: |$)", line)):
            found.append(entry.group(1))
    return found


def problems(program, path, pages):
    page = help_page(program, path)
    pages.append(path)
    name = " ".join(path) or "the program"
    for what, form in REFUSED.items():
        for hit in re.finditer(form, page):
            yield f"{name}: {what}: {hit.group().strip()!r}"
    for command in commands_in(page):
        yield from problems(program, [*path, command], pages)


def main():
    pages = []
    found = list(problems(sys.argv[1], [], pages))
    print("\n".join(found) or f"{len(pages)} pages")
    return 1 if found or len(pages) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())

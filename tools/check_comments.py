#!/usr/bin/env python3
"""Checks what comments refer to: a file that they name must exist, and a document that they cite must be
one that everyone has (a paper, or a page under docs/). Reads the comments of C++, TypeScript, Python (with
docstrings), shell, CMake, assembly, awk and TOML.

usage: check_comments.py [ROOT]
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import cpp_text

# Extensions of files that we write; data files that programs produce have others.
FILE = re.compile(r"(?<![\w<>*/.$~{}-])(?:\./|/)?[A-Za-z_][\w./-]*\.(?:hpp|cpp|md|py|cmake|tsx?|mjs|awk|S|scn|golden)\b"
                  r"(?![*<{/-])")
# Everything in the folders of the repository, without or with an extension.
IN_REPOSITORY = re.compile(r"(?<![\w<>*/.$~{}-])(?:\./|/)?(?:src|bench|cmake|docs|examples|python|tests|tools)/"
                           r"[\w./-]*\w(?![\w*<{$]|[/.-]+[*<{$])")
# Names for any file: tests/corpus/X, foo.cpp, a user's train.py.
PLACEHOLDER = re.compile(r"(?:^|/)(?:[A-Z]+(?:_\w+\.cpp)?|foo(?:_\w+)?(?:\.cpp)?)(?:/|$)|^train\.py$")
PRIVATE = re.compile(r"\bDESIGN\b|\bSTYLE\.md\b|(?i:\b(?:specs?|specification|issue)) (?:[a-z]+, )?#?\d"
                     r"|\b(?:the|of|by) spec\b(?! of)|\bshared/(?:spec|data)\b")
SCRIPT = re.compile(r""""(?:\\.|[^"\\\n])*"|'[^'\n]*'|(?P<comment>(?:^|(?<=\s))#[^\n]*)""", re.MULTILINE)
TYPESCRIPT = re.compile(r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"""
                        r"""|(?P<comment>(?<!:)//[^\n]*|/\*.*?\*/)""", re.DOTALL)


def of_pattern(pattern):
    def comments(text):
        for match in pattern.finditer(text):
            if match["comment"]:
                yield text.count("\n", 0, match.start()) + 1, match["comment"]
    return comments


def of_python(text):
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            yield node.body[0].lineno, node.body[0].value.value


READERS = {".cpp": cpp_text.comments, ".hpp": cpp_text.comments, ".S": cpp_text.comments, ".py": of_python,
           ".ts": of_pattern(TYPESCRIPT), ".tsx": of_pattern(TYPESCRIPT), ".mjs": of_pattern(TYPESCRIPT),
           ".css": of_pattern(TYPESCRIPT), ".sh": of_pattern(SCRIPT), ".cmake": of_pattern(SCRIPT),
           ".awk": of_pattern(SCRIPT), ".toml": of_pattern(SCRIPT), "CMakeLists.txt": of_pattern(SCRIPT)}


def reader_of(path, text):
    """The function that yields (line, comment) of such a file, or None."""
    name = path.rsplit("/", 1)[-1]
    suffix = "." + name.rsplit(".", 1)[-1] if "." in name else ""
    if not suffix and text.startswith("#!"):
        return of_python if "python" in text.split("\n", 1)[0] else of_pattern(SCRIPT)
    return READERS.get(name) or READERS.get(suffix)


def exists(name, folder, endings):
    """Whether some file or folder of the repository is named so, by any end of its path."""
    name = name.removeprefix("./").removeprefix("/").rstrip("/.")
    return name in endings or f"{folder}/{name}" in endings


def names_in(text):
    """(offset, name) of each file that the text names."""
    found = {match.start(): match.group() for pattern in (IN_REPOSITORY, FILE)
             for match in pattern.finditer(text)}
    return [(at, name) for at, name in found.items()
            if (not name.startswith("/") or IN_REPOSITORY.fullmatch(name)) and not PLACEHOLDER.search(name)]


def problems_of(text, folder, endings):
    """(offset, message) of what a text for people refers to and nobody can find."""
    for at, name in names_in(text):
        if not exists(name, folder, endings):
            yield at, f"there is no file {name}"
    for cited in PRIVATE.finditer(text):
        yield cited.start(), (f'"{cited.group()}" is no document that everyone has; cite docs/papers.md '
                              "or a paper")


def problems(path, text, endings):
    """(line, message) for the comments of a file."""
    folder = path.rpartition("/")[0]
    for line, comment in reader_of(path, text)(text):
        for at, message in problems_of(comment, folder, endings):
            yield line + comment.count("\n", 0, at), message


def files_under(root):
    """The files of the checkout, or of an unpacked archive: without build folders."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root,
                            text=True, capture_output=True, check=False)
    if listed.returncode == 0:
        names = listed.stdout.split("\n")
    else:
        names = [path.relative_to(root).as_posix() for path in root.rglob("*")
                 if "node_modules" not in path.parts and not path.relative_to(root).parts[0].startswith(("build", "out"))]
    return {name for name in names if name and (root / name).is_file()}


def endings_of(tracked):
    """Every way to name a tracked file, or a folder of such, by the end of its path."""
    found = set()
    for path in tracked:
        parts = path.split("/")
        found.update("/".join(parts[i:j]) for j in range(1, len(parts) + 1) for i in range(j))
    return found


def main(arguments):
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    tracked = files_under(root)
    endings = endings_of(tracked)
    read = count = 0
    for path in sorted(tracked - {path for path in tracked if path.startswith("tests/corpus/")}):
        try:
            text = (root / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if reader_of(path, text) is None:
            continue
        read += 1
        for line, message in problems(path, text, endings):
            print(f"{path}:{line}: {message}")
            count += 1
    if not read:
        print(f"check_comments: no source under {root}", file=sys.stderr)
        return 1
    print(f"comments of {read} files checked, {count} violations")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

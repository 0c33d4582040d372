#!/usr/bin/env python3
"""Selects the tests to build and run: for one layer, or for changed files.

usage: test_selection.py layer NAME [ROOT]
       test_selection.py changed [ROOT] < list of changed files

Prints two lines: the build targets, and a regular expression of ctest labels. Every test has one
label: its module ("core/model"), or for tests of whole programs the layer that they belong to.
Exits with 1 if there is nothing to test, 2 for an unknown layer.
"""

import re
import sys
from pathlib import Path

import check_includes

# Folders outside of src/ -> the labels of the tests that they affect.
OTHER_FOLDERS = {
    "web/": ("web",),
    "tools/": ("tools",),
    "docs/": ("tools",),
    "python/": ("live",),
    "tests/live/": ("live",),
    "tests/golden/": ("cli",),
    "tests/scenario/": ("core/scheduler",),
    "tests/journal/": ("live/loop",),
    "tests/mpi/": ("train",),
    "tests/oracle/": ("study",),
    "tests/corpus/": ("fuzz",),
    "examples/mesh/": ("train",),
    "examples/": ("live",),
}
EVERYTHING = ("CMakeLists.txt", "cmake/", "src/CMakeLists.txt")
# Labels of program tests, by the layer whose change affects them.
PROGRAM_TESTS = {"cli": ("cli", "live", "web"), "serve": ("cli", "live", "web"), "live": ("cli", "live"),
                 "study": ("cli", "study"), "site": ("cli",), "core": ("cli", "study"), "train": ("train",)}


def sources(root):
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
            for path in sorted((root / "src").rglob("*.?pp"))}


def dependents(files):
    """file -> files that include it directly."""
    includers = {}
    for path, text in files.items():
        for include in check_includes.includes_of(text):
            if include.own:
                includers.setdefault(f"src/{include.name}", []).append(path)
    return includers


def touched(changed, includers):
    reached, todo = set(), list(changed)
    while todo:
        path = todo.pop()
        if path in reached:
            continue
        reached.add(path)
        todo.extend(includers.get(path, ()))
        if path.endswith(".hpp"):  # its source implements it
            todo.append(path[:-4] + ".cpp")
    return reached


def select_changed(changed, table, files):
    labels, targets = set(), set()
    for path in changed:
        if path.startswith(EVERYTHING):
            return {"all"}, {""}
        folder = max((each for each in OTHER_FOLDERS if path.startswith(each)), key=len, default=None)
        if folder:
            labels.update(OTHER_FOLDERS[folder])
    modules = {table.module_of(path)
               for path in touched([p for p in changed if p.startswith("src/")], dependents(files))}
    modules.discard(None)
    tested = {table.module_of(path) for path in files if path.endswith("_test.cpp")}
    targets.update(f"{module.replace('/', '_')}_test" for module in modules & tested)
    labels.update(modules)
    for module in modules:
        labels.update(PROGRAM_TESTS.get(module.split("/")[0], ()))
    if labels & {"cli", "live", "study", "web", "tools"}:
        targets.add("goban")
    if labels & {"live", "train"}:
        targets.add("programs")
    return targets, labels


def main(arguments):
    usage = __doc__.split("\n\n")[1]
    if not arguments or arguments[0] not in ("layer", "changed"):
        print(usage, file=sys.stderr)
        return 2
    rest = arguments[1:]
    name = rest.pop(0) if arguments[0] == "layer" and rest else None
    root = Path(rest[0]) if rest else Path(__file__).resolve().parent.parent
    table = check_includes.read_table((root / "cmake/layers.cmake").read_text(encoding="utf-8"),
                                      "cmake/layers.cmake", lambda *problem: None)
    if arguments[0] == "layer":
        if name not in (*table.layers, "web", "tools"):
            print(f"unknown layer {name}; known: {' '.join(table.layers)} web tools",
                  file=sys.stderr)
            return 2
        print(f"tests_{name}")
        print(f"^{name}(/|$)")
        return 0
    changed = [line.strip() for line in sys.stdin if line.strip()]
    targets, labels = select_changed(changed, table, sources(root))
    if not labels:
        return 1
    print(" ".join(sorted(targets)))
    print("." if labels == {""} else
          "^(" + "|".join(re.escape(label) for label in sorted(labels)) + ")$")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Selects the tests to build and run: for layers, or for changed files.

usage: test_selection.py layer NAME...
       test_selection.py changed < list of changed files

Prints two lines: the build targets, and a regular expression of ctest labels. Every test has one
label: its module ("core/model"), or for tests of whole programs the layer that they belong to. The
target tests_<layer> builds all that the tests of these labels run.
Exits with 1 if there is nothing to test, 2 for an unknown layer.
"""

import re
import sys
from pathlib import Path

import check_includes

PROGRAMS = {"cli": ("cli", "live", "study", "web"),  # module of main() -> labels of tests of the program
            "train/trainer": ("train", "live")}
OTHER_LAYERS = ("web", "tools")
GPU_LABELS = ("cli", "live", "live/engine/local", "live/machine", "site/telemetry")
# Paths outside of the modules -> labels of the tests that read or run them, besides "tools": the checks
# of tools/ read every file. The longest entry counts; a path that is not here concerns every test.
OTHER_PATHS = {
    ".ci/linted": (),
    ".clang-format": (),
    ".clang-tidy": (),
    ".editorconfig": (),
    ".gitignore": (),
    "LICENSE": (),
    "NOTICE": (),
    "bench/": (),
    "bench/mnist_accuracy": ("train",),
    "dev": (),
    "docs/": (),
    "docs/api.md": ("serve/api",),
    "examples/lab/": ("study",),
    "examples/mesh/": ("train",),
    "examples/monitoring/": ("live", "serve/api"),
    "examples/progress/": ("live", "live/engine/local"),
    "examples/systemd/": ("live",),
    "python/": ("live",),
    "lab/": ("study",),
    "mkdocs.yml": ("tools",),
    "packaging/": ("cli", "tools"),
    "tests/demo_live.sh": ("live",),
    "tests/docs_site.py": ("tools",),
    "tests/examples/": ("train",),
    "tests/attack.py": ("live", "train"),
    "tests/engines/": ("live", "core/scheduler"),
    "tests/fake_clock/": ("live",),
    "tests/fake_cuda/": GPU_LABELS,
    "tests/fake_nccl/": ("train", "train/comm", "train/mesh", "train/trainer"),
    "tests/fake_nvml/": GPU_LABELS,
    "tests/golden/": ("cli",),
    "tests/install_pages.sh": ("cli",),
    "tests/interrupted.sh": ("train",),
    "tests/journal/": ("live/journal", "live/loop"),
    "tests/lab/": ("study",),
    "tests/live/": ("live",),
    "tests/loopback_site.py": ("live",),
    "tests/monitoring/": ("live",),
    "tests/mpi/": ("train",),
    "tests/oracle/": ("study",),
    "tests/portable/": ("tools",),
    "tests/portable_link.py": ("tools",),
    "tests/release_packages.py": ("cli",),
    "tests/scenario/": ("core/scheduler",),
    "tests/slurm/": ("live",),
    "tests/kubelab/": ("live",),
    "tests/standin_device/": ("train/mesh", "train/trainer"),
    "tests/topology/": ("base/topology", "cli"),
    "tests/train/": ("train",),
    "tests/systemd_unit.sh": ("live",),
    "tools/": (),
    "python/goban_data.py": ("study", "train", "cli", "tools"),
    "python/goban_data.toml": ("study", "train"),
    "tools/data_sets.py": ("study", "train"),
    "tools/demo_live.sh": ("live",),
    "tools/golden.py": ("cli",),
    "tools/portable_libraries.py": ("cli",),
    "tools/portable_link.py": ("cli", "tools"),
    "tools/release.py": ("cli",),
    "tools/release_portable.py": ("cli",),
    "tools/site_links.py": ("tools",),
    "web/": ("web",),
}
ALL = ({"all"}, {""})


def dependents(module, table):
    """The modules whose libraries use this one, itself among them, and those whose tests alone do."""
    reached = {module}
    for other, used in table.modules.items():  # users stand below what they use
        lower = table.layers[other.split("/")[0]]
        if any(each in used or each.split("/")[0] in lower for each in reached):
            reached.add(other)
    return reached, {other for other, used in table.tests.items() if reached & set(used)}


def fuzzed(files):
    """corpus -> the fuzz file that reads it."""
    return {path.rsplit("/", 1)[1].removesuffix("_fuzz.cpp"): path
            for path in files if path.startswith("src/") and path.endswith("_fuzz.cpp")}


def labels_of(path, table, files):
    """The labels of the tests that a change of this file concerns; None: of all tests."""
    if path.endswith(".md") and path not in OTHER_PATHS:
        return set()
    module = table.module_of(path)
    if module:
        if path.endswith(("_test.cpp", "_fuzz.cpp")):
            return {module}
        libraries, tests = dependents(module, table)
        if check_includes.is_test_material(path):
            return libraries | tests
        programs = {label for top, labels in PROGRAMS.items() if top in libraries for label in labels}
        return libraries | tests | programs
    fuzz_files = fuzzed(files) if path.startswith("tests/") else {}
    if path == "tests/replay_corpus.cpp":
        return {table.module_of(each) for each in fuzz_files.values()}
    if path.startswith("tests/corpus/") and path.split("/")[2] in fuzz_files:
        return {table.module_of(fuzz_files[path.split("/")[2]])}
    entry = max((each for each in OTHER_PATHS
                 if path == each or each.endswith("/") and path.startswith(each)), key=len, default=None)
    return None if entry is None else set(OTHER_PATHS[entry])


def labels_that_exist(table, files):
    tested = {table.module_of(path) for path in files if path.endswith(("_test.cpp", "_fuzz.cpp"))}
    programs = {label for labels in PROGRAMS.values() for label in labels}
    return (tested | programs | {"tools"}) - {None}


def select_changed(changed, table, files):
    """(targets, labels) of the tests that these files concern."""
    labels = {"tools"} if changed else set()
    for path in changed:
        concerned = labels_of(path, table, files)
        if concerned is None:
            return ALL
        labels |= concerned
    labels &= labels_that_exist(table, files)
    targets = {f"tests_{label.split('/')[0]}" for label in labels}
    if any(path.startswith("bench/") for path in changed):
        targets = {"all"}  # the benchmarks are in no tests_<layer>
    return targets, labels


def read_tree(root):
    """(table, files under src/) of a checkout."""
    table = check_includes.read_table((root / "cmake/layers.cmake").read_text(encoding="utf-8"),
                                      "cmake/layers.cmake", lambda *problem: None)
    check_includes.read_test_uses(table, (root / "src/CMakeLists.txt").read_text(encoding="utf-8"))
    return table, {path.relative_to(root).as_posix() for path in (root / "src").rglob("*.?pp")}


def main(arguments):
    usage = __doc__.split("\n\n")[1]
    if arguments != ["changed"] and (len(arguments) < 2 or arguments[0] != "layer"):
        print(usage, file=sys.stderr)
        return 2
    table, files = read_tree(Path(__file__).resolve().parent.parent)
    if arguments[0] == "layer":
        known = [*table.layers, *OTHER_LAYERS]
        for name in arguments[1:]:
            if name not in known:
                print(f"unknown layer {name}; known: {' '.join(known)}", file=sys.stderr)
                return 2
        print(" ".join(f"tests_{name}" for name in arguments[1:]))
        print(f"^({'|'.join(arguments[1:])})(/|$)")
        return 0
    changed = [line.strip() for line in sys.stdin if line.strip()]
    targets, labels = select_changed(changed, table, files)
    if not labels:
        return 1
    print(" ".join(sorted(targets)))
    print("." if labels == {""} else
          "^(" + "|".join(re.escape(label) for label in sorted(labels)) + ")$")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

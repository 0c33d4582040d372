#!/usr/bin/env python3
"""Checks the architecture: which room may include which, and which library lives where.

The rooms and their directions come from cmake/rooms.cmake, the table that CMake links by. The rules
about libraries, sizes and names are the tables below. Prints `file:line: message` for each
violation and exits with 1 if there is one.

usage: check_includes.py [ROOT]
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

HEADER_LINES_MAX = 250
SOURCE_LINES_MAX = 700

# Violations we accept: (path, start of the message) -> why. One that no longer occurs is reported.
EXCEPTIONS = {
    ("src/model/cluster_presets.cpp", "<filesystem>"):
        "`--cluster X` is a preset or a file; it asks whether the file exists",
}

# Library headers by prefix -> the paths that may include them (prefixes under the root).
# An empty tuple: any room. The longest prefix counts.
EVERYWHERE = ("",)
LIBRARIES = {
    "fmt/": EVERYWHERE,
    "tl/expected.hpp": EVERYWHERE,
    "CLI/": ("src/cli/", "src/train/main.cpp"),
    "toml++/": ("src/model/cluster_file.cpp", "src/history/incidents.cpp", "src/base/"),
    "nlohmann/": EVERYWHERE,  # and only in .cpp files: see check_library
    "torch/": ("src/mesh/", "src/comm/", "src/data/", "src/train/", "tests/standin_device/",
               "bench/"),
    "ATen/": ("src/mesh/", "src/comm/", "src/data/", "src/train/", "tests/mpi/",
              "tests/standin_device/", "tests/examples/", "bench/"),
    "c10/": ("src/mesh/", "src/comm/", "src/data/", "src/train/", "tests/standin_device/"),
    "mpi.h": ("src/comm/", "bench/"),
    "dnnl.h": ("src/mesh/",),
    "zlib.h": ("src/base/", "src/history/", "src/series/", "src/data/", "src/mesh/"),
    "boost/": ("src/history/", "src/profile/"),
    "httplib.h": ("src/service/", "src/engine/kubernetes/", "src/telemetry/"),
    "curl/": ("src/telemetry/", "src/service/"),
    "microhttpd.h": ("src/service/",),
    "sqlite3.h": ("src/store/sqlite.cpp", "src/store/sqlite_copy.cpp",
                  "src/store/test_faulty_files.hpp"),
    "mysql.h": ("src/store/mariadb.cpp",),
    "libpq-fe.h": ("src/store/postgresql.cpp",),
    "benchmark/": ("bench/",),
}

# Only in tests, wherever they are.
TEST_LIBRARIES = ("gtest/", "gmock/", "rapidcheck.h", "rapidcheck/")

# What the pure rooms may not see: an operating system, a clock, threads, hidden randomness.
IO_HEADERS = {
    "cstdio", "stdio.h", "fstream", "iostream", "filesystem", "chrono", "ctime", "time.h",
    "thread", "mutex", "condition_variable", "future", "atomic", "random", "cstdlib", "stdlib.h",
}  # fmt: skip
PURE = ("src/policy/", "src/scheduler/", "src/profile/", "src/model/", "src/statistics/")
# Files of the pure rooms that read input.
PURE_EXCEPT = ("src/model/cluster_file.cpp", "src/model/cluster_file.hpp")

# Headers of the operating system, in rooms that may talk to it.
SYSTEM_PREFIXES = ("sys/", "linux/", "unistd.h", "fcntl.h", "poll.h", "signal.h", "spawn.h",
                   "dlfcn.h", "netdb.h", "netinet/", "arpa/", "pthread.h", "sched.h", "malloc.h", "dirent.h",
                   "errno.h", "termios.h", "pwd.h", "grp.h", "dirent.h", "time.h", "stdio.h",
                   "stdlib.h", "string.h")  # fmt: skip

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")')
NAMESPACE = re.compile(r"^\s*(?:inline\s+)?namespace\s+(goban(?:::\w+)*)\s*\{")
USES = re.compile(r"^\s*goban_room_uses\(([^)]*)\)", re.MULTILINE)


@dataclass(frozen=True)
class Violation:
    path: str
    line: int
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message}"


@dataclass(frozen=True)
class Include:
    line: int
    name: str
    own: bool  # in quotes: one of ours


def is_test(path):
    return path.endswith("_test.cpp")


def within(path, prefixes):
    return path.startswith(tuple(prefixes))


def room_of(path):
    """The room of src/<room>/...; None outside of src/ or directly in it."""
    parts = path.split("/")
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None


def read_rooms(table, path, report):
    """Room -> rooms it may include. The table must go upwards, so it cannot hold a cycle."""
    rooms = {}
    for match in USES.finditer(table):
        line = table.count("\n", 0, match.start()) + 1
        names = match.group(1).split()
        if not names:
            continue
        room, used = names[0], names[1:]
        for name in used:
            if name not in rooms:
                report(path, line, f"room {room} uses {name}, which is no room below it")
        if room in rooms:
            report(path, line, f"room {room} is listed twice")
        rooms[room] = set(used)
    if not rooms:
        report(path, 1, "no goban_room_uses() lines found")
    return rooms


def includes_of(text):
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        match = INCLUDE.match(line)
        if match:
            found.append(Include(number, match.group(1) or match.group(2), match.group(1) is None))
    return found


def check_own_include(path, include, rooms, files, report):
    """An include in quotes names a file of ours, from src/, in a room that this one may use."""
    if f"src/{include.name}" not in files:
        report(path, include.line,
               f'"{include.name}" is not under src/; name it from there, or use <> for a library')
        return
    room, target = room_of(path), room_of(f"src/{include.name}")
    if room is None or target == room:  # bench/ may include every room
        return
    if target not in rooms.get(room, ()):
        report(path, include.line,
               f'room {room} may not include "{include.name}": cmake/rooms.cmake lets it use '
               + (", ".join(sorted(rooms.get(room, ()))) or "no other room"))


def check_library(path, include, report):
    """An include in <> is of the standard library, or of a library that may be used there."""
    name, line = include.name, include.line
    if name.startswith(TEST_LIBRARIES):
        if not is_test(path):
            report(path, line, f"<{name}> belongs in *_test.cpp files only")
        return
    if name.startswith("nlohmann/") and path.endswith(".hpp") and name != "nlohmann/json_fwd.hpp":
        report(path, line, f"<{name}> belongs in .cpp files; headers take <nlohmann/json_fwd.hpp>")
        return
    if within(path, PURE) and not is_test(path) and path not in PURE_EXCEPT:
        if name in IO_HEADERS or name.startswith(SYSTEM_PREFIXES):
            report(path, line, f"<{name}>: {room_of(path)}/ is pure, without I/O, clocks, threads "
                               "or hidden randomness")
            return
    if re.fullmatch(r"[a-z_0-9]+", name) or re.fullmatch(r"(std[a-z]+|float|limits|math|assert)\.h",
                                                         name):
        return  # the standard library
    prefixes = [prefix for prefix in LIBRARIES if name.startswith(prefix)]
    if prefixes:
        allowed = LIBRARIES[max(prefixes, key=len)]
        if not within(path, allowed):
            report(path, line, f"<{name}> may be included in {', '.join(allowed)} only")
    elif not name.startswith(SYSTEM_PREFIXES):
        report(path, line, f"<{name}>: unknown library; add it to LIBRARIES in "
                           "tools/check_includes.py and to docs/dependencies.md")


def check_file(path, text, rooms, report):
    """What a file shows by itself: its size, its room, its namespaces."""
    lines = text.count("\n") + (not text.endswith("\n"))
    limit = HEADER_LINES_MAX if path.endswith(".hpp") else SOURCE_LINES_MAX
    if lines > limit:
        report(path, limit + 1, f"{lines} lines; the limit is {limit}: split it by idea")
    if path.endswith(".hpp") and not re.search(r"^#pragma once$", text, re.MULTILINE):
        report(path, 1, "no #pragma once")
    if not path.startswith("src/"):
        return
    room = room_of(path)
    if room not in rooms:
        report(path, 1, f"{path} is in no room of cmake/rooms.cmake")
        return
    folders = ["goban"] + path.split("/")[1:-1]
    for number, line in enumerate(text.splitlines(), start=1):
        match = NAMESPACE.match(line)
        if match:
            names = match.group(1).split("::")
            if len(names) < 2 or names != folders[:len(names)]:
                report(path, number, f"namespace {match.group(1)} in the folder of "
                                     f"{'::'.join(folders)}")


def check_cycles(graph, report):
    """Reports each include that closes a circle. graph: path -> [(line, path)]."""
    done, open_path = set(), []

    def visit(path):
        open_path.append(path)
        for line, target in graph.get(path, ()):
            if target in open_path:
                circle = open_path[open_path.index(target):] + [target]
                report(path, line, "include cycle: " + " -> ".join(circle))
            elif target not in done:
                visit(target)
        open_path.pop()
        done.add(path)

    for path in sorted(graph):
        if path not in done:
            visit(path)


def check_tree(root, exceptions=None):
    """All violations of the tree at `root`, in path order."""
    exceptions = EXCEPTIONS if exceptions is None else exceptions
    violations, used = [], set()

    def report(path, line, message):
        for key in exceptions:
            if path == key[0] and message.startswith(key[1]):
                used.add(key)
                return
        violations.append(Violation(path, line, message))

    root = Path(root)
    table = "cmake/rooms.cmake"
    rooms = read_rooms((root / table).read_text(encoding="utf-8"), table, report)
    files = {}
    for folder in ("src", "bench", "tests"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".hpp", ".cpp"):
                files[file.relative_to(root).as_posix()] = file.read_text(encoding="utf-8")
    graph = {}
    for path, text in files.items():
        check_file(path, text, rooms, report)
        for include in includes_of(text):
            if include.own:
                target = f"src/{include.name}"
                if not path.startswith("src/") and include.name in files:
                    target = include.name  # bench/ has headers of its own, named from the root
                else:
                    check_own_include(path, include, rooms, files, report)
                graph.setdefault(path, []).append((include.line, target))
            else:
                check_library(path, include, report)
    check_cycles(graph, report)
    for key in exceptions:
        if key not in used:
            violations.append(Violation(key[0], 1, f"the exception '{key[1]}' no longer occurs: "
                                                   "remove it from tools/check_includes.py"))
    return sorted(violations, key=lambda v: (v.path, v.line)), len(files)


def main(arguments):
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    violations, count = check_tree(root)
    for violation in violations:
        print(violation)
    print(f"{count} files checked, {len(violations)} violations")
    return 1 if violations or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

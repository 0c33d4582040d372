#!/usr/bin/env python3
"""Checks the architecture: which layer and module may include which, and where libraries may be used.

The layers and modules come from cmake/layers.cmake, the table that CMake links by, and what tests
alone may include from src/CMakeLists.txt (TEST_USES). A permission that no include needs is a
violation, too. The rules about libraries, sizes and names are the tables below. Prints
`file:line: message` for each violation and exits with 1 if there is one.

usage: check_includes.py [ROOT]
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import cpp_text

HEADER_LINES_MAX = 250
SOURCE_LINES_MAX = 700

# Accepted violations: (path, start of the message) -> reason. One that no longer occurs is reported.
EXCEPTIONS = {
    ("src/live/engine/kubernetes/test_api_server.cpp", "<httplib.h>"): "the scripted server of a test and of a benchmark",
    ("src/study/lab/goban_lab.hpp", "286 lines"): "what plugins are built with is one header that needs no other of Goban",
}

# Library headers by prefix -> the paths that may include them (prefixes under the root).
# EVERYWHERE: any module. The longest prefix counts.
EVERYWHERE = ("",)
LIBRARIES = {
    "fmt/": EVERYWHERE,
    "tl/expected.hpp": EVERYWHERE,
    "CLI/": ("src/base/command_line/", "src/cli/shell/command_tree.cpp"),
    "toml++/": ("src/base/config_parse.cpp",),
    "yaml-cpp/": ("src/live/engine/kubernetes/access.cpp",),
    "nlohmann/": EVERYWHERE,  # and only in .cpp files: see check_library
    "torch/": ("src/train/", "tests/standin_device/", "bench/"),
    "ATen/": ("src/train/", "tests/mpi/", "tests/standin_device/", "tests/examples/", "bench/"),
    "c10/": ("src/train/", "tests/standin_device/"),
    "mpi.h": ("src/train/comm/", "bench/"),
    "dnnl.h": ("src/train/mesh/",),
    "archive.h": ("src/train/data/",),
    "archive_entry.h": ("src/train/data/",),
    "png.h": ("src/train/data/",),
    "zstd.h": ("src/train/data/",),
    "re2/": ("src/train/mesh/name_pattern.cpp",),
    "turbojpeg.h": ("src/train/data/",),
    "zlib.h": ("src/base/", "src/site/series/record.cpp"),
    "hwloc.h": ("src/base/topology/",),
    "boost/": ("src/study/history/", "src/core/knowledge/"),
    "curl/": ("src/base/http/",),
    "microhttpd.h": ("src/base/http/",),
    "sqlite3.h": ("src/site/store/sqlite.cpp", "src/site/store/sqlite_copy.cpp",
                  "src/site/store/sqlite_handle.hpp",
                  "src/site/store/test_faulty_files.hpp"),
    "mysql.h": ("src/site/store/mariadb.cpp",),
    "libpq-fe.h": ("src/site/store/postgresql.cpp",),
    "benchmark/": ("bench/",),
}

# Only in tests, wherever they are.
TEST_LIBRARIES = ("gtest/", "gmock/", "rapidcheck.h", "rapidcheck/", "httplib.h")

# All standard and library headers that pure modules may include: nothing that reaches the operating system,
# clocks, threads or hidden randomness.
PURE_HEADERS = {
    "algorithm", "array", "bit", "cctype", "cmath", "compare", "concepts", "cstddef", "cstdint", "deque",
    "functional", "initializer_list", "iterator", "limits", "list", "map", "memory", "numbers", "numeric",
    "optional", "queue", "ranges", "ratio", "set", "span", "stack", "string", "string_view", "tuple",
    "type_traits", "unordered_map", "unordered_set", "utility", "variant", "vector",
    "boost/random/normal_distribution.hpp", "fmt/format.h", "fmt/ranges.h", "nlohmann/json.hpp",
    "nlohmann/json_fwd.hpp",
}  # fmt: skip
PURE = ("src/core/", "src/base/statistics/")
# Our own headers with the same effects.
IO_OF_OURS = ("base/byte_source.hpp", "base/clock.hpp", "base/file_checksum.hpp", "base/files.hpp",
              "base/gpus/", "base/gzip.hpp", "base/http/", "base/line_reader.hpp",
              "base/output_file.hpp", "base/spawn.hpp", "base/text_file.hpp", "base/time_zone.hpp", "base/topology/")  # fmt: skip

# Headers of the operating system, for modules that may use it.
SYSTEM_PREFIXES = ("sys/", "linux/", "sanitizer/", "ucontext.h", "unistd.h", "fcntl.h", "poll.h", "signal.h", "spawn.h",
                   "dlfcn.h", "netdb.h", "netinet/", "arpa/", "pthread.h", "sched.h", "malloc.h", "dirent.h",
                   "errno.h", "termios.h", "pwd.h", "grp.h", "dirent.h", "time.h", "stdio.h",
                   "stdlib.h", "string.h")  # fmt: skip

# Sources are *.cpp and *.hpp; other names would escape the build and these checks.
OTHER_CPP = {".c", ".cc", ".cxx", ".c++", ".cppm", ".cu", ".cuh", ".h", ".hh", ".hxx", ".h++", ".inc", ".inl",
             ".ipp", ".ixx", ".tpp"}  # fmt: skip

DIRECTIVE = re.compile(r"\s*(?:(?:#|%:)\s*(include|include_next|import)\b|(?:export\s+)?import\s*[<\"])")
INCLUDE = re.compile(r'\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")')
NAMESPACE = re.compile(r"\bnamespace\s+(?:\[\[.*?\]\]\s*)*(goban(?:\s*::\s*(?:inline\s+)?\w+)*)\s*\{")
LAYER = re.compile(r"^\s*goban_layer\(([^)]*)\)", re.MULTILINE)
MODULE = re.compile(r"^\s*goban_module\(([^)]*)\)", re.MULTILINE)
LIBRARY = re.compile(r"^\s*goban_library\(([^)]*)\)", re.MULTILINE)


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


@dataclass
class Table:
    """Which module may include which. Every permission records its line and whether it is used."""

    layers: dict  # layer -> {lower layer: line}
    modules: dict  # module -> {other module of its layer: line}
    tests: dict  # module -> {module that its tests may include: line}
    used: set

    def module_of(self, path):
        """The module of src/...; None outside of src/, directly in it, or in no module."""
        folders = path.split("/")[1:-1] if path.startswith("src/") else []
        while folders and "/".join(folders) not in self.modules:
            folders.pop()
        return "/".join(folders) or None

    def permits(self, module, target, test):
        """Marks the permission as used; test: by test material, which needs none of the product's."""
        layer, lower = module.split("/")[0], target.split("/")[0]
        if test and target in self.tests.get(module, {}):
            self.used.add(("test", module, target))
            return True
        if layer == lower:
            key, permitted = ("module", module, target), target in self.modules.get(module, {})
        else:
            key, permitted = ("layer", layer, lower), lower in self.layers.get(layer, {})
        if permitted and not test:
            self.used.add(key)
        return permitted

    def permitted(self, module):
        layer = module.split("/")[0]
        return sorted([*self.modules.get(module, ()), *self.layers.get(layer, ())])


def is_test(path):
    return path.endswith("_test.cpp")


def is_test_material(path):
    return is_test(path) or path.rsplit("/", 1)[-1].startswith("test_")


def is_product(path):
    return path.startswith("src/") and not is_test_material(path) and not path.endswith("_fuzz.cpp")


def within(path, prefixes):
    return path.startswith(tuple(prefixes))


def line_of(text, match):
    return text.count("\n", 0, match.start()) + 1


def read_table(text, path, report):
    """Entries may name only entries above them, so the table cannot contain a cycle."""
    table = Table({}, {}, {}, set())
    for match in LAYER.finditer(text):
        layer, *used = match.group(1).split()
        line = line_of(text, match)
        for name in used:
            if name not in table.layers:
                report(path, line, f"layer {layer} uses {name}, which is not a layer above it here")
        if layer in table.layers:
            report(path, line, f"layer {layer} is listed twice")
        table.layers[layer] = dict.fromkeys(used, line)
    for match in MODULE.finditer(text):
        module, *used = match.group(1).split()
        line = line_of(text, match)
        if module.split("/")[0] not in table.layers:
            report(path, line, f"module {module} is in no layer")
        for name in used:
            if name not in table.modules:
                report(path, line, f"module {module} uses {name}, which is not a module above it here")
            elif name.split("/")[0] != module.split("/")[0]:
                report(path, line, f"module {module} lists {name} of another layer: the list of its "
                                   "layer permits that")
        if module in table.modules:
            report(path, line, f"module {module} is listed twice")
        table.modules[module] = dict.fromkeys(used, line)
    if not table.modules:
        report(path, 1, "no goban_module() lines found")
    return table


def read_test_uses(table, text):
    for match in LIBRARY.finditer(text):
        module, *words = match.group(1).split()
        uses = words[words.index("TEST_USES") + 1:] if "TEST_USES" in words else []
        stop = next((i for i, word in enumerate(uses) if word.isupper()), len(uses))
        table.tests[module] = dict.fromkeys(uses[:stop], line_of(text, match))


def note_what_tests_reach(table, graph):
    """Tests also use what the test helpers they include need: it has to be linked."""
    for path in graph:
        module, reached, todo = table.module_of(path), set(), [path]
        if module not in table.tests or not is_test(path):
            continue
        while todo:
            for _, target in graph.get(todo.pop(), ()):
                if target not in reached:
                    reached.add(target)
                    todo.append(target)
        table.used.update(("test", module, table.module_of(each)) for each in reached)


def check_permissions_used(table, layers_path, library_path, report):
    for kind, permissions, path in (("layer", table.layers, layers_path),
                                    ("module", table.modules, layers_path),
                                    ("test", table.tests, library_path)):
        for name, targets in permissions.items():
            for target, line in targets.items():
                if (kind, name, target) not in table.used:
                    report(path, line, f"{'tests of ' if kind == 'test' else ''}{name} may use "
                                       f"{target}, but no include needs it: remove the permission")


def includes_of(text):
    """(the includes, the lines of includes and imports that are written in another way)."""
    found, unreadable = [], []
    for number, line in cpp_text.logical_lines(text):
        if DIRECTIVE.match(line):
            match = INCLUDE.match(line)
            if match:
                found.append(Include(number, match.group(1) or match.group(2), match.group(1) is None))
            else:
                unreadable.append(number)
    return found, unreadable


def impure(path, name):
    folder = path.rsplit("/", 1)[0]
    return f"{name}: {folder}/ is pure, without I/O, clocks, threads or hidden randomness"


def check_own_include(path, include, table, files, report):
    """An include in quotes must name one of our files, relative to src/, in a permitted module."""
    if f"src/{include.name}" not in files:
        report(path, include.line,
               f'"{include.name}" is not under src/; use a path relative to src/, or <> for a library')
        return
    if within(path, PURE) and not is_test_material(path) and include.name.startswith(IO_OF_OURS):
        report(path, include.line, impure(path, include.name))
        return
    if is_test_material(include.name) and is_product(path):
        report(path, include.line, f'"{include.name}" is test material, which the product does not '
                                   "link: only *_test.cpp, *_fuzz.cpp and test_* files include it")
        return
    module, target = table.module_of(path), table.module_of(f"src/{include.name}")
    if module is None or target is None or target == module:  # bench/ may include all modules
        return
    if not table.permits(module, target, not is_product(path)):
        report(path, include.line,
               f'{module} may not include "{include.name}": cmake/layers.cmake permits '
               + (", ".join(table.permitted(module)) or "no other module"))


def check_library(path, include, report):
    """An include in <> must be of the standard library, or of a library permitted here."""
    name, line = include.name, include.line
    if name.startswith(TEST_LIBRARIES):
        if not is_test(path):
            report(path, line, f"<{name}> is permitted in *_test.cpp files only")
        return
    if name.startswith("nlohmann/") and path.endswith(".hpp") and name != "nlohmann/json_fwd.hpp":
        report(path, line, f"<{name}> is permitted in .cpp files only; headers include <nlohmann/json_fwd.hpp>")
        return
    if within(path, PURE) and not is_test_material(path):
        if name not in PURE_HEADERS:
            report(path, line, impure(path, f"<{name}>")
                   + "; PURE_HEADERS in tools/check_includes.py lists what it may include")
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


def check_file(path, text, table, report):
    """Checks of a single file: size, module, namespaces."""
    lines = text.count("\n") + (not text.endswith("\n"))
    limit = HEADER_LINES_MAX if path.endswith(".hpp") else SOURCE_LINES_MAX
    if lines > limit:
        report(path, limit + 1, f"{lines} lines; the limit is {limit}: split it by idea")
    if path.endswith(".hpp") and not re.search(r"^#pragma once$", text, re.MULTILINE):
        report(path, 1, "no #pragma once")
    if not path.startswith("src/"):
        return
    module = table.module_of(path)
    if module is None:
        report(path, 1, f"{path} is in no module of cmake/layers.cmake")
        return
    folders = ["goban", *path.split("/")[1:-1]]
    least = len(module.split("/")) + 1
    code = cpp_text.logical_lines(text)
    for match in NAMESPACE.finditer("\n".join(line for _, line in code)):
        names = re.sub(r"\s|\binline\b", "", match.group(1)).split("::")
        if len(names) < least or names != folders[:len(names)]:
            number = code[match.string.count("\n", 0, match.start())][0]
            report(path, number, f"namespace {'::'.join(names)} in module {module}; it is "
                                 + "::".join(folders[:least]))


def check_cycles(graph, report):
    """Reports each include that closes a cycle. graph: path -> [(line, path)]."""
    done, open_path = set(), []

    def visit(path):
        open_path.append(path)
        for line, target in graph.get(path, ()):
            if target in open_path:
                cycle = open_path[open_path.index(target):] + [target]
                report(path, line, "include cycle: " + " -> ".join(cycle))
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
    layers_path, library_path = "cmake/layers.cmake", "src/CMakeLists.txt"
    table = read_table((root / layers_path).read_text(encoding="utf-8"), layers_path, report)
    if (root / library_path).exists():
        read_test_uses(table, (root / library_path).read_text(encoding="utf-8"))
    files = {}
    for folder in ("src", "bench", "tests"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".hpp", ".cpp"):
                files[file.relative_to(root).as_posix()] = file.read_text(encoding="utf-8")
            elif file.suffix.lower() in OTHER_CPP:
                report(file.relative_to(root).as_posix(), 1, "C++ sources end in .cpp and .hpp")
    graph = {}
    for path, text in files.items():
        check_file(path, text, table, report)
        includes, unreadable = includes_of(text)
        for line in unreadable:
            report(path, line, 'write #include "path" or #include <path>: this check cannot read the line')
        for include in includes:
            if include.own:
                target = f"src/{include.name}"
                if not path.startswith("src/") and include.name in files:
                    target = include.name  # bench/ has its own headers, relative to the root
                else:
                    check_own_include(path, include, table, files, report)
                graph.setdefault(path, []).append((include.line, target))
            else:
                check_library(path, include, report)
    check_cycles(graph, report)
    note_what_tests_reach(table, graph)
    check_permissions_used(table, layers_path, library_path, report)
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

#!/usr/bin/env python3
"""Tests check_includes.py on small trees that break one rule each."""

import tempfile
import unittest
from pathlib import Path

import check_includes

ROOMS = """
goban_room_uses(base)
goban_room_uses(model base)
goban_room_uses(profile base model)
goban_room_uses(policy base model profile)
goban_room_uses(history base model)
goban_room_uses(cli base model policy history)
"""
HEADER = "#pragma once\n"


def check(files, rooms=ROOMS, exceptions=None):
    """`path:line: message` of each violation in a tree of these files."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in {"cmake/rooms.cmake": rooms, **files}.items():
            file = Path(root) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        violations, _ = check_includes.check_tree(root, exceptions or {})
        return [str(violation) for violation in violations]


class CheckIncludesTest(unittest.TestCase):
    def assert_one(self, found, path, line, words):
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{path}:{line}: "), found[0])
        self.assertIn(words, found[0])

    def test_a_good_tree_passes(self):
        self.assertEqual(check({
            "src/base/a.hpp": HEADER + "#include <vector>\n#include <cstdint>\n"
                                       "namespace goban::base {\n}\n",
            "src/policy/order/b.hpp": HEADER + '#include "base/a.hpp"\n'
                                               "namespace goban::policy {\n}\n",
            "src/policy/order/b.cpp": '#include "policy/order/b.hpp"\n#include <fmt/format.h>\n',
            "src/policy/order/b_test.cpp": "#include <gtest/gtest.h>\n#include <fstream>\n",
            "src/history/c.cpp": "#include <zlib.h>\n#include <boost/random.hpp>\n",
            "bench/d.cpp": '#include <benchmark/benchmark.h>\n#include "policy/order/b.hpp"\n',
        }), [])

    def test_an_include_against_the_table(self):
        found = check({"src/history/a.hpp": HEADER,
                       "src/policy/b.cpp": '// text\n#include "history/a.hpp"\n'})
        self.assert_one(found, "src/policy/b.cpp", 2, 'policy may not include "history/a.hpp"')

    def test_an_include_of_a_higher_room(self):
        found = check({"src/cli/a.hpp": HEADER,
                       "src/base/b.hpp": HEADER + '#include "cli/a.hpp"\n'})
        self.assert_one(found, "src/base/b.hpp", 2, 'base may not include "cli/a.hpp"')

    def test_an_include_that_is_not_named_from_src(self):
        found = check({"src/base/a.hpp": HEADER, "src/base/b.cpp": '#include "a.hpp"\n'})
        self.assert_one(found, "src/base/b.cpp", 1, "is not under src/")

    def test_headers_of_the_benchmarks_are_theirs(self):
        files = {"bench/a.hpp": HEADER, "bench/b.cpp": '#include "bench/a.hpp"\n'}
        self.assertEqual(check(files), [])
        found = check({**files, "src/base/c.cpp": '#include "bench/a.hpp"\n'})
        self.assert_one(found, "src/base/c.cpp", 1, "is not under src/")

    def test_a_file_in_no_room(self):
        found = check({"src/attic/a.hpp": HEADER})
        self.assert_one(found, "src/attic/a.hpp", 1, "is in no room")

    def test_libraries_outside_of_their_room(self):
        for header in ("CLI/CLI.hpp", "toml++/toml.h", "torch/torch.h", "zlib.h", "httplib.h",
                       "sqlite3.h", "boost/math/distributions.hpp", "benchmark/benchmark.h"):
            found = check({"src/model/a.cpp": f"\n#include <{header}>\n"})
            self.assert_one(found, "src/model/a.cpp", 2, f"<{header}> may be included in")

    def test_an_unknown_library(self):
        found = check({"src/base/a.cpp": "#include <spdlog/spdlog.h>\n"})
        self.assert_one(found, "src/base/a.cpp", 1, "unknown library")

    def test_json_in_headers(self):
        found = check({"src/base/a.hpp": HEADER + "#include <nlohmann/json.hpp>\n"})
        self.assert_one(found, "src/base/a.hpp", 2, "json_fwd.hpp")
        self.assertEqual(check({"src/base/a.hpp": HEADER + "#include <nlohmann/json_fwd.hpp>\n",
                                "src/base/a.cpp": "#include <nlohmann/json.hpp>\n"}), [])

    def test_test_libraries_outside_of_tests(self):
        found = check({"src/base/a.cpp": "#include <rapidcheck.h>\n"})
        self.assert_one(found, "src/base/a.cpp", 1, "*_test.cpp")

    def test_the_pure_rooms_see_no_system(self):
        for header in ("fstream", "iostream", "cstdio", "chrono", "thread", "random", "filesystem",
                       "unistd.h"):
            found = check({"src/policy/order/a.cpp": f"#include <{header}>\n"})
            self.assert_one(found, "src/policy/order/a.cpp", 1, "is pure")
        self.assertEqual(check({"src/model/cluster_file.cpp": "#include <fstream>\n",
                                "src/history/a.cpp": "#include <fstream>\n"}), [])

    def test_include_cycles(self):
        found = check({"src/base/a.hpp": HEADER + '#include "base/b.hpp"\n',
                       "src/base/b.hpp": HEADER + '#include "base/a.hpp"\n'})
        self.assert_one(found, "src/base/b.hpp", 2,
                        "src/base/a.hpp -> src/base/b.hpp -> src/base/a.hpp")

    def test_sizes(self):
        self.assertEqual(check({"src/base/a.hpp": HEADER + "//\n" * 249,
                                "src/base/a.cpp": "//\n" * 700}), [])
        found = check({"src/base/a.hpp": HEADER + "//\n" * 250})
        self.assert_one(found, "src/base/a.hpp", 251, "251 lines; the limit is 250")
        found = check({"bench/a.cpp": "//\n" * 701})
        self.assert_one(found, "bench/a.cpp", 701, "701 lines; the limit is 700")

    def test_namespaces(self):
        for name in ("goban::model", "goban::policy::select", "goban"):
            found = check({"src/policy/order/a.cpp": f"\nnamespace {name} {{\n}}\n"})
            self.assert_one(found, "src/policy/order/a.cpp", 2, f"namespace {name} in")
        for name in ("goban::policy", "goban::policy::order", "std", ""):
            self.assertEqual(check({"src/policy/order/a.cpp": f"namespace {name} {{\n}}\n"}), [])

    def test_a_header_without_pragma_once(self):
        self.assert_one(check({"src/base/a.hpp": "\n"}), "src/base/a.hpp", 1, "#pragma once")

    def test_a_table_that_goes_upwards(self):
        found = check({}, rooms="goban_room_uses(base model)\ngoban_room_uses(model base)\n")
        self.assert_one(found, "cmake/rooms.cmake", 1, "no room below it")

    def test_exceptions_are_used_or_reported(self):
        files = {"src/policy/a.cpp": "#include <chrono>\n"}
        key = ("src/policy/a.cpp", "<chrono>")
        self.assertEqual(check(files, exceptions={key: "why"}), [])
        found = check({"src/policy/a.cpp": "\n"}, exceptions={key: "why"})
        self.assert_one(found, "src/policy/a.cpp", 1, "no longer occurs")


if __name__ == "__main__":
    unittest.main()

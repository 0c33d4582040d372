#!/usr/bin/env python3
"""Tests of check_includes.py on small trees that break one rule each."""

import tempfile
import unittest
from pathlib import Path

import check_includes

TABLE = """
goban_layer(base)
goban_module(base)
goban_module(base/http base)
goban_layer(core base)
goban_module(core/model)
goban_module(core/policy core/model)
goban_layer(study base core)
goban_module(study/history)
goban_layer(cli study core)
goban_module(cli)
"""
HEADER = "#pragma once\n"


def check(files, table=TABLE, exceptions=None, libraries=""):
    """`path:line: message` of each violation in a tree of these files, except unused permissions,
    since the small trees here use few of them."""
    return [each for each in check_all(files, table, exceptions, libraries)
            if "remove the permission" not in each]


def check_all(files, table=TABLE, exceptions=None, libraries=""):
    with tempfile.TemporaryDirectory() as root:
        for path, text in {"cmake/layers.cmake": table, "src/CMakeLists.txt": libraries,
                           **files}.items():
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
            "src/core/policy/order/b.hpp": HEADER + '#include "base/a.hpp"\n'
                                               "namespace goban::core::policy {\n}\n",
            "src/core/policy/order/b.cpp": '#include "core/policy/order/b.hpp"\n#include <fmt/format.h>\n',
            "src/core/policy/order/b_test.cpp": "#include <gtest/gtest.h>\n#include <fstream>\n",
            "src/base/c.cpp": "#include <zlib.h>\n",
            "src/study/history/c.cpp": "#include <boost/random.hpp>\n",
            "bench/d.cpp": '#include <benchmark/benchmark.h>\n#include "core/policy/order/b.hpp"\n',
        }), [])

    def test_an_include_against_the_table(self):
        found = check({"src/study/history/a.hpp": HEADER,
                       "src/core/policy/b.cpp": '// text\n#include "study/history/a.hpp"\n'})
        self.assert_one(found, "src/core/policy/b.cpp", 2, 'core/policy may not include "study/history/a.hpp"')

    def test_an_include_of_a_higher_layer(self):
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

    def test_the_product_includes_no_test_material(self):
        files = {"src/base/test_a.hpp": HEADER}
        for path in ("src/base/b.hpp", "src/base/b.cpp", "src/cli/main.cpp"):
            found = check({**files, path: HEADER + '#include "base/test_a.hpp"\n'},
                          table=TABLE.replace("cli study core", "cli base study core"))
            self.assert_one(found, path, 2, '"base/test_a.hpp" is test material')
        for path in ("src/base/b_test.cpp", "src/base/b_fuzz.cpp", "src/base/test_b.cpp",
                     "src/base/test_b.hpp", "tests/mpi/b.cpp", "bench/b.cpp"):
            self.assertEqual(check({**files, path: HEADER + '#include "base/test_a.hpp"\n'}), [])

    def test_a_file_in_no_module(self):
        found = check({"src/attic/a.hpp": HEADER})
        self.assert_one(found, "src/attic/a.hpp", 1, "is in no module")

    def test_libraries_outside_of_their_module(self):
        for header in ("CLI/CLI.hpp", "toml++/toml.h", "torch/torch.h", "zlib.h",
                       "sqlite3.h", "boost/math/distributions.hpp", "benchmark/benchmark.h"):
            found = check({"src/cli/a.cpp": f"\n#include <{header}>\n"})
            self.assert_one(found, "src/cli/a.cpp", 2, f"<{header}> may be included in")

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

    def test_the_pure_modules_see_no_system(self):
        for header in ("fstream", "iostream", "cstdio", "chrono", "thread", "random", "filesystem",
                       "unistd.h", "shared_mutex", "semaphore", "stop_token", "syncstream", "fmt/os.h",
                       "fmt/chrono.h", "boost/asio.hpp", "boost/random/random_device.hpp"):
            found = check({"src/core/policy/order/a.cpp": f"#include <{header}>\n"})
            self.assert_one(found, "src/core/policy/order/a.cpp", 1, "is pure")
        self.assertEqual(check({"src/study/history/a.cpp": "#include <fstream>\n"}), [])

    def test_the_pure_modules_read_no_files_through_base(self):
        files = {"src/base/text_file.hpp": HEADER}
        include = '#include "base/text_file.hpp"\n'
        found = check({**files, "src/core/policy/a.cpp": include})
        self.assert_one(found, "src/core/policy/a.cpp", 1, "is pure")
        self.assertEqual(check({**files, "src/core/policy/a_test.cpp": include}), [])

    def test_includes_in_every_way_that_the_compiler_reads(self):
        files = {"src/study/history/a.hpp": HEADER}
        for line in ('/* x */ #include "study/history/a.hpp"', '#include /* x */ "study/history/a.hpp"',
                     '# include\t"study/history/a.hpp"', '#include \\\n"study/history/a.hpp"',
                     '/* a\n b */ #include "study/history/a.hpp"', '#include"study/history/a.hpp" // x',
                     '#if 0\n#if 1\n#endif\n#else\n#include "study/history/a.hpp"\n#endif'):
            number = 1 if "#if" not in line else 5
            found = check({**files, "src/core/model/b.cpp": f"{line}\n"})
            self.assert_one(found, "src/core/model/b.cpp", number, 'core/model may not include "study/')

    def test_includes_that_the_check_cannot_read(self):
        for line in ('#define X "study/history/a.hpp"\n#include X', '\n%:include "study/history/a.hpp"',
                     '\n#include_next <vector>', '\n#import "study/history/a.hpp"', '\nimport <vector>;',
                     '\n#in\\\nclude X'):
            found = check({"src/core/model/b.cpp": f"{line}\n"})
            self.assert_one(found, "src/core/model/b.cpp", 2, "cannot read")

    def test_text_that_is_no_include(self):
        line = '#include "study/history/a.hpp"\n'
        for text in (f"/*\n{line}*/\n", f"#if 0\n{line}#endif\n", f"#if 1\n#if 0\n{line}#endif\n#endif\n",
                     f'auto a = R"(\n{line})";\n', f'auto a = R"x(\n)"\n{line})x";\n', f"// \\\n{line}",
                     f"int a = 1'000;  /* don't\n{line}*/\n", "import = 3;\n"):
            self.assertEqual(check({"src/core/model/b.cpp": text}), [], text)
        found = check({"src/core/model/b.cpp": f'auto a = R"(/*)";\n{line}auto b = "*/";\n'})
        self.assert_one(found, "src/core/model/b.cpp", 2, "is not under src/")

    def test_sources_of_other_names(self):
        for name in ("a.cc", "a.h", "a.cxx", "a.ipp"):
            self.assert_one(check({f"src/core/model/{name}": ""}), f"src/core/model/{name}", 1, ".cpp and .hpp")

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
        for name in ("goban::core::model", "goban::core::policy::select", "goban"):
            found = check({"src/core/policy/order/a.cpp": f"\nnamespace {name} {{\n}}\n"})
            self.assert_one(found, "src/core/policy/order/a.cpp", 2, f"namespace {name} in")
        for text in ("namespace goban::cli\n{", "namespace goban // x\n :: cli {", "namespace [[a]] goban::cli {",
                     "namespace goban::inline cli {", "inline namespace goban::cli {"):
            found = check({"src/core/policy/order/a.cpp": f"\n{text}\n}}\n"})
            self.assert_one(found, "src/core/policy/order/a.cpp", 2, "namespace goban::cli in")
        self.assertEqual(check({"src/core/policy/order/a.cpp": 'auto a = R"(\nnamespace goban::cli {)";\n'
                                                               "namespace a = goban::cli;\n"}), [])
        for name in ("goban::core::policy", "goban::core::policy::order", "std", ""):
            self.assertEqual(check({"src/core/policy/order/a.cpp": f"namespace {name} {{\n}}\n"}), [])

    def test_a_header_without_pragma_once(self):
        self.assert_one(check({"src/base/a.hpp": "\n"}), "src/base/a.hpp", 1, "#pragma once")

    def test_a_table_that_goes_upwards(self):
        found = check({}, table="goban_layer(base core)\ngoban_layer(core base)\n"
                                "goban_module(base)\n")
        self.assert_one(found, "cmake/layers.cmake", 1, "not a layer above it here")
        found = check({}, table="goban_layer(base)\ngoban_module(base/a base/b)\n"
                                "goban_module(base/b base/a)\n")
        self.assert_one(found, "cmake/layers.cmake", 2, "not a module above it here")

    def test_a_module_does_not_list_modules_of_other_layers(self):
        found = check({}, table=TABLE + "goban_module(study/results core/model)\n")
        self.assert_one(found, "cmake/layers.cmake", 12, "of another layer")

    def test_an_include_against_the_modules_of_a_layer(self):
        found = check({"src/core/policy/a.hpp": HEADER,
                       "src/core/model/b.cpp": '#include "core/policy/a.hpp"\n'})
        self.assert_one(found, "src/core/model/b.cpp", 1, "core/model may not include")

    def test_permissions_that_no_include_needs(self):
        table = "goban_layer(base)\ngoban_module(base)\ngoban_module(base/http base)\n"
        found = check_all({"src/base/a.hpp": HEADER, "src/base/http/b.cpp": ""}, table)
        self.assert_one(found, "cmake/layers.cmake", 3, "base/http may use base")
        self.assertEqual(check_all({"src/base/a.hpp": HEADER,
                                    "src/base/http/b.cpp": '#include "base/a.hpp"\n'}, table), [])

    def test_permissions_that_tests_alone_need(self):
        table = "goban_layer(base)\ngoban_module(base)\ngoban_module(base/http base)\n"
        for name in ("b_test.cpp", "b_fuzz.cpp", "test_b.hpp"):
            found = check_all({"src/base/a.hpp": HEADER,
                               f"src/base/http/{name}": HEADER + '#include "base/a.hpp"\n'}, table)
            self.assert_one(found, "cmake/layers.cmake", 3, "base/http may use base")
        files = {"src/base/a.hpp": HEADER, "src/base/http/b_test.cpp": '#include "base/a.hpp"\n'}
        found = check_all(files, table, libraries="goban_library(base/http TEST_USES base)\n")
        self.assert_one(found, "cmake/layers.cmake", 3, "base/http may use base")
        self.assertEqual(check_all(files, table.replace("http base", "http"),
                                   libraries="goban_library(base/http TEST_USES base)\n"), [])

    def test_what_tests_alone_may_include(self):
        files = {"src/study/history/a.hpp": HEADER,
                 "src/core/model/b_test.cpp": '#include "study/history/a.hpp"\n'}
        libraries = "goban_library(core/model TEST_USES study/history TEST_LIBS rapidcheck)\n"
        found = check(files)
        self.assert_one(found, "src/core/model/b_test.cpp", 1, "core/model may not include")
        self.assertEqual(check(files, libraries=libraries), [])
        found = check({**files, "src/core/model/c.cpp": '#include "study/history/a.hpp"\n'},
                      libraries=libraries)
        self.assert_one(found, "src/core/model/c.cpp", 1, "core/model may not include")
        found = [each for each in check_all({}, libraries=libraries) if "tests of" in each]
        self.assert_one(found, "src/CMakeLists.txt", 1, "tests of core/model may use study/history")

    def test_what_tests_reach_counts_as_used(self):
        libraries = "goban_library(core/model TEST_USES study/history core/policy)\n"
        found = [each for each in check_all({
            "src/study/history/a.hpp": HEADER,
            "src/core/policy/test_b.hpp": HEADER + '#include "study/history/a.hpp"\n',
            "src/core/model/c_test.cpp": '#include "core/policy/test_b.hpp"\n'},
            libraries=libraries + "goban_library(core/policy TEST_USES study/history)\n")
            if "tests of core/model" in each]
        self.assertEqual(found, [])

    def test_exceptions_are_used_or_reported(self):
        files = {"src/core/policy/a.cpp": "#include <chrono>\n"}
        key = ("src/core/policy/a.cpp", "<chrono>")
        self.assertEqual(check(files, exceptions={key: "why"}), [])
        found = check({"src/core/policy/a.cpp": "\n"}, exceptions={key: "why"})
        self.assert_one(found, "src/core/policy/a.cpp", 1, "no longer occurs")


if __name__ == "__main__":
    unittest.main()

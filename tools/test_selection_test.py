#!/usr/bin/env python3
"""Tests test_selection.py on a small tree, on this tree, and on the build folder $GOBAN_BUILD."""

import os
import re
import subprocess
import unittest
from pathlib import Path

import check_includes
import test_selection

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("GOBAN_BUILD", ""))
TABLE = """
goban_layer(base)
goban_module(base)
goban_layer(core base)
goban_module(core/model)
goban_module(core/policy core/model)
goban_layer(study base core)
goban_module(study)
goban_layer(cli base core study)
goban_module(cli)
goban_layer(train base)
goban_module(train/trainer)
"""
LIBRARIES = "goban_library(core/model TEST_USES study)\n"
FILES = {
    "src/base/a.hpp", "src/base/a_test.cpp", "src/base/a_fuzz.cpp",
    "src/core/model/b.hpp", "src/core/model/b.cpp", "src/core/model/b_test.cpp",
    "src/core/policy/c.cpp", "src/core/policy/c_test.cpp", "src/core/policy/test_c.hpp",
    "src/study/e.cpp", "src/study/e_test.cpp",
    "src/cli/d.cpp", "src/cli/d_test.cpp",
    "src/train/trainer/f.cpp", "src/train/trainer/f_test.cpp",
}
OF_GOBAN = {"tools", "cli", "live", "study", "web"}


def select(*changed):
    table = check_includes.read_table(TABLE, "layers.cmake", lambda *problem: None)
    check_includes.read_test_uses(table, LIBRARIES)
    return test_selection.select_changed(list(changed), table, FILES)


class TestSelectionTest(unittest.TestCase):
    def test_a_test_file_concerns_its_module_alone(self):
        self.assertEqual(select("src/base/a_test.cpp"), ({"tests_base", "tests_tools"}, {"base", "tools"}))

    def test_a_source_concerns_the_modules_that_use_it_and_the_program(self):
        for path in ("src/core/model/b.hpp", "src/core/model/b.cpp"):
            _, labels = select(path)
            self.assertEqual(labels, {"core/model", "core/policy", *OF_GOBAN}, path)

    def test_tests_that_use_a_module_which_the_product_does_not(self):
        _, labels = select("src/study/e.cpp")
        self.assertEqual(labels, {"core/model", *OF_GOBAN})

    def test_a_source_of_the_lowest_layer_concerns_all(self):
        _, labels = select("src/base/a.hpp")
        self.assertEqual(labels, {"base", "core/model", "core/policy", "train/trainer", "train", *OF_GOBAN})

    def test_test_material_concerns_the_users_of_its_module_but_no_program(self):
        self.assertEqual(select("src/core/policy/test_c.hpp")[1],
                         {"core/policy", "core/model", "study", "cli", "tools"})

    def test_every_label_has_the_target_that_builds_its_tests(self):
        for path in FILES:
            targets, labels = select(path)
            self.assertEqual(targets, {"tests_" + label.split("/")[0] for label in labels}, path)

    def test_other_folders(self):
        self.assertEqual(select("web/src/App.tsx")[1], {"tools", "web"})
        self.assertEqual(select("README.md")[1], {"tools"})
        self.assertEqual(select("tests/corpus/a/seed")[1], {"tools", "base"})
        self.assertEqual(select("tests/replay_corpus.cpp")[1], {"tools", "base"})
        self.assertEqual(select("bench/a_bench.cpp"), ({"all"}, {"tools"}))
        self.assertEqual(select(), (set(), set()))

    def test_unknown_paths_concern_all(self):
        for path in ("cmake/flags.cmake", "CMakePresets.json", "src/attic/a.cpp", "novel/x", "devices",
                     "tests/corpus/nobody/seed", "tests/novel.sh"):
            self.assertEqual(select(path), ({"all"}, {""}), path)


class ThisTreeTest(unittest.TestCase):
    def test_every_file_concerns_some_test_and_every_label_exists(self):
        table, files = test_selection.read_tree(ROOT)
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, text=True, capture_output=True, check=False)
        tracked = set(listed.stdout.splitlines())
        if not tracked:
            self.skipTest("no git checkout")
        known = test_selection.labels_that_exist(table, files)
        whole = {path for path in tracked if test_selection.labels_of(path, table, files) is None}
        self.assertEqual({path for path in whole if path.startswith("src/")}, {"src/CMakeLists.txt"})
        self.assertLess(len(whole), 40, "add the files that concern few tests to OTHER_PATHS")
        for path in tracked - whole:
            labels = test_selection.labels_of(path, table, files)
            if not table.module_of(path):
                self.assertLessEqual(labels, known, path)
            self.assertTrue(path.endswith(".md") or not table.module_of(path) or labels & known, path)
        for entry, labels in test_selection.OTHER_PATHS.items():
            self.assertTrue(any(path.startswith(entry) for path in tracked), f"there is no {entry}")
            self.assertLessEqual(set(labels), known, entry)

    @unittest.skipUnless((BUILD / "build.ninja").is_file(), "$GOBAN_BUILD is no build folder of Ninja")
    def test_the_target_of_a_label_builds_what_its_tests_run(self):
        edges = {}
        for line in (BUILD / "build.ninja").read_text(encoding="utf-8").splitlines():
            if line.startswith("build "):
                outputs, _, inputs = line[6:].partition(":")
                for output in set(outputs.split()) - {"|"}:
                    edges[output] = set(inputs.split()) - {"|", "||"}
        tests = (BUILD / "src/CTestTestfile.cmake").read_text(encoding="utf-8")
        commands = dict(re.findall(r"^add_test\(\[=\[(.*?)\]=\] (.*)\)$", tests, re.MULTILINE))
        labels = dict(re.findall(r"^set_tests_properties\(\[=\[(.*?)\]=\] PROPERTIES .*?LABELS \"(.*?)\"",
                                 tests, re.MULTILINE))
        known = test_selection.labels_that_exist(*test_selection.read_tree(ROOT))
        self.assertGreater(len(commands), 50)
        built = {}
        for name, command in commands.items():
            if name.endswith("_NOT_BUILT"):
                continue
            self.assertIn(labels.get(name), known, name)
            target = "tests_" + labels[name].split("/")[0]
            if target not in built:
                reached, todo = set(), [target]
                while todo:
                    one = todo.pop()
                    if one not in reached:
                        reached.add(one)
                        todo.extend(edges.get(one, ()))
                built[target] = reached
            for program in re.findall(re.escape(str(BUILD)) + r"/((?:bin|src)/[^\" ]+)", command):
                self.assertTrue(program in built[target], f"{name}: {target} does not build {program}")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Tests test_selection.py on a small tree."""

import unittest

import check_includes
import test_selection

TABLE = """
goban_layer(base)
goban_module(base)
goban_layer(core base)
goban_module(core/model)
goban_module(core/policy core/model)
goban_layer(cli base core)
goban_module(cli)
"""
FILES = {
    "src/base/a.hpp": "",
    "src/base/a_test.cpp": '#include "base/a.hpp"\n',
    "src/core/model/b.hpp": '#include "base/a.hpp"\n',
    "src/core/model/b.cpp": '#include "core/model/b.hpp"\n',
    "src/core/model/b_test.cpp": '#include "core/model/b.hpp"\n',
    "src/core/policy/c.cpp": '#include "core/model/b.hpp"\n',
    "src/core/policy/c_test.cpp": "",
    "src/cli/d.cpp": "",
    "src/cli/d_test.cpp": "",
}


def select(*changed):
    table = check_includes.read_table(TABLE, "layers.cmake", lambda *problem: None)
    return test_selection.select_changed(list(changed), table, FILES)


class TestSelectionTest(unittest.TestCase):
    def test_a_test_file_concerns_its_module_alone(self):
        targets, labels = select("src/base/a_test.cpp")
        self.assertEqual((targets, labels), ({"base_test"}, {"base"}))

    def test_a_header_concerns_all_that_include_it(self):
        targets, labels = select("src/core/model/b.hpp")
        self.assertEqual(targets, {"core_model_test", "core_policy_test", "goban"})
        self.assertEqual(labels, {"core/model", "core/policy", "cli", "study"})

    def test_through_several_headers(self):
        _, labels = select("src/base/a.hpp")
        self.assertEqual(labels, {"base", "core/model", "core/policy", "cli", "study"})

    def test_other_folders(self):
        self.assertEqual(select("web/src/App.tsx")[1], {"web"})
        self.assertEqual(select("README.md"), (set(), set()))
        self.assertEqual(select("cmake/flags.cmake"), ({"all"}, {""}))


if __name__ == "__main__":
    unittest.main()

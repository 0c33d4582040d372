#!/usr/bin/env python3
"""Tests ctest_summary.py on recorded output of ctest, and on a run of ctest."""

import subprocess
import tempfile
import unittest
from pathlib import Path

import ctest_summary
from data_sets import DataFile, DataSet, Unpublished

SETS = [DataSet("pal", "", "", "", "", [DataFile("pal/traces/a.csv", [], 1, "")]),
        DataSet("philly", "", "", "", "", [DataFile("traces/philly/b.csv.gz", [], 1, "")])]
UNPUBLISHED = [Unpublished("pal/reference", "made here", "see oracle.pal")]

TESTS = """add_test(a.good true)
add_test(a.bad sh -c "echo 'x_test.cpp:1: Failure'; exit 1")
"""
SKIPS = """add_test(live.root sh -c "echo hello; echo 'skipped: no root here'; exit 77")
set_tests_properties(live.root PROPERTIES SKIP_RETURN_CODE 77)
foreach(test S/Real.One/1 S/Real.Two/2)
  add_test(${test} sh -c "echo '[ RUN      ] Real'; echo '/s/y_test.cpp:12: Skipped'; \\
echo 'data file pal/traces/a.csv is absent (./dev data)'; echo; echo '[  SKIPPED ] Real (0 ms)'")
  set_tests_properties(${test} PROPERTIES SKIP_REGULAR_EXPRESSION "\\\\[  SKIPPED \\\\]")
endforeach()
"""


def gtest(message):
    return ("Note: Google Test filter = X.Y\n[ RUN      ] X.Y\n/src/x_test.cpp:7: Skipped\n"
            f"{message}\n\n[  SKIPPED ] X.Y (0 ms)\n[  PASSED  ] 0 tests.\n")


class ReasonTest(unittest.TestCase):
    def test_reasons(self):
        for output, reason in (
                (gtest("needs root"), "needs root"),
                (gtest("one line\nand one more"), "one line and one more"),
                (gtest(""), "no reason given"),
                ("some output\nskipped: no curl\n", "no curl"),
                ("only this\n\n", "only this"),
                ("", "no reason given")):
            with self.subTest(output):
                self.assertEqual(ctest_summary.reason_of(output), reason)

    def test_groups(self):
        def group(path):
            return ctest_summary.group_of(f"data file {path} is absent (./dev data)", SETS,
                                          UNPUBLISHED)
        self.assertEqual(group("traces/philly/b.csv.gz"),
                         ("data set philly is absent", "./dev data philly"))
        self.assertEqual(group("pal/traces"), ("data set pal is absent", "./dev data pal"))
        self.assertEqual(group("pal/reference/x.csv"),
                         ("pal/reference: made here", "see oracle.pal"))
        self.assertEqual(group("nowhere"), ("nowhere is absent", ""))
        self.assertEqual(ctest_summary.group_of("needs root", SETS, UNPUBLISHED),
                         ("needs root", ""))


class SummaryTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.TemporaryDirectory()
        self.folder = Path(self.root.name) / "build"
        self.folder.mkdir()

    def tearDown(self):
        self.root.cleanup()

    def ctest(self, tests):
        """Runs ctest in the folder as ./dev does."""
        (self.folder / "CTestTestfile.cmake").write_text(tests, encoding="utf-8")
        done = subprocess.run(["ctest", "--test-dir", self.folder, "--output-on-failure",
                               "--output-junit", "ctest.xml"], capture_output=True, text=True,
                              check=False)
        (self.folder / "ctest.log").write_text(done.stdout + done.stderr, encoding="utf-8")

    def summary(self):
        return ctest_summary.summary([self.folder], SETS, UNPUBLISHED)

    def test_skips_are_grouped_and_the_count_is_last(self):
        self.ctest(TESTS + SKIPS)
        self.assertEqual(self.summary(), [
            "3 tests skipped",
            "    2 data set pal is absent; ./dev data pal",
            "      S/Real (2)",
            "    1 no root here",
            "      live.root",
            "\t  2 - a.bad (Failed)",
            "80% tests passed, 1 tests failed out of 5"])

    def test_long_tests_say_why(self):
        reasons = ctest_summary.long_reasons()
        self.assertIn("live.kills", reasons)
        self.assertTrue(all(len(why.split()) > 2 for why in reasons.values()))
        (self.folder / "ctest.log").write_text("", encoding="utf-8")
        (self.folder / "ctest.xml").write_text(
            '<testsuite><testcase name="live.kills" time="60"/><testcase name="A.B" time="20.6"/>'
            '<testcase name="A.C" time="3"/></testsuite>', encoding="utf-8")
        self.assertEqual(self.summary()[:2], [
            "1 took more than 20 s; make them faster, or say why in tests/long_tests.txt:",
            "      A.B (21 s)"])
        self.assertEqual(ctest_summary.long_lines(self.folder, {"A.*": "", "live.kills": ""}), [])
        asan = self.folder.with_name("build-asan")
        self.folder.rename(asan)
        self.assertEqual(ctest_summary.long_lines(asan, {}), [])

    def test_nothing_skipped(self):
        self.ctest("add_test(a.good true)\n")
        self.assertEqual(self.summary(), ["100% tests passed, 0 tests failed out of 1"])

    def test_what_passed_alone_is_named(self):
        self.ctest("add_test(a.good true)\nadd_test(a.bad false)\nadd_test(a.late false)\n")
        self.assertEqual(self.summary()[:2], ["\t  2 - a.bad (Failed)", "\t  3 - a.late (Failed)"])
        (self.folder / "CTestTestfile.cmake").write_text(
            "add_test(a.good true)\nadd_test(a.bad false)\nadd_test(a.late true)\n",
            encoding="utf-8")
        again = subprocess.run(["ctest", "--test-dir", self.folder, "--rerun-failed"],
                               capture_output=True, text=True, check=False)
        self.assertEqual(again.returncode, 8, again.stdout)
        (self.folder / "ctest-alone.log").write_text(again.stdout, encoding="utf-8")
        self.assertEqual(self.summary(), [
            "\t  2 - a.bad (Failed)", "\t  3 - a.late (Failed); passed alone: unsteady",
            "33% tests passed, 2 tests failed out of 3"])

    def test_what_failed_only_beside_others_is_no_failure(self):
        self.ctest("add_test(a.good true)\nadd_test(a.late false)\n")
        (self.folder / "ctest-alone.log").write_text("1/1 Test #2: a.late ....   Passed    0.01 sec\n", encoding="utf-8")
        self.assertEqual(self.summary(), ["\t  2 - a.late (Failed); passed alone: unsteady",
                                          "100% tests passed, 0 tests failed out of 2, 1 of them only alone"])

    def test_a_program_that_is_absent_is_a_failure(self):
        self.ctest("add_test(a.absent /nonexistent/program)\n")
        self.assertEqual(self.summary(), ["\t  1 - a.absent (Not Run)",
                                          "0% tests passed, 1 tests failed out of 1"])

    def test_a_run_that_did_not_end(self):
        self.assertEqual(self.summary(), ["the tests did not run: see above"])
        (self.folder / "ctest.log").write_text("Test project x\n", encoding="utf-8")
        (self.folder / "ctest.xml").write_text("<testsuite>", encoding="utf-8")
        self.assertEqual(self.summary(), ["ctest did not finish: see above"])

    def test_several_folders_share_the_list(self):
        self.ctest(SKIPS)
        other = self.folder.with_name("build-asan")
        other.mkdir()
        for name in ("ctest.log", "ctest.xml"):
            (other / name).write_bytes((self.folder / name).read_bytes())
        lines = ctest_summary.summary([other, self.folder], SETS, UNPUBLISHED)
        self.assertEqual(lines[0], "3 tests skipped")
        self.assertEqual(lines[-4:], ["build-asan:", "100% tests passed, 0 tests failed out of 3",
                                      "build:", "100% tests passed, 0 tests failed out of 3"])


if __name__ == "__main__":
    unittest.main()

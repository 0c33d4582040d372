#!/usr/bin/env python3
"""Tests the arguments of ./dev in a small checkout, where cmake and ctest only record how they are called."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORDER = '#!/bin/sh\necho "$(basename "$0") $*" >>"$CALLS"\n'
COMMANDS = ("demo", "test", "build", "fmt", "lint", "bench", "fuzz", "attack", "bless", "data", "slurm", "kube", "docs", "pictures", "release", "help")


class DevTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "checkout"
        self.calls = Path(folder.name) / "calls"
        for path in ("dev", "cmake/layers.cmake", "src/CMakeLists.txt", "tests/attack.py"):
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, self.root / path)
        shutil.copytree(ROOT / "tools", self.root / "tools", ignore=shutil.ignore_patterns("__pycache__"))
        for path in ("bench/a.md", "tests/oracle/a_test.py", "src/base/a_test.cpp", ".gitignore"):
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text("build\n__pycache__\n", encoding="utf-8")
        bin_folder = Path(folder.name) / "bin"
        bin_folder.mkdir()
        for name in ("cmake", "ctest", "clang-format-19", "npm", "apt-get"):
            (bin_folder / name).write_text(RECORDER, encoding="utf-8")
            (bin_folder / name).chmod(0o755)
        self.environment = {**os.environ, "GOBAN_SKIP_SETUP": "1", "CALLS": str(self.calls),
                            "PATH": f"{bin_folder}:{os.environ['PATH']}"}
        for words in (("init", "-q"), ("add", "-A"),
                      ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "Begin")):
            subprocess.run(["git", *words], cwd=self.root, check=True)

    def dev(self, *arguments):
        ran = subprocess.run(["bash", "dev", *arguments], cwd=self.root, env=self.environment, text=True,
                             capture_output=True, check=False)
        called = self.calls.read_text(encoding="utf-8") if self.calls.exists() else ""
        self.calls.unlink(missing_ok=True)
        return ran.returncode, ran.stdout, ran.stderr, called

    def test_help_of_every_command(self):
        for command in COMMANDS:
            for option in ("-h", "--help"):
                code, out, error, called = self.dev(command, option)
                self.assertEqual((code, error, called), (0, "", ""), command)
                self.assertIn(f"./dev {command}", out)
        self.assertEqual(self.dev("--help")[1], self.dev()[1])

    def test_usage_errors_exit_with_2_and_run_nothing(self):
        for arguments in (("docs", "junk"), ("help", "junk"), ("build", "x"), ("build", "--sanitizers", "x"), ("bless", "x"), ("demo", "x"),
                          ("fmt", "x"), ("fmt", "--check", "x"), ("lint", "x"), ("lint", "--since"),
                          ("lint", "--since", "HEAD", "x"), ("lint", "--minutes"), ("lint", "--minutes", "x"), ("fuzz", "x"), ("fuzz", "1", "2"), ("attack", "junk"), ("attack", "--minutes", "x"),
                          ("test", "attic"), ("test", "core", "attic"), ("test", "--fast"), ("test", ""),
                          ("test", "--changed", "HEAD", "x"), ("slurm",), ("slurm", "sideways"), ("kube",), ("kube", "sideways"), ("frobnicate",)):
            code, out, error, called = self.dev(*arguments)
            self.assertEqual((code, out, called), (2, "", ""), (arguments, error))
            self.assertNotIn("line ", error.split("\n")[0])

    def test_attack_fails_where_a_program_fails(self):
        program = self.root / "build/bin/live_loop_test"
        program.parent.mkdir(parents=True)
        for code, failed in ((0, 0), (1, 1)):
            program.write_text(f"#!/bin/sh\necho '[  PASSED  ] 9 tests.'\nexit {code}\n", encoding="utf-8")
            program.chmod(0o755)
            got, out, _, _ = self.dev("attack", "scenarios", "--minutes", "0", "--seed", "7")
            self.assertEqual(got, failed)
            self.assertRegex(out, rf"scenarios +1 +{failed} +0  1,080,000 checks")
            self.assertEqual("GOBAN_FAULT_SEED=7000" in out, failed == 1)

    def test_several_layers(self):
        called = self.dev("test", "core", "site")[3]  # fails: the include check finds most modules absent
        self.assertRegex(called, r"cmake --build build .*--target tests_core tests_site\n")
        self.assertRegex(called, r"ctest --test-dir build .*-L \^\(core\|site\)\(/\|\$\)\n")

    def test_changed_files(self):
        code, out, _, called = self.dev("test", "--changed")
        self.assertEqual((code, called), (0, ""))
        self.assertIn("nothing to test", out)
        (self.root / "src/base/a_test.cpp").rename(self.root / "src/base/b_test.cpp")
        (self.root / "tests/oracle/a_test.py").write_text("a", encoding="utf-8")
        called = self.dev("test", "--changed", "HEAD")[3]
        self.assertRegex(called, r"--target tests_base tests_study tests_tools\n")
        self.assertRegex(called, r"-L \^\(base\|study\|tools\)\$\n")

    def test_a_commit_that_does_not_exist(self):
        (self.root / "src/base/a_test.cpp").write_text("a", encoding="utf-8")
        code, out, error, called = self.dev("test", "--changed", "nosuchcommit")
        self.assertEqual((code, out, called), (1, "", ""))
        self.assertIn("no commit 'nosuchcommit'", error)


if __name__ == "__main__":
    unittest.main()

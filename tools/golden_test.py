#!/usr/bin/env python3
"""Tests of golden.py with a shell script in place of goban."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import golden

PROGRAM = '#!/bin/sh\ncat "$@"; status=$?\necho done >&2\nexit $status\n'
GOOD = """# Text is kept.
> a.txt
| one
|
| two
$ goban a.txt
one

two
done

# The exit code is shown.
$ goban --no-such-option=
"""


class GoldenTest(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        self.folder = tempfile.TemporaryDirectory()
        self.program = Path(self.folder.name) / "goban.sh"
        self.program.write_text(PROGRAM, encoding="utf-8")
        self.program.chmod(0o755)
        self.path = Path(self.folder.name) / "x.golden"

    def tearDown(self):
        self.folder.cleanup()

    def check(self, text, bless=False):
        self.path.write_text(text, encoding="utf-8")
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            good = golden.check(self.path, str(self.program), bless)
        return good, said.getvalue()

    def test_what_was_blessed_passes_and_keeps_text_and_files(self):
        self.assertTrue(self.check(GOOD, bless=True)[0])
        blessed = self.path.read_text(encoding="utf-8")
        self.assertTrue(blessed.startswith("# Text is kept.\n> a.txt\n| one\n|\n| two\n$ goban a.txt\n"
                                           "one\n\ntwo\ndone\n\n# The exit"), blessed)
        self.assertIn("\n[exit 1]\n", blessed)
        self.assertTrue(self.check(blessed)[0])

    def test_other_output_fails_and_shows_the_difference(self):
        good, said = self.check("> a.txt\n| one\n$ goban a.txt\nONE\ndone\n")
        self.assertFalse(good)
        self.assertIn("-ONE\n+one\n", said)

    def test_another_exit_code_fails(self):
        self.assertTrue(self.check("> a\n| x\n$ goban a\nx\ndone\n")[0])
        self.assertFalse(self.check("> a\n| x\n$ goban a\nx\ndone\n[exit 3]\n")[0])

    def test_a_transcript_without_commands_fails(self):
        self.assertFalse(self.check("# nothing\n")[0])

    def test_only_goban_is_run(self):
        good, said = self.check("$ rm x\n")
        self.assertFalse(good)
        self.assertIn("only goban", said)


if __name__ == "__main__":
    unittest.main()

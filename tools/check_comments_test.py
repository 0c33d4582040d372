#!/usr/bin/env python3
"""Tests check_comments.py on small sources."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import check_comments

TRACKED = {"src/core/model/job.hpp", "docs/papers.md", "tools/x.py"}


def found(text):
    endings = check_comments.endings_of(TRACKED)
    return [message for _, message in
            check_comments.problems("src/core/model/job.hpp", text, TRACKED, endings)]


class CheckCommentsTest(unittest.TestCase):
    def test_files_that_exist_by_any_end_of_their_path(self):
        for name in ("core/model/job.hpp", "job.hpp", "src/core/model/job.hpp", "docs/papers.md", "x.py"):
            self.assertEqual(found(f"// See {name}."), [])

    def test_files_that_do_not_exist(self):
        self.assertEqual(found("int a;  // as gone/away.hpp has it"), ["there is no file gone/away.hpp"])
        self.assertEqual(found("/// model/gone.cpp\n"), ["there is no file model/gone.cpp"])

    def test_strings_and_data_files_are_not_names_of_sources(self):
        self.assertEqual(found('const char* name = "// gone.hpp";'), [])
        self.assertEqual(found("// writes <out>/report.html and jobs.csv"), [])

    def test_documents_that_nobody_has(self):
        for text in ("(DESIGN 4)", "(PAL, spec 3)", "(spec pal, 5)", "as the spec says", "shared/data"):
            self.assertEqual(len(found(f"// {text}")), 1, text)
        self.assertEqual(found("// the JobSpec of a job; designed in 2023; PAL, section 3"), [])

    def test_the_line_is_named_and_the_exit_code_is_1(self):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "src" / "a.cpp"
            source.parent.mkdir()
            source.write_text("int a;\n// gone.hpp\n", encoding="utf-8")
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                self.assertEqual(check_comments.main([folder]), 1)
            self.assertIn("src/a.cpp:2: there is no file gone.hpp", out.getvalue())
            source.write_text("int a;\n", encoding="utf-8")
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(check_comments.main([folder]), 0)
            source.unlink()
            with contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(check_comments.main([folder]), 1)


if __name__ == "__main__":
    unittest.main()

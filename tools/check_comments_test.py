#!/usr/bin/env python3
"""Tests check_comments.py on small sources."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import check_comments

TRACKED = {"src/core/model/job.hpp", "docs/papers.md", "tools/x.py"}


def found(text, path="src/core/model/job.hpp"):
    endings = check_comments.endings_of(TRACKED)
    return [message for _, message in check_comments.problems(path, text, endings)]


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

    def test_folders_and_other_beginnings_of_paths(self):
        for name in ("src/core/model", "core/model/job.hpp", "./tools/x.py", "/src/core/model/", "tools/x.*",
                     "tests/corpus/X", "src/core/model/job-<id>.txt", "/etc/goban/x.md", "~/gone.py"):
            self.assertEqual(found(f"// See {name}, ..."), [], name)
        for name in ("src/core/attic", "./tools/gone.py", "/src/gone.cpp", "tests/gone.sh", "docs/gone.json",
                     "gone.mjs"):
            self.assertEqual(found(f"// See {name}."), [f"there is no file {name}"])

    def test_comments_of_every_language(self):
        for path, text in (("a.cpp", "/* a\n gone.py */"), ("cmake/a.S", "/* gone.py */"),
                           ("a.py", "x = 1\ny = 2  # gone.py"), ("a.py", 'def f():\n    """gone.py"""'),
                           ("a.ts", "\n// gone.py"), ("a.tsx", "/**\n * gone.py */"), ("a.sh", "\nls # gone.py"),
                           ("dev", "#!/usr/bin/env bash\n# gone.py"), (".ci/run", "#!/bin/sh\n# gone.py"),
                           ("a.cmake", "\n# gone.py"), ("src/CMakeLists.txt", "\n  # gone.py")):
            endings = check_comments.endings_of(TRACKED)
            line = 1 if path == "cmake/a.S" else 2
            self.assertEqual(list(check_comments.problems(path, text, endings)),
                             [(line, "there is no file gone.py")], path)

    def test_what_is_no_comment(self):
        for path, text in (("a.cpp", 'auto a = R"(\n// gone.py\n)";'), ("a.cpp", 'auto a = R"x(")" // gone.py)x";'),
                           ("a.py", 'a = "# gone.py"\nb = """\n# gone.py\n"""'), ("a.ts", 'a("https://x//gone.py")'),
                           ("a.ts", "`// gone.py`"), ("a.sh", "echo '# gone.py' ${#gone.py}")):
            self.assertEqual(found(text, path), [], text)
        self.assertEqual(len(found("int a = 1'000;  // don't read gone.py")), 1)

    def test_documents_that_nobody_has(self):
        for text in ("issue 13", "issue #13", "SPEC 4", "specification 4", "DESIGN 4", "Spec 4"):
            self.assertEqual(len(found(f"# {text}", "a.cmake")), 1, text)
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

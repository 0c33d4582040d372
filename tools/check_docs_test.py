#!/usr/bin/env python3
"""Tests of check_docs.py on small trees."""

import tempfile
import unittest
from pathlib import Path

import check_docs


def check(files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            file = Path(root) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return check_docs.check_tree(root)[0]


class CheckDocsTest(unittest.TestCase):
    def test_good_links_pass(self):
        self.assertEqual(check({
            "README.md": "# A\n[docs](docs/README.md) [web](https://example.org/x)\n",
            "docs/README.md": "[b](b.md#two-words-no-3) [up](../README.md) [a](#top)\n# Top\n",
            "docs/b.md": "## Two words, no. 3\n```\n[code](nowhere.md)\n```\n`[c](nowhere)`\n",
        }), [])

    def test_a_dead_link(self):
        self.assertEqual(check({"docs/README.md": "\n[x](gone.md)\n"}),
                         ["docs/README.md:2: gone.md does not exist"])

    def test_a_dead_heading(self):
        self.assertEqual(check({"docs/README.md": "[x](b.md#no)\n", "docs/b.md": "# Yes\n"}),
                         ["docs/README.md:1: b.md#no: no such heading"])

    def test_a_link_out_of_the_repository(self):
        self.assertEqual(check({"docs/README.md": "[x](../../..)\n"}),
                         ["docs/README.md:1: ../../.. is outside of the repository"])

    def test_every_way_to_write_a_link(self):
        for link in ('[x](gone.md "title")', "[x](gone.md 'title')", "[x](<gone.md>)", "[x][r]\n\n[r]: gone.md",
                     '<a href="gone.md">x</a>', "<A HREF='gone.md'>x</A>", "[x\ny](gone.md)", "![x](gone.md)",
                     "[x]( gone.md )", "[![i](https://a.org)](gone.md)", '<img src="gone.md">'):
            found = check({"docs/README.md": f"{link}\n"})
            self.assertEqual([each.split(": ", 1)[1] for each in found], ["gone.md does not exist"], link)
        self.assertEqual(check({"docs/README.md": "[x][nowhere]\n"}),
                         ["docs/README.md:1: a link to a reference that is not defined"])
        for link in ("[x](HTTP://a.org)", "[x](Mailto:a@b.org)", "[x](https://a.org/b_(c) 'd')",
                     "~~~\n[x](gone.md)\n```\n[x](gone.md)\n~~~", "````\n```\n[x](gone.md)\n````",
                     "``[x](gone) ` [x](gone)``", "[x](<a b.txt>)", "[x](a%20b.txt)"):
            self.assertEqual(check({"docs/README.md": f"{link}\n", "docs/a b.txt": ""}), [], link)

    def test_headings_that_repeat(self):
        page = "# A\n## A\n~~~\n# C\n~~~\n"
        self.assertEqual(check({"docs/README.md": page + "[x](#a) [x](#a-1)\n"}), [])
        for anchor in ("a-2", "c"):
            self.assertEqual(check({"docs/README.md": page + f"[x](#{anchor})\n"}),
                             [f"docs/README.md:6: #{anchor}: no such heading"])

    def test_paths_and_names_in_backticks(self):
        files = {"src/core/model/job.cpp": "void model::submit();\n"}
        good = "`src/core/model/` `job.cpp` `model::submit(job)` `std::sort` `jobs.csv` `/etc/x.md` `foo_test.cpp`\n"
        self.assertEqual(check({**files, "docs/README.md": good}), [])
        for code, words in (("src/core/attic", "no file src/core/attic"), ("gone.cpp", "no file gone.cpp"),
                            ("model::gone(job)", "no source has the name model::gone")):
            found = check({**files, "docs/README.md": f"\n`{code}`\n"})
            self.assertEqual(len(found), 1, found)
            self.assertIn("docs/README.md:2: ", found[0])
            self.assertIn(words, found[0])
            self.assertEqual(check({**files, "CHANGELOG.md": f"`{code}`\n", "docs/README.md": ""}), [])

    def test_the_glossary_may_name_what_to_avoid(self):
        page = "| a | `gone.cpp` |\n## Wording\n| `a` | `gone.cpp` |\n"
        self.assertEqual(check({"docs/README.md": "[x](glossary.md)\n", "docs/glossary.md": page}),
                         ["docs/glossary.md:1: there is no file gone.cpp"])

    def test_documents_that_nobody_has(self):
        for text in ("issue 13", "as SPEC 4 says", "`DESIGN 4`", "specification 4"):
            self.assertEqual(len(check({"docs/README.md": text + "\n"})), 1, text)

    def test_modules_that_the_readme_of_a_layer_misses(self):
        files = {"docs/README.md": "", "src/a/README.md": "`one` [`two`](x.md)\n", "src/a/x.md": "",
                 "cmake/layers.cmake": "goban_layer(a)\ngoban_module(a/one)\ngoban_module(a/two)\n"
                                       "goban_layer(cli a)\ngoban_module(cli)\n"}
        self.assertEqual(check(files), [])
        for module, name in (("a/three", "three"), ("a", "a")):
            table = files["cmake/layers.cmake"] + f"goban_module({module})\n"
            self.assertEqual(check({**files, "cmake/layers.cmake": table}),
                             [f"src/a/README.md:1: does not list the module `{name}`"])

    def test_paths_of_the_api_that_its_page_misses(self):
        files = {"docs/README.md": "[x](api.md)", "docs/api.md": "`GET /v1/jobs/7`, `hold`\n",
                 "src/serve/api/openapi.json": '{"paths": {"/v1/jobs/{job}": {}, "/v1/jobs/{job}/hold": {}}}'}
        self.assertEqual(check(files), [])
        self.assertEqual(check({**files, "docs/api.md": "`GET /v1/jobs/7` hold\n"}),
                         ["docs/api.md:1: does not list /v1/jobs/{job}/hold"])

    def test_a_page_that_the_index_misses(self):
        self.assertEqual(check({"docs/README.md": "# Docs\n", "docs/b.md": "# B\n"}),
                         ["docs/README.md:1: does not list docs/b.md"])

    def test_findings_name_tests_that_exist(self):
        def check_row(cell):
            page = ("# R\n\n## What an attack found\n\n| What | Test |\n|-|-|\n"
                    f"| a \\| b | {cell} |\n\n## Not tested\n| x |\n")
            return check({
                "docs/README.md": "[r](reliability.md)\n", "docs/reliability.md": page,
                "src/a_test.cpp": "TEST_F(Parts, AreFound) {}\n", "src/lines_fuzz.cpp": "",
                "bench/wait_bench.cpp": "", "web/a.test.ts": "", "tests/live/kills.py": "",
                "tests/attack.py": 'ATTACKS = {"disks": 1}',
                "cmake/a.cmake": "foreach(name disk)\nadd_test(NAME live.${name})\nadd_test(NAME demo.quick)\n"})
        for cell in ("`Parts.AreFound`", "`Parts.*`, `Some/Parts.Are*`", "`corpus.lines`", "`wait_bench`",
                     "`web/a.test.ts`", "`a.test.ts`", "`live.disk`, `live.kills`", "`demo.quick`", "-",
                     "`./dev attack disks`"):
            self.assertEqual(check_row(cell), [], cell)
        for cell in ("`Parts.AreLost`", "`Part.*`", "`corpus.words`", "`live.clock`", "`demo.slow`", "`wait.bench`", "`./dev attack clouds`"):
            self.assertEqual(check_row(cell), [f"docs/reliability.md:7: there is no test {cell.strip('`')}"])
        self.assertEqual(check_row(""), ["docs/reliability.md:7: names no test"])


if __name__ == "__main__":
    unittest.main()

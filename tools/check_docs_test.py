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
            "docs/b.md": "## Two words, no. 3\n```\n[code](nowhere.md)\n```\n`[c](nowhere.md)`\n",
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

    def test_a_page_that_the_index_misses(self):
        self.assertEqual(check({"docs/README.md": "# Docs\n", "docs/b.md": "# B\n"}),
                         ["docs/README.md:1: does not list docs/b.md"])


if __name__ == "__main__":
    unittest.main()

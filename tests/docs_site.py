#!/usr/bin/env python3
"""The documentation as a site (mkdocs.yml): every page is in it and can be searched, and its links lead to pages of it."""

import html.parser
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        target = dict(attributes).get("href" if tag in ("a", "link") else "src" if tag in ("img", "script") else "", "")
        if target and ":" not in target and not target.startswith("#"):
            self.found.append(target.split("#")[0])


def main():
    if not shutil.which("mkdocs"):
        print("skipped: mkdocs-material is not installed")
        return 77
    problems = []
    with tempfile.TemporaryDirectory(prefix="goban-site-") as name:
        site = pathlib.Path(name) / "site"
        done = subprocess.run(["mkdocs", "build", "--quiet", "--strict", "--site-dir", site], cwd=ROOT, text=True, capture_output=True,
                              check=False)
        assert done.returncode == 0, done.stderr
        searched = {entry["location"].split("#")[0] for entry in json.loads((site / "search/search_index.json").read_text())["docs"]}
        for page in sorted((ROOT / "docs").rglob("*.md")):
            name = str(page.relative_to(ROOT / "docs"))
            made = name.replace("README.md", "index.html").removesuffix(".md").removesuffix(".html") + ".html"
            if not (site / made).is_file() or made not in searched:
                problems.append(f"docs/{name} is not in the site or its search")
                continue
            links = Links()
            links.feed((site / made).read_text(encoding="utf-8"))
            problems += [f"{made}: {link} leads nowhere" for link in links.found if not (site / made).parent.joinpath(link).exists()]
    if problems:
        raise SystemExit("\n".join(problems))
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())

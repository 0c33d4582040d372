#!/usr/bin/env python3
"""Checks the Markdown files: relative links lead to files and headings that exist, every page under docs/
is listed in docs/README.md, and files, names of code (`a::b`) and documents that the text cites exist. The
README of a layer lists its modules, docs/api.md the paths of the API, and each row of what attacks found names tests
that exist.
Prints `file:line: message`; exits with 1 if any.

usage: check_docs.py [ROOT]
"""

import fnmatch
import json
import re
import sys
from pathlib import Path

import check_comments
import check_includes

# [text](target), with an optional title; ![image](target); [text](<target with spaces>).
LINK = re.compile(r"\]\(\s*(?:<([^<>\n]*)>|([^()\s]*(?:\([^()\s]*\)[^()\s]*)*))"
                  r"(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)")
REFERENCE = re.compile(r"^ {0,3}\[([^\]]+)\]:\s*<?([^\s<>]+)>?", re.MULTILINE)
USE = re.compile(r"\[([^\[\]]+)\]\[([^\[\]]*)\]")
HTML = re.compile(r"<(?:a|img)\b[^>]*?\b(?:href|src)\s*=\s*[\"']([^\"']*)[\"']", re.IGNORECASE)
HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*$")
FENCE = re.compile(r"^\s*(?:[-*]\s+|\d+\.\s+)?(`{3,}|~{3,})")
CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
NAME = re.compile(r"[a-z]\w*(?:::\w+)+")
GTEST = re.compile(r"\b(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)")
# A name that CMake gives a test, such as live.kills or live.engines_${engine}.
CTEST = re.compile(r"(?<![\w./$-])([a-z]\w*\.\w*)(\$\{\w+\})?")
FINDINGS = ("docs/reliability.md", "## What an attack found")
# Changes name files as they were then. (So is the last column under "Wording" of the glossary: words to avoid.)
PATHS_EXEMPT = ("CHANGELOG.md",)


def without_fences(text):
    """The text with the lines of fenced code emptied."""
    lines, fence = [], None
    for line in text.splitlines():
        match = FENCE.match(line)
        if fence is None and match:
            fence = match.group(1)
            lines.append("")
        elif fence is not None:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = None
            lines.append("")
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def blank(match):
    return "``" + "\n" * match.group().count("\n")


def anchors_of(text):
    """The anchors of headings: lower case, spaces become dashes, punctuation is dropped, and a heading that
    repeats gets -1, -2. Also those of <a id="...">."""
    anchors, seen = set(), {}
    prose = without_fences(text)
    for line in prose.splitlines():
        match = HEADING.match(line)
        if match:
            title = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", match.group(1))
            words = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            count = seen.get(words, 0)
            seen[words] = count + 1
            anchors.add(f"{words}-{count}" if count else words)
    anchors.update(re.findall(r"<a\s+(?:id|name)=[\"']([^\"']+)", prose))
    return anchors


def links_of(text):
    """(offset, target) of each link outside of code; and of each use of a reference that is not defined."""
    references = {match.group(1).lower(): match for match in REFERENCE.finditer(text)}
    for match in references.values():
        yield match.start(), match.group(2)
    for pattern in (LINK, HTML):
        for match in pattern.finditer(text):
            yield match.start(), next((each for each in match.groups() if each is not None), "")
    for match in USE.finditer(text):
        if (match.group(2) or match.group(1)).lower() not in references:
            yield match.start(), None


def check_links(file, name, text, root, report):
    """The files that the page links to."""
    linked = set()
    for at, target in links_of(text):
        line = text.count("\n", 0, at) + 1
        if target is None:
            report(name, line, "a link to a reference that is not defined")
            continue
        if re.match(r"[a-z][a-z+.-]*:", target, re.IGNORECASE):
            continue
        path, _, anchor = target.partition("#")
        to = (file.parent / path.replace("%20", " ")).resolve() if path else file
        if not to.exists():
            report(name, line, f"{target} does not exist")
        elif not to.is_relative_to(root):
            report(name, line, f"{target} is outside of the repository")
        else:
            linked.add(to.relative_to(root).as_posix())
            if anchor and to.suffix == ".md" and anchor not in anchors_of(to.read_text(encoding="utf-8")):
                report(name, line, f"{target}: no such heading")
    return linked


def check_code(name, text, words, endings, report):
    """Paths and qualified names in backticks, and private documents anywhere."""
    folder = name.rpartition("/")[0]
    for code in CODE.finditer(text):
        line = text.count("\n", 0, code.start()) + 1
        for _, message in check_comments.problems_of(code.group(2), folder, endings):
            report(name, line, message)
        for qualified in NAME.findall(code.group(2)):
            if not qualified.startswith("std::") and qualified.rsplit("::", 1)[1] not in words:
                report(name, line, f"no source has the name {qualified}")
    prose = CODE.sub(blank, text)
    for cited in check_comments.PRIVATE.finditer(prose):
        report(name, prose.count("\n", 0, cited.start()) + 1,
               f'"{cited.group()}" is no document that everyone has')


def check_modules_listed(root, report):
    table = check_includes.read_table((root / "cmake/layers.cmake").read_text(encoding="utf-8"), "", report)
    for module in table.modules:
        layer, _, inside = module.partition("/")
        readme = root / "src" / layer / "README.md"
        if not inside and not any(each.startswith(f"{layer}/") for each in table.modules):
            continue  # the layer is its only module
        if not readme.exists() or not re.search(rf"`{inside or layer}/?`", readme.read_text(encoding="utf-8")):
            report(f"src/{layer}/README.md", 1, f"does not list the module `{inside or layer}`")


def check_api_listed(root, report):
    paths = json.loads((root / "src/serve/api/openapi.json").read_text(encoding="utf-8"))["paths"]
    page = root / "docs/api.md"
    code = CODE.findall(page.read_text(encoding="utf-8")) if page.exists() else []
    words = set(re.findall(r"[\w.]+", " ".join(text for _, text in code)))
    for path in paths:
        name = [each for each in path.split("/") if each and "{" not in each][-1]
        if name not in words:
            report("docs/api.md", 1, f"does not list {path}")


def tests_of(root, tracked):
    """The names of all tests: Suite.Test, *.test.ts, *_bench, and those of ctest. Where CMake puts a variable
    into a name, any word of its files or name of a file of the tests may be its value."""
    names, begins, words = set(), set(), set()
    for path in tracked:
        name = path.rsplit("/", 1)[-1]
        if path.startswith("tests/"):
            words.add(name.partition(".")[0])
        if path == "tests/attack.py":
            found = re.findall(r'"([a-z][\w-]*)"', (root / path).read_text(encoding="utf-8"))
            names.update(f"dev attack {each}" for each in found)  # without the path
        elif name.endswith(".test.ts"):
            names.add(name)
        elif name.endswith("_fuzz.cpp"):
            names.add("corpus." + name.removesuffix("_fuzz.cpp"))
        elif name.endswith("_bench.cpp"):
            names.add(name.removesuffix(".cpp"))
        elif name.endswith((".cpp", ".hpp")):
            names.update(".".join(test) for test in GTEST.findall((root / path).read_text(encoding="utf-8")))
        elif name.endswith((".cmake", "CMakeLists.txt")):
            text = (root / path).read_text(encoding="utf-8")
            words.update(re.findall(r"\w+", text))
            for begin, variable in CTEST.findall(text):
                (begins if variable else names).add(begin)
    begins.discard("corpus.")
    return names | {begin + word for begin in begins for word in words}


def names_a_test(cited, tests):
    """`cited` may have a prefix of instances (Policies/Suite.Test) and end in *."""
    cited = cited.rsplit("/", 1)[-1]
    return cited in tests or ("*" in cited and bool(fnmatch.filter(tests, cited)))


def check_findings(root, tracked, report):
    """The last cell of each row names tests, or is `-`."""
    page, heading = FINDINGS
    if page not in tracked:
        return
    before, _, section = (root / page).read_text(encoding="utf-8").partition(heading + "\n")
    first, tests = before.count("\n") + 2, tests_of(root, tracked)
    for number, row in enumerate(section.partition("\n## ")[0].split("\n")[3:], first + 3):
        if not row.startswith("|"):
            continue
        cell = re.split(r"(?<!\\)\|", row)[-2].strip()
        cited = [code for _, code in CODE.findall(cell)]
        if not cited and cell != "-":
            report(page, number, "names no test")
        for each in cited:
            if not (root / each).is_file() and not names_a_test(each, tests):
                report(page, number, f"there is no test {each}")


def check_tree(root):
    """All violations, as strings."""
    root = Path(root).resolve()
    tracked = check_comments.files_under(root)
    endings = check_comments.endings_of(tracked)
    words = set()
    for path in tracked:
        if path.endswith((".cpp", ".hpp", ".cmake", "CMakeLists.txt", ".py")):
            words.update(re.findall(r"\w+", (root / path).read_text(encoding="utf-8")))
    violations, linked = [], {}

    def report(path, line, message):
        violations.append(f"{path}:{line}: {message}")

    pages = sorted(path for path in tracked if path.endswith(".md") and not path.startswith("tests/corpus/"))
    for name in pages:
        text = without_fences((root / name).read_text(encoding="utf-8"))
        linked[name] = check_links(root / name, name, CODE.sub(blank, text), root, report)
        if name not in PATHS_EXEMPT:
            if name == "docs/glossary.md":
                terms, wording, avoided = text.partition("## Wording")
                text = terms + wording + re.sub(r"\|[^|\n]*\|$", "||", avoided, flags=re.MULTILINE)
            check_code(name, text, words, endings, report)
    if "cmake/layers.cmake" in tracked:
        check_modules_listed(root, report)
    if "src/serve/api/openapi.json" in tracked:
        check_api_listed(root, report)
    check_findings(root, tracked, report)
    index = linked.get("docs/README.md")
    if index is None:
        report("docs/README.md", 1, "missing")
        index = set()
    for name in linked:
        if name.startswith("docs/") and name != "docs/README.md" and name not in index:
            report("docs/README.md", 1, f"does not list {name}")
    return violations, len(pages)


def main(arguments):
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    violations, count = check_tree(root)
    for violation in violations:
        print(violation)
    print(f"{count} pages checked, {len(violations)} violations")
    return 1 if violations or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

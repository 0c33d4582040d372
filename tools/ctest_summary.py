#!/usr/bin/env python3
"""Summarises test runs: skipped tests with the reason and the remedy; long tests that do not say why;
failed tests; and ctest's own count. Reads ctest.xml (--output-junit), ctest.log (ctest's output) and, if failed tests ran again
alone, ctest-alone.log of each folder.

usage: ctest_summary.py FOLDER...
"""

import fnmatch
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import data_sets

ABSENT = re.compile(r"data file (\S+) is absent")
COUNT = re.compile(r"tests passed, .* tests? failed out of")
WIDTH = 100
LONG_S = 20
LONG_TESTS = Path(__file__).parent.parent / "tests" / "long_tests.txt"


def reason_of(output):
    """The reason that a skipped test printed: GTest's message, otherwise its last line."""
    lines = [line.strip() for line in output.splitlines()]
    for index, line in enumerate(lines):
        if re.search(r"\.(cpp|hpp):\d+: Skipped$", line):
            rest = lines[index + 1:]
            end = next((i for i, each in enumerate(rest) if not each or each.startswith("[ ")),
                       len(rest))
            return " ".join(rest[:end]) or "no reason given"
    printed = [line for line in lines if line]
    marked = [line for line in printed if line.startswith("skipped: ")]
    return (marked or printed or ["no reason given"])[-1].removeprefix("skipped: ")


def group_of(reason, sets, unpublished):
    """The group of a reason: (text, how to get it). Absent data is grouped by its data set."""
    absent = ABSENT.search(reason)
    if not absent:
        return reason[:WIDTH], ""
    path = absent.group(1)
    for each in unpublished:
        if path.startswith(each.path):
            return f"{each.path}: {each.why}", each.instead
    for each in sets:
        if any(file.path.startswith(path) for file in each.files):
            return f"data set {each.name} is absent", f"./dev data {each.name}"
    return f"{path} is absent", ""


def suite_of(test):
    """The suite of a test: A/B.C/D -> A/B, live.x -> live.x."""
    return test if test.islower() else test.split(".")[0]


def skipped_tests(folder):
    """{test: reason} from ctest.xml; empty if ctest did not write it."""
    try:
        cases = ElementTree.parse(folder / "ctest.xml").getroot().iter("testcase")
    except (OSError, ElementTree.ParseError):
        return {}
    return {case.get("name"): reason_of(case.findtext("system-out") or "")
            for case in cases
            if case.find("skipped") is not None
            and case.find("skipped").get("message", "").startswith("SKIP_")}


def skipped_lines(tests, sets, unpublished):
    if not tests:
        return []
    groups = {}
    for test, reason in tests.items():
        groups.setdefault(group_of(reason, sets, unpublished), []).append(test)
    lines = [f"{len(tests)} tests skipped" if len(tests) != 1 else "1 test skipped"]
    for (text, remedy), members in sorted(groups.items(), key=lambda each: -len(each[1])):
        suites = {}
        for test in members:
            suites[suite_of(test)] = suites.get(suite_of(test), 0) + 1
        lines.append(f"{len(members):5} {text}" + (f"; {remedy}" if remedy else ""))
        names = ", ".join(name if count == 1 else f"{name} ({count})"
                          for name, count in suites.items())
        lines.append(f"      {names}")
    return lines


def long_reasons(path=LONG_TESTS):
    """{name or pattern: why it takes so long}."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines()
             if line and not line.startswith("#")]
    return dict(line.split(maxsplit=1) for line in lines)


def long_lines(folder, reasons):
    """The tests over LONG_S for which there is no reason. Sanitizers make all of them slow."""
    try:
        cases = ElementTree.parse(folder / "ctest.xml").getroot().iter("testcase")
        times = {case.get("name"): float(case.get("time", 0)) for case in cases}
    except (OSError, ElementTree.ParseError, ValueError):
        return []
    slow = {name: seconds for name, seconds in times.items()
            if seconds > LONG_S and not any(fnmatch.fnmatchcase(name, each) for each in reasons)}
    if folder.name.endswith("-asan") or not slow:
        return []
    return [f"{len(slow)} took more than {LONG_S} s; make them faster, or say why in tests/long_tests.txt:",
            *(f"      {name} ({seconds:.0f} s)" for name, seconds in sorted(slow.items()))]


def passed_alone(folder):
    """The names of the tests that failed, and passed when they ran again alone."""
    try:
        text = (folder / "ctest-alone.log").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return set()
    return set(re.findall(r"Test +#\d+: (\S+) \.* +Passed ", text))


def result_lines(folder):
    """The failed tests, then ctest's count."""
    try:
        text = (folder / "ctest.log").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ["the tests did not run: see above"]
    _, _, failed = text.partition("tests FAILED:\n")
    alone = passed_alone(folder)
    lines = [line[:WIDTH] + ("; passed alone: unsteady" if line.split()[2] in alone else "")
             for line in failed.splitlines() if re.match(r"\s+\d+ - ", line)]
    counts = [line for line in text.splitlines() if COUNT.search(line)]
    if counts and lines and all(line.endswith("; passed alone: unsteady") for line in lines):
        total = counts[-1].split()[-1]
        return [*lines, f"100% tests passed, 0 tests failed out of {total}, {len(lines)} of them only alone"]
    return [*lines, counts[-1] if counts else "ctest did not finish: see above"]


def summary(folders, sets, unpublished):
    tests = {}
    for folder in folders:
        tests.update(skipped_tests(folder))
    lines = skipped_lines(tests, sets, unpublished)
    for folder in folders:
        lines += [f"{folder.name}:"] if len(folders) > 1 else []
        lines += long_lines(folder, long_reasons())
        lines += result_lines(folder)
    return lines


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip().splitlines()[-1])
    print("\n".join(summary([Path(folder) for folder in sys.argv[1:]], *data_sets.load())))


if __name__ == "__main__":
    main()

"""python -m goban_lab: scores of a policy in a file, and predictions of runs on a real cluster."""

from __future__ import annotations

import argparse
import json
import sys

from ._core import LabError
from .plugins import cmake_dir
from .remote import Limits
from .verifier import verify

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def _bytes(text: str) -> int:
    number = text.upper().removesuffix("B").removesuffix("I")
    unit = _UNITS.get(number[-1:], 1)
    value = int(float(number[:-1] if unit > 1 else number) * unit)
    if not 1 << 20 <= value < 1 << 50:
        raise ValueError
    return value


def _whole(text: str) -> int:
    value = int(text)
    if not 1 <= value < 10**6:
        raise ValueError
    return value


_bytes.__name__ = "amount of memory, such as 512M or 2G"
_whole.__name__ = "whole number from 1 on"


def _reality(given: argparse.Namespace) -> int:
    from .real_runs import reality

    try:
        found = reality(given.folder, draws=given.draws, seed=given.seed)
    except LabError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(found.document(), indent=2) if given.json else found.table())
    return 1 if any(each.met is False for each in found.verdicts) else 0


def main(arguments: list[str] | None = None, program: str = "python -m goban_lab") -> int:
    """Exit codes: 0 scored, 1 the policy failed, 2 usage."""
    parser = argparse.ArgumentParser(prog=program, description="The policy laboratory (docs/lab.md).")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    command = commands.add_parser(
        "verify", help="score a policy that nobody trusts",
        description="Scores a policy on a suite: gains over the suite's reference with 95 % intervals, public and "
        "held-out traces apart, and constraints. The policy runs in processes of its own, with limits.",
        epilog="exit codes: 0 scored, 1 the policy failed or broke a constraint, 2 wrong usage, suite or file")
    command.add_argument("policy", help="a file *.py with one class derived from lab.Policy, or a policy by name")
    command.add_argument("--suite", required=True, help="a TOML file, or the name of a suite of the package: small")
    command.add_argument("--seeds", type=_whole, default=5, help="draws of each trace (5; at least 2)")
    command.add_argument("--time", type=_whole, default=60, metavar="S",
                         help="CPU seconds of the policy in one run (60)")
    command.add_argument("--mem", type=_bytes, default=1 << 30, metavar="M", help="memory of the policy (1G)")
    command.add_argument("--json", action="store_true", help="print one JSON document")
    truth = commands.add_parser(
        "reality", help="predict runs on a real cluster, and compare with what happened",
        description="Replays published policies with measured restart costs and compares mean JCT, makespan and jobs "
        "with what was recorded on 32 GPUs (docs/studies/physical.md).",
        epilog="example: goban lab reality shockwave --json\n"
        "exit codes: 0 all bounds that can be judged are met, 1 one is missed, 2 wrong usage or files",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    truth.add_argument("folder", nargs="?", help="the files of Shockwave (default: rivals/shockwave of the data sets)")
    truth.add_argument("--draws", type=_whole, default=200, help="replays of each policy (200; at least 20)")
    truth.add_argument("--seed", type=_whole, default=1, help="of the draws (1)")
    truth.add_argument("--json", action="store_true", help="print one JSON document")
    commands.add_parser("cmake-dir", help="print where CMake finds the package goban_lab, for policies in C++")
    given = parser.parse_args(arguments)
    if given.command == "cmake-dir":
        print(cmake_dir())
        return 0
    if given.command == "reality":
        return _reality(given)
    try:
        report = verify(given.policy, given.suite, seeds=given.seeds, limits=Limits(given.time, given.mem))
    except LabError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report.document(), indent=2) if given.json else report.text())
    return 0 if report.scored else 1


if __name__ == "__main__":
    sys.exit(main())

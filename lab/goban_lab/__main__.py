"""python -m goban_lab verify: scores of a policy in a file."""

from __future__ import annotations

import argparse
import json
import sys

from ._core import LabError
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
    given = parser.parse_args(arguments)
    try:
        report = verify(given.policy, given.suite, seeds=given.seeds, limits=Limits(given.time, given.mem))
    except LabError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report.document(), indent=2) if given.json else report.text())
    return 0 if report.scored else 1


if __name__ == "__main__":
    sys.exit(main())

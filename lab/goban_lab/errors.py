"""The error of a policy that does something wrong."""

from __future__ import annotations

import os
import traceback
from types import TracebackType

_OWN = os.path.dirname(os.path.abspath(__file__))


class PolicyError(Exception):
    """A policy ended its run by a mistake. Nothing of the run is kept; other runs are unaffected.

    `place` is file:line of the mistake, or of the method that returned it. `at_s` is the simulated
    time in seconds; None before the run. `job` is the job's name in the trace; None if the mistake
    concerns none in particular.
    """

    def __init__(self, policy: str, method: str, problem: str, remedy: str, job: str | None = None,
                 at_s: float | None = None, place: str = "") -> None:
        super().__init__(policy, method, problem, remedy, job, at_s, place)
        self.policy = policy
        self.method = method
        self.problem = problem
        self.remedy = remedy
        self.job = job
        self.at_s = at_s
        self.place = place

    def __str__(self) -> str:
        where = f"policy {self.policy}, method {self.method}"
        if self.job is not None:
            where += f", job {self.job}"
        if self.at_s is not None:
            where += f", at {self.at_s:.3f} s"
        if self.place:
            where += f", {self.place}"
        return f"{where}: {self.problem} ({self.remedy})"


class RemoteProblem(Exception):
    """What the process did wrong; simulate() makes a PolicyError of it."""

    def __init__(self, problem: str, remedy: str, place: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy
        self.place = place


def place_of_method(policy: object, method: str) -> str:
    """file:line of a method; empty if Python does not know it."""
    code = getattr(getattr(policy, method, None), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code is not None else ""


def place_of_error(trace: TracebackType | None) -> str:
    """file:line of the innermost frame that is not the laboratory's own."""
    frames = [each for each in traceback.extract_tb(trace)
              if os.path.dirname(os.path.abspath(each.filename)) != _OWN]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""

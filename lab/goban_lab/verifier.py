"""Scores of a policy that nobody trusts: for programs that search for policies."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy

from . import sandbox
from ._core import LabError
from .compare import Interval, interval_of
from .errors import PolicyError
from .policy import Policy
from .gains import on_a_real_cluster
from .remote import Keeper, Limits, RemotePolicy
from .run import Result, simulate
from .suite import Entry, Suite, read_suite


@dataclass(frozen=True)
class TraceScore:
    """Gain of the policy over the reference on one trace of a suite: 1 - metric / metric."""

    name: str
    gain: Interval
    metric: Interval
    reference: Interval


@dataclass(frozen=True)
class Score:
    """The mean of the gains of a group of traces, as if they were independent."""

    gain: Interval
    traces: list[TraceScore]


@dataclass(frozen=True)
class Constraint:
    """What a policy must keep to."""

    name: str
    kept: bool
    detail: str


@dataclass
class Report:
    """What verify() found. `scored`: nothing failed; else the scores are those of what ran before."""

    policy: str
    suite: str
    metric: str
    reference: str
    seeds: int
    limits: Limits
    public: Score | None = None
    held_out: Score | None = None
    constraints: list[Constraint] = field(default_factory=list)
    error: PolicyError | None = None
    error_trace: str = ""
    guards: dict[str, bool] = field(default_factory=dict)
    runs: int = 0
    calls: int = 0
    policy_cpu_s: float = 0.0

    @property
    def scored(self) -> bool:
        return self.error is None and all(each.kept for each in self.constraints)

    def document(self) -> dict[str, Any]:
        """The report as JSON takes it. Without an error both groups are there, or held_out is null
        because the suite has none."""
        out: dict[str, Any] = {
            "policy": self.policy, "suite": self.suite, "metric": self.metric, "reference": self.reference,
            "seeds": self.seeds, "status": "scored" if self.scored else "failed",
            "public": self._score_document(self.public), "held_out": self._score_document(self.held_out),
            "constraints": {each.name: {"kept": each.kept, "detail": each.detail} for each in self.constraints},
            "error": None, "limits": {"cpu_s": self.limits.cpu_s, "mem_bytes": self.limits.mem_bytes},
            "guards": self.guards,
            "cost": {"runs": self.runs, "calls": self.calls, "policy_cpu_s": round(self.policy_cpu_s, 3)}}
        if self.error is not None:
            out["error"] = {"text": str(self.error), "trace": self.error_trace}
            for name in ("method", "job", "at_s", "place", "problem", "remedy"):
                out["error"][name] = getattr(self.error, name)
        return out

    def _real(self, gain: Interval) -> tuple[float, float] | None:
        """The interval of a gain on a real cluster, where it is known: of the mean JCT."""
        return on_a_real_cluster(gain.value, gain.half or 0.0) if self.metric == "mean_jct_s" else None

    def _gain_text(self, gain: Interval) -> str:
        real = self._real(gain)
        return gain.text(100, 1) + " %" + ("" if real is None else f" (on real GPUs {real[0]:.0%} to {real[1]:.0%})")

    def _score_document(self, score: Score | None) -> dict[str, Any] | None:
        if score is None:
            return None
        return {"gain": score.gain.value, "half": score.gain.half, "on_real_gpus": self._real(score.gain),
                "traces": [{"name": each.name, "gain": each.gain.value, "half": each.gain.half,
                            "on_real_gpus": self._real(each.gain), "metric": each.metric.value, "reference": each.reference.value}
                           for each in score.traces]}

    def text(self) -> str:
        """The report for a terminal."""
        lines = [f"{self.policy} on suite {self.suite}: {'scored' if self.scored else 'FAILED'}"]
        if self.error is not None:
            lines.append(f"  {self.error}" + (f" [{self.error_trace}]" if self.error_trace else ""))
        for title, score in (("public", self.public), ("held out", self.held_out)):
            if score is None:
                continue
            lines.append(f"{title}: gain over {self.reference} in {self.metric} {self._gain_text(score.gain)}")
            lines += [f"  {each.name}: {self._gain_text(each.gain)}, {each.metric.text()} s against "
                      f"{each.reference.text()} s" for each in score.traces]
        lines += [f"{'kept' if each.kept else 'BROKEN'}: {each.name} ({each.detail})" for each in self.constraints]
        if self.public is not None and self.metric != "mean_jct_s":
            lines.append(f"note: how far a simulated gain in {self.metric} is off on real GPUs is not known: only mean "
                         "JCTs were compared with real runs (docs/studies/physical.md)")
        missing = [name for name, kept in self.guards.items() if not kept]
        if missing:
            lines.append(f"note: this kernel does not guard {', '.join(missing)} (docs/lab.md)")
        return "\n".join(lines)


def verify(policy: str, suite: str | Suite, *, seeds: int = 5, limits: Limits | None = None) -> Report:
    """Scores the policy in a file `*.py`, or one by name, on a suite: a file, or the name of one of the
    package's. Each trace is drawn `seeds` times: generated jobs anew, recorded ones in blocks.

    A file's policy runs in processes that hold no trace and are limited; docs/lab.md says what that does
    not guard against. What the policy does wrong is in the report. Errors: LabError for suite, file and
    options.
    """
    if not isinstance(suite, Suite):
        suite = read_suite(suite)
    if seeds < 2:
        raise LabError(f"seeds = {seeds}: intervals need at least 2")
    limits = limits or Limits()
    report = Report(policy, suite.name, suite.metric, suite.reference, seeds, limits)
    source = None
    if policy.endswith(".py"):
        try:
            with open(policy, encoding="utf-8") as file:
                source = file.read()
        except (OSError, UnicodeDecodeError) as error:
            raise LabError(f"{policy}: {error}") from None
    with Keeper(1) as keeper:
        judge = _Judge(report, suite, policy, source, limits)
        sandbox.hide_memory(True)
        try:
            judge.score(keeper)
        except PolicyError as error:
            report.error = error
        finally:
            sandbox.hide_memory(False)
    return report


class _Judge:
    def __init__(self, report: Report, suite: Suite, policy: str, source: str | None, limits: Limits) -> None:
        self.report = report
        self.suite = suite
        self.policy = policy
        self.source = source
        self.limits = limits
        self.longest: tuple[float, str] = (-1.0, "")  # part of the bound, and what it is
        self.oracle = False
        self.asked = False

    def score(self, keeper: Keeper) -> None:
        first = self.suite.public[0]
        before = self._run(keeper, first, first.name, None, 1)
        with Keeper(2) as other:
            again = self._run(other, first, first.name, None, 1)
        same = all(numpy.array_equal(before.columns[each], again.columns[each])
                   for each in ("start_s", "finish_s", "preemptions", "resizes", "gpu_hours")
                   if each in before.columns)
        report = self.report
        report.constraints.append(Constraint("deterministic", same, f"two processes on {first.name!r} "
                                             + ("decided alike" if same else "decided differently: draw from "
                                                "view.rng only, and do not iterate over sets of texts")))
        if same:
            report.public = self._group(keeper, self.suite.public)
            if self.suite.held_out:
                report.held_out = self._group(keeper, self.suite.held_out)
        knows = self.oracle or self.asked
        report.constraints.append(Constraint(
            "no true durations", not knows, "the policy states oracle = True, or decides by true run times"
            if self.oracle else "the policy asked for duration_s" if self.asked else "none were asked for"))
        if self.longest[1]:
            report.constraints.append(Constraint("no starvation", self.longest[0] <= 1, self.longest[1]))

    def _group(self, keeper: Keeper, entries: list[Entry]) -> Score:
        traces = [self._trace(keeper, entry) for entry in entries]
        halves = [each.gain.half or 0.0 for each in traces]
        gain = Interval(float(numpy.mean([each.gain.value for each in traces])),
                        math.sqrt(sum(half**2 for half in halves)) / len(traces))
        return Score(gain, traces)

    def _trace(self, keeper: Keeper, entry: Entry) -> TraceScore:
        generated = entry.recorded is None
        draws: list[int | None] = list(range(self.report.seeds))
        if not generated:
            draws.insert(0, None)
        values = {}
        for draw in draws:
            where = entry.name if draw is None else f"{entry.name}, seed {draw}"
            own = self._run(keeper, entry, where, draw, 1 + (draw or 0))
            base = simulate(entry.draw(draw), entry.cluster, self.suite.reference, seed=1 + (draw or 0),
                            **self.suite.options)
            mine, its = (float(getattr(each, self.suite.metric)) for each in (own, base))
            values[draw] = (1 - mine / its if its > 0 else 0.0, mine, its)
        seeds = range(self.report.seeds)
        intervals = [interval_of([values[seed][i] for seed in seeds], None if generated else values[None][i])
                     for i in range(3)]
        return TraceScore(entry.name, *intervals)

    def _run(self, keeper: Keeper, entry: Entry, where: str, draw: int | None, seed: int) -> Result:
        """One run, in a process of its own. Notes what constraints are about."""
        report = self.report
        jobs = entry.draw(draw)
        report.runs += 1
        policy: Policy | str = self.policy
        remote = None
        try:
            if self.source is not None:
                policy = remote = RemotePolicy(keeper, self.source, self.policy, seed, self.limits)
                report.policy = remote.name
                report.guards = remote.guards
                self.oracle = self.oracle or remote.oracle
                if remote.oracle:
                    raise PolicyError(remote.name, "any", "states oracle = True: verify() shows no true run "
                                      "times", "decide by estimate_s")
            result = simulate(jobs, entry.cluster, policy, seed=seed, call_limit_s=0, **self.suite.options)
        except PolicyError:
            report.error_trace = where
            raise
        finally:
            if remote is not None:
                remote.close()
                report.calls += remote.calls
                report.policy_cpu_s += remote.cpu_s
                self.asked = self.asked or remote.asked_durations
        self.oracle = self.oracle or result.oracle
        if entry.longest_wait_s is not None:
            job = int(numpy.argmax(result.columns["wait_s"]))
            wait_s = float(result.columns["wait_s"][job])
            part = wait_s / max(entry.longest_wait_s, 1e-9)
            if part > self.longest[0]:
                self.longest = (part, f"longest wait {wait_s:.0f} s of at most {entry.longest_wait_s:.0f} s: job "
                                f"{result.columns['job'][job]} of {where}")
        return result

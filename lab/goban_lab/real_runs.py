"""What the replay of published schedulers says of runs on a real cluster, and how far it is off.

Shockwave's authors ran the same 120 jobs on 32 V100 under several policies (docs/studies/physical.md).
Restart costs were measured there: the mean of many replays with costs drawn from them is the prediction.
The true speed of a job is not known: further replays draw it as well, and give the interval.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from . import _core
from .gains import known_runs, spread_of_gains

CLUSTER = "32x1"
_FILES = {"gavel-allox": "allox", "gavel-finish-time-fairness": "finish_time_fairness",
          "gavel-max-min-fairness": "max_min_fairness", "gavel-max-sum-throughput": "max_sum_throughput_perf",
          "gavel-min-total-duration": "min_total_duration"}
SEEN = "gavel-max-min-fairness"
"""The run that may be looked at when the model of the real cluster is made; the others are held out."""
_CLOCK_S = {"gavel-finish-time-fairness": 3600.0}
"""What a recorded makespan lacks: the clock was changed during the run."""
# The bounds by which docs/studies/physical.md judges.
ERROR_MAX, ERROR_AIM, JOB_MEDIAN_MAX, INSIDE_LEAST, HALF_MAX = 0.056, 0.046, 0.09, 4, 0.20


@dataclass(frozen=True)
class Prediction:
    """A figure of many replays: the mean of those with the measured rates, and the range of 95 % of those
    whose rates are disturbed."""

    value: float
    low: float
    high: float

    @staticmethod
    def of(nominal: Iterable[float], disturbed: Iterable[float]) -> Prediction:
        low, high = numpy.percentile(numpy.asarray(list(disturbed), dtype=float), [2.5, 97.5])
        return Prediction(float(numpy.mean(list(nominal))), float(low), float(high))

    @property
    def half(self) -> float:
        """Half of the width of the interval, relative to the value."""
        return (self.high - self.low) / 2 / self.value

    def holds(self, truth: float) -> bool:
        return self.low <= truth <= self.high


@dataclass(frozen=True)
class RealRun:
    """A policy on the real cluster, and what was predicted of it. Times in seconds; errors relative to
    the truth. What is not recorded is None."""

    policy: str
    real_mean_jct_s: float
    mean_jct_s: Prediction
    makespan_s: Prediction
    real_makespan_s: float | None = None
    job_errors: tuple[float, ...] | None = None
    """|predicted / real - 1| of each job."""

    @property
    def held_out(self) -> bool:
        return self.policy != SEEN

    @property
    def error(self) -> float:
        """Of the mean JCT."""
        return self.mean_jct_s.value / self.real_mean_jct_s - 1

    @property
    def makespan_error(self) -> float | None:
        return None if self.real_makespan_s is None else self.makespan_s.value / self.real_makespan_s - 1

    @property
    def job_median(self) -> float | None:
        return None if self.job_errors is None else float(numpy.median(self.job_errors))

    @property
    def job_p90(self) -> float | None:
        return None if self.job_errors is None else float(numpy.percentile(self.job_errors, 90))

    @property
    def inside(self) -> bool:
        """The interval holds the true mean JCT."""
        return self.mean_jct_s.holds(self.real_mean_jct_s)


@dataclass(frozen=True)
class Verdict:
    """One of the bounds. `met` is None where runs are not recorded."""

    name: str
    value: float | None
    bound: float
    met: bool | None


class Reality:
    """What reality() found."""

    def __init__(self, runs: list[RealRun], draws: int) -> None:
        self.runs = runs
        self.draws = draws

    @property
    def verdicts(self) -> list[Verdict]:
        """The bounds of docs/studies/physical.md, over all policies with a preset."""
        error = float(numpy.mean([abs(each.error) for each in self.runs]))
        medians = [each.job_median for each in self.runs if each.job_median is not None]
        median = float(numpy.mean(medians)) if medians else None
        inside = sum(each.inside for each in self.runs)
        half = max(each.mean_jct_s.half for each in self.runs)
        whole = len(medians) == len(self.runs)
        return [
            Verdict("mean |error of mean JCT|", error, ERROR_MAX, error <= ERROR_MAX),
            Verdict("mean |error of mean JCT|, aim", error, ERROR_AIM, error <= ERROR_AIM),
            Verdict(f"median |error of a job|, mean of {len(medians)} runs", median, JOB_MEDIAN_MAX,
                    median <= JOB_MEDIAN_MAX if median is not None and whole else None),
            Verdict("runs whose truth is inside", float(inside), INSIDE_LEAST, inside >= INSIDE_LEAST),
            Verdict("widest half of an interval", half, HALF_MAX, half <= HALF_MAX),
        ]

    @property
    def gain_spread(self) -> float:
        """See spread_of_gains()."""
        return spread_of_gains((each.mean_jct_s.value, each.real_mean_jct_s) for each in self.runs)

    def table(self) -> str:
        """A table for a terminal, and what it is judged by."""
        lines = [["policy", "real mean JCT s", "predicted, 95 % interval", "error", "half", "inside", "makespan",
                  "job median", "p90"]]
        for run in self.runs:
            jct = run.mean_jct_s
            lines.append([run.policy + ("" if run.held_out else " *"), f"{run.real_mean_jct_s:.1f}",
                          f"{jct.value:.0f} ({jct.low:.0f} to {jct.high:.0f})", _percent(run.error, "+"),
                          _percent(jct.half), "yes" if run.inside else "NO", _percent(run.makespan_error, "+"),
                          _percent(run.job_median), _percent(run.job_p90)])
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        text = ["  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                          for i, (cell, width) in enumerate(zip(line, widths))).rstrip() for line in lines]
        text += ["", f"2 x {self.draws} replays each; * was looked at before, the others are held out. -: not recorded.",
                 ""]
        for each in self.verdicts:
            word = {True: "met", False: "MISSED", None: "not judged: runs are missing"}[each.met]
            if each.bound >= 1:
                text.append(f"{each.name}: {each.value:.0f} of {len(self.runs)}, at least {each.bound:.0f}: {word}")
            else:
                text.append(f"{each.name}: {_percent(each.value)}, at most {_percent(each.bound)}: {word}")
        text.append(f"error of a gain of one policy over another: {_percent(self.gain_spread)} (95 %)")
        return "\n".join(text)

    def document(self) -> dict[str, Any]:
        """The same as JSON takes it."""
        return {
            "draws": self.draws,
            "runs": [{"policy": each.policy, "held_out": each.held_out, "real_mean_jct_s": each.real_mean_jct_s,
                      "mean_jct_s": each.mean_jct_s.value, "low_s": each.mean_jct_s.low,
                      "high_s": each.mean_jct_s.high, "error": each.error, "half": each.mean_jct_s.half,
                      "inside": each.inside, "makespan_s": each.makespan_s.value,
                      "makespan_low_s": each.makespan_s.low, "makespan_high_s": each.makespan_s.high,
                      "makespan_error": each.makespan_error, "job_median": each.job_median,
                      "job_p90": each.job_p90} for each in self.runs],
            "verdicts": [{"name": each.name, "value": each.value, "bound": each.bound, "met": each.met}
                         for each in self.verdicts],
            "gain_spread": self.gain_spread,
        }

    def __repr__(self) -> str:
        return f"<{len(self.runs)} runs on a real cluster, {self.draws} replays each>"


def _percent(value: float | None, sign: str = "") -> str:
    return "-" if value is None else f"{value * 100:{sign}.1f} %"


def _read(path: Path) -> str:
    try:
        if path.suffix == ".gz":
            with gzip.open(path, "rt", encoding="utf-8") as file:
                return file.read()
        return path.read_text(encoding="utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise _core.LabError(f"{path}: {error}") from None


def read_restarts(path: Path) -> list[float]:
    """The column restart_s of a CSV, at least one number from 0 to 100. Errors: LabError with line and
    field."""
    rows = csv.DictReader(_read(path).splitlines())
    if "restart_s" not in (rows.fieldnames or []):
        raise _core.LabError(f"{path}:1: the column restart_s is missing (rank,restart_s)")
    found = []
    for row in rows:
        try:
            value = float(row["restart_s"])
        except (TypeError, ValueError):
            value = math.nan
        if not 0 <= value <= 100:  # a round of 120 s must be left with progress
            raise _core.LabError(f"{path}:{rows.line_num}: restart_s {row['restart_s']!r} is no number of "
                                 "seconds from 0 to 100")
        found.append(value)
    if not found:
        raise _core.LabError(f"{path}: no restart costs after the header")
    return found


def read_real_run(path: Path, jobs: int) -> tuple[list[float], float]:
    """JCTs by job, and the makespan, of the first line of a recorded run:
    {"makespan": s, "jct": [s, ...], ...}. Errors: LabError with line and field."""
    try:
        head = json.loads(_read(path).partition("\n")[0])
        jct_s = [float(each) for each in head["jct"]]
        makespan_s = float(head["makespan"])
    except (ValueError, TypeError, KeyError) as error:
        raise _core.LabError(f"{path}:1: not a recorded run, {{\"makespan\": s, \"jct\": [s, ...]}}: {error!r}"
                             ) from None
    if len(jct_s) != jobs:
        raise _core.LabError(f"{path}:1: jct: {len(jct_s)} jobs where the trace has {jobs}")
    if not all(0 < each < 4e9 for each in [*jct_s, makespan_s]):
        raise _core.LabError(f"{path}:1: jct, makespan: not all are positive numbers of seconds")
    return jct_s, makespan_s


def _folder(given: str | os.PathLike[str] | None) -> Path:
    if given is not None:
        return Path(given)
    places = [Path(os.environ.get("GOBAN_DATA", "~/.cache/goban/data")).expanduser()]
    if "GOBAN_SHARED" in os.environ:
        places.append(Path(os.environ["GOBAN_SHARED"]) / "data")
    for place in places:
        if (place / "rivals" / "shockwave" / "trace.csv").exists():
            return place / "rivals" / "shockwave"
    raise _core.LabError("the files of Shockwave's runs are not here: name their folder, or put them in "
                         f"{places[0]}/rivals/shockwave (docs/studies/physical.md says what they are)")


def speeds(jobs: int, draw: int, seed: int, common: float, each: float) -> list[float]:
    """The true speed of each job relative to the measured rates, in one draw: log-normal, with a part
    that all jobs have in common and one of their own."""
    rng = numpy.random.Generator(numpy.random.PCG64([seed, draw]))
    shared = common * rng.standard_normal()
    drawn: list[float] = numpy.exp(shared + each * rng.standard_normal(jobs)).tolist()
    return drawn


def reality(folder: str | os.PathLike[str] | None = None, *, draws: int = 200, seed: int = 1,
            common: float = 0.05, each: float = 0.05) -> Reality:
    """Predicts runs on a real cluster and compares them with what happened there.

    `folder` has trace.csv, rates_v100.csv, gns_batch_sizes.csv, restart_s_measured.csv and, for the
    figures of jobs and makespans, POLICY.physical.jsonl.gz of each recorded run; by default
    rivals/shockwave of the data sets ($GOBAN_DATA). Each policy is replayed `draws` times with restart
    costs drawn from the measured ones: the mean is the prediction. It is replayed as often with speeds
    that also differ log-normally from the measured rates, by `common` for all jobs and `each` for a job
    (standard deviations, assumed): 95 % of these are the interval. Nothing is fitted. Errors: LabError.
    """
    if not isinstance(draws, int) or not 20 <= draws <= 100_000:
        raise _core.LabError(f"draws = {draws!r}: it must be a whole number from 20 on")
    if not (0 <= common < 1 and 0 <= each < 1):
        raise _core.LabError(f"common = {common!r}, each = {each!r}: they must be in 0 to 1")
    where = _folder(folder)
    files = _core.read_real_runs(str(where / "trace.csv"), str(where / "rates_v100.csv"),
                                 str(where / "gns_batch_sizes.csv"), CLUSTER)
    restart_s = read_restarts(where / "restart_s_measured.csv")
    runs = []
    for policy, known in known_runs().items():
        nominal = [files.run(policy, restart_s, [], seed + draw) for draw in range(draws)]
        disturbed = [files.run(policy, restart_s, speeds(files.jobs, draw, seed, common, each), seed + draw)
                     for draw in range(draws)]
        mean_jct_s = Prediction.of([float(jct_s.mean()) for jct_s, _ in nominal],
                                   [float(jct_s.mean()) for jct_s, _ in disturbed])
        makespan_s = Prediction.of([makespan for _, makespan in nominal], [makespan for _, makespan in disturbed])
        recorded = where / f"{_FILES[policy]}.physical.jsonl.gz"
        if not recorded.exists():
            runs.append(RealRun(policy, known["real_mean_jct_s"], mean_jct_s, makespan_s))
            continue
        jct_s, real_makespan_s = read_real_run(recorded, files.jobs)
        predicted = numpy.mean([jct for jct, _ in nominal], axis=0)
        errors = numpy.abs(predicted / numpy.asarray(jct_s) - 1).tolist()
        runs.append(RealRun(policy, float(numpy.mean(jct_s)), mean_jct_s, makespan_s,
                            real_makespan_s + _CLOCK_S.get(policy, 0.0), tuple(errors)))
    return Reality(runs, draws)

"""Traces and clusters."""

from __future__ import annotations

import os
from typing import Any

from . import _core
from ._core import Cluster
from .tables import Table, frame

_MOST_S = 4e9
_UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}


def seconds(span: str | float) -> float:
    """The seconds of "90s", "15m", "12h", "7d", "2w", or of a number. Errors: LabError."""
    if isinstance(span, (int, float)):
        return float(span)
    if not isinstance(span, str):
        raise _core.LabError(f"{span!r} is no time: write 90s, 15m, 12h, 7d or 2w")
    number = span.rstrip("abcdefghijklmnopqrstuvwxyz")
    try:
        return float(number) * _UNITS[span[len(number):] or "s"]
    except (KeyError, ValueError):
        raise _core.LabError(f"{span!r} is no time: write 90s, 15m, 12h, 7d or 2w") from None


class Trace:
    """Recorded or generated jobs, in order of submission."""

    def __init__(self, core: _core.Trace) -> None:
        self._core = core

    def __len__(self) -> int:
        return len(self._core)

    def __repr__(self) -> str:
        return f"<{len(self)} jobs over {self.span_s / 86400:.1f} days>"

    @property
    def span_s(self) -> float:
        """Seconds from the first submission to the last."""
        return self._core.span_s

    @property
    def notes(self) -> list[str]:
        """What the reader left out, one sentence each."""
        return self._core.notes

    @property
    def has_limits(self) -> bool:
        """Some job has a walltime limit."""
        return self._core.has_limits

    def first(self, span: str | float) -> Trace:
        """The jobs submitted within this time after the first one: first("7d")."""
        span_s = seconds(span)
        if not 0 < span_s < _MOST_S:
            raise _core.LabError(f"first({span!r}): the time must be longer than 0")
        return Trace(self._core.first(span_s))

    def resampled(self, seed: int, block: str | float | None = None) -> Trace:
        """As many blocks as the trace has, drawn from it with replacement; days unless told
        otherwise, and tenths of a trace of less than ten days."""
        block_s = min(86400.0, max(self.span_s / 10, 1.0)) if block is None else seconds(block)
        if not 1 <= block_s < _MOST_S or seed < 0:
            raise _core.LabError(f"blocks of {block_s} s, seed {seed}: at least 1 s, and a seed from 0 on")
        return Trace(self._core.resampled(block_s, seed))

    @property
    def jobs(self) -> Any:
        """A row a job: a pandas DataFrame where pandas is installed, else a dict of columns."""
        return frame(self._core.columns())

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """A row a job, for libraries that take Arrow streams: see Table."""
        return Table(self._core.columns()).__arrow_c_stream__(requested_schema)


def trace(path: str | os.PathLike[str], format: str = "", cluster: Cluster | None = None, *,
          rates: str | os.PathLike[str] | None = None, interpolate_rates: bool = False) -> Trace:
    """Reads the jobs of a file, plain or gzip, of any format that `goban trace formats` lists.
    `cluster` gives jobs the limits and sizes of its resource types.

    `rates` is a file of measured steps per second by model, GPU model and number of GPUs: jobs with a
    range of GPUs (gpus_min, gpus_max) then run on any measured number within it, as the policy's `size`
    says. A pair that a job needs and that was not measured is an error of the run on that cluster; with
    `interpolate_rates` numbers between measured ones count as well, and results mark jobs that ran on
    them. docs/elastic.md describes the columns. Errors: LabError."""
    if interpolate_rates and rates is None:
        raise _core.LabError("interpolate_rates=True needs a file of rates: rates=\"rates.csv\"")
    file = "" if rates is None else os.fspath(rates)
    return Trace(_core.read_trace(os.fspath(path), format, cluster, file, interpolate_rates))


def generate(like: str = "poisson", jobs: int = 10_000, gpus: int = 64, load: float = 0.9, seed: int = 1,
             limits: bool = True) -> Trace:
    """Generated jobs: "poisson", independent jobs that offer `load` to `gpus` GPUs, with walltime
    limits if `limits`; or "philly", like Microsoft's cluster of 2,474 GPUs (`jobs` alone applies)."""
    if seed < 0:
        raise _core.LabError(f"seed = {seed}: it must be a whole number from 0 on")
    return Trace(_core.generate(like, jobs, gpus, load, seed, limits))


def cluster(name: str) -> Cluster:
    """A cluster: "64x8:V100" (nodes x GPUs), several joined by '+', a preset such as "abci", or the
    path of a cluster file (*.toml). Errors: LabError."""
    return _core.cluster(name)

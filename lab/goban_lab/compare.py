"""Several policies on the same jobs, with intervals."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy

from ._core import Cluster, LabError
from .errors import PolicyError
from .gains import gain_spread, on_a_real_cluster
from .plugins import PluginPolicy
from .policy import Policy, name_of
from .run import Result, simulate
from .stats import t_quantile
from .traces import Trace

if TYPE_CHECKING:
    from concurrent.futures import Future

Jobs = Trace | Callable[[int], Trace]
_METRICS = ("mean_jct_s", "mean_wait_s", "p99_jct_s")


@dataclass(frozen=True)
class Interval:
    """A value with its 95 % interval; half is None without seeds."""

    value: float
    half: float | None = None

    @property
    def excludes_zero(self) -> bool:
        return self.half is not None and abs(self.value) > self.half

    def text(self, scale: float = 1.0, digits: int = 0) -> str:
        shown = f"{self.value * scale:,.{digits}f}"
        return shown if self.half is None else f"{shown} ± {self.half * scale:,.{digits}f}"


def interval_of(drawn: Sequence[float], centre: float | None) -> Interval:
    """Of values on generated traces (centre None): their mean, and the interval of the mean. Of values
    on traces that were drawn from one (bootstrap): the value on that one, and their spread."""
    middle = float(numpy.mean(drawn)) if centre is None else centre
    if len(drawn) < 2:
        return Interval(middle)
    spread = float(numpy.std(drawn, ddof=1))
    error = spread / math.sqrt(len(drawn)) if centre is None else spread
    return Interval(middle, t_quantile(len(drawn) - 1) * error)


@dataclass(frozen=True)
class Row:
    """What the table says of a policy. Gains are those of the mean JCT over the reference."""

    policy: str
    mean_jct_s: Interval
    mean_wait_s: Interval
    p99_jct_s: Interval
    gain: Interval | None
    oracle: bool
    resizes: int | None = None
    """Of all jobs, in the first run; None without elastic jobs."""

    @property
    def claimed(self) -> bool | None:
        """The interval of the gain excludes zero; None without an interval."""
        return None if self.gain is None or self.gain.half is None else self.gain.excludes_zero

    @property
    def real_gain(self) -> tuple[float, float] | None:
        """The 95 % interval of the gain on a real cluster: that of `gain`, and the error of simulated
        gains against runs on 32 GPUs (docs/studies/physical.md)."""
        return None if self.gain is None else on_a_real_cluster(self.gain.value, self.gain.half or 0.0)

    @property
    def claimed_for_real(self) -> bool | None:
        """As `claimed`, of `real_gain`."""
        if self.claimed is None or self.real_gain is None:
            return None
        low, high = self.real_gain
        return self.claimed and (low > 0 or high < 0)


class Comparison:
    """The results of compare()."""

    def __init__(self, results: dict[str, Result], rows: list[Row], reference: str, seeds: int,
                 generated: bool) -> None:
        self._results = results
        self.rows = rows
        self.reference = reference
        self.seeds = seeds
        self.generated = generated

    def __getitem__(self, policy: str) -> Result:
        try:
            return self._results[policy]
        except KeyError:
            raise KeyError(f"{policy!r}; there are {', '.join(self._results)}") from None

    def __iter__(self) -> Any:
        return iter(self._results.values())

    def table(self) -> str:
        """A table for a terminal: means with 95 % intervals, gains, and whether they are claimed."""
        lines = [["policy", "mean JCT s", "mean wait s", "p99 JCT s", f"gain over {self.reference}",
                  "on real GPUs", "claimed"]]
        elastic = any(row.resizes is not None for row in self.rows)
        if elastic:
            lines[0].append("resizes")
        for row in self.rows:
            gain = "" if row.gain is None else row.gain.text(100, 1) + " %"
            real = "" if row.real_gain is None else "{:.0f} to {:.0f} %".format(*(100 * end for end in row.real_gain))
            claimed = "" if row.claimed is None else "no" if not row.claimed else \
                "yes" if row.claimed_for_real else "simulated"
            lines.append([row.policy + (" *" if row.oracle else ""), row.mean_jct_s.text(),
                          row.mean_wait_s.text(), row.p99_jct_s.text(), gain, real, claimed])
            if elastic:
                lines[-1].append("" if row.resizes is None else f"{row.resizes:,}")
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        text = "\n".join("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                                   for i, (cell, width) in enumerate(zip(line, widths))).rstrip()
                         for line in lines)
        return text + "\n" + "\n".join(self.notes())

    def notes(self) -> list[str]:
        """What a reader of the table must know."""
        notes = []
        if self.seeds < 2:
            notes.append("No intervals: give seeds=range(20).")
        elif self.generated:
            notes.append(f"± 95 % intervals of the means over {self.seeds} generated traces.")
        else:
            notes.append(f"± 95 % intervals over {self.seeds} traces of blocks drawn from this one.")
        if len(self.rows) > 1:
            notes.append(f"on real GPUs: with the error of simulated gains against runs on 32 GPUs, {gain_spread():.0%} "
                         "(docs/studies/physical.md); claimed \"simulated\": in the simulation only.")
        for result in self._results.values():
            notes += [each for each in result.notes if each not in notes]
            marked = int(sum(result.columns.get("interpolated", ())))
            if marked:
                notes.append(f"{result.policy}: {marked} jobs ran at interpolated speeds.")
        if any(row.oracle for row in self.rows):
            notes.append("* decides by true run times, which no real scheduler knows.")
        return notes

    def plot(self) -> Any:
        """A figure of the mean JCTs with their intervals. Requires matplotlib."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise LabError("plot() requires matplotlib: pip install matplotlib") from None
        figure = Figure(figsize=(6, 0.5 * len(self.rows) + 1.2), layout="constrained")
        axes = figure.add_subplot()
        names = [row.policy for row in self.rows][::-1]
        values = [row.mean_jct_s.value for row in self.rows][::-1]
        halves = [row.mean_jct_s.half or 0.0 for row in self.rows][::-1]
        axes.barh(names, values, xerr=halves)
        axes.set_xlabel("mean JCT in s")
        return figure


def compare(jobs: Jobs, cluster: Cluster, policies: Sequence[Policy | PluginPolicy | str], *, seeds: Iterable[int] = (),
            reference: str | None = None, block: str | float | None = None, workers: int | None = None,
            **options: Any) -> Comparison:
    """Runs all policies on the same jobs. `options` are those of simulate().

    With seeds, every policy also runs on a trace per seed, drawn from `jobs` in blocks
    (Trace.resampled), and intervals are those of this bootstrap. `jobs` may be a function from seed to
    trace instead, such as `lambda seed: lab.generate(seed=seed)`; then values are means over seeds.
    Gains are relative to `reference`: by default the first policy given by name, else the first.
    Policies in Python run in processes, the others on threads, `workers` in all (default: one per core);
    results do not depend on their number. Errors: PolicyError of the first policy, in order, that does
    something wrong; LabError.
    """
    if isinstance(policies, (str, Policy, PluginPolicy)):
        raise LabError("compare() takes a list of policies, such as [Mine(), \"goban\"]")
    names = [name_of(each) for each in policies]
    if not names:
        raise LabError("compare() needs at least one policy")
    if len(set(names)) < len(names):
        raise LabError(f"two policies have one name: {', '.join(names)}; set Policy.name")
    if reference is None:
        named = [each for each in policies if isinstance(each, str)]
        reference = named[0] if named else names[0]
    if reference not in names:
        raise LabError(f"reference {reference!r} is none of {', '.join(names)}")
    if isinstance(seeds, int):
        raise LabError(f"seeds = {seeds}: give the seeds themselves, such as range({seeds})")
    drawn = list(seeds)
    if not all(isinstance(each, Integral) and each >= 0 for each in drawn):
        raise LabError(f"seeds = {drawn[:5]!r}: give whole numbers from 0 on, such as range(20)")
    drawn = [int(each) for each in drawn]
    if len(set(drawn)) < len(drawn):
        raise LabError("a seed is given twice")
    generated = not isinstance(jobs, Trace)
    if generated and not callable(jobs):
        raise LabError(f"jobs are of type {type(jobs).__name__}: give lab.trace(...), or a function from seed to trace")
    if generated and not drawn:
        raise LabError("jobs are a function of the seed: give seeds")
    work = _Work(jobs, cluster, list(policies), block, options)
    tasks = [(i, seed) for i in range(len(names))
             for seed in (drawn if generated else [None, *drawn])]
    workers = os.cpu_count() or 1 if workers is None else workers
    if not isinstance(workers, int) or workers < 1:
        raise LabError(f"workers = {workers!r}: it must be a whole number from 1 on")
    outcomes = dict(zip(tasks, _run_all(work, tasks, workers)))
    first = drawn[0] if generated else None
    results = {name: outcomes[i, first][1] for i, name in enumerate(names)}
    rows = [_row(names, i, names.index(reference), outcomes, drawn, generated, results[names[i]].resizes)
            for i in range(len(names))]
    return Comparison(results, rows, reference, len(drawn), generated)


@dataclass
class _Work:
    """What all runs of a comparison share; processes inherit it."""

    jobs: Jobs
    cluster: Cluster
    policies: list[Policy | PluginPolicy | str]
    block: str | float | None
    options: dict[str, Any]

    def run(self, task: tuple[int, int | None]) -> tuple[dict[str, float], Result | None]:
        """The figures of a run, and the whole result of the first one of a policy."""
        policy, seed = task
        if isinstance(self.jobs, Trace):
            trace = self.jobs if seed is None else self.jobs.resampled(seed, self.block)
        else:
            trace = self.jobs(seed if seed is not None else 0)
        result = simulate(trace, self.cluster, self.policies[policy], seed=1 if seed is None else seed,
                          **self.options)
        figures = {metric: float(getattr(result, metric)) for metric in _METRICS}
        figures["oracle"] = float(result.oracle)
        return figures, result


_shared: _Work | None = None


def _run_shared(task: tuple[int, int | None], whole: bool) -> tuple[dict[str, float], Result | None]:
    assert _shared is not None
    figures, result = _shared.run(task)
    return figures, result if whole else None


def _run_all(work: _Work, tasks: list[tuple[int, int | None]], workers: int) -> list[Any]:
    global _shared
    if workers < 2:
        return [work.run(task) for task in tasks]
    # Here, for importing them takes as long as the rest of the package.
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

    in_python = [isinstance(work.policies[policy], Policy) for policy, _ in tasks]
    forks = multiprocessing.get_context("fork") if any(in_python) else None
    first = {policy: seed for policy, seed in reversed(tasks)}
    _shared = work
    processes = ProcessPoolExecutor(min(workers, len(tasks)), mp_context=forks) if forks else None
    threads = None
    try:
        futures: list[Future[Any] | None] = [None] * len(tasks)
        for i, task in enumerate(tasks):  # processes first: they are forks of a program without threads
            if in_python[i] and processes is not None:
                futures[i] = processes.submit(_run_shared, task, first[task[0]] == task[1])
        threads = ThreadPoolExecutor(workers)
        for i, task in enumerate(tasks):
            if not in_python[i]:
                futures[i] = threads.submit(_run_shared, task, first[task[0]] == task[1])
        return [_outcome(work, tasks[i], future) for i, future in enumerate(futures)]
    finally:
        _shared = None
        for pool in (processes, threads):
            if pool is not None:
                pool.shutdown(wait=True, cancel_futures=True)


def _outcome(work: _Work, task: tuple[int, int | None], future: Future[Any] | None) -> Any:
    from concurrent.futures.process import BrokenProcessPool

    assert future is not None
    try:
        return future.result()
    except BrokenProcessPool:
        names = [name_of(each) for each in work.policies if isinstance(each, Policy)]
        raise PolicyError(" or ".join(names), "any", "its process died: out of memory, or killed",
                          "run it alone with workers=1") from None


def _row(names: list[str], policy: int, reference: int, outcomes: dict[Any, Any], seeds: list[int],
         generated: bool, resizes: int | None) -> Row:
    def interval(value: Callable[[Any], float]) -> Interval:
        return interval_of([value(seed) for seed in seeds], None if generated else value(None))

    def metric(name: str) -> Interval:
        return interval(lambda seed: float(outcomes[policy, seed][0][name]))

    def gain(seed: Any) -> float:
        other = float(outcomes[reference, seed][0]["mean_jct_s"])
        return 1 - float(outcomes[policy, seed][0]["mean_jct_s"]) / other if other > 0 else 0.0

    one = next(iter(seeds), None) if generated else None
    return Row(names[policy], metric("mean_jct_s"), metric("mean_wait_s"), metric("p99_jct_s"),
               None if policy == reference else interval(gain), bool(outcomes[policy, one][0]["oracle"]), resizes)

"""One run of a policy."""

from __future__ import annotations

import copy
import signal
import sys
import threading
import zlib
from numbers import Integral, Real
from types import FrameType
from typing import Any

import numpy

from . import _core
from .errors import PolicyError, RemoteProblem, place_of_error, place_of_method
from .plugins import PluginPolicy
from .policy import Policy, name_of, stated_by
from .tables import Table, frame
from .traces import Trace

CALL_LIMIT_S = 60.0


class Result:
    """The outcome of one policy on one trace."""

    def __init__(self, policy: str, columns: dict[str, Any], gpus: int, counts: dict[str, float],
                 oracle: bool, actions: dict[str, Any] | None = None, notes: list[str] | None = None) -> None:
        self.policy = policy
        self.columns = columns
        self.gpus = gpus
        self.counts = counts
        self.oracle = oracle
        """The policy knew true run times."""
        self.notes = notes or []
        """What of the trace was changed or left out to run its elastic jobs, one sentence each."""
        self._actions = actions

    @property
    def actions(self) -> Table:
        """What happened, in order: `at_s`, `job` (its row in `jobs`), `action` (start, preempt, finish,
        timeout), and of a start the ids of its `gpus`. Errors: LabError unless simulate() was called
        with actions=True."""
        if self._actions is None:
            raise _core.LabError("the actions of this run were not kept: simulate(..., actions=True)")
        return Table(self._actions)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """A row a job, for libraries that take Arrow streams: see Table."""
        return Table(self.columns).__arrow_c_stream__(requested_schema)

    @property
    def jobs(self) -> Any:
        """A row a job; times in seconds on the clock of the trace. A pandas DataFrame where pandas is
        installed, else a dict of columns. With elastic jobs also their `resizes` (starts on another number
        of GPUs than before), the fewest and the most GPUs that they ran on (`gpus_least`, `gpus_most`),
        `gpu_hours`, and `interpolated` (1: it ran at a speed that was not measured)."""
        return frame(self.columns)

    @property
    def resizes(self) -> int | None:
        """Resizes of all jobs; None if no job is elastic."""
        return int(numpy.sum(self.columns["resizes"])) if "resizes" in self.columns else None

    @property
    def mean_jct_s(self) -> float:
        """Mean of finish - submission."""
        return float(numpy.mean(self.columns["jct_s"]))

    @property
    def mean_wait_s(self) -> float:
        """Mean of the time without GPUs."""
        return float(numpy.mean(self.columns["wait_s"]))

    @property
    def p99_jct_s(self) -> float:
        return float(numpy.percentile(self.columns["jct_s"], 99))

    @property
    def makespan_s(self) -> float:
        """Last finish - first submission."""
        return float(self.counts["end_s"] - self.columns["submit_s"][0])

    @property
    def occupancy(self) -> float:
        """Time average of GPUs held / GPUs."""
        return float(self.counts["busy_gpu_s"] / (self.gpus * max(self.makespan_s, 1e-9)))

    def __repr__(self) -> str:
        return (f"<{self.policy}: {len(self.columns['jct_s'])} jobs, mean JCT {self.mean_jct_s:.0f} s, "
                f"mean wait {self.mean_wait_s:.0f} s>")


class _TooLong(BaseException):
    """Raised inside a method that does not return."""


class _Watch:
    """Ends a method that runs for longer than the limit. Works in the main thread, where Python runs
    handlers of signals; a loop inside of a C function is not interrupted."""

    def __init__(self, where: _core.Where, limit_s: float) -> None:
        self._where = where
        self._limit_s = limit_s
        self._calls = -1
        self._active = limit_s > 0 and threading.current_thread() is threading.main_thread()
        self._before: Any = None

    def __enter__(self) -> None:
        if self._active:
            self._before = signal.signal(signal.SIGALRM, self._tick)
            signal.setitimer(signal.ITIMER_REAL, self._limit_s, self._limit_s)

    def __exit__(self, *_: object) -> None:
        if self._active:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)

    def _tick(self, _number: int, _frame: FrameType | None) -> None:
        if self._where.calls == self._calls:
            raise _TooLong
        self._calls = self._where.calls


def _rng(name: str, seed: int) -> numpy.random.Generator:
    return numpy.random.Generator(numpy.random.PCG64([zlib.crc32(name.encode()), seed]))


def simulate(jobs: Trace, cluster: _core.Cluster, policy: Policy | PluginPolicy | str, *, seed: int = 1,
             restart_cost_s: float | None = None, round_s: float | None = None,
             locality_penalty: float | None = None, call_limit_s: float = CALL_LIMIT_S,
             actions: bool = False) -> Result:
    """Runs one policy over all jobs. A policy in Python is copied first, so that no run knows of
    another; one of lab.plugin() runs in C++. Options that are None are those of the policy: 30 s for a restart, decisions at events,
    no penalty for GPUs of several nodes. A single call of a method may take between `call_limit_s`
    and twice that; 0 = any time. With `actions` the result also has a row for every start, preemption
    and end.

    Errors: PolicyError if a method does something wrong; LabError for everything else.
    """
    if not isinstance(jobs, Trace):
        raise _core.LabError(f"jobs are of type {type(jobs).__name__}: give lab.trace(...) or lab.generate(...)")
    if not isinstance(cluster, _core.Cluster):
        raise _core.LabError(f"cluster = {cluster!r}: give lab.cluster(...), such as lab.cluster(\"8x8:V100\")")
    if len(jobs) == 0:
        raise _core.LabError("the trace has no jobs")
    for option, value in (("restart_cost_s", restart_cost_s), ("round_s", round_s),
                          ("locality_penalty", locality_penalty)):
        if value is not None and not (isinstance(value, Real) and 0 <= value < 4e9):
            raise _core.LabError(f"{option} = {value!r}: it must be a number from 0 on")
    if not isinstance(seed, Integral) or not 0 <= seed < 2**63:
        raise _core.LabError(f"seed = {seed!r}: it must be a whole number from 0 on")
    seed = int(seed)
    if not call_limit_s >= 0:
        raise _core.LabError(f"call_limit_s = {call_limit_s}: it must be a number of seconds; 0: any time")
    settings = (seed, restart_cost_s, round_s, locality_penalty, actions)
    if isinstance(policy, str):
        run = _core.simulate_named(jobs._core, cluster, policy, *settings)
        oracle = _core.sees_durations(policy, jobs._core)
    elif isinstance(policy, PluginPolicy):
        run = _run_plugin(jobs, cluster, policy, settings)
        oracle = policy.oracle
    else:
        if not isinstance(policy, Policy):
            hint = ": give an object of it, with ()" if isinstance(policy, type) else ""
            raise _core.LabError(f"{policy!r} is neither a lab.Policy, nor a lab.plugin, nor the name of "
                                 f"a policy{hint}")
        run = _run_methods(jobs, cluster, policy, settings, call_limit_s)
        sizes = policy.size if isinstance(policy.size, str) else "fixed"
        oracle = bool(policy.oracle) or _core.sees_durations(sizes, jobs._core)
    counts = {"end_s": run.end_s, "busy_gpu_s": run.busy_gpu_s, "decisions": run.decisions,
              "starts": run.starts}
    return Result(name_of(policy), run.columns(), cluster.gpus, counts, oracle,
                  run.action_columns(), run.notes)


def _run_plugin(jobs: Trace, cluster: _core.Cluster, policy: PluginPolicy, settings: tuple[Any, ...]) -> _core.Run:
    try:
        return _core.simulate_plugin(jobs._core, cluster, policy.library, policy.name, *settings)
    except _core.Fault as fault:
        method, problem, remedy, job, at_s = fault.args
        raise PolicyError(policy.name, method, problem, remedy, _job_name(jobs, job), at_s, policy.path) from None


def _run_methods(jobs: Trace, cluster: _core.Cluster, policy: Policy, settings: tuple[Any, ...],
                 call_limit_s: float) -> _core.Run:
    stated = stated_by(policy)
    name = str(stated["name"])
    try:
        own = copy.deepcopy(policy)
    except Exception as error:
        raise _core.LabError(f"policy {name}: it cannot be copied, and each run works on a copy: {error} (leave files, locks "
                             "and threads out of it, or give it a method __deepcopy__)") from error
    where = _core.Where()
    threads = _threads()
    try:
        with _Watch(where, call_limit_s):
            run = _core.simulate_methods(jobs._core, cluster, stated, own, _rng(name, settings[0]), where,
                                         *settings)
    except _core.Fault as fault:
        method, problem, remedy, job, at_s = fault.args
        raise PolicyError(name, method, problem, remedy, _job_name(jobs, job), at_s,
                          place_of_method(policy, method)) from None
    except _TooLong:
        raise PolicyError(name, where.method, f"did not return within {call_limit_s:g} s",
                          "end the loop, or give a larger call_limit_s", _job_name(jobs, where.job),
                          where.at_s, place_of_error(sys.exc_info()[2])) from None
    except RemoteProblem as problem:
        raise PolicyError(name, where.method, problem.problem, problem.remedy, _job_name(jobs, where.job),
                          where.at_s, problem.place or place_of_method(policy, where.method)) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit, too: a method may end its run, not the program
        place = place_of_error(error.__traceback__)
        if isinstance(error, _core.LabError) and not place:  # of the simulator
            if "can never start" in str(error):
                raise _core.LabError(f"{error}; or the policy's methods never chose GPUs, rows or sizes for it") from None
            raise
        raise PolicyError(name, where.method, f"raised {type(error).__name__}: {error}",
                          "the traceback above shows where", _job_name(jobs, where.job), where.at_s,
                          place or place_of_method(policy, where.method)) from error
    left = [text for each, text in _threads().items() if each not in threads]
    if left:
        raise PolicyError(name, where.method, f"left {len(left)} threads behind: " + ", ".join(left),
                          "join them before returning", place=place_of_method(policy, where.method))
    return run


def _threads() -> dict[int, str]:
    """The threads of Python by identity, those that the module threading does not know as well."""
    found = {each: "without a name" for each in sys._current_frames()}
    return found | {each.ident: each.name for each in threading.enumerate() if each.ident is not None}


def _job_name(jobs: Trace, job: int | None) -> str | None:
    return None if job is None else jobs._core.job_name(job)

"""Published schedulers, replayed decision by decision by the rules of their own programs."""

from __future__ import annotations

import os
from typing import Any

from . import _core
from .tables import Table, frame


class RivalResult:
    """What a published scheduler decided on a trace of its own format."""

    def __init__(self, policy: str, columns: dict[str, Any], decisions: dict[str, Any], counts: dict[str, Any]) -> None:
        self.policy = policy
        self.columns = columns
        self._decisions = decisions
        self.mean_jct_s: float = counts["mean_jct_s"]
        """Mean of finish - submission, as the program computes it."""
        self.makespan_s: float = counts["makespan_s"]
        self.rounds: int = counts["decisions"]
        """Number of rounds, or of maps of jobs to GPUs."""
        self.shares: str = counts["shares"]
        """Where the shares of time come from: "recorded", "own solver", or "-": the policy has none."""

    @property
    def jobs(self) -> Any:
        """A row a job, in the order of the trace: a pandas DataFrame where pandas is installed, else a
        dict of columns. Times in seconds."""
        return frame(self.columns)

    @property
    def decisions(self) -> Table:
        """A row for each job that holds GPUs, round by round: `at_s`, `job` (its row in `jobs`), `gpus` (ids)."""
        return Table(self._decisions)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """A row a job, for libraries that take Arrow streams: see Table."""
        return Table(self.columns).__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<{self.policy}: {len(self.columns['jct_s'])} jobs, mean JCT {self.mean_jct_s:.1f} s>"


def rivals() -> list[str]:
    """The names of the published schedulers."""
    return _core.rival_names()


def rival(policy: str, trace: str | os.PathLike[str], rates: str | os.PathLike[str], cluster: str,
          batch_sizes: str | os.PathLike[str] = "", shares: str | os.PathLike[str] = "",
          restart_cost_s: float | None = None) -> RivalResult:
    """Replays a published scheduler ("gavel-gandiva-fair", "elasticflow-edf"; `lab.rivals()` lists them)
    on a trace of its own format; docs/studies/rivals.md describes the files and what equals the published
    logs. `cluster`: "32x1" (Shockwave's: servers of one GPU) or "16x8" (ElasticFlow's: of eight). `shares`:
    recorded shares of time instead of those of our own solver. `restart_cost_s`: Shockwave's only; 20, as
    published, if it is None. Errors: LabError."""
    found = _core.replay_rival(policy, os.fspath(trace), os.fspath(rates), cluster, os.fspath(batch_sizes),
                               os.fspath(shares), restart_cost_s)
    return RivalResult(policy, *found)

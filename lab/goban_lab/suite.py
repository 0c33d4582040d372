"""Suites of `verify`: which traces a policy is scored on, and what it must keep to."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from . import _core
from ._core import Cluster, LabError
from .traces import Trace, cluster, generate, seconds, trace

METRICS = ("mean_jct_s", "mean_wait_s", "p99_jct_s", "makespan_s")
_SHIPPED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "suites")
_GENERATE = {"like": str, "jobs": int, "gpus": int, "load": float, "seed": int, "limits": bool}
_ENTRY = {"name": str, "cluster": str, "trace": str, "rates": str, "interpolate_rates": bool, "first": str,
          "block": str, "longest_wait": str, "generate": dict}
_RECORDED = ("rates", "interpolate_rates", "first", "block")
_TOP = {"name": str, "metric": str, "reference": str, "longest_wait": str, "public": list, "held_out": list,
        "options": dict}
_OPTIONS = {"restart_cost_s": float, "round_s": float, "locality_penalty": float}


@dataclass(frozen=True)
class Entry:
    """A trace on a cluster: recorded jobs, or jobs generated anew for each seed."""

    name: str
    cluster: Cluster
    longest_wait_s: float | None
    recorded: Trace | None = None
    block: str | None = None
    generated: dict[str, Any] = field(default_factory=dict)

    def draw(self, seed: int | None) -> Trace:
        """The trace of a draw. None: the recorded trace itself, or the first generated one."""
        if self.recorded is not None:
            return self.recorded if seed is None else self.recorded.resampled(seed, self.block)
        options = dict(self.generated)
        options["seed"] = options.get("seed", 1) + (seed or 0)
        return generate(**options)


@dataclass(frozen=True)
class Suite:
    """Traces that a searcher may look at, and held-out ones."""

    name: str
    metric: str
    reference: str
    options: dict[str, Any]
    public: list[Entry]
    held_out: list[Entry]


def read_suite(name: str) -> Suite:
    """Reads a suite: the path of a TOML file, or the name of one of the package's. Paths in it are
    relative to it. Errors: LabError with file, field and remedy."""
    path = name
    if not name.endswith(".toml") and os.sep not in name:
        path = os.path.join(_SHIPPED, name + ".toml")
        if not os.path.exists(path):
            there = ", ".join(sorted(each[:-5] for each in os.listdir(_SHIPPED) if each.endswith(".toml")))
            raise LabError(f"there is no suite {name!r}: give a file, or one of {there}")
    try:
        with open(path, "rb") as file:
            table = tomllib.load(file)
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise LabError(f"{path}: {error}") from None
    _check(path, table, _TOP)
    metric = table.get("metric", "mean_jct_s")
    if metric not in METRICS:
        raise LabError(f"{path}: metric = {metric!r}: choose one of {', '.join(METRICS)}")
    options = table.get("options", {})
    _check(f"{path}: options", options, _OPTIONS)
    groups = {group: [_entry(path, f"{group}[{i}]", each, table.get("longest_wait"))
                      for i, each in enumerate(table.get(group, []))] for group in ("public", "held_out")}
    if not groups["public"]:
        raise LabError(f"{path}: a suite needs at least one [[public]] trace")
    reference = table.get("reference", "fifo+packed")
    for entry in (*groups["public"], *groups["held_out"]):
        _core.sees_durations(reference, entry.draw(None)._core)  # names an unknown policy
    names = [each.name for each in (*groups["public"], *groups["held_out"])]
    if len(set(names)) < len(names):
        raise LabError(f"{path}: two traces have one name: {', '.join(names)}; set name")
    return Suite(table.get("name", os.path.splitext(os.path.basename(path))[0]), metric, reference,
                 {key: float(value) for key, value in options.items()}, groups["public"], groups["held_out"])


def _entry(path: str, where: str, table: Any, longest_wait: str | None) -> Entry:
    where = f"{path}: {where}"
    if not isinstance(table, dict):
        raise LabError(f"{where}: it must be a table")
    _check(where, table, _ENTRY)
    if "cluster" not in table:
        raise LabError(f"{where}: cluster is missing, such as \"8x8:V100\"")
    if ("trace" in table) == ("generate" in table):
        raise LabError(f"{where}: give either trace = FILE or generate = {{ ... }}")
    longest_wait = table.get("longest_wait", longest_wait)
    folder = os.path.dirname(os.path.abspath(path))
    name = table["cluster"]
    if name.endswith(".toml"):
        name = os.path.join(folder, name)
    at = cluster(name)
    bound_s = None if longest_wait is None else seconds(longest_wait)
    if "generate" in table:
        options = table["generate"]
        _check(f"{where}: generate", options, _GENERATE)
        for key in _RECORDED:
            if key in table:
                raise LabError(f"{where}: {key} is for recorded traces")
        options = {"gpus": at.gpus, **options}
        generate(**options)
        return Entry(table.get("name", where.split(": ")[1]), at, bound_s, generated=options)
    recorded = _recorded(where, folder, at, table)
    return Entry(str(table.get("name", table["trace"])), at, bound_s, recorded, table.get("block"))


def _recorded(where: str, folder: str, at: Cluster, table: dict[str, Any]) -> Trace:
    interpolate = table.get("interpolate_rates", False)
    if interpolate and "rates" not in table:
        raise LabError(f"{where}: interpolate_rates needs a file of speeds: rates = \"rates.csv\"")
    rates = os.path.join(folder, table["rates"]) if "rates" in table else None
    recorded = trace(os.path.join(folder, table["trace"]), cluster=at, rates=rates, interpolate_rates=interpolate)
    if "first" in table:
        recorded = recorded.first(table["first"])
    try:
        _core.check_rates(recorded._core, at)  # names a pair of GPU model and number without a speed
    except LabError as error:
        raise LabError(f"{where}: {error}") from None
    return recorded


def _check(where: str, table: dict[str, Any], known: Mapping[str, Any]) -> None:
    for key, value in table.items():
        if key not in known:
            raise LabError(f"{where}: {key} is unknown; there are {', '.join(known)}")
        kind = (int, float) if known[key] is float else known[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and known[key] is not bool):
            raise LabError(f"{where}: {key} = {value!r}: it must be of the type {known[key].__name__}")

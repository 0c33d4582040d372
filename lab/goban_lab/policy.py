"""The class that a policy in Python derives from."""

from __future__ import annotations

from typing import Any

from . import _core
from .plugins import PluginPolicy
from .traces import seconds

METHODS = ("order", "select", "place", "preempt", "size")
_KINDS = {"order": "order", "select": "select", "place": "placement", "preempt": "preemption",
          "size": "size"}


class Policy:
    """A scheduling policy. Each of `order`, `select`, `place`, `preempt` and `size` is a method, or the name
    of a part (`goban policies` lists them); what is not given is first come first served, in order,
    packed, without preemption.

    def order(self, view: lab.View) -> array of a number for each row of the view
        The key of each waiting job; smaller keys go first, equal ones in order of arrival. With
        preemption the view has running jobs as well (`view.running`).
    def select(self, view: lab.View) -> list of rows
        The jobs to start now, in this order; those that do not fit keep waiting.
    def place(self, view: lab.PlaceView, job: lab.Job) -> list of GPU ids, or None
        The GPUs of a job; None: it is not placed now.
    def preempt(self, view: lab.View) -> array of a number for each row of the view
        The keys of running jobs: one yields to waiting jobs with smaller keys of `order`.
    def size(self, view: lab.SizeView) -> array of a number of GPUs for each row of the view
        Only called while elastic jobs are there (lab.trace(..., rates=FILE)). Rows are the running elastic
        jobs by arrival, then the waiting jobs in their order; a rigid one has one size. 0: the job waits,
        or is stopped. So does a waiting job for which those before it leave too few GPUs.

    `when` states when keys are computed: "event" (default), before every decision that may start a
    job; "arrival", once, so that a key may depend on nothing but its own job; or an interval such as
    "360s", at its multiples, and newcomers wait behind the others until then.
    """

    name: str = ""
    """What results call the policy; the name of the class if empty."""
    when: str | float = "event"
    oracle: bool = False
    """The policy may see `duration_s`, the true run times. Results say so."""
    places_anywhere: bool = False
    """`place` returns GPUs whenever enough are free: reservations then count GPUs, which is fast."""
    order: Any = "fifo"
    select: Any = "prefix"
    place: Any = "packed"
    preempt: Any = None
    size: Any = "fixed"
    """By name: "fixed", as many GPUs as requested, "edf" or "max-marginal"."""


def name_of(policy: Policy | PluginPolicy | str) -> str:
    if isinstance(policy, str):
        return policy
    return policy.name or type(policy).__name__


def stated_by(policy: Policy) -> dict[str, object]:
    """What the core must know of a policy. Errors: LabError."""
    name = name_of(policy)
    if not isinstance(name, str):
        raise _core.LabError(f"name = {name!r} of {type(policy).__name__}: it must be a text")
    methods = [each for each in METHODS if callable(getattr(policy, each))]
    parts = []
    for each in METHODS:
        value = getattr(policy, each)
        if callable(value):
            continue
        if value is None and each == "preempt":
            continue
        kind = _core.part_kind(value) if isinstance(value, str) else ""
        if kind != _KINDS[each]:
            raise _core.LabError(f"policy {name}: {each} = {value!r} is neither a method nor a part of "
                                 f"the kind {_KINDS[each]} (goban policies lists them)")
        parts.append(value)
    if "preempt" in methods:
        parts.append("sticky")
    when = policy.when
    every_s = 0.0
    if when not in ("event", "arrival"):
        every_s = seconds(when)
        if not 0 < every_s < 4e9:
            raise _core.LabError(f"policy {name}: when = {when!r} must be \"event\", \"arrival\" or an "
                                 "interval such as \"360s\"")
    return {"name": name, "parts": "+".join(parts) or "fifo", "methods": methods, "when": str(when),
            "every_s": every_s, "places_anywhere": bool(policy.places_anywhere),
            "oracle": bool(policy.oracle)}

"""lab.env(): the simulator as an environment of gymnasium."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._core import Cluster, LabError
from .traces import Trace


def env(jobs: Trace | Callable[[int], Trace], cluster: Cluster, *, slots: int = 32, num_envs: int | None = None,
        policy: str = "fifo+packed", restart_cost_s: float | None = None) -> Any:
    """A gymnasium.Env, or with `num_envs` a gymnasium.vector.VectorEnv that steps so many at once.

    A step is a decision: action i starts the job in slot i, action `slots` waits for the next arrival or
    end. The slots are the first waiting jobs in the order of `policy`, which also places them; there is a
    decision wherever one of them fits the free GPUs. Invalid actions wait; the valid ones are in
    info["action_mask"] and action_masks(). Where waiting would last for ever it is invalid, and starts
    the first job that fits.

    Observed are "queue", a row for each slot with GPUs, estimate_s and wait_s (zeros: empty), and "free",
    the free GPUs of each node. The reward is minus the hours that jobs spent in the system since the last
    step, divided by the number of jobs: over an episode it sums to minus the mean JCT in hours. `jobs` may
    be a function from seed to trace, which is called for every episode.

    Errors: LabError without gymnasium, for other options, and for a policy that preempts.
    """
    try:
        from .environments import SchedulingEnv, SchedulingVectorEnv
    except ImportError as error:
        if error.name != "gymnasium":
            raise
        raise LabError("lab.env() requires gymnasium: pip install gymnasium") from None
    if not 1 <= slots <= 4096:
        raise LabError(f"slots = {slots}: it must be between 1 and 4096")
    if num_envs is None:
        return SchedulingEnv(jobs, cluster, slots, policy, restart_cost_s)
    if num_envs < 1:
        raise LabError(f"num_envs = {num_envs}: it must be at least 1")
    return SchedulingVectorEnv(jobs, cluster, num_envs, slots, policy, restart_cost_s)

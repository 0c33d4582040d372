"""The simulator as environments of gymnasium. Imported by lab.env(), since gymnasium is optional."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy
from gymnasium import spaces
from numpy.typing import NDArray

from . import _core
from ._core import Cluster
from .traces import Trace

Jobs = Trace | Callable[[int], Trace]
Observation = dict[str, NDArray[numpy.float32]]


class _Episodes:
    """Episodes and the arrays in which they are observed."""

    def __init__(self, jobs: Jobs, cluster: Cluster, count: int, slots: int, policy: str,
                 restart_cost_s: float | None) -> None:
        self.jobs = jobs
        self.core = _core.Episodes(count, slots, cluster, policy, restart_cost_s)
        arrays = self.core.arrays()
        self.queue: NDArray[numpy.float32] = arrays["queue"]
        self.free: NDArray[numpy.float32] = arrays["free"]
        self.mask: NDArray[numpy.int8] = arrays["mask"]
        self.reward: NDArray[numpy.float64] = arrays["reward"]
        self.ended: NDArray[numpy.uint8] = arrays["ended"]
        shape = (slots, self.queue.shape[2])
        self.observation_space: Any = spaces.Dict({
            "queue": spaces.Box(0, numpy.inf, shape, numpy.float32),
            "free": spaces.Box(0, float(cluster.node_gpus.max()), (cluster.nodes,), numpy.float32)})
        self.action_space: Any = spaces.Discrete(slots + 1)

    def begin(self, index: int, random: numpy.random.Generator) -> None:
        seed = int(random.integers(2**31))
        trace = self.jobs if isinstance(self.jobs, Trace) else self.jobs(seed)
        if len(trace) == 0:
            raise _core.LabError("the trace of an episode has no jobs")
        self.core.begin(index, trace._core, seed)


class SchedulingEnv(gymnasium.Env[Observation, numpy.int64]):
    """A scheduler's decisions as an environment; lab.env() makes it and says what is observed."""

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(self, jobs: Jobs, cluster: Cluster, slots: int, policy: str,
                 restart_cost_s: float | None) -> None:
        self._episodes = _Episodes(jobs, cluster, 1, slots, policy, restart_cost_s)
        self.observation_space = self._episodes.observation_space
        self.action_space = self._episodes.action_space

    def reset(self, *, seed: int | None = None,
              options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        self._episodes.begin(0, self.np_random)
        return self._observation(), self._info()

    def step(self, action: numpy.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        self._episodes.core.step(0, int(action))
        return (self._observation(), float(self._episodes.reward[0]), bool(self._episodes.ended[0]), False,
                self._info())

    def action_masks(self) -> NDArray[numpy.int8]:
        """1 for each action that is valid now; also in info["action_mask"]."""
        mask: NDArray[numpy.int8] = self._episodes.mask[0]
        return mask.copy()

    def _observation(self) -> Observation:
        return {"queue": self._episodes.queue[0].copy(), "free": self._episodes.free[0].copy()}

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks(), "now_s": self._episodes.core.now_s(0)}


class SchedulingVectorEnv(gymnasium.vector.VectorEnv[Observation, NDArray[numpy.int64], Any]):
    """Several environments that step together; each begins anew in the step after its end."""

    metadata = {"render_modes": [],  # noqa: RUF012
                "autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}

    def __init__(self, jobs: Jobs, cluster: Cluster, count: int, slots: int, policy: str,
                 restart_cost_s: float | None) -> None:
        self._episodes = _Episodes(jobs, cluster, count, slots, policy, restart_cost_s)
        self.num_envs = count
        self.single_observation_space = self._episodes.observation_space
        self.single_action_space = self._episodes.action_space
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, count)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, count)
        self._randoms = [numpy.random.default_rng() for _ in range(count)]
        self._all = numpy.ones(count, dtype=numpy.bool_)

    def reset(self, *, seed: int | Sequence[int | None] | None = None,
              options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        if isinstance(seed, int):
            seed = [seed + i for i in range(self.num_envs)]
        for i in range(self.num_envs):
            if seed is not None and seed[i] is not None:
                self._randoms[i] = gymnasium.utils.seeding.np_random(seed[i])[0]
            self._episodes.begin(i, self._randoms[i])
        return self._observation(), self._info()

    def step(self, actions: NDArray[numpy.int64]) -> tuple[Observation, NDArray[numpy.float64],
                                                          NDArray[numpy.bool_], NDArray[numpy.bool_],
                                                          dict[str, Any]]:
        episodes = self._episodes
        ended = episodes.ended.nonzero()[0]
        episodes.core.step_all(numpy.ascontiguousarray(actions, dtype=numpy.int64))
        for i in ended.tolist():
            episodes.begin(i, self._randoms[i])
        return (self._observation(), episodes.reward.copy(), episodes.ended.astype(numpy.bool_),
                numpy.zeros(self.num_envs, dtype=numpy.bool_), self._info())

    def action_masks(self) -> NDArray[numpy.int8]:
        """A row of each environment: 1 for each action that is valid now."""
        return self._episodes.mask.copy()

    def _observation(self) -> Observation:
        return {"queue": self._episodes.queue.copy(), "free": self._episodes.free.copy()}

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks(), "_action_mask": self._all}

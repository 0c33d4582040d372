"""How far a simulated gain may be off on a real cluster."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable

import numpy

from .stats import t_quantile


def spread_of_gains(pairs: Iterable[tuple[float, float]]) -> float:
    """How far the ratio of two policies' mean JCTs on a real cluster may be off its prediction: the 95 %
    half-width of the logarithm, from pairs of predicted and real mean JCTs. The errors of policies are
    taken as independent draws of one normal distribution (Student's quantile)."""
    errors = [math.log(predicted / real) for predicted, real in pairs]
    return t_quantile(len(errors) - 1) * float(numpy.std(errors, ddof=1)) * math.sqrt(2)


def known_runs() -> dict[str, dict[str, float]]:
    """By policy: real_mean_jct_s, and predicted_mean_jct_s (real_runs.toml)."""
    # Here, for few programs need them.
    import tomllib
    from importlib import resources

    text = resources.files(__package__).joinpath("real_runs.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@functools.cache
def gain_spread() -> float:
    """spread_of_gains() of the runs that the package knows (real_runs.toml)."""
    return spread_of_gains((each["predicted_mean_jct_s"], each["real_mean_jct_s"])
                           for each in known_runs().values())


def on_a_real_cluster(gain: float, half: float = 0.0) -> tuple[float, float]:
    """The 95 % interval of a gain of mean JCT on a real cluster: of the simulated gain, whose own
    interval has this half-width, and the errors of simulated mean JCTs against real ones."""
    left = max(1 - gain, 1e-9)
    spread = math.hypot(gain_spread(), half / left)
    return 1 - left * math.exp(spread), 1 - left * math.exp(-spread)

"""Quantiles."""

from __future__ import annotations


def t_quantile(degrees: int) -> float:
    """The 97.5 % quantile of Student's distribution (Abramowitz and Stegun 26.7.5 beyond 4)."""
    exact = {1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764}
    if degrees in exact:
        return exact[degrees]
    z = 1.959963984540054
    v = degrees
    return (z + (z**3 + z) / (4 * v) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
            + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3))

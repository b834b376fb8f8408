"""Figures of several sources: combined within sources, compared in pairs, corrected for their number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from judge_audit.measures.estimates import FAULT_ERROR, NOTHING, Estimate, wilson

if TYPE_CHECKING:
    from collections.abc import Sequence


def within_sources(parts: Sequence[Estimate]) -> Estimate:
    """Combine estimates of several sources by their numbers of items: Σ a_s θ_s, V = Σ a_s² V_s."""
    known = [part for part in parts if math.isfinite(part.value)]
    n = sum(part.n for part in known)
    if not n:
        return NOTHING
    return Estimate(
        sum(part.value * part.n / n for part in known),
        sum(part.variance * (part.n / n) ** 2 for part in known),
        sum(part.df for part in known),
        n,
        sum(part.n_clusters for part in known),
    )


def difference(first: Estimate, second: Estimate) -> Estimate:
    """Subtract estimates of two sources; degrees of freedom by Welch (1947) and Satterthwaite."""
    if not (math.isfinite(first.value) and math.isfinite(second.value)):
        return NOTHING
    variance = first.variance + second.variance
    spread = first.variance**2 / max(first.df, 1) + second.variance**2 / max(second.df, 1)
    df = int(variance**2 / spread) if spread > 0 else first.df + second.df
    clusters = first.n_clusters + second.n_clusters
    return Estimate(first.value - second.value, variance, df, first.n + second.n, clusters)


def heterogeneity(parts: Sequence[Estimate]) -> tuple[float, float]:
    """Cochran's Q of estimates of several sources, and I² = 1 − (k − 1)/Q (Higgins & Thompson 2002).

    Shown, never a verdict: I² exceeds 50 % in one of six comparisons of equal sources.

    Returns:
        Q and I²; NaN if fewer than two sources have a variance.
    """
    known = [part for part in parts if math.isfinite(part.value) and part.variance > 0]
    if len(known) < 2:
        return math.nan, math.nan
    precision = np.array([1 / part.variance for part in known])
    values = np.array([part.value for part in known])
    middle = float((precision * values).sum() / precision.sum())
    q = float((precision * (values - middle) ** 2).sum())
    return q, max(0.0, 1 - (len(known) - 1) / q) if q > 0 else 0.0


def beyond(estimate: Estimate, margin: float) -> tuple[int, float]:
    """Ask whether a figure lies beyond ±margin.

    Returns:
        The side (−1 or 1) and the two-sided p: below α exactly if the interval at level 1 − α lies wholly
        beyond the margin on that side. A figure that is not usable has p = 1.
    """
    side = -1 if estimate.value < 0 else 1
    if not estimate.usable or abs(estimate.value) <= margin:
        return side, 1.0
    if estimate.variance <= 0:
        return side, 0.0
    distance = (abs(estimate.value) - margin) / math.sqrt(estimate.variance)
    return side, float(2 * stats.t.sf(distance, estimate.df))


def holm(chances: Sequence[float], error: float = FAULT_ERROR) -> list[bool]:
    """Say which of several claims stand (Holm 1979): the smallest p meets error/m, the next error/(m − 1).

    Args:
        chances: p of each claim.
        error: Chance of any wrong claim.
    """
    stands = [False] * len(chances)
    for place, index in enumerate(sorted(range(len(chances)), key=lambda at: chances[at])):
        if chances[index] > error / (len(chances) - place):
            break
        stands[index] = True
    return stands


def holm_levels(chances: Sequence[float], error: float = FAULT_ERROR) -> list[float]:
    """Give each of several claims the level at which Holm's step looks at it.

    An interval at that level leaves out nothing (0 difference) exactly if the claim stands: after the first
    that does not, all others are looked at like that one.

    Args:
        chances: p of each claim.
        error: Chance of any wrong claim.
    """
    levels = [0.0] * len(chances)
    step, stopped = 0, False
    for index in sorted(range(len(chances)), key=lambda at: chances[at]):
        each = error / (len(chances) - step)
        levels[index] = 1 - each
        stopped = stopped or chances[index] > each
        step += not stopped
    return levels


def share_difference(hits: int, n: int, other_hits: int, other_n: int, level: float) -> tuple[float, float]:
    """Give the interval of one share minus another (Newcombe 1998, method 10: two Wilson intervals)."""
    first, second = hits / max(n, 1), other_hits / max(other_n, 1)
    low, high = wilson(hits, n, level)
    other_low, other_high = wilson(other_hits, other_n, level)
    down = math.hypot(first - low, other_high - second)
    up = math.hypot(high - first, second - other_low)
    return first - second - down, first - second + up

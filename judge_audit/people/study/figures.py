"""Figures of a study: each with its interval and what it rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.measures.estimates import PASS_LEVEL, Estimate, wilson

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit.people.study.plan import Ladder


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its 90 % interval and what it rests on; None where there is none."""

    value: float | None
    low: float | None
    high: float | None
    n: int


def factor(apart: Mapping[str, Sequence[float]]) -> Figure:
    """Give the mean of differences of logarithms as a factor, its interval by clusters with Student's t."""
    means = [float(np.mean(held)) for held in apart.values()]
    n = sum(map(len, apart.values()))
    if not means:
        return Figure(None, None, None, 0)
    value = float(np.mean(means))
    if len(means) < 2:
        return Figure(math.exp(value), None, None, n)
    variance = float(np.var(means, ddof=1)) / len(means)
    estimate = Estimate(value, variance, len(means) - 1, n, len(means))
    found = estimated(value, estimate, n)
    ends = [None if end is None else math.exp(end) for end in (found.low, found.high)]
    return Figure(math.exp(value), ends[0], ends[1], n)


def estimated(value: float, estimate: Estimate, n: int) -> Figure:
    """Make a figure of an estimate; its interval is left out where it would not be honest."""
    low, high = estimate.interval(PASS_LEVEL)
    sound = math.isfinite(low) and math.isfinite(high)
    return Figure(value, low if sound else None, high if sound else None, n)


def share(hits: int, n: int) -> Figure:
    """Make a figure of a share (Wilson)."""
    if not n:
        return Figure(None, None, None, 0)
    low, high = wilson(hits, n)
    return Figure(hits / n, low, high, n)


def log_point(ladder: Ladder, strength: float) -> float:
    """Give the logarithm of a point; "never" counts as one rung beyond the last."""
    if math.isfinite(strength):
        return math.log(strength)
    last = ladder.strengths[-1]
    return math.log(last) + (math.log(last / ladder.strengths[-2]) if len(ladder.strengths) > 1 else 1.0)


def median(values: Sequence[float]) -> float | None:
    """Give the lower median, so that "never" can be one."""
    return finite(float(np.quantile(values, 0.5, method="lower"))) if values else None


def finite(value: float) -> float | None:
    """Give a number, None for "never"."""
    return value if math.isfinite(value) else None

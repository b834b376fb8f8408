"""Figures of several sources: combined within sources, compared in pairs, corrected for their number.

Two sources differ if the difference exceeds its margins by interval in lift and, in the same direction, in raw
units of the pooled robust standard deviation. In lift alone the scores may only spread differently: the same
raw response moves an image past more of its neighbours where these lie closer together.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.estimates import FAULT_ERROR, NOTHING, PASS_LEVEL, Estimate, wilson

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect in every source, in lift and in raw units of the pooled robust standard deviation."""

    name: str
    lift: Mapping[str, Estimate]
    raw: Mapping[str, Estimate]

    @property
    def whole(self) -> Estimate:
        """All sources together, by their items."""
        return within_sources(list(self.lift.values()))

    def without(self, source: str) -> Estimate:
        """All sources but one."""
        return within_sources([part for name, part in self.lift.items() if name != source])

    def drift(self, source: str) -> Estimate:
        """A source minus all others together."""
        return difference(self.lift[source], self.without(source))


@dataclass(frozen=True, slots=True)
class Contrast:
    """An effect in one source minus the same in another."""

    effect: str
    first: str
    second: str
    lift: Estimate
    raw: Estimate


@dataclass(frozen=True, slots=True)
class Stability:
    """What the contrasts say together.

    Attributes:
        verdict: Pass if every one lies inside the margin by its 90 % interval.
        apart: Contrasts that differ in lift and raw.
        spread: Contrasts that differ in lift alone: shown, no fault.
    """

    verdict: Verdict
    apart: tuple[Contrast, ...]
    spread: tuple[Contrast, ...]


def contrasts(effects: Sequence[Effect]) -> list[Contrast]:
    """List every effect × pair of sources that have it."""
    found = []
    for effect in effects:
        for first, second in itertools.combinations(effect.lift, 2):
            lift = difference(effect.lift[first], effect.lift[second])
            raw = difference(effect.raw[first], effect.raw[second])
            if math.isfinite(lift.value):
                found.append(Contrast(effect.name, first, second, lift, raw))
    return found


def compare(given: Sequence[Contrast], margin: float, raw_margin: float, families: int = 1) -> Stability:
    """Hold contrasts against the margins, corrected for their number (Holm).

    Args:
        given: The contrasts.
        margin: In lift.
        raw_margin: In robust standard deviations.
        families: How many such families are tested together.
    """
    lifts = [beyond(entry.lift, margin) for entry in given]
    raws = [beyond(entry.raw, raw_margin) for entry in given]
    both = [max(a[1], b[1]) if a[0] == b[0] else 1.0 for a, b in zip(lifts, raws, strict=True)]
    apart, in_lift = (
        tuple(
            entry
            for entry, stands in zip(given, holm([families * p for p in chances]), strict=True)
            if stands
        )
        for chances in (both, [p for _, p in lifts])
    )
    spread = tuple(entry for entry in in_lift if entry not in apart)
    ends = [entry.lift.interval(PASS_LEVEL) for entry in given]
    if apart:
        return Stability(Verdict.FAIL, apart, spread)
    calm = bool(given) and all(-margin < low and high < margin for low, high in ends)
    return Stability(Verdict.PASS if calm else Verdict.INCONCLUSIVE, (), spread)


def drifting(effect: Effect, apart: Sequence[Contrast]) -> tuple[str, ...]:
    """Name the sources that drift in an effect: those of which the contrasts that differ cannot do without.

    The source in most of them comes first; once it is left out the rest is asked again. Of two sources
    that differ from one another alone, both are named.
    """
    left = [entry for entry in apart if entry.effect == effect.name]
    named: list[str] = []
    while left:
        count = {
            source: sum(source in {entry.first, entry.second} for entry in left)
            for source in effect.lift
            if source not in named
        }
        most = max(count.values())
        leading = [source for source, times in count.items() if times == most]
        if len(leading) > 1 and len(effect.lift) > 2:
            leading = [max(leading, key=lambda source: abs(effect.drift(source).value))]
        named += leading
        left = [entry for entry in left if not {entry.first, entry.second} & set(leading)]
    return tuple(sorted(named))

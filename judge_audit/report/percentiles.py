"""Where a score is among the untouched scores of its source, and what a number means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.core.vocabulary import SMALL
from judge_audit.measures.scale import FEW_LEVELS, levels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from judge_audit.report.facts import Untouched

    Floats = NDArray[np.float64]
    Row = Mapping[str, Any]

TICKS = 8
"""About how many values a judge without a declared scale is explained by."""

GOOD = 0.8
"""The headline is the value four fifths up the scale: the 8 of a scale from 0 to 10."""


@dataclass(frozen=True, slots=True)
class Placing:
    """The untouched scores that others are placed among.

    Attributes:
        scores: Oriented scores per source (small ones pooled), sorted.
        group: Which of them a source belongs to.
        sign: 1 if higher is better, −1 if lower is.
    """

    scores: Mapping[str, Floats]
    group: Mapping[str, str]
    sign: float

    def percentile(self, value: float, source: str) -> float:
        """Share of a source's untouched scores that a raw score beats, ties counted half, in percent."""
        scores = self.scores[self.group.get(source, source)]
        return 100 * _place(scores, self.sign * value)


def _place(ordered: Floats, value: float) -> float:
    """Mid-distribution place of a value among sorted scores, in [0, 1]."""
    return sum(_counts(ordered, value)) / 2 / len(ordered)


def _counts(ordered: Floats, value: float) -> tuple[float, float]:
    """Count scores below a value, and those not above it."""
    rounded = round(value, 9)
    return (
        float(np.searchsorted(ordered, rounded, side="left")),
        float(np.searchsorted(ordered, rounded, side="right")),
    )


def placing_of(untouched: Sequence[Untouched], dimension: str, *, sign: float, smallest: float) -> Placing:
    """Gather untouched scores by source; sources with fewer than `smallest` are pooled."""
    by_source = scores_by_source(untouched, dimension, sign)
    small = [source for source, values in by_source.items() if len(values) < smallest]
    group = {source: source for source in by_source}
    if len(by_source) > 1 and small:
        pooled = [value for source in small for value in by_source.pop(source)]
        by_source[SMALL] = pooled
        group |= dict.fromkeys(small, SMALL)
    scores = {source: np.sort(np.round(values, 9)) for source, values in sorted(by_source.items())}
    return Placing(scores, group, sign)


def scores_by_source(untouched: Sequence[Untouched], dimension: str, sign: float) -> dict[str, list[float]]:
    """Gather untouched scores of a dimension by source, times a sign."""
    by_source: dict[str, list[float]] = {}
    for row in untouched:
        if row["dimension"] == dimension:
            by_source.setdefault(row["source"], []).append(sign * row["value"])
    return by_source


def meaning(placing: Placing, card: Row) -> dict[str, Any]:
    """Say what a number means: its percentile per source, for values across the scale, best first.

    Returns:
        headline (a value), headline_percentiles (per source), values (rows of value and percentiles per
        source), sources (name and n), differ (percentile points between sources at the headline).
    """
    if not placing.scores:
        return {"headline": None, "values": [], "sources": [], "headline_percentiles": {}, "differ": None}
    pooled = np.sort(np.concatenate(list(placing.scores.values())))
    low, high, step = card.get("scale_low"), card.get("scale_high"), card.get("scale_step")
    if low is not None and high is not None:
        values, headline = _declared(low, high, step), _good_end(low, high, step, placing.sign)
    else:
        values = _spread(pooled * placing.sign)
        headline = min(values, key=lambda value: abs(_place(pooled, placing.sign * value) - GOOD))
    if headline not in values:
        values = sorted({*values, headline})
    at = {source: placing.percentile(headline, source) for source in placing.scores}
    return {
        "headline": headline,
        "headline_percentiles": at,
        "differ": max(at.values()) - min(at.values()) if len(at) > 1 else None,
        "sources": [{"source": source, "n": len(scores)} for source, scores in placing.scores.items()],
        "values": [
            {
                "value": value,
                "percentiles": {source: placing.percentile(value, source) for source in placing.scores},
            }
            for value in sorted(values, key=lambda value: -placing.sign * value)
        ],
    }


def _declared(low: float, high: float, step: float | None) -> list[float]:
    """Values of a declared scale: all of them if few, else eleven from end to end."""
    count = levels(low, high, step)
    steps = count - 1 if step is not None and count is not None and count <= FEW_LEVELS else 10
    return [round(low + (high - low) * at / steps, 9) for at in range(steps + 1)] if steps else [low]


def _good_end(low: float, high: float, step: float | None, sign: float) -> float:
    """The value four fifths up towards the good end, as near as the scale's steps allow."""
    share = GOOD if sign > 0 else 1 - GOOD
    value = low + share * (high - low)
    return round(low + round((value - low) / step) * step, 9) if step else round(value, 9)


def _spread(values: Floats) -> list[float]:
    """Round values across the middle 98 % of the scores."""
    low, high = (float(edge) for edge in np.quantile(values, (0.01, 0.99)))
    return ticks(low, high, TICKS)


def ticks(low: float, high: float, count: int) -> list[float]:
    """Give about `count` round values from low to high, at least one."""
    if not high > low:
        return [low]
    raw = (high - low) / count
    power = 10 ** math.floor(math.log10(raw))
    step = min((factor * power for factor in (1, 2, 5, 10)), key=lambda size: abs(size - raw))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(at * step, 9) for at in range(first, last + 1)] or [low]


def lift(placing_scores: Floats, own: Floats, before: float, after: float) -> float:
    """Lift of one image: its place after less its place before, its own cluster left out of the reference.

    Args:
        placing_scores: All oriented untouched scores of the source, sorted.
        own: Those of the image's own cluster, sorted.
        before: Its oriented untouched score.
        after: Its oriented changed score.
    """
    rest = len(placing_scores) - len(own)
    if rest <= 0:
        return math.nan
    moved = sum(_counts(placing_scores, after)) - sum(_counts(placing_scores, before))
    same = sum(_counts(own, after)) - sum(_counts(own, before))
    return (moved - same) / 2 / rest

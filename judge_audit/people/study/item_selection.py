"""Which items to read on an axis, and how many, so that its threshold gets narrow enough."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from judge_audit.core.digests import text_digest
from judge_audit.measures.estimates import PASS_LEVEL
from judge_audit.people.zones import READ_ENOUGH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = Mapping[str, Any]

NARROW = 1.25
"""Narrow enough: the 90 % interval of an axis's typical threshold reaches no further than this factor either way."""

ASSUMED_SPREAD = 0.5
"""Spread of thresholds over items (SD of the natural logarithm) where too few are read to know: a factor of 1.6."""

KNOWN_FROM = 8
"""Items read on an axis before their own spread counts."""


def spread_of(readings: Sequence[Row], axis: str) -> float | None:
    """Give the spread of an axis's thresholds over items, from readings there are already.

    Args:
        readings: Rows of readings.
        axis: The axis.

    Returns:
        SD of the natural logarithm of each item's geometric mean point; None with fewer than `KNOWN_FROM` items.
    """
    points: dict[str, list[float]] = {}
    for row in readings:
        if row["axis"] == axis and not row["catch"] and math.isfinite(row["perceptible"]):
            points.setdefault(row["item_id"], []).append(math.log(row["perceptible"]))
    if len(points) < KNOWN_FROM:
        return None
    return float(np.std([float(np.mean(held)) for held in points.values()], ddof=1))


def half_width(spread: float, items: int) -> float:
    """Give the factor by which the 90 % interval of the typical threshold reaches up and down.

    exp(t·s/√n), s the spread on the logarithm, t Student's with n − 1 degrees of freedom.
    """
    if items < 2:
        return math.inf
    t = float(special.stdtrit(items - 1, (1 + PASS_LEVEL) / 2))
    return math.exp(t * spread / math.sqrt(items))


def items_needed(spread: float, narrow: float = NARROW) -> int:
    """Say how many items must be read on an axis: enough for a narrow interval, never fewer than `READ_ENOUGH`."""
    count = READ_ENOUGH
    while half_width(spread, count) > narrow and count < 1000:
        count += 1
    return count


def ranked(items: Sequence[Row], axis: str, seed: int, used: Mapping[str, int]) -> list[Row]:
    """Put items in the order in which they should be read on an axis.

    Every prefix is spread over sources, then clusters, then topics; among equals those read least on other axes
    come first, then the seed decides. No score is looked at.

    Args:
        items: Rows with item_id, source, cluster and topic.
        axis: The axis.
        seed: The study's seed.
        used: How many other axes each item is read on already.
    """
    left = {str(row["item_id"]): row for row in items}
    lot = {name: text_digest(str(seed), "read", axis, name) for name in left}
    counts: dict[tuple[str, Any], int] = {}

    def burden(name: str) -> tuple[int, int, int, int, str]:
        row = left[name]
        taken = (counts.get((column, row[column]), 0) for column in ("source", "cluster", "topic"))
        source, cluster, topic = taken
        return source, cluster, topic, used.get(name, 0), lot[name]

    order = []
    while left:
        row = left.pop(min(left, key=burden))
        order.append(row)
        for column in ("source", "cluster", "topic"):
            counts[column, row[column]] = counts.get((column, row[column]), 0) + 1
    return order

"""Coverage: how much of a sample of real traffic has its like among the audit's items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

STRETCHES = 10
"""Traffic is cut at its own deciles; each stretch is a tenth of it, or more where values tie."""


@dataclass(frozen=True, slots=True)
class Part:
    """One group, or one stretch of values, of the traffic.

    Attributes:
        name: The group's name, or the stretch's ends in words.
        traffic: How many rows of the sample lie in it.
        audit: How many of the audit's items.
    """

    name: str
    traffic: int
    audit: int


def by_name(traffic: Sequence[str], audit: Sequence[str]) -> list[Part]:
    """Count every group of the traffic and the audit's items in it, the largest first."""
    wanted, held = np.array(traffic, str), np.array(audit, str)
    names, counts = np.unique(wanted, return_counts=True)
    parts = [
        Part(str(name), int(count), int((held == name).sum()))
        for name, count in zip(names, counts, strict=True)
    ]
    return sorted(parts, key=lambda part: (-part.traffic, part.name))


def by_value(traffic: Floats, audit: Floats) -> list[Part]:
    """Count the stretches between the traffic's deciles and the audit's items in each, lowest first.

    A stretch is half-open, [from, to); the last one holds its end. The audit's values beyond the traffic's ends
    lie in none.
    """
    edges = np.unique(np.quantile(traffic, np.linspace(0, 1, STRETCHES + 1)))
    if len(edges) == 1:
        same = int((audit == edges[0]).sum())
        return [Part(f"{edges[0]:.3g}", len(traffic), same)]
    wanted, _ = np.histogram(traffic, edges)
    held, _ = np.histogram(audit, edges)
    return [
        Part(f"{low:.3g} to {high:.3g}", int(count), int(there))
        for low, high, count, there in zip(edges, edges[1:], wanted, held, strict=False)
    ]


def bare(parts: Sequence[Part], audited: int, thin: float) -> list[Part]:
    """Give the parts in which the audit has too little to speak of.

    Args:
        parts: Groups or stretches.
        audited: How many items the audit has in all.
        thin: A part is bare with fewer items than this share of those it would hold were the audit's mix the
            traffic's (and always with none).
    """
    total = sum(part.traffic for part in parts)
    return [
        part for part in parts if not part.audit or part.audit < thin * audited * part.traffic / max(total, 1)
    ]


def apart(parts: Sequence[Part], audited: int) -> float:
    """Give the total variation distance of the two mixes: ½ Σ |p − q|, 0 the same, 1 nothing in common.

    What the audit has outside the traffic's parts counts as apart.
    """
    total = sum(part.traffic for part in parts)
    if not total or not audited:
        return float("nan")
    outside = (audited - sum(part.audit for part in parts)) / audited
    return 0.5 * (outside + sum(abs(part.traffic / total - part.audit / audited) for part in parts))

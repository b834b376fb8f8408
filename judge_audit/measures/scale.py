"""Where scores pile up on a scale, and whether its ends are ever reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FEW_LEVELS = 11
"""Up to this many attainable values the bins are the values; beyond it there are ten bins."""

COARSE_LEVELS = 5
"""With fewer attainable values a pile in two bins says nothing."""

BINS = 10


@dataclass(frozen=True, slots=True)
class Pile:
    """The largest mass in any window two bins wide.

    Attributes:
        low: Where the window begins.
        high: Where it ends (not included).
        hits: Scores inside.
        n: Scores in all.
    """

    low: float
    high: float
    hits: int
    n: int

    @property
    def share(self) -> float:
        """Share of the scores inside."""
        return self.hits / self.n


def levels(low: float, high: float, step: float | None) -> int | None:
    """Count the attainable values of a declared scale; None for a continuous one."""
    return None if step is None else round((high - low) / step) + 1


def bin_width(low: float, high: float, step: float | None) -> float:
    """Give a bin's width: the step if there are few levels, else a tenth of the declared scale."""
    count = levels(low, high, step)
    if step is not None and count is not None and count <= FEW_LEVELS:
        return step
    return (high - low) / BINS


def last_end(low: float, high: float, step: float | None) -> float | None:
    """Give the upper end of the last of ten bins, which belongs to it; None where the bins are the values."""
    count = levels(low, high, step)
    return None if count is not None and count <= FEW_LEVELS else high


def pile(values: Floats, width: float, top: float | None = None) -> Pile:
    """Find the largest mass in any half-open window [a, a + 2·width), sliding over all positions.

    Fixed bin edges understate a pile; a closed window on integers would hold three values. Only the window
    that ends at the upper end of a scale cut into ten holds that end too, as the last bin does: a 10 on a
    scale from 0 to 10 would otherwise lie in no bin.

    Args:
        values: Scores, shape (n,), n ≥ 1.
        width: A bin's width.
        top: Upper end of a scale cut into ten bins, None where the bins are the values.
    """
    ordered = np.sort(np.round(values, 9))
    beyond = np.round(ordered + 2 * width, 9)
    ends = np.searchsorted(ordered, beyond, side="left")
    if top is not None:
        ends[beyond == np.round(top, 9)] = np.searchsorted(ordered, np.round(top, 9), side="right")
    counts = ends - np.arange(len(ordered))
    best = int(np.argmax(counts))
    return Pile(float(ordered[best]), float(ordered[best] + 2 * width), int(counts[best]), len(ordered))


def distinct(values: Floats) -> tuple[int, float]:
    """Count distinct scores, and the share of the most frequent one."""
    _, counts = np.unique(np.round(values, 9), return_counts=True)
    return len(counts), float(counts.max() / counts.sum())


def tied_share(values: Floats) -> float:
    """Share of pairs of scores that are equal (Simpson's index without replacement); 1 with fewer than two."""
    if len(values) < 2:
        return 1.0
    _, counts = np.unique(np.round(values, 9), return_counts=True)
    return float((counts * (counts - 1)).sum() / (len(values) * (len(values) - 1)))

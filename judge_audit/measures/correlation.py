"""Correlations of two columns, on a sample and on weighted resamples of it at once.

Values are rounded to 1e-9 before they are ranked: ties would otherwise depend on the machine. Undefined is
NaN, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from judge_audit.measures.lifts import rounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]

FEW_LEVELS = 24
"""A column with more distinct values than this is as good as continuous."""


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A column prepared for ranking under any weights.

    Attributes:
        index: Level of each item, lowest first, shape (n,).
        count: Number of levels, K.
        order: Items sorted by level.
        starts: Where each level begins in that order, shape (K,).
        ascending: Whether every item is a level of its own, and they stand in order: nothing need be moved.
    """

    index: Ints
    count: int
    order: Ints
    starts: Ints
    ascending: bool

    def totals(self, weights: Floats) -> Floats:
        """Add up the weights (n, B) of each level: (K, B)."""
        if self.ascending:
            return weights
        return np.asarray(np.add.reduceat(weights[self.order], self.starts, axis=0))

    def of_items(self, levels: Floats) -> Floats:
        """Give each item what belongs to its level: (K, B) to (n, B)."""
        return levels if self.ascending else levels[self.index]


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Where the levels of a column stand under weights.

    Attributes:
        totals: Weight of each level, shape (K, B).
        values: Middle rank of each level about the mean rank, shape (K, B).
    """

    totals: Floats
    values: Floats

    @property
    def squares(self) -> Floats:
        """Sum of squares, shape (B,)."""
        return np.asarray(np.einsum("kb,kb,kb->b", self.totals, self.values, self.values))


def column(values: Floats) -> Column:
    """Prepare finite values, shape (n,)."""
    levels, index = np.unique(rounded(values), return_inverse=True)
    order = np.argsort(index, kind="stable")
    starts = np.searchsorted(index[order], np.arange(len(levels)))
    ascending = bool(np.array_equal(index, np.arange(len(levels))))
    return Column(index.astype(np.intp), len(levels), order, starts, ascending)


def places(weights: Floats, held: Column) -> Places:
    """Give middle ranks of a column's levels under weights (n, B); ties share their middle rank."""
    totals = held.totals(weights)
    reached = totals.cumsum(axis=0)
    return Places(totals, reached - totals / 2 - reached[-1:] / 2)


def product_moment(weights: Floats, first: Floats, second: Floats) -> Floats:
    """Correlate values (n,) under weights (n, B) as they are (Pearson): (B,); NaN if one does not vary."""
    whole = weights.sum(axis=0)
    x, y = first - first.mean(), second - second.mean()
    with np.errstate(invalid="ignore", divide="ignore"):
        mean_x, mean_y = x @ weights / whole, y @ weights / whole
    cross = (x * y) @ weights - whole * mean_x * mean_y
    return _ratio(cross, (x * x) @ weights - whole * mean_x**2, (y * y) @ weights - whole * mean_y**2)


def spearman(weights: Floats, first: Column, second: Column) -> Floats:
    """Rank correlation with ties (Spearman 1904) under weights (n, B): (B,); NaN if one does not vary."""
    return along(weights, first, places(weights, first), second, places(weights, second))


def along(weights: Floats, first: Column, x: Places, second: Column, y: Places) -> Floats:
    """Correlate the places of two columns' levels; both are about their means already."""
    cross = np.einsum("ib,ib,ib->b", weights, first.of_items(x.values), second.of_items(y.values))
    return _ratio(cross, x.squares, y.squares)


def _ratio(cross: Floats, first: Floats, second: Floats) -> Floats:
    """Divide a sum of products by the root of two sums of squares; NaN where one is nothing but rounding."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found = cross / np.sqrt(first * second)
    tiny = (first <= 1e-12) | (second <= 1e-12)
    return np.where(tiny, np.nan, np.clip(found, -1.0, 1.0))


def correlation(first: Floats, second: Floats, method: str = "spearman") -> float:
    """Correlate two columns over the items where both are there.

    Args:
        first: Shape (n,), NaN where missing.
        second: The same.
        method: `spearman`, `pearson` or `kendall` (τ_b).

    Returns:
        The correlation; NaN if a column does not vary.
    """
    known = np.isfinite(first) & np.isfinite(second)
    x, y = rounded(first[known]), rounded(second[known])
    if len(x) < 2 or x.min() == x.max() or y.min() == y.max():
        return float("nan")
    if method == "kendall":
        return float(stats.kendalltau(x, y).statistic)
    one = np.ones((len(x), 1))
    if method == "pearson":
        return float(product_moment(one, first[known], second[known])[0])
    return float(spearman(one, column(x), column(y))[0])


def cut(weights: Floats, judge: Column, rater: Column) -> Places:
    """Cut a judge to a rater's level shares: its lowest items get the rater's lowest level, and so on.

    Granularity alone would otherwise decide who agrees better. A tie of the judge that lies across a boundary
    is split by rank: it gets the mean of the levels over the ranks it spans, so that neither the order of
    items nor a draw decides. By simulation this is even: a further rater with shifted thresholds comes out
    within .006 of the others, a whole-number score of equal noise up to .024 above them. Dealing the tied items
    to the levels at random puts the same rater .03 to .09 below. A rater with more levels than `FEW_LEVELS` is
    ranked finely enough as it is.

    Returns:
        Places of the judge's levels: middle ranks of the rater's.
    """
    if rater.count > FEW_LEVELS:
        return places(weights, judge)
    target = places(weights, rater)
    totals = judge.totals(weights)
    reached = totals.cumsum(axis=0)
    ends = np.zeros((judge.count + 1, weights.shape[1]))
    start = np.zeros(weights.shape[1])
    for level in range(rater.count):
        width = target.totals[level]
        ends[1:] += target.values[level] * np.clip(reached - start, 0.0, width)
        start += width
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.diff(ends, axis=0) / totals
    return Places(totals, np.where(totals > 0, values, 0.0))

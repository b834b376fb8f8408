"""Figures with the pull of every cluster on them: intervals without draws, and of differences too.

The pull of a cluster is the derivative of a figure with respect to the cluster's weight (for some figures the
change on leaving it out, which is the same to first order). The variance of a figure is that of the sum of
pulls of clusters drawn within their sources (infinitesimal jackknife: Jaeckel 1972; linearisation of
stratified cluster samples: Woodruff 1971). Pulls of two figures on the same clusters can be added and
subtracted, so the interval of a difference needs nothing more. It costs one pass over the ratings, has no
seed, and holds for any number of claims, where percentiles of draws need 40·m/0.05 of them.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.measures.estimates import NOTHING, Estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Clusters:
    """The sampling units that all figures of a table share.

    Attributes:
        of_item: Cluster of each item, numbers 0 … C−1, shape (n,).
        sources: Source of each cluster, shape (C,).
    """

    of_item: Ints
    sources: Ints

    @property
    def count(self) -> int:
        """C."""
        return len(self.sources)


@dataclass(frozen=True, slots=True)
class Figure:
    """A statistic with what its interval needs.

    Attributes:
        value: The statistic; NaN if it is undefined.
        pulls: Pull of each cluster that has a part in it, shape (k,).
        places: These clusters, ascending, shape (k,).
        clusters: The clusters of the table.
        n: Items behind it.
        why: If undefined, why: no_overlap, one_value, constant; else empty.
    """

    value: float
    pulls: Floats
    places: Ints
    clusters: Clusters
    n: int
    why: str = ""

    @property
    def defined(self) -> bool:
        """Whether there is a number."""
        return math.isfinite(self.value)

    def scaled(self, factor: float, value: float) -> Figure:
        """Give a function of the figure, by its slope and its value."""
        return Figure(value, factor * self.pulls, self.places, self.clusters, self.n)

    def estimate(self, extra_variance: float = 0.0) -> Estimate:
        """Give value, variance and degrees of freedom.

        V = Σ_s k_s/(k_s − 1)·Σ_c (pull − mean of the source)², df = Σ (k_s − 1), k_s the clusters of a
        source; sources with a single cluster count as one source together.

        Args:
            extra_variance: Added to V: what has not been seen yet.
        """
        if not self.defined:
            return NOTHING
        sources = self.clusters.sources[self.places]
        counts = np.bincount(sources, minlength=1)
        sources = np.where(counts[sources] == 1, len(counts), sources)
        counts = np.bincount(sources, minlength=1)
        known = counts > 1
        means = np.bincount(sources, self.pulls, len(counts)) / np.maximum(counts, 1)
        squares = np.bincount(sources, (self.pulls - means[sources]) ** 2, len(counts))
        variance = float((squares[known] * counts[known] / (counts[known] - 1)).sum())
        df = int((counts[known] - 1).sum())
        return Estimate(self.value, variance + extra_variance, df, self.n, len(self.pulls))


def undefined(clusters: Clusters, why: str) -> Figure:
    """Give the figure that is no number, and say why."""
    return Figure(math.nan, np.zeros(0), np.zeros(0, np.intp), clusters, 0, why)


def figure(value: float, pulls: Floats, items: Ints, clusters: Clusters) -> Figure:
    """Gather the pulls of items into a figure.

    Args:
        value: The statistic.
        pulls: Pull of each item, shape (k,).
        items: Which items, distinct numbers, shape (k,).
        clusters: Their clusters.
    """
    places, own = np.unique(clusters.of_item[items], return_inverse=True)
    gathered = np.bincount(own, pulls, len(places)).astype(float)
    return Figure(float(value), gathered, places, clusters, len(items))


def left_out(
    statistic: Callable[[Floats], Floats], contributions: Floats, items: Ints, clusters: Clusters
) -> list[Figure]:
    """Make figures of a function of a few sums, by leaving out one cluster after the other.

    Args:
        statistic: Turns sums, shape (…, q), into p figures, shape (…, p).
        contributions: What each item adds to the sums, shape (k, q).
        items: Which items, distinct numbers, shape (k,).
        clusters: Their clusters.
    """
    places, own = np.unique(clusters.of_item[items], return_inverse=True)
    sums = np.zeros((len(places), contributions.shape[1]))
    np.add.at(sums, own, contributions)
    total = sums.sum(axis=0)
    values, without = statistic(total), statistic(total - sums)
    sources = clusters.sources[places]
    counts = np.bincount(sources, minlength=1)[sources]
    found = []
    for value, rest in zip(values, without.T, strict=True):
        if not (np.isfinite(value) and np.isfinite(rest).all()):
            found.append(undefined(clusters, "constant"))
            continue
        pulls = (value - rest) * (counts - 1) / counts
        found.append(Figure(float(value), pulls, places, clusters, len(items)))
    return found


def combined(figures: Sequence[Figure], weights: Sequence[float]) -> Figure:
    """Add up figures on the same clusters, each times its weight.

    Raises:
        ValueError: If there are none, or one is undefined.
    """
    if not figures or not all(one.defined for one in figures):
        raise ValueError("only figures that are defined can be added up.")
    clusters = figures[0].clusters
    pulls, held = np.zeros(clusters.count), np.zeros(clusters.count, bool)
    for one, weight in zip(figures, weights, strict=True):
        pulls[one.places] += weight * one.pulls
        held[one.places] = True
    value = sum(weight * one.value for one, weight in zip(figures, weights, strict=True))
    return Figure(float(value), pulls[held], np.flatnonzero(held), clusters, max(one.n for one in figures))


def averaged(figures: Sequence[Figure]) -> Figure | None:
    """Give the plain mean of the figures that are defined; None if none is."""
    known = [one for one in figures if one.defined]
    return combined(known, [1 / len(known)] * len(known)) if known else None


def within_sources(figures: Sequence[Figure]) -> Figure | None:
    """Combine one figure per source by their numbers of items, those that are undefined left out."""
    known = [one for one in figures if one.defined]
    if not known:
        return None
    n = sum(one.n for one in known)
    return dataclasses.replace(combined(known, [one.n / n for one in known]), n=n)

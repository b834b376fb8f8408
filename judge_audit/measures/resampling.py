"""Bootstrap by cluster within source: every figure of one source is computed on the same resamples.

A resample is a weight per item: how often its cluster was drawn. Figures take weights of shape (n, draws) and
give a value per draw, so that differences and ratios of figures are differences and ratios draw by draw. Items
that are alike in every column are one kind with their weights added up: scores on few levels cost little.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from judge_audit.measures.estimates import FAULT_ERROR, MIN_CLUSTERS, MIN_DF, Estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]

FEWEST_DRAWS = 2_000

TAIL_DRAWS = 40
"""Draws wanted per claim and chance of error, so that a corrected limit rests on some draws beyond it."""

CHUNK = 200_000
"""Weights held at once."""

MOST_UNDEFINED = 0.05
"""With a larger share of draws in which a figure is undefined there is no interval."""


@dataclass(frozen=True, slots=True, eq=False)
class Resampled:
    """A figure with its values on resamples.

    Attributes:
        value: The figure; NaN if undefined.
        replicates: Its value on each resample, deviations widened by √(C/(C − 1)), shape (draws,).
        n: Items behind it.
        n_clusters: Clusters behind it.
        df: Degrees of freedom: clusters less sources.
    """

    value: float
    replicates: Floats
    n: int
    n_clusters: int
    df: int

    @property
    def usable(self) -> bool:
        """Whether there are enough clusters, and enough draws with a value, for an interval to be honest."""
        if not math.isfinite(self.value) or self.n_clusters < MIN_CLUSTERS or self.df < MIN_DF:
            return False
        return len(self.replicates) > 0 and float(np.isnan(self.replicates).mean()) <= MOST_UNDEFINED

    def interval(self, level: float) -> tuple[float, float]:
        """Give the percentile interval, its half-widths × t/z; infinite if not usable."""
        if not self.usable:
            return -math.inf, math.inf
        upper = (1 + level) / 2
        ratio = float(special.stdtrit(self.df, upper)) / float(special.ndtri(upper))
        ends = np.nanquantile(self.replicates, [1 - upper, upper])
        low, high = self.value + ratio * (ends - self.value)
        return min(float(low), self.value), max(float(high), self.value)

    def as_estimate(self) -> Estimate:
        """Give the figure with a variance, to plan with."""
        known = self.replicates[np.isfinite(self.replicates)]
        variance = float(known.var()) if len(known) else math.nan
        return Estimate(self.value, variance, self.df, self.n, self.n_clusters)


UNDEFINED = Resampled(math.nan, np.empty(0), 0, 0, 0)


def draws_for(claims: int) -> int:
    """Say how many resamples the corrected level of so many claims needs."""
    return max(FEWEST_DRAWS, math.ceil(TAIL_DRAWS * max(claims, 1) / FAULT_ERROR))


def alike(*columns: Floats) -> tuple[Ints, Ints]:
    """Put items that are alike in every column together.

    Args:
        columns: Shape (n,) or (n, q), NaN where missing.

    Returns:
        One item of each kind, shape (U,), and the kind of each item, numbers 0 … U−1, shape (n,).
    """
    table = np.column_stack(columns)
    _, first, kinds = np.unique(
        np.where(np.isnan(table), np.inf, table), axis=0, return_index=True, return_inverse=True
    )
    return first.astype(np.intp), kinds.reshape(-1).astype(np.intp)


def weights(clusters: Ints, kinds: Ints, draws: int, seed: int) -> Iterator[Floats]:
    """Draw resamples of clusters, as often as there are clusters, with replacement.

    Args:
        clusters: Cluster of each item, numbers 0 … C−1 all taken, shape (n,).
        kinds: Kind of each item, numbers 0 … U−1 all taken, shape (n,).
        draws: Number of resamples.
        seed: Seed.

    Yields:
        How often each kind was drawn, shape (U, some draws).
    """
    rng = np.random.default_rng(seed)
    count, width = int(clusters.max()) + 1, int(kinds.max()) + 1
    single = count == len(clusters)
    kind_of = np.empty(count, np.intp)
    kind_of[clusters] = kinds
    order = np.argsort(kinds, kind="stable")
    starts = np.searchsorted(kinds[order], np.arange(width))
    step = max(1, CHUNK // len(clusters))
    for start in range(0, draws, step):
        size = min(step, draws - start)
        drawn = rng.integers(0, count, (count, size))
        places, number = (kind_of[drawn], width) if single else (drawn, count)
        flat = (places * size + np.arange(size)).ravel()
        held = np.bincount(flat, minlength=number * size).reshape(number, size).astype(float)
        yield held if single else np.add.reduceat(held[clusters[order]], starts, axis=0)


def resample(
    figures: Callable[[Floats], Mapping[str, Floats]],
    clusters: Ints,
    kinds: Ints,
    draws: int,
    seed: int,
) -> dict[str, Resampled]:
    """Compute figures on a sample and on resamples of its clusters.

    Args:
        figures: Gives, for weights of kinds of shape (U, B), each figure's values of shape (B,).
        clusters: Cluster of each item, shape (n,).
        kinds: Kind of each item, shape (n,); items of a kind are alike in every column.
        draws: Number of resamples; 0 for the figures alone.
        seed: Seed.
    """
    numbers = np.unique(clusters, return_inverse=True)[1].astype(np.intp)
    held = figures(np.bincount(kinds)[:, None].astype(float))
    count = int(numbers.max()) + 1
    parts = [figures(part) for part in weights(numbers, kinds, draws, seed)] if count > 1 else []
    found = {}
    for name, point in held.items():
        value = float(point[0])
        drawn = np.concatenate([part[name] for part in parts]) if parts else np.empty(0)
        wide = value + (drawn - value) * math.sqrt(count / max(count - 1, 1))
        found[name] = Resampled(value, wide, len(clusters), count, count - 1)
    return found


def combined(parts: Sequence[Resampled]) -> Resampled:
    """Average a figure over sources plainly, by their numbers of items.

    Left out are sources where it is undefined, and those of one cluster, which cannot be resampled.
    """
    known = [part for part in parts if math.isfinite(part.value)]
    known = [part for part in known if len(part.replicates)] or known
    if not known:
        return UNDEFINED
    n = sum(part.n for part in known)
    replicates = np.sum([part.n / n * part.replicates for part in known], axis=0)
    return Resampled(
        sum(part.value * part.n / n for part in known),
        np.asarray(replicates, float),
        n,
        sum(part.n_clusters for part in known),
        sum(part.df for part in known),
    )


def derived(function: Callable[..., Floats], *parts: Resampled) -> Resampled:
    """Make a figure of figures that were computed on the same resamples."""
    with np.errstate(invalid="ignore", divide="ignore"):
        value = function(*(np.array([part.value]) for part in parts))
        replicates = function(*(part.replicates for part in parts))
    smallest = min(parts, key=lambda part: part.n_clusters)
    return Resampled(
        float(value[0]), np.asarray(replicates, float), smallest.n, smallest.n_clusters, smallest.df
    )

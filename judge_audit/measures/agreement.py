"""Agreement of people with people: α, Fleiss's κ, and plain agreement beside what chance gives.

All figures are made from what each item adds to a few sums, so items may be weighted, left out or drawn anew
at the price of a sum. Undefined is undefined (why stands in the figure), never 0. Values are rounded to 1e-9
before they are compared or ranked.

Krippendorff's α (Krippendorff 2004, ch. 11) is 1 − D_o/D_e over the pairable values. Its ordinal distance
(Σ n_g between c and k, ends counted half)² is the squared difference of mid-ranks, so that ordinal α is
interval α of the mid-ranks, and no table of value × value is needed, however many values there are.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.measures.influence import Clusters, Figure, combined, figure, undefined
from judge_audit.measures.lifts import rounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]
    Mask = NDArray[np.bool_]

NOMINAL, ORDINAL, INTERVAL = "nominal", "ordinal", "interval"
LEVELS = (NOMINAL, ORDINAL, INTERVAL)
"""Levels of measurement, the least demanding first."""

FEW_DISAGREE = 5
"""With fewer clusters that disagree at all, two pseudo-clusters stand for those not yet seen."""


@dataclass(frozen=True, slots=True)
class Ratings:
    """What people said of items in one dimension, one entry per rating; missing cells are not there.

    Attributes:
        items: Item of each rating, shape (N,).
        raters: Rater of each rating, shape (N,); −1 where nobody knows who.
        values: The ratings, finite, shape (N,).
        clusters: Clusters of the items.
    """

    items: Ints
    raters: Ints
    values: Floats
    clusters: Clusters

    def where(self, kept: Mask) -> Ratings:
        """Keep some ratings; items, raters and clusters keep their numbers.

        Args:
            kept: Shape (N,).
        """
        return Ratings(self.items[kept], self.raters[kept], self.values[kept], self.clusters)

    def of_items(self, chosen: Mask) -> Ratings:
        """Keep the ratings of some items.

        Args:
            chosen: Shape (n,).
        """
        return self.where(chosen[self.items])

    def counts(self) -> Ints:
        """Ratings of each item, shape (n,)."""
        return np.bincount(self.items, minlength=len(self.clusters.of_item))


def table_ratings(table: Floats, clusters: Ints | None = None, sources: Ints | None = None) -> Ratings:
    """Make ratings of a table of items × raters, NaN where missing.

    Args:
        table: Shape (n, R).
        clusters: Cluster of each item, numbers 0 … C−1, shape (n,); each item for itself if not given.
        sources: Source of each cluster, shape (C,); one source if not given.
    """
    own = np.arange(len(table)) if clusters is None else clusters
    count = int(own.max()) + 1 if len(own) else 0
    items, raters = np.nonzero(np.isfinite(table))
    given = np.zeros(count, np.intp) if sources is None else sources
    return Ratings(items, raters, table[items, raters], Clusters(own, given))


@dataclass(frozen=True, slots=True)
class Disagreement:
    """α with its two sides, per item.

    Attributes:
        alpha: The figure.
        items: The items with two ratings or more, shape (k,).
        sizes: Ratings of each, shape (k,).
        shares: Observed disagreement of each, times its ratings, over that expected by chance, shape (k,).
        clusters: Clusters of all items.
    """

    alpha: Figure
    items: Ints
    sizes: Floats
    shares: Floats
    clusters: Clusters

    @property
    def unseen(self) -> float:
        """Variance to add where hardly anything disagrees: two pseudo-clusters that disagree as chance does."""
        return _unseen(self.clusters, self.items, self.shares > 0)


def _unseen(clusters: Clusters, items: Ints, disagreeing: Mask) -> float:
    place = clusters.of_item[items]
    count = len(np.unique(place))
    few = len(np.unique(place[disagreeing])) < FEW_DISAGREE
    return 2 / ((count + 1) * (count + 2)) if few else 0.0


def departing(ratings: Ratings) -> int:
    """Count the clusters in which anybody departs from the commonest value.

    Where they are few no interval is honest: those not yet seen decide.
    """
    if not len(ratings.values):
        return 0
    levels, codes = np.unique(rounded(ratings.values), return_inverse=True)
    other = codes != np.bincount(codes, minlength=len(levels)).argmax()
    return len(np.unique(ratings.clusters.of_item[ratings.items[other]]))


def alpha(ratings: Ratings, level: str) -> Disagreement:
    """Krippendorff's α at a level of measurement.

    Args:
        ratings: The ratings; items with fewer than two enter nothing.
        level: nominal, ordinal or interval.

    Returns:
        α with the disagreement of each item; undefined where no item has two ratings (no_overlap) or all
        pairable ratings are equal (one_value).

    Raises:
        ValueError: If there is no such level.
    """
    if level not in LEVELS:
        raise ValueError(f"there is no level of measurement “{level}”; the levels are {', '.join(LEVELS)}.")
    counts = ratings.counts()
    paired = ratings.of_items(counts >= 2)
    items = np.flatnonzero(counts >= 2)
    sizes = counts[items].astype(float)
    levels, codes = np.unique(rounded(paired.values), return_inverse=True)
    if len(levels) < 2:
        nothing = undefined(ratings.clusters, "one_value" if len(items) else "no_overlap")
        return Disagreement(nothing, items, sizes, np.zeros(len(items)), ratings.clusters)
    place = np.cumsum(counts >= 2)[paired.items] - 1
    if level == NOMINAL:
        observed, moved, expected, expected_moves = _nominal(place, codes, sizes)
    else:
        sides = _squares(place, codes, sizes, levels, ranked=level == ORDINAL)
        observed, moved, expected, expected_moves = sides
    n = sizes.sum()
    total = observed.sum()
    value = 1 - (n - 1) * total / expected
    pulls = -(sizes * total + (n - 1) * moved) / expected + (n - 1) * total * expected_moves / expected**2
    shares = observed * n * (n - 1) / expected
    whole = figure(value, pulls, items, ratings.clusters)
    return Disagreement(whole, items, sizes, shares, ratings.clusters)


def _nominal(place: Ints, codes: Ints, sizes: Floats) -> tuple[Floats, Floats, float, Floats]:
    """Give per item what it adds to Σ o δ and how it moves it, Σ n n δ, and how it moves that."""
    equal = _equal(place, codes, len(sizes))
    marginal = np.bincount(codes).astype(float)
    n = sizes.sum()
    observed = (sizes**2 - equal) / (sizes - 1)
    own = np.bincount(place, marginal[codes], len(sizes))
    return observed, observed, float(n**2 - (marginal**2).sum()), 2 * n * sizes - 2 * own


def _equal(place: Ints, codes: Ints, count: int) -> Floats:
    """Sum per item the squares of how often each value was given."""
    width = int(codes.max()) + 1
    cells, times = np.unique(place * width + codes, return_counts=True)
    return np.bincount(cells // width, times.astype(float) ** 2, count).astype(float)


def _squares(
    place: Ints, codes: Ints, sizes: Floats, levels: Floats, *, ranked: bool
) -> tuple[Floats, Floats, float, Floats]:
    """Give the same for squared differences of values, or of mid-ranks, which move with the items too."""
    marginal = np.bincount(codes).astype(float)
    n, count = sizes.sum(), len(sizes)
    scores = (marginal.cumsum() - marginal / 2) / n if ranked else levels / np.ptp(levels)
    scores = scores - (marginal * scores).sum() / n
    given = scores[codes]
    first, second = np.bincount(place, given, count), np.bincount(place, given**2, count)
    observed = 2 * (sizes * second - first**2) / (sizes - 1)
    squares = float((marginal * scores**2).sum())
    moved, expected_moves = observed, 2 * (sizes * squares + n * second)
    if ranked:
        slope = 4 * (sizes[place] * given - first[place]) / (sizes[place] - 1)
        moved = moved + _through_ranks(np.bincount(codes, slope) / n, codes, place, count)
        expected_moves = expected_moves + _through_ranks(4 * marginal * scores, codes, place, count)
    return observed, moved, 2 * n * squares, expected_moves


def _through_ranks(slopes: Floats, codes: Ints, place: Ints, count: int) -> Floats:
    """Say how an item moves a sum by pushing up the mid-ranks above its values; slopes by value."""
    above = slopes[::-1].cumsum()[::-1] - slopes / 2
    return np.bincount(place, above[codes], count).astype(float)


@dataclass(frozen=True, slots=True)
class Match:
    """How often two raters of an item say the same.

    Attributes:
        share: Pairs of ratings of an item that are equal, mean over items.
        chance: Share of pairs of ratings of different items that would be: the base rate.
        kappa: Fleiss's κ, what is above chance over what could be.
        unseen: Variance to add to κ where hardly anything disagrees; as for α.
    """

    share: Figure
    chance: Figure
    kappa: Figure
    unseen: float


def match(ratings: Ratings) -> Match:
    """Plain agreement, its base rate, and Fleiss's κ (Fleiss 1971).

    Where the number of ratings varies from item to item every item counts the same, items with two or more
    for agreement and all for the base rate (Gwet 2014, ch. 2); with equal numbers this is Fleiss's formula.
    """
    counts = ratings.counts()
    items = np.flatnonzero(counts)
    sizes = counts[items].astype(float)
    pairs = sizes >= 2
    if not pairs.any():
        nothing = undefined(ratings.clusters, "no_overlap")
        return Match(nothing, nothing, nothing, 0.0)
    _, codes = np.unique(rounded(ratings.values), return_inverse=True)
    place = np.cumsum(counts > 0)[ratings.items] - 1
    equal = _equal(place, codes, len(items))[pairs]
    agreed = (equal - sizes[pairs]) / (sizes[pairs] * (sizes[pairs] - 1))
    share = figure(agreed.mean(), (agreed - agreed.mean()) / len(agreed), items[pairs], ratings.clusters)
    usual = np.bincount(codes, 1 / sizes[place]) / len(items)
    base = float((usual**2).sum())
    own = np.bincount(place, usual[codes], len(items)) / sizes
    chance = figure(base, 2 * (own - base) / len(items), items, ratings.clusters)
    unseen = _unseen(ratings.clusters, items[pairs], agreed < 1)
    if base > 1 - 1e-12:
        return Match(share, chance, undefined(ratings.clusters, "one_value"), unseen)
    both = combined([share, chance], [1 / (1 - base), -(1 - share.value) / (1 - base) ** 2])
    kappa = dataclasses.replace(both, value=(share.value - base) / (1 - base), n=share.n)
    return Match(share, chance, kappa, unseen)


def excess(found: Disagreement, chosen: Mask) -> Figure | None:
    """How much more the chosen items disagree than the others, in units of what chance would give.

    The distance and the base rate are those of all items: a group of items that are all alike has a low α
    without anybody disagreeing.

    Args:
        found: α of all items.
        chosen: Shape (n,).

    Returns:
        The difference of mean disagreements; None if α is undefined or either side has no item.
    """
    inside = chosen[found.items]
    if not found.alpha.defined or inside.all() or not inside.any():
        return None
    means, pulls = [], np.zeros(len(inside))
    for side, sign in ((inside, 1.0), (~inside, -1.0)):
        weight = found.sizes[side].sum()
        mean = found.shares[side].sum() / weight
        pulls[side] = sign * (found.shares[side] - mean * found.sizes[side]) / weight
        means.append(mean)
    return figure(means[0] - means[1], pulls, found.items, found.clusters)

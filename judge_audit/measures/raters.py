"""Rater beside rater: weighted κ, correlations, and pairs that are too much alike.

**Near-copies.** Two careful raters among sloppy ones also agree far above the others, and also depart
together from a consensus that is wrong. What tells them apart is a tetrad (Spearman 1904): if raters share
nothing but the common opinion, each to its own degree, then cov(a, b) = cov(a, c)·cov(b, d)/cov(c, d). A
careful pair keeps to that; a copy's errors are its model's errors, and the pair's covariance lies above. It
takes two other raters on the same items. With one other nothing can tell: call what the pair shares the
truth, and they are careful.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.measures.agreement import NOMINAL, ORDINAL, Ratings
from judge_audit.measures.influence import Figure, figure, left_out, undefined
from judge_audit.measures.lifts import rounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from judge_audit.measures.influence import Clusters

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]

UNWEIGHTED, LINEAR, QUADRATIC = "unweighted", "linear", "quadratic"
PEARSON, SPEARMAN = "pearson", "spearman"

MIN_OVERLAP = 3
"""Fewer common items than this give no correlation."""


def weighted_kappa(first: Floats, second: Floats, weights: str, items: Ints, clusters: Clusters) -> Figure:
    """Cohen's κ of two raters, disagreements weighted by distance of the values (Cohen 1968).

    Args:
        first: Ratings of one, shape (k,), finite.
        second: Ratings of the other on the same items.
        weights: unweighted, linear or quadratic.
        items: The items, distinct numbers, shape (k,).
        clusters: Their clusters.

    Returns:
        κ; undefined without common items (no_overlap) or if both always say the same one value (one_value).

    Raises:
        ValueError: If there are no such weights.
    """
    if not len(items):
        return undefined(clusters, "no_overlap")
    x, y = rounded(first), rounded(second)
    if weights == QUADRATIC:
        apart = (x - y) ** 2
        by_first, by_second = (_mean_square(x, y), _mean_square(y, x))
    elif weights == LINEAR:
        apart = np.abs(x - y)
        by_first, by_second = _mean_distance(x, y), _mean_distance(y, x)
    elif weights == UNWEIGHTED:
        apart = (x != y).astype(float)
        by_first, by_second = 1 - _share_equal(x, y), 1 - _share_equal(y, x)
    else:
        raise ValueError(f"there are no weights “{weights}”.")
    observed, expected = apart.mean(), by_first.mean()
    if expected < 1e-12:
        return undefined(clusters, "one_value")
    moved = observed / expected**2 * (by_first + by_second - 2 * expected) - (apart - observed) / expected
    return figure(1 - observed / expected, moved / len(x), items, clusters)


def _mean_square(values: Floats, others: Floats) -> Floats:
    """Mean squared distance of each value to all others."""
    return np.asarray((values - others.mean()) ** 2 + others.var())


def _mean_distance(values: Floats, others: Floats) -> Floats:
    """Mean distance of each value to all others."""
    ordered = np.sort(others)
    sums = np.append(0.0, ordered.cumsum())
    below = np.searchsorted(ordered, values)
    return np.asarray((values * (2 * below - len(others)) + sums[-1] - 2 * sums[below]) / len(others))


def _share_equal(values: Floats, others: Floats) -> Floats:
    """Share of others that equal each value."""
    ordered = np.sort(others)
    count = np.searchsorted(ordered, values, "right") - np.searchsorted(ordered, values)
    return np.asarray(count / len(others))


def correlation(first: Floats, second: Floats, kind: str, items: Ints, clusters: Clusters) -> Figure:
    """Correlate two columns of ratings.

    Args:
        first: Shape (k,), finite.
        second: Shape (k,), finite.
        kind: pearson, or spearman (rounded to 1e-9 before ranking, ties at their middle rank).
        items: The items, distinct numbers, shape (k,).
        clusters: Their clusters.

    Returns:
        The correlation; undefined with fewer than three items (no_overlap) or a column that is constant.
    """
    if len(items) < MIN_OVERLAP:
        return undefined(clusters, "no_overlap")
    x, y = rounded(first), rounded(second)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return undefined(clusters, "constant")
    ranked = kind == SPEARMAN
    u, v = (_middle_ranks(x), _middle_ranks(y)) if ranked else (x - x.mean(), y - y.mean())
    product, one, other = u * v, u * u, v * v
    moves = [product, one, other]
    if ranked:  # an item pushes up the ranks of all that lie above it
        moves[0] = product + _above(x, v) + _above(y, u)
        moves[1], moves[2] = one + 2 * _above(x, u), other + 2 * _above(y, v)
    scale = np.sqrt(one.mean() * other.mean())
    value = product.mean() / scale
    pulls = moves[0] / scale - value / 2 * (moves[1] / one.mean() + moves[2] / other.mean())
    return figure(float(np.clip(value, -1, 1)), (pulls - pulls.mean()) / len(x), items, clusters)


def _middle_ranks(values: Floats) -> Floats:
    """Share of all that lies below each value, ties counted half, less ½."""
    ordered = np.sort(values)
    low, high = np.searchsorted(ordered, values), np.searchsorted(ordered, values, "right")
    return np.asarray((low + high) / (2 * len(values)) - 0.5)


def _above(values: Floats, weights: Floats) -> Floats:
    """Sum the weights of all that lies above each value, ties counted half, over their number."""
    order = np.argsort(values, kind="stable")
    ordered, sums = values[order], np.append(0.0, weights[order].cumsum())
    low, high = sums[np.searchsorted(ordered, values)], sums[np.searchsorted(ordered, values, "right")]
    return np.asarray((sums[-1] - (low + high) / 2) / len(values))


def others_mean(ratings: Ratings) -> Floats:
    """Mean of what the other raters said of the same item, for each rating, shape (N,); NaN if nobody did."""
    counts = ratings.counts()
    sums = np.bincount(ratings.items, ratings.values, len(counts))
    rest = counts[ratings.items] - 1
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(rest > 0, (sums[ratings.items] - ratings.values) / rest, np.nan)


def rater_to_others(ratings: Ratings, rater: int, others: Floats, kind: str) -> Figure:
    """Correlate one rater with the mean of the others on the same items.

    Args:
        ratings: All ratings.
        rater: Number of the rater.
        others: `others_mean` of the ratings.
        kind: pearson or spearman.
    """
    own = (ratings.raters == rater) & np.isfinite(others)
    return correlation(ratings.values[own], others[own], kind, ratings.items[own], ratings.clusters)


def common(ratings: Ratings, first: int, second: int) -> tuple[Ints, Ints, Ints]:
    """Give the items that two raters both rated, and where their ratings stand."""
    mine, theirs = (np.flatnonzero(ratings.raters == rater) for rater in (first, second))
    items, at_mine, at_theirs = np.intersect1d(
        ratings.items[mine], ratings.items[theirs], assume_unique=True, return_indices=True
    )
    return items, mine[at_mine], theirs[at_theirs]


def opinions(ratings: Ratings, level: str) -> Floats:
    """Turn ratings into what pairs are compared on, centred by source and then by rater.

    Returns:
        Shape (N, D): one column per value for nominal ratings, else one, of middle ranks if ordinal. Columns
        beyond the first may be many; products are summed over them.
    """
    sources = ratings.clusters.sources[ratings.clusters.of_item[ratings.items]]
    if level == NOMINAL:
        levels, codes = np.unique(rounded(ratings.values), return_inverse=True)
        columns = np.eye(len(levels))[codes]
    else:
        column = _middle_ranks(rounded(ratings.values)) if level == ORDINAL else ratings.values
        columns = column[:, None]
    for groups in (sources, ratings.raters + 1):
        sums = np.zeros((int(groups.max(initial=0)) + 1, columns.shape[1]))
        np.add.at(sums, groups, columns)
        counts = np.maximum(np.bincount(groups, minlength=len(sums)), 1)
        columns = columns - sums[groups] / counts[groups, None]
    return columns


def pair_likeness(ratings: Ratings, columns: Floats, first: int, second: int) -> list[Figure]:
    """Compare two raters with one another, with the others, and with what the common opinion explains.

    Args:
        ratings: Ratings of named raters.
        columns: Their `opinions`.
        first: Number of one rater.
        second: Number of the other.

    Returns:
        On the items that two others rated too: the pair's correlation; how far it lies above that of the two
        with single others; how far above cov(a, others)·cov(b, others)/cov(other, other), the tetrad; and
        that over what the tetrad leaves open, minus ½ of it. Where no item has two others, only the first two
        are defined.
    """
    items, one, two = common(ratings, first, second)
    counts = ratings.counts()[items] - 2
    deep = counts >= (2 if (counts >= 2).any() else 1)
    items, one, two, counts = items[deep], one[deep], two[deep], counts[deep]
    if len(items) < MIN_OVERLAP:
        return [undefined(ratings.clusters, "no_overlap")] * 5
    width = len(ratings.clusters.of_item)
    totals = np.zeros((len(items), 7))
    for column in columns.T:
        x, y = column[one], column[two]
        sums = np.bincount(ratings.items, column, width)[items] - x - y
        squares = np.bincount(ratings.items, column**2, width)[items] - x**2 - y**2
        totals += _products(x, y, sums, squares, counts.astype(float))
    return left_out(_likeness, totals, items, ratings.clusters)


def _products(x: Floats, y: Floats, sums: Floats, squares: Floats, counts: Floats) -> Floats:
    """Products of a pair's and the others' deviations from their means, shape (k, 7)."""
    mean = sums / counts
    a, b, rest = (part - part.mean() for part in (x, y, mean))
    shift = mean - rest
    square = squares / counts - 2 * shift * mean + shift**2
    with np.errstate(invalid="ignore", divide="ignore"):
        mixed = (counts * rest**2 - square) / (counts - 1)
    mixed = np.where(counts > 1, mixed, 0.0)  # sums to 0 exactly where nobody has two others
    return np.column_stack([a * a, b * b, a * b, a * rest, b * rest, mixed, square])


def _likeness(sums: Floats) -> Floats:
    """Turn the seven sums into the five figures."""
    aa, bb, ab, ao, bo, oo, single = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = np.sqrt(aa * bb)
        pair = ab / scale
        lead = pair - (ao / np.sqrt(aa * single) + bo / np.sqrt(bb * single)) / 2
        explained = np.where(oo > 0, ao * bo / (oo * scale), np.nan)
        others = np.where(oo == 0, np.nan, oo / single)
    return np.stack([pair, lead, pair - explained, pair - (1 + explained) / 2, others], -1)

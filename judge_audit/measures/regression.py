"""Covariate regression: how much of a judge's order within a source surface statistics alone explain.

Scores and statistics are turned into normal scores within their source, Φ⁻¹ of the mid-distribution function
(van der Waerden 1952). The figures are then the same under any monotone rescaling of the judge, and of any
statistic (a logarithm more or less is nobody's finding); a judge that only echoes a statistic is explained
wholly, where plain percentiles would stop at 3/π; and no outlier has leverage. Only monotone, additive
dependence is seen, so the share is a lower bound.

Estimates rest on the delete-a-group jackknife: clusters are left out one by one (dealt into groups if there
are many), everything is computed anew, ranks included. The replicates give the variance and, for shares of
variance, the bias (Quenouille 1956), so that pure noise is explained by about 0: R² in the sample is about
p/n for noise, more if items hang together, which an adjustment by p and n cannot know. A bootstrap is worse
here: copies of a cluster in a resample are explained by one another, and R² rises once more.

The importance of several correlated variables is computed for many correlation matrices at once. The share of a
variable is its mean gain in R² over all orders in which the variables could enter (Lindeman, Merenda & Gold 1980;
Grömping 2006, *Relative importance for linear regression in R*): the Shapley value of R². Two copies of a variable
share equally, and shares add up to R².
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from judge_audit.measures.estimates import MIN_CLUSTERS, NOTHING, Estimate
from judge_audit.measures.lifts import rounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]
    Mask = NDArray[np.bool_]

SINGULAR = 1e-9
"""Variance left below this is rounding: the variable is a copy of those before it."""


def correlations(columns: Floats, kept: Floats) -> Floats:
    """Correlate columns over the items kept.

    Args:
        columns: Shape (B, n, q).
        kept: 1 where an item counts, else 0, shape (B, n).

    Returns:
        Shape (B, q, q); rows and columns of constants are 0.
    """
    weights = kept[:, :, None]
    means = (columns * weights).sum(axis=1, keepdims=True) / weights.sum(axis=1, keepdims=True)
    centred = (columns - means) * weights
    products = np.matmul(centred.transpose(0, 2, 1), centred)
    spread = np.sqrt(np.einsum("bii->bi", products))
    size = np.sqrt(kept.sum(axis=1, keepdims=True))
    inverse = np.where(spread > SINGULAR * size, 1 / np.maximum(spread, SINGULAR * size), 0.0)
    return np.asarray(products * inverse[:, :, None] * inverse[:, None, :])


def explained_by_subsets(matrices: Floats) -> Floats:
    """R² of every subset of the statistics, by the tree of Schur complements.

    At each step the first statistic left is either dropped or swept out of all that is left; at the end what
    is left of the last variable's variance is 1 − R². All subsets together cost as much as a few fits.

    Args:
        matrices: Correlations of p statistics and, last, the scores, shape (B, p + 1, p + 1).

    Returns:
        Shape (B, 2^p); bit k of the position counted from the highest is statistic k.
    """
    left = matrices[:, None]
    while left.shape[-1] > 1:
        pivot = left[:, :, 0, 0]
        sound = pivot > SINGULAR
        inverse = np.where(sound, 1 / np.where(sound, pivot, 1.0), 0.0)
        row = left[:, :, 0, 1:]
        rest = left[:, :, 1:, 1:]
        swept = rest - (row * inverse[..., None])[..., :, None] * row[..., None, :]
        left = np.stack([rest, swept], axis=2).reshape(len(rest), -1, *rest.shape[2:])
    return np.asarray(matrices[:, None, -1, -1] - left[:, :, 0, 0])


def mean_gains(explained: Floats) -> Floats:
    """Average each statistic's gain in R² over all orders of entry.

    Args:
        explained: R² of every subset, shape (B, 2^p), as `explained_by_subsets` gives it.

    Returns:
        Shape (B, p).
    """
    count = explained.shape[1].bit_length() - 1
    subsets = np.arange(explained.shape[1])
    sizes = np.array([int(subset).bit_count() for subset in subsets])
    gains = []
    for feature in range(count):
        bit = 1 << (count - 1 - feature)
        without = subsets[(subsets & bit) == 0]
        size = sizes[without]
        orders = special.factorial(size) * special.factorial(count - 1 - size) / special.factorial(count)
        gains.append((explained[:, without | bit] - explained[:, without]) @ orders)
    return np.stack(gains, axis=1)


def least_squares(matrices: Floats) -> Floats:
    """Weights of the last variable on the others; of copies, the smallest ones.

    Args:
        matrices: Correlations, or products about the means, shape (B, p + 1, p + 1).

    Returns:
        Shape (B, p).
    """
    inverse = np.linalg.pinv(matrices[:, :-1, :-1], rcond=SINGULAR, hermitian=True)
    return np.asarray(np.einsum("bij,bj->bi", inverse, matrices[:, :-1, -1]))


MOST_GROUPS = 120
"""More clusters than these are dealt into groups that are left out together."""

MOST_FEATURES = 14
"""All subsets are tried: 2^14 regressions per replicate are still quick."""

CLUSTERS_PER_FEATURE = 3
"""Fewer clusters than this for each statistic and the intercept cannot carry a regression."""

FEW_OTHERS = 5
"""A statistic that departs from its commonest value in fewer clusters is as good as constant."""

LIFT_PER_WEIGHT = 1 / (2 * math.sqrt(math.pi))
"""Mean density E φ(Z): a normal score higher by a small d overtakes d times this share of the traffic."""

CHUNK = 2_000_000
"""Numbers held at once."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Untouched items of one source.

    Attributes:
        scores: Oriented scores, shape (n,), finite or ±infinity (worse or better than all others).
        features: Statistics, shape (n, p), finite.
        names: Their names.
        clusters: Cluster of each item, numbers 0 … C−1 all taken, shape (n,).
        score_unit: What a raw difference of scores is divided by.
        feature_units: What a raw difference of each statistic is divided by, shape (p,).
    """

    scores: Floats
    features: Floats
    names: tuple[str, ...]
    clusters: Ints
    score_unit: float
    feature_units: Floats


@dataclass(frozen=True, slots=True)
class Fit:
    """The regression of one source.

    Attributes:
        names: Statistics in it.
        constant: Statistics left out because they do not vary.
        explained: Share of variance explained, bias removed.
        in_sample: R² as it stands in the sample.
        shares: Share of variance of each statistic, bias removed; they add up to `explained`.
        weights: Lift per within-source standard deviation of each statistic, the others held.
        raw_weights: Score in `score_unit` per `feature_units`, by least squares on the values as they are.
    """

    names: tuple[str, ...]
    constant: tuple[str, ...]
    explained: Estimate
    in_sample: float
    shares: tuple[Estimate, ...]
    weights: tuple[Estimate, ...]
    raw_weights: tuple[Estimate, ...]


def varying(features: Floats, clusters: Ints) -> Mask:
    """Say which statistics vary: at least a few clusters depart from the commonest value.

    Args:
        features: Shape (n, p).
        clusters: Shape (n,).

    Returns:
        Shape (p,).
    """
    found = []
    for column in features.T:
        values, counts = np.unique(rounded(column), return_counts=True)
        others = rounded(column) != values[counts.argmax()]
        found.append(len(np.unique(clusters[others])) >= FEW_OTHERS)
    return np.array(found, bool)


def enough_clusters(n_clusters: int, n_features: int) -> bool:
    """Whether so many clusters can carry a regression on so many statistics."""
    return n_clusters >= max(MIN_CLUSTERS, CLUSTERS_PER_FEATURE * (n_features + 1))


def jackknife_groups(clusters: Ints, seed: int, most: int = MOST_GROUPS) -> Ints:
    """Assign clusters to at most `most` groups of about equal numbers of clusters.

    Args:
        clusters: Numbers 0 … C−1, shape (n,).
        seed: Seed of the assignment; without effect when there are no more clusters than groups.
        most: Largest number of groups.

    Returns:
        Group of each item, numbers 0 … G−1, shape (n,).
    """
    count = int(clusters.max()) + 1
    if count <= most:
        return clusters
    return np.random.default_rng(seed).permutation(count)[clusters] % most


def normal_scores(values: Floats, groups: Ints) -> Floats:
    """Turn values into normal scores, among all items and among those outside each group.

    Args:
        values: Shape (n,); ties share their middle rank.
        groups: Numbers 0 … G−1, shape (n,).

    Returns:
        Shape (G + 1, n): first among all, then without group 0, 1, …; what stands at the items of a group
        that is left out means nothing.
    """
    levels, place = np.unique(rounded(values), return_inverse=True)
    count = int(groups.max()) + 1
    held = np.zeros((count + 1, len(levels)))
    np.add.at(held, (groups + 1, place), 1.0)
    held = held.sum(axis=0) - held
    below = held.cumsum(axis=1) - held / 2
    share = below / held.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        scores = special.ndtri(share)
    return np.where(np.isfinite(scores), scores, 0.0)[:, place]


def fit(sample: Sample, *, seed: int) -> Fit | None:
    """Regress the scores of one source on its statistics.

    Args:
        sample: The source.
        seed: Seed of the assignment of clusters to groups.

    Returns:
        The fit; None if no statistic varies, the scores are constant, or there are too few clusters.

    Raises:
        ValueError: If there are more than `MOST_FEATURES` statistics.
    """
    use = varying(sample.features, sample.clusters)
    names = tuple(name for name, kept in zip(sample.names, use, strict=True) if kept)
    constant = tuple(name for name, kept in zip(sample.names, use, strict=True) if not kept)
    n_clusters = len(np.unique(sample.clusters))
    if len(names) > MOST_FEATURES:
        raise ValueError(f"{len(names)} statistics are too many; at most {MOST_FEATURES} can be tried.")
    flat = len(np.unique(rounded(sample.scores))) < 2
    if not names or flat or not enough_clusters(n_clusters, len(names)):
        return None
    groups = jackknife_groups(sample.clusters, seed)
    columns = np.column_stack([sample.features[:, use], sample.scores])
    ranked = _rank_correlations(columns, groups)
    subsets = explained_by_subsets(ranked)
    scale = np.append(sample.feature_units[use], sample.score_unit)
    raw = least_squares(_products_without(columns / np.where(scale > 0, scale, 1.0), groups))

    def estimates(replicates: Floats, *, noise: int = 0) -> tuple[Estimate, ...]:
        return tuple(jackknife(part, len(groups), n_clusters, noise=noise) for part in replicates.T)

    return Fit(
        names,
        constant,
        estimates(subsets[:, -1:], noise=len(names))[0],
        float(subsets[0, -1]),
        estimates(mean_gains(subsets), noise=1),
        estimates(LIFT_PER_WEIGHT * least_squares(ranked)),
        estimates(raw),
    )


def _rank_correlations(columns: Floats, groups: Ints) -> Floats:
    """Correlate the normal scores of columns (n, q), over all items and without each group: (G + 1, q, q)."""
    count = int(groups.max()) + 1
    scores = [normal_scores(column, groups) for column in columns.T]
    step = max(1, CHUNK // columns.size)
    left_out = np.arange(-1, count)
    found = []
    for start in range(0, count + 1, step):
        part = slice(start, start + step)
        kept = (groups[None, :] != left_out[part, None]).astype(float)
        found.append(correlations(np.stack([score[part] for score in scores], axis=2), kept))
    return np.concatenate(found)


def _products_without(columns: Floats, groups: Ints) -> Floats:
    """Sum products about the means of columns (n, q), over all items and without each group: (G + 1, q, q).

    Scores of ±infinity make their products NaN.
    """
    count = int(groups.max()) + 1
    with np.errstate(invalid="ignore"):
        centred = columns - columns.mean(axis=0)
        own = np.zeros((count + 1, columns.shape[1] + 1, columns.shape[1] + 1))
        full = np.column_stack([centred, np.ones(len(columns))])
        order = np.argsort(groups, kind="stable")
        starts = np.searchsorted(groups[order], np.arange(count))
        for first in range(full.shape[1]):
            products = full[order, first, None] * full[order]
            own[1:, first] = np.add.reduceat(products, starts, axis=0)
        left = own.sum(axis=0) - own
        sums = left[:, -1, :-1]
        return np.asarray(
            left[:, :-1, :-1] - sums[:, :, None] * sums[:, None, :] / left[:, -1, -1, None, None]
        )


def jackknife(replicates: Floats, n: int, n_clusters: int, *, noise: int = 0) -> Estimate:
    """Make an estimate of a figure and its values without each group.

    V = (G−1)/G · Σ (θ₋g − mean)², G − 1 degrees of freedom. A share of variance is a sum of squares: the bias
    b = (G−1)·(mean − θ) is what k weights of pure noise explain, and is taken off. Such noise alone varies by
    2b²/k, and V is never less: the replicates of a share that happens to lie at nought hardly move.

    Args:
        replicates: The figure among all, then without each group, shape (G + 1,).
        n: Items behind it.
        n_clusters: Clusters behind it.
        noise: k for a share of variance explained by k statistics, 0 for figures without bias.
    """
    value, without = float(replicates[0]), replicates[1:]
    if not np.isfinite(replicates).all():
        return NOTHING
    count = len(without)
    mean = float(without.mean())
    variance = (count - 1) / count * float(((without - mean) ** 2).sum())
    if noise:
        bias = (count - 1) * (mean - value)
        value -= bias
        variance = max(variance, 2 * bias**2 / noise)
    return Estimate(value, variance, count - 1, n, n_clusters)

"""Percentile lift: how much of the untouched traffic of the same source an item now overtakes.

Lift = F(y) − F(y_original), F the mid-distribution function (ties count ½) of the untouched scores of the
item's source without the item's whole cluster. It is the same under any monotone rescaling of the judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.measures.estimates import NOTHING, Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]

DECIMALS = 9
"""Scores are rounded before they are ranked: ties would otherwise depend on the machine."""

FEW_MOVED = 5
"""With fewer clusters that moved at all, two pseudo-clusters of ±½ stand for those not yet seen."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The untouched scores of one source.

    Attributes:
        values: One score per item, shape (N,), finite.
        clusters: The cluster of each as a number 0 … C−1, shape (N,).
        n_clusters: C.
        direct: Whether the scores of changed items are lifts already: preferences of a judge that compares, from
            −½ to ½ and 0 for the original. The values then rank nothing.
    """

    values: Floats
    clusters: Ints
    n_clusters: int
    direct: bool = False


@dataclass(frozen=True, slots=True)
class Lifts:
    """Lifts of some items of one source, with what a jackknife needs.

    Attributes:
        values: Lift per item, shape (n,); NaN where the item or its original has no score.
        without: The same with one cluster dropped from the reference too, shape (n, C).
        clusters: Cluster of each item, shape (n,).
    """

    values: Floats
    without: Floats
    clusters: Ints


def rounded(values: Floats) -> Floats:
    """Round scores before ranking."""
    return np.round(values, DECIMALS)


def placements(values: Floats, reference: Reference) -> Floats:
    """Count, per reference cluster, how much of it each value overtakes (ties ½).

    Args:
        values: Shape (n,).
        reference: Untouched scores.

    Returns:
        Shape (n, C): for each value and cluster, the number of its members below, plus half of those equal.
    """
    order = np.argsort(reference.clusters, kind="stable")
    sorted_values = rounded(reference.values)[order]
    starts = np.searchsorted(reference.clusters[order], np.arange(reference.n_clusters))
    own = rounded(values)[:, None]
    steps = (sorted_values < own) + 0.5 * (sorted_values == own)
    return np.add.reduceat(steps, starts, axis=1)


def lifts(values: Floats, originals: Floats, clusters: Ints, reference: Reference) -> Lifts:
    """Lift of each item over its original.

    Args:
        values: Oriented score of the changed item, shape (n,).
        originals: Oriented score of the same item untouched, shape (n,).
        clusters: The items' clusters, numbered as in the reference.
        reference: Untouched scores of the source.

    Returns:
        Lifts; NaN where either score is NaN or no other cluster is there.
    """
    if reference.direct:
        return _direct(values - originals, clusters, reference)
    return _from_gain(
        placements(values, reference) - placements(originals, reference),
        np.isnan(values) | np.isnan(originals),
        clusters,
        reference,
    )


def _direct(values: Floats, clusters: Ints, reference: Reference) -> Lifts:
    """Take preferences for lifts: they rest on no reference."""
    without = np.broadcast_to(values[:, None], (len(values), reference.n_clusters))
    return Lifts(values, without, clusters)


def _from_gain(gain: Floats, lost: NDArray[np.bool_], clusters: Ints, reference: Reference) -> Lifts:
    """Turn gains in placement per cluster (n, C) into lifts without the item's own cluster."""
    sizes = np.bincount(reference.clusters, minlength=reference.n_clusters).astype(float)
    rows = np.arange(len(clusters))
    gain = gain.copy()
    gain[rows, clusters] = 0.0
    total = gain.sum(axis=1)
    left = sizes.sum() - sizes[clusters]
    kept = left[:, None] - sizes[None, :]
    kept[rows, clusters] = left
    with np.errstate(invalid="ignore", divide="ignore"):
        values = total / left
        without = (total[:, None] - gain) / kept
    values[lost] = np.nan
    without[lost] = np.nan
    return Lifts(values, without, clusters)


def extreme_lifts(originals: Floats, clusters: Ints, reference: Reference, *, highest: bool) -> Lifts:
    """Lift an item would have had at the very top (1 − F(y₀)) or bottom (−F(y₀)) of its source.

    A preference reaches from −½ to ½.
    """
    if reference.direct:
        return _direct(np.where(np.isnan(originals), np.nan, 0.5 if highest else -0.5), clusters, reference)
    sizes = np.bincount(reference.clusters, minlength=reference.n_clusters).astype(float)
    best = np.broadcast_to(sizes if highest else np.zeros_like(sizes), (len(originals), len(sizes)))
    return _from_gain(best - placements(originals, reference), np.isnan(originals), clusters, reference)


def averaged(repeats: Sequence[Lifts]) -> Lifts:
    """Average lifts over repeats; a missing repeat is left out of its item's mean."""
    values = np.stack([part.values for part in repeats])
    without = np.stack([part.without for part in repeats])
    known = np.isfinite(values)
    count = known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(known, values, 0).sum(axis=0) / count
        mean_without = np.where(known[..., None], without, 0).sum(axis=0) / count[:, None]
    return Lifts(mean, mean_without, repeats[0].clusters)


def absolute(given: Lifts) -> Lifts:
    """Give the sizes of lifts."""
    return Lifts(np.abs(given.values), np.abs(given.without), given.clusters)


def difference(first: Lifts, second: Lifts) -> Lifts:
    """Subtract lifts of the same items."""
    return Lifts(first.values - second.values, first.without - second.without, first.clusters)


def combined_mean(parts: Sequence[Lifts], weights: Sequence[Floats] | None = None) -> Estimate:
    """Mean lift over sources, with a stratified delete-one-cluster jackknife.

    Within a source θ_s = Σ L_i / Σ t_i (t = 1 for a plain mean); over sources θ = Σ a_s θ_s with a_s the
    share of items. V = Σ a_s² [ (m−1)/m · Σ over clusters with items (θ_s(−c) − mean)² + (r−1)/r · the same
    over clusters that are only reference ], each cluster dropped both as item and as reference;
    df = Σ (m_s − 1). A source with fewer than two clusters of items is left out.

    Args:
        parts: Lifts per source.
        weights: t_i per source, shape (n,) each.

    Returns:
        The estimate; NOTHING if no source can be used.
    """
    pieces = []
    moved = 0
    for index, part in enumerate(parts):
        given = np.ones(len(part.values)) if weights is None else weights[index]
        known = np.isfinite(part.values) & np.isfinite(given)
        clusters = part.clusters[known]
        if len(np.unique(clusters)) < 2:
            continue
        moved += len(np.unique(clusters[np.abs(part.values[known]) > 0]))
        pieces.append((_source_estimate(part, known, given), known.sum(), given[known].sum()))
    if not pieces:
        return NOTHING
    n = int(sum(count for _, count, _ in pieces))
    value = sum(piece.value * count / n for piece, count, _ in pieces)
    variance = sum(piece.variance * (count / n) ** 2 for piece, count, _ in pieces)
    if moved < FEW_MOVED:
        total = sum(weight for _, _, weight in pieces)
        held = sum(piece.n_clusters for piece, _, _ in pieces)
        variance += 0.5 / ((held + 1) * (held + 2)) * (n / total) ** 2
    return Estimate(
        float(value),
        float(variance),
        sum(piece.df for piece, _, _ in pieces),
        n,
        sum(piece.n_clusters for piece, _, _ in pieces),
    )


def _source_estimate(part: Lifts, known: NDArray[np.bool_], weights: Floats) -> Estimate:
    """Estimate one source's mean with its jackknife variance."""
    values, clusters, given = part.values[known], part.clusters[known], weights[known]
    without = part.without[known]
    n_clusters = without.shape[1]
    own = np.zeros_like(without)
    own[np.arange(len(values)), clusters] = 1.0
    numerator = (without * (1 - own)).sum(axis=0)
    denominator = (given[:, None] * (1 - own)).sum(axis=0)
    with_items = np.bincount(clusters, minlength=n_clusters) > 0
    dropped = numerator / denominator
    variance = 0.0
    for group in (dropped[with_items], dropped[~with_items]):
        if len(group) > 1:
            variance += (len(group) - 1) / len(group) * float(((group - group.mean()) ** 2).sum())
    m = int(with_items.sum())
    return Estimate(float(values.sum() / given.sum()), variance, m - 1, len(values), m)

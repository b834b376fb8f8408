"""Ladders: where an item is on one (its last imperceptible rung, its strongest, the way between), and their purity.

Purity asks of each rung: did it move what it was meant to move, and what else did it move?
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.measures.estimates import NOTHING, Estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Edge:
    """The last strength of an item's ladder that nobody can see.

    Attributes:
        rung: Index into the strengths, −1 where even the weakest rung that changes a pixel is visible.
        reach: t = x/g: that strength as a share of the visible point, g the geometric mean of the last
            unnoticed and the first noticed strength (the strongest rung if never noticed).
    """

    rung: int
    reach: float


def edge(strengths: Sequence[float], inert: Sequence[bool], perceptible: float) -> Edge:
    """Find the last imperceptible rung of one item.

    Args:
        strengths: Rungs 1 … K, rising.
        inert: Whether a rung's pixels equal the original's; such rungs enter nothing.
        perceptible: The smaller of the two points at which a change is first noticed; infinite if never.
    """
    unseen = [index for index, strength in enumerate(strengths) if strength < perceptible]
    usable = [index for index in unseen if not inert[index]]
    if not usable:
        return Edge(-1, float("nan"))
    last = usable[-1]
    seen = [strength for strength in strengths if strength >= perceptible]
    point = float(np.sqrt(strengths[unseen[-1]] * seen[0])) if seen else strengths[-1]
    return Edge(last, strengths[last] / point)


def falls_steadily(scores: Floats) -> bool | None:
    """Ask whether scores along the objectionable rungs fall at least once and never rise.

    Args:
        scores: The oriented scores, the last rung before the objectionable ones first.

    Returns:
        True or False; None where the scores never change (flat) or there are fewer than two.
    """
    known = scores[np.isfinite(scores)]
    steps = np.diff(np.round(known, 9))
    if len(steps) == 0 or not steps.any():
        return None
    return bool((steps <= 0).all())


def mean_changes(changes: Floats, clusters: Sequence[tuple[str, str]]) -> list[Estimate]:
    """Estimate the mean change of each statistic.

    Args:
        changes: Change of each item's statistics, shape (items, statistics), finite.
        clusters: Source and cluster of each item.

    Returns:
        One estimate per statistic, with the stratified delete-one-cluster jackknife's variance.
    """
    return _jackknifed(changes, clusters, lambda means: means)


def leakage(changes: Floats, own: int, clusters: Sequence[tuple[str, str]]) -> list[Estimate]:
    """Estimate what an axis moves beside its own statistic: |mean change of it| / |mean change of its own|.

    Args:
        changes: Change of each item's statistics in SDs of the statistic, shape (items, statistics), finite.
        own: Place of the statistic that the axis is meant to move.
        clusters: Source and cluster of each item.

    Returns:
        One estimate per statistic (1 for its own); nothing where the axis did not move its own at all.
    """
    if not len(changes) or changes[:, own].mean() == 0:
        return [NOTHING] * changes.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        return _jackknifed(changes, clusters, lambda means: np.abs(means) / np.abs(means[..., own, None]))


def _jackknifed(
    values: Floats, clusters: Sequence[tuple[str, str]], of_means: Callable[[Floats], Floats]
) -> list[Estimate]:
    """Estimate functions of means, dropping each cluster in turn.

    V = Σ_s ((n_s − 1)/n_s)·Σ_c (θ(−c) − mean)², df = Σ_s (n_s − 1) over sources s with clusters c.
    """
    if not len(values):
        return [NOTHING] * values.shape[1]
    names = sorted(set(clusters))
    place = {name: at for at, name in enumerate(names)}
    of_item = np.array([place[name] for name in clusters])
    sums = np.zeros((len(names), values.shape[1]))
    np.add.at(sums, of_item, values)
    counts = np.bincount(of_item, minlength=len(names)).astype(float)
    whole = of_means(values.mean(axis=0))
    left = np.maximum(len(values) - counts, 1)
    without = of_means((sums.sum(axis=0) - sums) / left[:, None])
    variance = np.zeros(len(whole))
    df = 0
    for source in sorted({name[0] for name in names}):
        part = without[[at for at, name in enumerate(names) if name[0] == source]]
        variance += (len(part) - 1) / len(part) * ((part - part.mean(axis=0)) ** 2).sum(axis=0)
        df += len(part) - 1
    return [
        Estimate(float(value), float(spread), df, len(values), len(names))
        for value, spread in zip(whole, variance, strict=True)
    ]

"""Judge up, people flat: how far a judge and people each place items after optimisation above those before.

A lift is the mean place of the items after among the items before (mid-distribution, ties ½) minus ½. People say
good or bad, a judge gives many values: granularity alone would give the judge the larger lift (a judge that sees
exactly what people see has .26 beside their .17 for one standard deviation of real improvement). So the judge is cut
to people's level shares on the items before: its lowest items get people's lowest level, and so on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.measures.lifts import rounded
from judge_audit.measures.resampling import Resampled, resample

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]


def lifts_after(judge: tuple[Floats, Floats], people: tuple[Floats, Floats]) -> tuple[float, float]:
    """Give the judge's (cut to people's levels) and people's mean lift.

    Args:
        judge: Oriented scores before and after, finite, shape (n,) each.
        people: What people found before and after, shape (n,) each; larger is better.
    """
    before, after = (rounded(part) for part in people)
    n = len(before)
    ordered = np.sort(before)
    levels = _places(ordered, ordered)
    own = rounded(judge[0]), rounded(judge[1])
    reached = np.sort(own[0])
    low = np.searchsorted(reached, own[1], side="left")
    high = np.searchsorted(reached, own[1], side="right")
    summed = np.concatenate([[0.0], np.cumsum(levels)])
    tied = high > low
    between = (levels[np.clip(low - 1, 0, n - 1)] + levels[np.clip(low, 0, n - 1)]) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        cut = np.where(tied, (summed[high] - summed[low]) / (high - low), between)
    return float(cut.mean()) - 0.5, float(_places(after, ordered).mean()) - 0.5


def _places(values: Floats, ordered: Floats) -> Floats:
    """Share of sorted values that each value overtakes, ties counting ½."""
    below = np.searchsorted(ordered, values, side="left") + np.searchsorted(ordered, values, side="right")
    return np.asarray(below / (2 * len(ordered)), float)


def separation(
    judge: tuple[Floats, Floats],
    people: tuple[Floats, Floats],
    clusters: Ints,
    draws: int,
    seed: int,
) -> dict[str, Resampled]:
    """Hold the judge's lift against people's on the same pairs of items before and after.

    Args:
        judge: Oriented scores before and after, finite, shape (n,) each.
        people: What people found before and after, shape (n,) each.
        clusters: Cluster of each pair, shape (n,).
        draws: Resamples of pairs by cluster.
        seed: Seed.

    Returns:
        `judge`, `people` and `separated` (judge minus people).
    """

    def figures(weights: Floats) -> dict[str, Floats]:
        found = np.empty((2, weights.shape[1]))
        for draw in range(weights.shape[1]):
            rows = np.repeat(np.arange(len(clusters)), weights[:, draw].astype(int))
            found[:, draw] = lifts_after((judge[0][rows], judge[1][rows]), (people[0][rows], people[1][rows]))
        return {"judge": found[0], "people": found[1], "separated": found[0] - found[1]}

    return resample(figures, clusters, np.arange(len(clusters)), draws, seed)

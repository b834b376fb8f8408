"""First choices: does a judge pick what an annotator picks as often as another annotator does?

For each annotator r the reference is the choices of the *others* in the same group, the same for judge and
annotator: d_r = agree(judge, others) − agree(r, others), d = mean over r. Holding the judge against everybody's
choices would reward it for r's own part in them. Ties at the judge's top count 1/(number tied).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.measures.resampling import Resampled, resample

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]

NOBODY = -1
"""Choice of an annotator who made none in a group."""


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """Groups with people's first choices and the judge's.

    Attributes:
        picks: Number of the candidate each annotator chose, −1 for none, shape (G, R).
        judge: Share of the judge's first choice that falls on each candidate, rows summing to 1, or NaN where the
            judge chose nothing, shape (G, C).
        sizes: Candidates of each group, shape (G,).
        clusters: Cluster of each group, shape (G,).
    """

    picks: Ints
    judge: Floats
    sizes: Floats
    clusters: Ints


def agreements(given: Choices) -> tuple[Floats, Floats]:
    """Give, per group and annotator, how many of the others' choices the judge and the annotator share.

    Returns:
        Judge's and annotator's share, shape (G, R); NaN where the annotator or all others made no choice, or the
        judge made none.
    """
    groups, raters = given.picks.shape
    chose = given.picks >= 0
    counts = np.zeros(given.judge.shape)
    rows, columns = np.nonzero(chose)
    np.add.at(counts, (rows, given.picks[rows, columns]), 1.0)
    everyone = np.arange(groups)[:, None]
    safe = np.where(chose, given.picks, 0)
    others = chose.sum(axis=1, keepdims=True) - 1
    own_pick = given.judge[everyone, safe]
    with_all = (given.judge * counts).sum(axis=1, keepdims=True)
    known = chose & (others > 0) & np.isfinite(with_all)
    with np.errstate(invalid="ignore", divide="ignore"):
        judge = (with_all - own_pick) / others
        rater = (counts[everyone, safe] - 1) / others
    assert judge.shape == (groups, raters)
    return np.where(known, judge, np.nan), np.where(known, rater, np.nan)


def first_choice(given: Choices, draws: int, seed: int) -> dict[str, Resampled]:
    """Hold the judge's first choices beside annotators'.

    Args:
        given: The groups.
        draws: Resamples of groups by cluster.
        seed: Seed.

    Returns:
        `judge` and `rater` (agreement with the others' choices, mean over annotators), `beside` (judge minus
        rater) and `chance` (mean of 1/size), on the groups that two annotators chose in; empty if there is none.
    """
    judge, rater = agreements(given)
    use = np.isfinite(judge).any(axis=1)
    if not use.any():
        return {}
    judge, rater = judge[use], rater[use]
    told = np.isfinite(judge)
    above = np.where(told, judge, 0.0), np.where(told, rater, 0.0)
    below = told.astype(float)
    chance = 1 / given.sizes[use]

    def figures(weights: Floats) -> dict[str, Floats]:
        count = below.T @ weights
        there = count > 0
        means = [
            np.where(there, part.T @ weights / np.maximum(count, 1e-12), 0.0).sum(axis=0)
            / np.maximum(there.sum(axis=0), 1)
            for part in above
        ]
        total = weights.sum(axis=0)
        return {
            "judge": means[0],
            "rater": means[1],
            "beside": means[0] - means[1],
            "chance": chance @ weights / total,
        }

    return resample(figures, given.clusters[use], np.arange(int(use.sum())), draws, seed)

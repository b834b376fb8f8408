"""Signal among the candidates of one prompt: a judge can follow prompts and be useless inside them.

Variances are taken of places (the mid-distribution function of all scores), so that no monotone rescaling of
the judge changes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from judge_audit.measures.correlation import correlation
from judge_audit.measures.lifts import rounded
from judge_audit.measures.resampling import Resampled, resample

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]

FEW_CANDIDATES = 3
"""A correlation needs this many candidates."""


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Prompts.

    Attributes:
        of_item: Prompt of each item, numbers 0 … G−1, shape (n,).
        clusters: Cluster of each prompt: prompts that share a cluster of items hang together, shape (G,).
    """

    of_item: Ints
    clusters: Ints

    @property
    def count(self) -> int:
        """Number of prompts."""
        return len(self.clusters)


def groups(prompts: NDArray[np.str_], clusters: Ints) -> Groups:
    """Number prompts, and put those together that share a cluster of items."""
    of_item = np.unique(prompts, return_inverse=True)[1].astype(np.intp)
    count, others = int(of_item.max()) + 1, int(clusters.max()) + 1
    ones = np.ones(len(of_item))
    joined = coo_matrix((ones, (of_item, count + clusters)), shape=(count + others, count + others))
    held = connected_components(joined, directed=False)[1][:count]
    return Groups(of_item, np.unique(held, return_inverse=True)[1].astype(np.intp))


def placed(values: Floats, among: Floats) -> Floats:
    """Give the share of `among` that each value overtakes, ties counting ½; NaN stays NaN."""
    ordered = np.sort(rounded(among[np.isfinite(among)]))
    own = rounded(values)
    below = np.searchsorted(ordered, own, side="left") + np.searchsorted(ordered, own, side="right")
    return np.where(np.isfinite(values), below / (2 * max(1, len(ordered))), np.nan)


def variance_share(values: Floats, again: Floats, held: Groups, draws: int, seed: int) -> Resampled:
    """Share of the variance that lies within prompts once retest variance is taken off.

    One-way random effects (Searle 1971) on places: (MS_within − e) / (MS_within + σ²_between − e), with e the
    mean of ½(difference of two answers)²; without second answers nothing is taken off.

    Args:
        values: Oriented first scores, finite, shape (n,).
        again: Second answers, NaN where there is none, shape (n,).
        held: Their prompts.
        draws: Resamples of prompts.
        seed: Seed.
    """
    first, second = placed(values, values), placed(again, values)
    count = held.count
    change = 0.5 * (first - second) ** 2
    twice = np.isfinite(change)
    sizes = np.bincount(held.of_item, minlength=count).astype(float)
    sums = np.bincount(held.of_item, first, count)
    squares = np.bincount(held.of_item, first**2, count)
    noise = np.bincount(held.of_item[twice], change[twice], count)
    pairs = np.bincount(held.of_item[twice], minlength=count).astype(float)

    def figures(weights: Floats) -> dict[str, Floats]:
        n, g = sizes @ weights, weights.sum(axis=0)
        within = (squares - sums**2 / sizes) @ weights / np.maximum(n - g, 1e-12)
        between = (sums**2 / sizes) @ weights - (sums @ weights) ** 2 / n
        spread = (n - (sizes**2) @ weights / n) / np.maximum(g - 1, 1e-12)
        several = spread > 1e-9  # a resample may hold one prompt only, over and over
        added = (between / np.maximum(g - 1, 1e-12) - within) / np.where(several, spread, 1.0)
        added = np.maximum(0.0, added)
        known = pairs @ weights
        error = np.where(known > 0, noise @ weights / np.maximum(known, 1e-12), 0.0)
        inside = np.maximum(0.0, within - error)
        whole = inside + added
        told = several & (whole > 1e-12)
        return {"share": np.where(told, inside / np.maximum(whole, 1e-12), np.nan)}

    return resample(figures, held.clusters, np.arange(count), draws, seed)["share"]


def ties(values: Floats, held: Groups) -> tuple[Floats, Floats]:
    """Count per prompt the pairs of candidates with the same score, and all pairs: shapes (G,)."""
    levels = np.unique(rounded(values), return_inverse=True)[1]
    _, cells, sizes = np.unique(
        np.column_stack([held.of_item, levels]), axis=0, return_index=True, return_counts=True
    )
    tied = np.bincount(held.of_item[cells], sizes * (sizes - 1) / 2, held.count)
    n = np.bincount(held.of_item, minlength=held.count).astype(float)
    return np.asarray(tied, float), n * (n - 1) / 2


def top_one(judge: Floats, people: Floats, held: Groups) -> tuple[Floats, Floats]:
    """Say per prompt how often the judge's first choice is one of people's, and how often a random one is.

    Ties at the judge's top count 1/(number tied); any of people's tied first choices is right. A candidate
    without an answer cannot be chosen, but may be people's choice. The chance of a random pick is the share of
    candidates that are people's choice: 1/(group size) unless people tie.

    Args:
        judge: Oriented scores, NaN where missing, shape (n,).
        people: Oriented labels, NaN where there are none, shape (n,).
        held: Their prompts.

    Returns:
        Recovery and chance, shape (G,); NaN where fewer than two candidates are labelled, people tie all, or
        no labelled candidate has a score.
    """
    known = np.isfinite(people)
    count = held.count
    size = np.bincount(held.of_item[known], minlength=count).astype(float)
    wanted = _top(np.where(known, people, -np.inf), held) & known
    answered = known & np.isfinite(judge)
    chosen = _top(np.where(answered, judge, -np.inf), held) & answered
    best, picked, hits = (
        np.bincount(held.of_item[rows], minlength=count).astype(float)
        for rows in (wanted, chosen, wanted & chosen)
    )
    told = (size >= 2) & (best < size) & (picked > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(told, hits / picked, np.nan), np.where(told, best / size, np.nan)


def _top(values: Floats, held: Groups) -> NDArray[np.bool_]:
    highest = np.full(held.count, -np.inf)
    own = rounded(values)
    np.maximum.at(highest, held.of_item, own)
    return own >= highest[held.of_item]


def inside_correlations(judge: Floats, people: Floats, held: Groups) -> Floats:
    """Spearman's correlation among the candidates of each prompt; NaN where undefined, shape (G,)."""
    order = np.argsort(held.of_item, kind="stable")
    ends = np.searchsorted(held.of_item[order], np.arange(held.count + 1))
    found = np.full(held.count, np.nan)
    for group in range(held.count):
        rows = order[ends[group] : ends[group + 1]]
        if (np.isfinite(judge[rows]) & np.isfinite(people[rows])).sum() >= FEW_CANDIDATES:
            found[group] = correlation(judge[rows], people[rows])
    return found


def ratio_over_prompts(above: Floats, below: Floats, held: Groups, draws: int, seed: int) -> Resampled:
    """Give a ratio of sums over prompts, with resamples of prompts; prompts with NaN are left out.

    Args:
        above: Numerator of each prompt, shape (G,).
        below: Denominator, shape (G,); ones for a mean.
        held: The prompts.
        draws: Resamples.
        seed: Seed.
    """
    known = np.isfinite(above) & np.isfinite(below)
    if not known.any():
        return Resampled(float("nan"), np.empty(0), 0, 0, 0)
    x, y = above[known], below[known]

    def figures(weights: Floats) -> dict[str, Floats]:
        total = y @ weights
        return {"ratio": np.where(total > 0, x @ weights / np.maximum(total, 1e-12), np.nan)}

    return resample(figures, held.clusters[known], np.arange(len(x)), draws, seed)["ratio"]

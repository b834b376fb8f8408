"""A judge beside people, rater by rater: is it as close to the other raters as the rater is?

For each rater r the reference is the mean of the *other* raters, the same for judge and rater:
d_r = agree(judge, reference) − agree(r, reference), d = mean over r. Agreement is Spearman's within one source,
after cutting the judge to r's level shares. An equal judge has d = 0 whatever the raters' noise; holding the
judge against the mean of all raters would reward it for the rater's own part in that mean.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.measures.correlation import Column, along, column, cut, places, spearman
from judge_audit.measures.resampling import Resampled, alike, resample

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]
    Mask = NDArray[np.bool_]
    Figures = Callable[[Floats], dict[str, Floats]]

FEW_CLUSTERS = 8
"""Two columns are compared on at least so many clusters."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The labelled items of one source.

    Attributes:
        judge: Oriented first scores, NaN where missing, shape (n,).
        again: Oriented scores of the second answer, NaN where it was not asked twice, shape (n,).
        ratings: Oriented labels, NaN where a rater gave none, shape (n, R).
        raters: Their names.
        mean: People's mean label, those without an annotator included, shape (n,).
        clusters: Cluster of each item, shape (n,).
        deterministic: Whether the judge is known to answer the same every time.
    """

    judge: Floats
    again: Floats
    ratings: Floats
    raters: tuple[str, ...]
    mean: Floats
    clusters: Ints
    deterministic: bool = False


def others_mean(ratings: Floats, rater: int) -> Floats:
    """Mean of the raters other than one, over those who labelled the item; NaN where none did."""
    rest = np.delete(ratings, rater, axis=1)
    known = np.isfinite(rest)
    count = known.sum(axis=1)
    total = np.where(known, rest, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def people_mean(ratings: Floats) -> Floats:
    """Mean over the raters who labelled an item; NaN where none did."""
    count = np.isfinite(ratings).sum(axis=1)
    return np.where(count > 0, np.nansum(ratings, axis=1) / np.maximum(count, 1), np.nan)


def shared(clusters: Ints, *columns: Floats) -> Mask | None:
    """Say where all columns are there; None if on too few clusters, or one does not vary."""
    known = np.all([np.isfinite(values) for values in columns], axis=0)
    if len(np.unique(clusters[known])) < FEW_CLUSTERS:
        return None
    return known if all(np.ptp(values[known]) > 1e-9 for values in columns) else None


def comparable(sample: Sample) -> list[int]:
    """List the raters who can stand beside the judge: enough shared items, and labels that vary."""
    answered = np.where(np.isfinite(sample.judge), 0.0, np.nan)
    found = []
    for rater in range(sample.ratings.shape[1]):
        own, others = sample.ratings[:, rater] + answered, others_mean(sample.ratings, rater) + answered
        if shared(sample.clusters, own, others) is not None:
            found.append(rater)
    return found


def rater_by_rater(sample: Sample, kinds: Ints) -> Figures | None:
    """Prepare the comparison of one source.

    Args:
        sample: The source.
        kinds: One item of each kind, shape (U,).

    Returns:
        A function of weights (U, B) giving `judge` and `rater` (mean agreement with the references), `beside`
        (their difference d) and `beside:<rater>` (d of each); None if no rater can be compared. A judge that
        does not vary agrees with nobody: 0.
    """
    prepared = []
    for rater in comparable(sample):
        own, reference = sample.ratings[:, rater], others_mean(sample.ratings, rater)
        known = np.isfinite(sample.judge) & np.isfinite(own) & np.isfinite(reference)
        rows = known[kinds]
        judge, mine, others = (column(values[kinds][rows]) for values in (sample.judge, own, reference))
        prepared.append((sample.raters[rater], rows, judge, mine, others))
    if not prepared:
        return None

    def figures(weights: Floats) -> dict[str, Floats]:
        found: dict[str, Floats] = {}
        sums = {"judge": np.zeros(weights.shape[1]), "rater": np.zeros(weights.shape[1])}
        for name, rows, judge, rater, reference in prepared:
            held = kept(weights, rows)
            target = places(held, reference)
            own = along(held, rater, places(held, rater), reference, target)
            given = along(held, judge, cut(held, judge, rater), reference, target)
            own, given = np.nan_to_num(own), np.nan_to_num(given)
            sums["judge"] += given
            sums["rater"] += own
            found[f"beside:{name}"] = given - own
        found |= {name: total / len(prepared) for name, total in sums.items()}
        found["beside"] = found["judge"] - found["rater"]
        return found

    return figures


def closeness(sample: Sample, kinds: Ints) -> Figures | None:
    """Prepare the parts of validity in one source, all plain means of Spearman's correlation.

    Args:
        sample: The source.
        kinds: One item of each kind, shape (U,).

    Returns:
        A function of weights (U, B) giving `with_rater` (judge with one rater), `between_raters` (RR), `retest`
        (JJ) and `with_mean` (judge with the mean of all raters); parts that cannot be had are NaN. None if the
        judge shares too few items with people.
    """
    ratings = [sample.ratings[:, at] for at in range(sample.ratings.shape[1])]
    columns = {
        "with_rater": [(sample.judge, values) for values in ratings],
        "between_raters": list(itertools.combinations(ratings, 2)),
        "retest": [(sample.judge, sample.again)],
        "with_mean": [(sample.judge, sample.mean)],
    }
    prepared = {
        name: [pair for x, y in given if (pair := _pair(sample.clusters, kinds, x, y)) is not None]
        for name, given in columns.items()
    }
    if not prepared["with_rater"] and not prepared["with_mean"]:
        return None

    def figures(weights: Floats) -> dict[str, Floats]:
        found = {}
        for name, pairs in prepared.items():
            parts = [np.nan_to_num(spearman(kept(weights, rows), x, y)) for rows, x, y in pairs]
            found[name] = np.mean(parts, axis=0) if parts else np.full(weights.shape[1], np.nan)
        if sample.deterministic:
            found["retest"] = np.ones(weights.shape[1])
        return found

    return figures


def kept(weights: Floats, rows: Mask) -> Floats:
    """Keep some rows of weights (U, B), without copying where all are kept."""
    return weights if rows.all() else weights[rows]


def _pair(clusters: Ints, kinds: Ints, x: Floats, y: Floats) -> tuple[Mask, Column, Column] | None:
    """Prepare two columns to be correlated, or nothing if they share too little."""
    known = shared(clusters, x, y)
    if known is None:
        return None
    rows = known[kinds]
    return rows, column(x[kinds][rows]), column(y[kinds][rows])


def measured(sample: Sample, draws: int, seed: int) -> dict[str, Resampled]:
    """Measure one source, everything on the same resamples; n counts items with a judge's score and a label.

    Args:
        sample: The source.
        draws: Resamples; 0 for the figures alone.
        seed: Seed.
    """
    use = np.isfinite(sample.judge) & np.isfinite(sample.mean)
    if not use.any():
        return {}
    held = replace(
        sample,
        judge=sample.judge[use],
        again=sample.again[use],
        ratings=sample.ratings[use],
        mean=sample.mean[use],
        clusters=sample.clusters[use],
    )
    first, kinds = alike(held.judge, held.again, held.ratings, held.mean)
    made = (rater_by_rater(held, first), closeness(held, first))
    prepared = [part for part in made if part is not None]
    if not prepared:
        return {}

    def figures(weights: Floats) -> dict[str, Floats]:
        found: dict[str, Floats] = {}
        for part in prepared:
            found |= part(weights)
        return found

    return resample(figures, held.clusters, kinds, draws, seed)


def validity(with_rater: Floats, between_raters: Floats, retest: Floats) -> Floats:
    """Mean correlation of judge and rater over √(RR·JJ), capped at 1; NaN where RR or JJ is not above 0."""
    root = np.sqrt(np.where((between_raters > 0) & (retest > 0), between_raters * retest, math.nan))
    return np.minimum(with_rater / root, 1.0)

"""Past decisions under another judge: how many would change, out of how many, and how many nobody can tell.

A cut is carried over as the share it accepted: within each source the new judge accepts as large a share of the
same decisions as the old one did, best first, ties at the cut counting in part. A number is carried over as a
number only if both judges' scales are absolute and the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.measures import stratified_rates as sampling
from judge_audit.measures.change import first_choices
from judge_audit.measures.estimates import PASS_LEVEL
from judge_audit.measures.lifts import rounded
from judge_audit.measures.orders import descent, membership
from judge_audit.measures.stratified_rates import weighted_stratum

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]
    Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """Decisions that are replayed.

    Attributes:
        accepted: Whether production accepted, shape (n,).
        old: Recorded oriented values, NaN where none was recorded, shape (n,).
        new: Oriented scores of the new judge, NaN where it has none, shape (n,).
        sources: Source of each, as numbers, shape (n,).
        strata: Stratum each was drawn in, as numbers, shape (n,).
        inclusion: Probability with which each was drawn, above 0 and at most 1, shape (n,).
    """

    accepted: Mask
    old: Floats
    new: Floats
    sources: Ints
    strata: Ints
    inclusion: Floats

    @property
    def weights(self) -> Floats:
        """How many decisions each stands for."""
        return 1.0 / self.inclusion


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of decisions with its interval.

    Attributes:
        changed: Share that would change, of those known; NaN if none is.
        low: Lower end of the 90 % interval.
        high: Upper end.
        unknown: Share nobody can tell, of all.
        n: Decisions looked at and known.
        n_unknown: Decisions looked at and unknown.
        least: Share of all that would change if no unknown one did.
        most: Share of all that would change if every unknown one did.
    """

    changed: float
    low: float
    high: float
    unknown: float
    n: int
    n_unknown: int
    least: float
    most: float


def kept_by_share(given: Decided) -> Floats:
    """Say how far the new judge accepts each decision by shares: 0 to 1, NaN where it has no score."""
    kept = np.full(len(given.new), np.nan)
    for source in np.unique(given.sources):
        mine = np.flatnonzero((given.sources == source) & np.isfinite(given.new))
        if not len(mine):
            continue
        weights = given.weights[mine]
        size = np.array([float(weights[given.accepted[mine]].sum())])
        kept[mine] = membership(weights[:, None], descent(given.new[mine]), size)[:, 0]
    return kept


def kept_by_number(given: Decided, thresholds: Mapping[int, float]) -> Floats:
    """Say whether the new judge accepts each decision by the number of its source: 1, 0, or NaN without a score."""
    ends = np.array([thresholds[int(source)] for source in given.sources])
    return np.where(np.isfinite(given.new), (rounded(given.new) >= rounded(ends)).astype(float), np.nan)


def recorded_thresholds(given: Decided) -> dict[int, float] | None:
    """Find the number each source was cut at: every accepted value at or above it, every rejected one below.

    Returns:
        The lowest accepted value of each source; None if values are missing, a source accepted nothing, or
        some decision does not follow its value.
    """
    found = {}
    for source in np.unique(given.sources):
        mine = given.sources == source
        values, accepted = rounded(given.old[mine]), given.accepted[mine]
        if np.isnan(values).any() or not accepted.any():
            return None
        lowest = float(values[accepted].min())
        if (values[~accepted] >= lowest).any():
            return None
        found[int(source)] = lowest
    return found


def changed_rate(given: Decided, kept: Floats, *, accepted: bool) -> Rate:
    """Count the accepted (or rejected) decisions that would change.

    Args:
        given: The decisions.
        kept: How far the new judge accepts each, shape (n,).
        accepted: Whether accepted or rejected ones are meant.
    """
    mine = given.accepted == accepted
    changed = (1 - kept[mine]) if accepted else kept[mine]
    return stratified(changed, given.weights[mine], given.strata[mine])


def first_rate(given: Decided, groups: Mapping[str, Ints]) -> Rate:
    """Count the prompts in which another item would come first.

    A prompt counts as unknown if any of its items lacks a value or a score.

    Args:
        given: The decisions.
        groups: Rows of each prompt with two decisions or more.
    """
    changed, weights = [], []
    for name, rows in groups.items():
        known = np.isfinite(given.old[rows]).all() and np.isfinite(given.new[rows]).all()
        choice = first_choices(given.old, given.new, {name: rows}).changed if known else math.nan
        changed.append(choice)
        weights.append(float(given.weights[rows].max()))
    return stratified(np.array(changed), np.array(weights), np.zeros(len(groups), np.intp))


def stratified(values: Floats, weights: Floats, strata: Ints, level: float = PASS_LEVEL) -> Rate:
    """Estimate a share over strata, as `judge_audit.measures.stratified_rates` does; what is unknown is told beside it.

    Args:
        values: 0 to 1, NaN where unknown, shape (n,).
        weights: How many each stands for, shape (n,).
        strata: Stratum of each, shape (n,).
        level: Level of the interval.
    """
    known = np.isfinite(values)
    total, told = float(weights.sum()), float(weights[known].sum())
    unknown = 1 - told / total if total else math.nan
    lost = int((~known).sum())
    if not told:
        nothing = 0.0 if total else math.nan
        return Rate(math.nan, math.nan, math.nan, unknown, 0, lost, nothing, unknown)
    chosen = [known & (strata == stratum) for stratum in np.unique(strata[known])]
    seen = [weighted_stratum("", values[mine].tolist(), (1 / weights[mine]).tolist()) for mine in chosen]
    found = sampling.Rate(tuple(seen))
    low, high = found.interval(level)
    least = found.value * told / total
    return Rate(found.value, low, high, unknown, int(known.sum()), lost, least, least + unknown)

"""Lifts of whole climbs: at each item's own rung, with what is missing filled in as asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.core.vocabulary import POOLED, State
from judge_audit.measures.ladders import Edge, edge
from judge_audit.measures.lifts import Lifts, absolute, averaged, difference, extreme_lifts, lifts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit.checks.evidence import Climb, Evidence, Ints, Mask
    from judge_audit.checks.ladders.ladder_question import Question


def edges(question: Question, climb: Climb) -> list[Edge | None]:
    """Find each item's last imperceptible rung; None for items without a zone."""
    zones = [question.zone_of(item_id) for item_id in climb.items]
    return [
        None if zone is None else edge(question.strengths, list(climb.inert[index]), zone.perceptible_low)
        for index, zone in enumerate(zones)
    ]


def filled(climb: Climb, rungs: Ints, *, highest: bool | None) -> Lifts:
    """Lift of each item at its rung, missing scores filled in with the extreme lift if asked."""
    if highest is None:
        return climb.lifts_at(rungs)
    parts = enumerate(zip(climb.lifts_of_repeats(rungs), climb.lost_at(rungs), strict=True))
    return averaged(
        [replaced(part, lost, extremes(climb, at, highest=highest)) for at, (part, lost) in parts]
    )


def extremes(climb: Climb, repeat: int, *, highest: bool) -> Lifts:
    """Give the largest or smallest lift possible; a lost untouched repeat is stood for by the first."""
    own = climb.originals[:, repeat]
    own = np.where(np.isnan(own), climb.originals[:, 0], own)
    return extreme_lifts(own, climb.clusters, climb.stratum.reference, highest=highest)


def replaced(own: Lifts, where: Mask, other: Lifts) -> Lifts:
    """Take some items' lifts from elsewhere."""
    return Lifts(
        np.where(where, other.values, own.values),
        np.where(where[:, None], other.without, own.without),
        own.clusters,
    )


def raw_lifts(climb: Climb, rungs: Ints) -> Lifts:
    """Oriented difference to the original in robust SDs of the stratum, shaped like lifts."""
    rows = np.arange(len(climb.items))
    values = np.where((rungs >= 0)[:, None], climb.scores[rows, rungs, :], np.nan)
    unit = climb.stratum.spread or np.nan
    with np.errstate(invalid="ignore"):
        change = (values - climb.originals) / unit
    known = np.isfinite(change)
    count = known.sum(axis=1)
    mean = np.where(count > 0, np.where(known, change, 0).sum(axis=1) / np.maximum(count, 1), np.nan)
    without = np.broadcast_to(mean[:, None], (len(mean), climb.stratum.reference.n_clusters))
    return Lifts(mean, without, climb.clusters)


def missing_share(climbs: Sequence[Climb], rungs: Sequence[Ints]) -> float:
    """Share of the scores a verdict needs that are not there."""
    lost = needed = 0
    for climb, at in zip(climbs, rungs, strict=True):
        rows = np.arange(len(at))
        for repeat, gone in enumerate(climb.lost_at(at)):
            due = (at >= 0) & (climb.asked[rows, at, repeat] | (repeat == 0))
            needed += int(due.sum())
            lost += int(gone.sum())
    return lost / needed if needed else 0.0


def retest(evidence: Evidence, climb: Climb, dimension: str) -> tuple[Lifts, Mask]:
    """Size of the lift between two untouched repeats of each item, and where the second was lost.

    NaN where there is none; one that was never asked for is not lost.
    """
    place = {item_id: index for index, item_id in enumerate(climb.items)}
    scores = np.full((len(climb.items), 2), np.nan)
    asked = np.zeros(len(climb.items), bool)
    for row in evidence.originals:
        known = row["item_id"] in place and row["repeat"] < 2 and row["dimension"] in (dimension, POOLED)
        if known:
            asked[place[row["item_id"]]] |= row["repeat"] == 1
            if row["state"] == State.OK and row["value"] is not None:
                scores[place[row["item_id"]], row["repeat"]] = evidence.sign * row["value"]
    found = absolute(lifts(scores[:, 1], scores[:, 0], climb.clusters, climb.stratum.reference))
    return found, asked & np.isnan(found.values)


def sizes(climb: Climb, rungs: Ints, *, highest: bool | None) -> Lifts:
    """Size of each item's lift at its rung: per repeat, then averaged.

    Missing ones are filled in, if asked, with the largest size possible in either direction, or with 0.
    """
    sizes_of = [absolute(part) for part in climb.lifts_of_repeats(rungs)]
    if highest is None:
        return averaged(sizes_of)
    parts = enumerate(zip(sizes_of, climb.lost_at(rungs), strict=True))
    return averaged([replaced(size, lost, bound(climb, at, highest=highest)) for at, (size, lost) in parts])


def bound(climb: Climb, repeat: int, *, highest: bool) -> Lifts:
    """Give the largest size a lost lift could have had in either direction, or none at all."""
    up, down = (absolute(extremes(climb, repeat, highest=way)) for way in (True, False))
    largest = replaced(down, up.values > down.values, up)
    return largest if highest else difference(largest, largest)

"""Jitter: does the score shake where people see nothing, beyond the judge's own retest noise?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks import ladder_question as ladder
from judge_audit.checks.evidence import Findings
from judge_audit.checks.premature import is_provisional
from judge_audit.measures.estimates import NOTHING, Estimate, below
from judge_audit.measures.lifts import Lifts, absolute, averaged, combined_mean, difference, lifts
from judge_audit.messages import say
from judge_audit.vocabulary import POOLED, State, Verdict

if TYPE_CHECKING:
    from judge_audit.checks.evidence import Climb, Evidence

NAME = "jitter"
MEASURE = "jitter"


def run(evidence: Evidence) -> Findings:
    """Measure mean |lift| at the last imperceptible rung minus mean |lift| between two untouched repeats."""
    findings = Findings()
    for dimension in evidence.dimensions:
        for axis in evidence.axes:
            findings += _judge(evidence, axis, dimension)
    return findings


def retest(evidence: Evidence, climb: Climb, dimension: str) -> tuple[Lifts, ladder.Mask]:
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
            if row["state"] == State.OK:
                scores[place[row["item_id"]], row["repeat"]] = evidence.sign * row["value"]
    found = absolute(lifts(scores[:, 1], scores[:, 0], climb.clusters, climb.stratum.reference))
    return found, asked & np.isnan(found.values)


def sizes(climb: Climb, rungs: ladder.Ints, *, highest: bool | None) -> Lifts:
    """Size of each item's lift at its rung: per repeat, then averaged.

    Missing ones are filled in, if asked, with the largest size possible in either direction, or with 0.
    """
    found = []
    pairs = zip(climb.lifts_of_repeats(rungs), climb.lost_at(rungs), strict=True)
    for repeat, (part, lost) in enumerate(pairs):
        size = absolute(part)
        found.append(size if highest is None else ladder.replaced(size, lost, _bound(climb, repeat, highest)))
    return averaged(found)


def _bound(climb: Climb, repeat: int, highest: bool) -> Lifts:  # noqa: FBT001
    largest = ladder.largest_size(climb, repeat)
    return largest if highest else difference(largest, largest)


def _judge(evidence: Evidence, axis: str, dimension: str) -> Findings:
    margin = evidence.limits["jitter.margin"]
    climbs = ladder.resolved(evidence, axis, dimension)
    edges = [ladder.edges(evidence, axis, climb) for climb in climbs]
    bounds = ladder.Bounds(None, margin, margin)
    provisional = is_provisional(evidence, axis)
    if not any(entry is not None for part in edges for entry in part):
        return ladder.unmeasured(
            evidence, NAME, MEASURE, axis, dimension, provisional=provisional, bounds=bounds
        )
    rungs = [np.array([-1 if entry is None else entry.rung for entry in part]) for part in edges]
    noise = [retest(evidence, climb, dimension) for climb in climbs]

    def part(climb: Climb, at: ladder.Ints, own: tuple[Lifts, ladder.Mask], way: bool | None) -> Lifts:  # noqa: FBT001
        repeated, lost = own
        if way is not None:
            repeated = ladder.replaced(repeated, lost, _bound(climb, 0, not way))
        return difference(sizes(climb, at, highest=way), repeated)

    def estimate(way: bool | None) -> Estimate:  # noqa: FBT001 - None is a third way
        return combined_mean(
            [part(climb, at, own, way) for climb, at, own in zip(climbs, rungs, noise, strict=True)]
        )

    def judge(way: bool | None) -> ladder.Judged:  # noqa: FBT001
        return ladder.decided(below(estimate(way), margin, evidence.claims), ("", "jitters"))

    unpaired = sum(int((lost & (at >= 0)).sum()) for (_, lost), at in zip(noise, rungs, strict=True))
    share = max(ladder.missing_share(climbs, rungs), unpaired / max(1, sum((at >= 0).sum() for at in rungs)))
    judged = ladder.stands_however_filled(share, evidence.limits["ladder.missing_share"], judge)
    judged = ladder.complete(evidence, axis, dimension, judged)
    if judged.verdict == Verdict.PASS and ladder.coarse(evidence, climbs):
        judged = ladder.Judged(Verdict.INCONCLUSIVE, "", judged.notes)
    whole = estimate(None)
    notes = list(ladder.standing_notes(evidence, climbs))
    if whole is NOTHING:
        notes.insert(0, say("jitter.no_repeats", axis=axis))
    verdict = ladder.verdict_row(
        evidence,
        NAME,
        MEASURE,
        axis,
        dimension,
        whole,
        judged,
        provisional=provisional,
        notes=notes,
        bounds=bounds,
    )
    row = ladder.measure_row(evidence, NAME, MEASURE, whole, axis=axis, dimension=dimension)
    row["n_needed"] = verdict["n_needed"]
    return Findings(measures=(row,), verdicts=(verdict,))

"""Jitter: does the score shake where people see nothing, beyond the judge's own retest noise?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.checks.check import Check
from judge_audit.checks.evidence import Findings
from judge_audit.checks.ladders.ladder_question import (
    Bounds,
    Judged,
    Question,
    ask_ladders,
    decided,
    item_rungs,
)
from judge_audit.checks.ladders.missing_lifts import bound, edges, missing_share, replaced, retest, sizes
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.estimates import NOTHING, Estimate, below
from judge_audit.measures.lifts import combined_mean, difference

if TYPE_CHECKING:
    from judge_audit.checks.evidence import Climb, Evidence, Ints, Mask
    from judge_audit.measures.lifts import Lifts

NAME = "jitter"
MEASURE = "jitter"


def run(evidence: Evidence) -> Findings:
    """Measure mean |lift| at the last imperceptible rung minus mean |lift| between two untouched repeats."""
    margin = evidence.limits["jitter.margin"]
    return ask_ladders(evidence, NAME, MEASURE, Bounds(None, margin, margin), _judge)


def _judge(question: Question) -> Findings:
    climbs = question.climbs
    found = [edges(question, climb) for climb in climbs]
    if not any(entry is not None for part in found for entry in part):
        return question.unanswered("missing.items")
    rungs = [item_rungs(part) for part in found]
    noise = [retest(question.evidence, climb, question.dimension) for climb in climbs]

    def part(climb: Climb, at: Ints, own: tuple[Lifts, Mask], way: bool | None) -> Lifts:  # noqa: FBT001
        repeated, lost = own
        if way is not None:
            repeated = replaced(repeated, lost, bound(climb, 0, highest=not way))
        return difference(sizes(climb, at, highest=way), repeated)

    def estimate(way: bool | None) -> Estimate:  # noqa: FBT001 - None is a third way
        return combined_mean(
            [part(climb, at, own, way) for climb, at, own in zip(climbs, rungs, noise, strict=True)]
        )

    def judge(way: bool | None) -> Judged:  # noqa: FBT001
        answer = below(estimate(way), question.bounds.margin, question.evidence.claims)
        return decided(answer, ("", "jitters"))

    unpaired = sum(int((lost & (at >= 0)).sum()) for (_, lost), at in zip(noise, rungs, strict=True))
    share = max(missing_share(climbs, rungs), unpaired / max(1, sum((at >= 0).sum() for at in rungs)))
    judged = question.complete(question.stands_however_filled(share, judge))
    if judged.verdict == Verdict.PASS and question.coarse:
        judged = judged.opened()
    whole = estimate(None)
    notes = list(question.standing_notes())
    if whole is NOTHING:
        notes.insert(0, say("jitter.no_repeats", axis=question.axis))
    verdict = question.answered(whole, judged, notes)
    return Findings(measures=(question.measured(whole, verdict["n_needed"]),), verdicts=(verdict,))


CHECK = Check(NAME, run, judges=("jitter",), every_ladder=True)

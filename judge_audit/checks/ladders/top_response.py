"""Top response: does the score fall where the change is overdone?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.check import Check, Needs
from judge_audit.checks.evidence import Findings
from judge_audit.checks.ladders.ladder_question import Bounds, Judged, Question, ask_ladders
from judge_audit.checks.ladders.missing_lifts import filled, missing_share, raw_lifts, sizes
from judge_audit.core.formatting import percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.estimates import NOTHING, PASS_LEVEL, Estimate, below, corrected_level
from judge_audit.measures.ladders import falls_steadily
from judge_audit.measures.lifts import combined_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judge_audit_schemas.rows import MeasuresRow

    from judge_audit.checks.evidence import Climb, Evidence, Ints

NAME = "top_response"
MEASURE = "top_lift"


def run(evidence: Evidence) -> Findings:
    """Measure lifts at the strongest rung of items for which it is objectionable.

    Pass: the 90 % interval lies below −`top_response.fall`. Faults at the corrected level: *rewarded* wholly
    above it; inside ±: *dead* if the mean size is small by interval too, else *erratic*. Of a judge that compares
    the preference for the rung stands for the lift, and `top_response.preference` for the limit.
    """
    fall = evidence.limits["top_response.preference" if evidence.card.compares else "top_response.fall"]
    return ask_ladders(evidence, NAME, MEASURE, Bounds(None, -fall, fall), _judge)


def top_rungs(question: Question, climb: Climb) -> Ints:
    """Give each item's strongest rung that changes a pixel, −1 unless it is objectionable."""
    strengths = question.strengths
    rungs = []
    for index, item_id in enumerate(climb.items):
        zone = question.zone_of(item_id)
        drawn = [at for at in range(len(strengths)) if not climb.inert[index, at]]
        noticed = zone is not None and np.isfinite(zone.perceptible_low)
        bad = noticed and zone is not None and drawn and strengths[drawn[-1]] >= zone.objectionable
        rungs.append(drawn[-1] if bad else -1)
    return np.array(rungs)


def _answer(top: Estimate, size: Estimate, question: Question) -> Judged:
    """Judge the mean lift and the mean size at the top."""
    fall, claims = question.bounds.margin, question.evidence.claims
    if top.interval(PASS_LEVEL)[1] < -fall:
        return Judged(Verdict.PASS, "")
    low, high = top.interval(corrected_level(claims))
    if low > fall:
        return Judged(Verdict.FAIL, "rewarded")
    if -fall < low and high < fall:
        dead_size = question.evidence.limits["top_response.dead_size"]
        if size.interval(corrected_level(claims))[1] < dead_size:
            return Judged(Verdict.FAIL, "dead")
        if below(size, dead_size, claims).verdict == Verdict.FAIL:
            return Judged(Verdict.FAIL, "erratic")
    return Judged(Verdict.INCONCLUSIVE, "")


def _judge(question: Question) -> Findings:
    rungs = [top_rungs(question, climb) for climb in question.climbs]
    if not any((at >= 0).any() for at in rungs):
        return question.unanswered("missing.rungs")
    climbs = list(zip(question.climbs, rungs, strict=True))

    def top(way: bool | None) -> Estimate:  # noqa: FBT001 - None is a third way
        return combined_mean([filled(climb, at, highest=way) for climb, at in climbs])

    def size(way: bool | None) -> Estimate:  # noqa: FBT001
        return combined_mean([sizes(climb, at, highest=way) for climb, at in climbs])

    judged = question.stands_however_filled(
        missing_share(question.climbs, rungs), lambda way: _answer(top(way), size(way), question)
    )
    judged = _with_room(question, question.complete(judged))
    whole = top(None)
    notes = list(question.standing_notes())
    if whole is NOTHING:
        notes.insert(0, say("missing.clusters", axis=question.axis, clusters=whole.n_clusters))
    verdict = question.answered(whole, judged, notes)
    rows = question.rows
    measures = [
        question.measured(whole, verdict["n_needed"]),
        rows.figure("top_abs_lift", size(None)),
        rows.figure("top_raw", combined_mean([raw_lifts(climb, at) for climb, at in climbs])),
        *_monotone(question),
    ]
    for climb, at in climbs if len(climbs) > 1 else ():
        part = combined_mean([climb.lifts_at(at)])
        measures.append(rows.figure(MEASURE, part, source=climb.stratum.source))
    return Findings(measures=tuple(measures), verdicts=(verdict,))


def _with_room(question: Question, judged: Judged) -> Judged:
    """A judge at its ceiling cannot be cleared of rewarding, one at its floor not be called dead."""
    if judged.finding == "dead":
        share = question.no_room_share(upwards=False)
        if share > question.evidence.limits["ladder.no_room_share"]:
            return judged.opened(say("notes.no_room", share=percent(share)))
    return question.supported(judged)


def _monotone(question: Question) -> Iterator[MeasuresRow]:
    """Share of items whose score falls and never rises over the objectionable rungs; flat ones counted."""
    strengths = np.array(question.strengths)
    answers: list[bool | None] = []
    for climb in question.climbs:
        for index, item_id in enumerate(climb.items):
            zone = question.zone_of(item_id)
            if zone is None or not np.isfinite(zone.perceptible_low):
                continue
            bad = np.flatnonzero(strengths >= zone.objectionable)
            if len(bad):
                counts = np.isfinite(climb.scores[index]).sum(axis=1)
                sums = np.where(np.isfinite(climb.scores[index]), climb.scores[index], 0).sum(axis=1)
                means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
                answers.append(falls_steadily(means[max(bad[0] - 1, 0) :]))
    falling, flat = (sum(answer is kind for answer in answers) for kind in (True, None))
    yield question.rows.share("monotone_share", falling, len(answers))
    yield question.rows.share("flat_share", flat, len(answers))


CHECK = Check(NAME, run, needs=Needs.ANY)

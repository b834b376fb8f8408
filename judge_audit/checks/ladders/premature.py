"""Premature: does the score move where people see nothing?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.check import Check, Needs
from judge_audit.checks.evidence import Findings
from judge_audit.checks.ladders.ladder_question import (
    Bounds,
    Judged,
    Question,
    ask_ladders,
    decided,
    item_rungs,
)
from judge_audit.checks.ladders.missing_lifts import edges, filled, missing_share, raw_lifts
from judge_audit.checks.result_rows import point
from judge_audit.core.formatting import percent
from judge_audit.core.messages import say
from judge_audit.measures.estimates import NOTHING, Estimate, within
from judge_audit.measures.lifts import combined_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judge_audit_schemas.rows import CurvesRow

    from judge_audit.checks.evidence import Evidence

NAME = "premature"
MEASURE = "edge_lift"


def run(evidence: Evidence) -> Findings:
    """Measure edge lifts and the whole mean curve of every axis, and judge the lifts.

    Edge lift = Σ L_i / Σ t_i, L_i the lift at item i's last imperceptible rung, t_i that strength as a share
    of the visible point. Margin ±`premature.margin`; of a judge that compares, whose preference for the rung
    stands for the lift, ±`premature.preference`.
    """
    margin = evidence.limits["premature.preference" if evidence.card.compares else "premature.margin"]
    bounds = Bounds(-margin, margin, margin)
    axes = () if evidence.is_control else evidence.axes  # nobody looks at a control's curves
    curves = (
        row
        for dimension in evidence.dimensions
        for axis in axes
        for row in _curve(Question(evidence, NAME, MEASURE, axis, dimension, bounds))
    )
    return ask_ladders(evidence, NAME, MEASURE, bounds, _judge) + Findings(curves=tuple(curves))


def _curve(question: Question) -> Iterator[CurvesRow]:
    """Mean lift at every rung, pooled over sources and per source; inert rungs enter nothing."""
    climbs = question.climbs
    groups = [("*", climbs), *((climb.stratum.source, (climb,)) for climb in climbs)]
    for index, strength in enumerate(question.strengths):
        at_rung = {climb.stratum.source: climb.lifts_at(np.full(len(climb.items), index)) for climb in climbs}
        for source, group in groups if len(climbs) > 1 else groups[:1]:
            estimate = combined_mean([at_rung[climb.stratum.source] for climb in group])
            if estimate is not NOTHING:
                row = question.rows.figure("mean_lift", estimate, source=source)
                yield point(row, index + 1, strength)


def _judge(question: Question) -> Findings:
    climbs = question.climbs
    found = [edges(question, climb) for climb in climbs]
    zoned = [entry for part in found for entry in part if entry is not None]
    if not zoned:
        return question.unanswered("missing.items")
    rungs = [item_rungs(part) for part in found]
    # A preference does not grow with the strength as a score does: it is taken at the rung, as it is.
    plain = question.evidence.card.compares
    weights = [
        np.array(
            [np.nan if entry is None or entry.rung < 0 else 1.0 if plain else entry.reach for entry in part]
        )
        for part in found
    ]

    def estimate(way: bool | None) -> Estimate:  # noqa: FBT001 - None is a third way
        parts = [filled(climb, at, highest=way) for climb, at in zip(climbs, rungs, strict=True)]
        return combined_mean(parts, weights)

    def judge(way: bool | None) -> Judged:  # noqa: FBT001
        answer = within(estimate(way), question.bounds.margin, question.evidence.claims)
        return decided(answer, ("falls", "climbs"))

    judged = question.stands_however_filled(missing_share(climbs, rungs), judge)
    judged = question.supported(question.complete(judged))
    bare = sum(entry.rung < 0 for entry in zoned) / len(zoned)
    if bare > question.evidence.limits["premature.max_items_without_rung"]:
        judged = judged.opened(say("notes.weaker_rungs", share=percent(bare)))
    whole = estimate(None)
    verdict = question.answered(whole, judged, question.standing_notes())
    measures = [question.measured(whole, verdict["n_needed"])]
    if len(climbs) > 1:
        for climb, at, weight in zip(climbs, rungs, weights, strict=True):
            part = combined_mean([climb.lifts_at(at)], [weight])
            measures.append(question.rows.figure(MEASURE, part, source=climb.stratum.source))
    raw = [raw_lifts(climb, at) for climb, at in zip(climbs, rungs, strict=True)]
    measures.append(question.rows.figure("edge_raw", combined_mean(raw, weights)))
    return Findings(measures=tuple(measures), verdicts=(verdict,))


CHECK = Check(NAME, run, needs=Needs.ANY)

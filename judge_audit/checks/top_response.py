"""Top response: does the score fall where the change is overdone?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks import ladder_question as ladder
from judge_audit.checks.evidence import Findings
from judge_audit.checks.jitter import sizes
from judge_audit.checks.premature import is_provisional
from judge_audit.measures.estimates import (
    MIN_CLUSTERS,
    NOTHING,
    PASS_LEVEL,
    Estimate,
    below,
    corrected_level,
    wilson,
)
from judge_audit.measures.ladders import falls_steadily
from judge_audit.measures.lifts import combined_mean
from judge_audit.messages import say
from judge_audit.vocabulary import Verdict

if TYPE_CHECKING:
    from judge_audit.checks.evidence import Climb, Evidence

NAME = "top_response"
MEASURE = "top_lift"


def run(evidence: Evidence) -> Findings:
    """Measure lifts at the strongest rung of items for which it is objectionable.

    Pass: the 90 % interval lies below −`top_response.fall`. Faults at the corrected level: *rewarded* wholly
    above it; inside ±: *dead* if the mean size is small by interval too, else *erratic*.
    """
    findings = Findings()
    for dimension in evidence.dimensions:
        for axis in evidence.axes:
            findings += _judge(evidence, axis, dimension)
    return findings


def top_rungs(evidence: Evidence, axis: str, climb: Climb) -> ladder.Ints:
    """Give each item's strongest rung that changes a pixel, −1 unless it is objectionable."""
    strengths = evidence.axes[axis].strengths
    rungs = []
    for index, zone in enumerate(ladder.zones_of(evidence, axis, climb)):
        drawn = [at for at in range(len(strengths)) if not climb.inert[index, at]]
        noticed = zone is not None and np.isfinite(zone.perceptible_low)
        bad = noticed and zone is not None and drawn and strengths[drawn[-1]] >= zone.objectionable
        rungs.append(drawn[-1] if bad else -1)
    return np.array(rungs)


def _answer(top: Estimate, size: Estimate, evidence: Evidence) -> ladder.Judged:
    """Judge the mean lift and the mean size at the top."""
    fall = evidence.limits["top_response.fall"]
    if top.interval(PASS_LEVEL)[1] < -fall:
        return ladder.Judged(Verdict.PASS, "")
    low, high = top.interval(corrected_level(evidence.claims))
    if low > fall:
        return ladder.Judged(Verdict.FAIL, "rewarded")
    if -fall < low and high < fall:
        moves = below(size, evidence.limits["top_response.dead_size"], evidence.claims)
        if size.interval(corrected_level(evidence.claims))[1] < evidence.limits["top_response.dead_size"]:
            return ladder.Judged(Verdict.FAIL, "dead")
        if moves.verdict == Verdict.FAIL:
            return ladder.Judged(Verdict.FAIL, "erratic")
    return ladder.Judged(Verdict.INCONCLUSIVE, "")


def _judge(evidence: Evidence, axis: str, dimension: str) -> Findings:
    fall = evidence.limits["top_response.fall"]
    climbs = ladder.resolved(evidence, axis, dimension)
    rungs = [top_rungs(evidence, axis, climb) for climb in climbs]
    bounds = ladder.Bounds(None, -fall, fall)
    provisional = is_provisional(evidence, axis)
    if not any((at >= 0).any() for at in rungs):
        return ladder.unmeasured(
            evidence, NAME, MEASURE, axis, dimension, provisional=provisional, bounds=bounds
        )

    def top(way: bool | None) -> Estimate:  # noqa: FBT001 - None is a third way
        return combined_mean(
            [ladder.filled(climb, at, highest=way) for climb, at in zip(climbs, rungs, strict=True)]
        )

    def size(way: bool | None) -> Estimate:  # noqa: FBT001
        return combined_mean([sizes(climb, at, highest=way) for climb, at in zip(climbs, rungs, strict=True)])

    share = ladder.missing_share(climbs, rungs)
    judged = ladder.stands_however_filled(
        share, evidence.limits["ladder.missing_share"], lambda way: _answer(top(way), size(way), evidence)
    )
    judged = ladder.complete(evidence, axis, dimension, judged)
    judged = _with_room(evidence, climbs, judged)
    whole = top(None)
    notes = list(ladder.standing_notes(evidence, climbs))
    if whole.n_clusters < MIN_CLUSTERS and whole is NOTHING:
        notes.insert(0, say("missing.clusters", clusters=whole.n_clusters))
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
    parts = {"axis": axis, "dimension": dimension}
    measures = [
        ladder.measure_row(evidence, NAME, MEASURE, whole, **parts),
        ladder.measure_row(evidence, NAME, "top_abs_lift", size(None), **parts),
        ladder.measure_row(
            evidence,
            NAME,
            "top_raw",
            combined_mean([ladder.raw_lifts(climb, at) for climb, at in zip(climbs, rungs, strict=True)]),
            **parts,
        ),
        *_monotone(evidence, axis, climbs, parts),
    ]
    measures[0]["n_needed"] = verdict["n_needed"]
    for climb, at in zip(climbs, rungs, strict=True):
        if len(climbs) > 1:
            part = combined_mean([climb.lifts_at(at)])
            measures.append(
                ladder.measure_row(evidence, NAME, MEASURE, part, source=climb.stratum.source, **parts)
            )
    return Findings(measures=tuple(measures), verdicts=(verdict,))


def _with_room(evidence: Evidence, climbs: tuple[Climb, ...], judged: ladder.Judged) -> ladder.Judged:
    """A judge at its ceiling cannot be cleared of rewarding, one at its floor not be called dead."""
    limit = evidence.limits["ladder.no_room_share"]
    if judged.finding == "dead":
        share = ladder.no_room_share(evidence, climbs, upwards=False)
    elif judged.verdict == Verdict.PASS:
        share = ladder.no_room_share(evidence, climbs, upwards=True)
    else:
        return judged
    if share > limit:
        return ladder.Judged(Verdict.INCONCLUSIVE, "", (say("notes.no_room", share=ladder.percent(share)),))
    if judged.verdict == Verdict.PASS and ladder.coarse(evidence, climbs):
        return ladder.Judged(Verdict.INCONCLUSIVE, "", judged.notes)
    return judged


def _monotone(
    evidence: Evidence, axis: str, climbs: tuple[Climb, ...], parts: dict[str, str]
) -> list[dict[str, object]]:
    """Share of items whose score falls and never rises over the objectionable rungs; flat ones counted."""
    strengths = np.array(evidence.axes[axis].strengths)
    answers: list[bool | None] = []
    for climb in climbs:
        for index, zone in enumerate(ladder.zones_of(evidence, axis, climb)):
            if zone is None or not np.isfinite(zone.perceptible_low):
                continue
            bad = np.flatnonzero(strengths >= zone.objectionable)
            if len(bad):
                counts = np.isfinite(climb.scores[index]).sum(axis=1)
                sums = np.where(np.isfinite(climb.scores[index]), climb.scores[index], 0).sum(axis=1)
                means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
                answers.append(falls_steadily(means[max(bad[0] - 1, 0) :]))
    rows = []
    for measure, hits in (
        ("monotone_share", sum(answer is True for answer in answers)),
        ("flat_share", sum(answer is None for answer in answers)),
    ):
        low, high = wilson(hits, len(answers))
        row = evidence.key(NAME, measure, **parts)
        share = hits / len(answers) if answers else None
        rows.append({**row, "value": share, "ci_low": low, "ci_high": high, "n": len(answers)})
    return rows

"""Premature: does the score move where people see nothing?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks import ladder_question as ladder
from judge_audit.checks.evidence import Findings
from judge_audit.measures.estimates import NOTHING, PASS_LEVEL, Estimate, within
from judge_audit.measures.lifts import combined_mean
from judge_audit.messages import say
from judge_audit.vocabulary import Verdict

if TYPE_CHECKING:
    from judge_audit.checks.evidence import Climb, Evidence
    from judge_audit.measures.lifts import Lifts

NAME = "premature"
MEASURE = "edge_lift"


def run(evidence: Evidence) -> Findings:
    """Measure edge lifts and the whole mean curve of every axis, and judge the lifts.

    Edge lift = Σ L_i / Σ t_i, L_i the lift at item i's last imperceptible rung, t_i that strength as a share
    of the visible point. Margin ±`premature.margin`.
    """
    findings = Findings()
    for dimension in evidence.dimensions:
        for axis in evidence.axes:
            findings += _curve(evidence, axis, dimension)
            findings += _judge(evidence, axis, dimension)
    return findings


def _curve(evidence: Evidence, axis: str, dimension: str) -> Findings:
    """Mean lift at every rung, pooled over sources and per source; inert rungs enter nothing."""
    climbs = ladder.resolved(evidence, axis, dimension)
    rows = []
    groups = [("*", climbs), *((climb.stratum.source, (climb,)) for climb in climbs)]
    for source, group in groups if len(climbs) > 1 else groups[:1]:
        for index, strength in enumerate(evidence.axes[axis].strengths):
            estimate = ladder.combine(
                group,
                lambda climb, at=index: climb.lifts_at(np.full(len(climb.items), at)),  # type: ignore[misc]
            )
            if estimate is NOTHING:
                continue
            low, high = estimate.interval(PASS_LEVEL)
            rows.append(
                {
                    **evidence.key(NAME, "mean_lift", axis=axis, dimension=dimension, source=source),
                    "rung": index + 1,
                    "strength": strength,
                    "value": ladder.finite(estimate.value),
                    "ci_low": ladder.finite(low),
                    "ci_high": ladder.finite(high),
                    "n": estimate.n,
                    "n_clusters": estimate.n_clusters,
                }
            )
    return Findings(curves=tuple(rows))


def _judge(evidence: Evidence, axis: str, dimension: str) -> Findings:
    margin = evidence.limits["premature.margin"]
    climbs = ladder.resolved(evidence, axis, dimension)
    edges = [ladder.edges(evidence, axis, climb) for climb in climbs]
    zoned = [entry for part in edges for entry in part if entry is not None]
    bounds = ladder.Bounds(-margin, margin, margin)
    provisional = is_provisional(evidence, axis)
    if not zoned:
        return ladder.unmeasured(
            evidence, NAME, MEASURE, axis, dimension, provisional=provisional, bounds=bounds
        )
    rungs = [np.array([-1 if entry is None else entry.rung for entry in part]) for part in edges]
    weights = [
        np.array([np.nan if entry is None or entry.rung < 0 else entry.reach for entry in part])
        for part in edges
    ]
    bare = sum(entry.rung < 0 for entry in zoned) / len(zoned)

    def estimate(way: bool | None) -> Estimate:  # noqa: FBT001 - None is a third way
        parts: list[Lifts] = [
            ladder.filled(climb, at, highest=way) for climb, at in zip(climbs, rungs, strict=True)
        ]
        return combined_mean(parts, weights)

    def judge(way: bool | None) -> ladder.Judged:  # noqa: FBT001
        return ladder.decided(within(estimate(way), margin, evidence.claims), ("falls", "climbs"))

    judged = ladder.stands_however_filled(
        ladder.missing_share(climbs, rungs), evidence.limits["ladder.missing_share"], judge
    )
    judged = ladder.complete(evidence, axis, dimension, judged)
    judged = qualified(evidence, climbs, judged, upwards=True)
    if bare > evidence.limits["premature.max_items_without_rung"]:
        judged = ladder.Judged(
            Verdict.INCONCLUSIVE, "", (*judged.notes, say("notes.weaker_rungs", share=ladder.percent(bare)))
        )
    whole = estimate(None)
    verdict = ladder.verdict_row(
        evidence,
        NAME,
        MEASURE,
        axis,
        dimension,
        whole,
        judged,
        provisional=provisional,
        notes=ladder.standing_notes(evidence, climbs),
        bounds=bounds,
    )
    measures = [ladder.measure_row(evidence, NAME, MEASURE, whole, axis=axis, dimension=dimension)]
    for climb, at, given in zip(climbs, rungs, weights, strict=True):
        if len(climbs) > 1:
            part = combined_mean([climb.lifts_at(at)], [given])
            parts = {"axis": axis, "dimension": dimension, "source": climb.stratum.source}
            measures.append(ladder.measure_row(evidence, NAME, MEASURE, part, **parts))
    raw = [ladder.raw_lifts(climb, at) for climb, at in zip(climbs, rungs, strict=True)]
    spread = combined_mean(raw, weights)
    measures.append(ladder.measure_row(evidence, NAME, "edge_raw", spread, axis=axis, dimension=dimension))
    measures[0]["n_needed"] = verdict["n_needed"]
    return Findings(measures=tuple(measures), verdicts=(verdict,))


def is_provisional(evidence: Evidence, axis: str) -> bool:
    """Whether the zones of an axis rest on visual-difference models."""
    return any(zone.provisional for key, zone in evidence.zone_of.items() if key[1] == axis)


def qualified(
    evidence: Evidence, climbs: tuple[Climb, ...], judged: ladder.Judged, *, upwards: bool
) -> ladder.Judged:
    """Turn a pass into "open" where coarse lifts or the end of the scale cannot support it."""
    if judged.verdict != Verdict.PASS:
        return judged
    share = ladder.no_room_share(evidence, climbs, upwards=upwards)
    if share > evidence.limits["ladder.no_room_share"]:
        note = say("notes.no_room", share=ladder.percent(share))
        return ladder.Judged(Verdict.INCONCLUSIVE, "", (*judged.notes, note))
    if ladder.coarse(evidence, climbs):
        return ladder.Judged(Verdict.INCONCLUSIVE, "", judged.notes)
    return judged

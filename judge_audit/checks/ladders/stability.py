"""Stability: is an axis worth the same in every source?

What moves the score of one generator's images and not of another's is correlation, not judgement. Two
verdicts: on edge lifts and on top lifts, over all axes and pairs of sources. Q and I² are shown, never a
verdict: I² exceeds one half in one of six comparisons of equal sources.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.check import Check
from judge_audit.checks.evidence import Findings
from judge_audit.checks.ladders.ladder_question import Bounds, Question, item_rungs
from judge_audit.checks.ladders.missing_lifts import edges, missing_share, raw_lifts
from judge_audit.checks.ladders.top_response import top_rungs
from judge_audit.core.formatting import finite, number, percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import SMALL, Verdict
from judge_audit.measures.estimates import NOTHING, Estimate
from judge_audit.measures.lifts import Lifts, combined_mean
from judge_audit.measures.source_comparisons import (
    Contrast,
    Effect,
    Stability,
    compare,
    contrasts,
    drifting,
    heterogeneity,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from judge_audit_schemas.rows import MeasuresRow, VerdictsRow

    from judge_audit.checks.evidence import Climb, Evidence, Floats, Ints

NAME = "stability"
EDGE, TOP = "edge", "top"
NAMED = 3
"""Drifting axes named in a sentence."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """One kind of effect on every axis.

    Attributes:
        effects: By axis, those that at least one source has.
        left_out: Axes of which too many scores are missing, with the share.
        whole: Whether every source could rank something.
        provisional: Whether a zone rests on visual-difference models.
    """

    effects: tuple[Effect, ...]
    left_out: dict[str, float]
    whole: bool
    provisional: bool


def run(evidence: Evidence) -> Findings:
    """Compare edge lifts and top lifts of every axis between the sources."""
    findings = Findings()
    zoned = {axis for _, axis in evidence.zone_of} & set(evidence.axes)
    for dimension in evidence.dimensions if zoned else ():
        sources = [stratum.source for stratum in evidence.strata(dimension) if stratum.source != SMALL]
        if len(sources) < 2:
            reason = say("stability.one_source" if not sources else "stability.only", list=", ".join(sources))
            findings += Findings(verdicts=(_verdict(evidence, EDGE, dimension, Verdict.MISSING, reason),))
            continue
        for effect in (EDGE, TOP):
            gathered = _gather(evidence, effect, dimension)
            if gathered.effects or gathered.left_out:
                findings += _judge(evidence, effect, dimension, gathered)
    return findings


def _gather(evidence: Evidence, effect: str, dimension: str) -> Gathered:
    """Estimate an effect on every axis with zones, source by source."""
    effects, left_out, whole, provisional = [], {}, True, False
    for axis in evidence.axes:
        question = Question(evidence, NAME, f"{effect}_difference", axis, dimension, Bounds(None, None, 0))
        placed = [_placed(question, effect, climb) for climb in question.climbs]
        if not any((rungs >= 0).any() for rungs, _ in placed):
            continue
        provisional = provisional or question.provisional
        whole = whole and len(question.climbs) == len(evidence.climbs(axis, dimension))
        lost = max(
            missing_share(question.climbs, [rungs for rungs, _ in placed]),
            evidence.unanchored(axis, dimension),
        )
        if lost > evidence.limits["ladder.missing_share"]:
            left_out[axis] = lost
            continue
        own = [
            (climb, *at)
            for climb, at in zip(question.climbs, placed, strict=True)
            if climb.stratum.source != SMALL
        ]
        effects.append(_effect(axis, own))
    return Gathered(tuple(entry for entry in effects if entry.lift), left_out, whole, provisional)


def _placed(question: Question, effect: str, climb: Climb) -> tuple[Ints, Floats]:
    """Give each item's rung, −1 where it has none, and its weight t."""
    if effect == TOP:
        rungs = top_rungs(question, climb)
        return rungs, np.ones(len(rungs))
    found = edges(question, climb)
    weights = [np.nan if entry is None or entry.rung < 0 else entry.reach for entry in found]
    return item_rungs(found), np.array(weights)


def _effect(axis: str, own: Sequence[tuple[Climb, Ints, Floats]]) -> Effect:
    """Estimate one effect per source; raw differences in the robust standard deviation of all sources."""
    sizes = [len(climb.stratum.items) for climb, _, _ in own]
    squares = sum(size * climb.stratum.spread**2 for size, (climb, _, _) in zip(sizes, own, strict=True))
    unit = math.sqrt(squares / sum(sizes)) if squares else math.nan
    lift, raw = {}, {}
    for climb, rungs, weights in own:
        estimate = combined_mean([climb.lifts_at(rungs)], [weights])
        if estimate is NOTHING:
            continue
        plain = raw_lifts(climb, rungs)
        scale = climb.stratum.spread / unit
        scaled = Lifts(plain.values * scale, plain.without * scale, plain.clusters)
        lift[climb.stratum.source] = estimate
        raw[climb.stratum.source] = combined_mean([scaled], [weights])
    return Effect(axis, lift, raw)


def _judge(evidence: Evidence, effect: str, dimension: str, gathered: Gathered) -> Findings:
    limits = evidence.limits
    pairs = contrasts(gathered.effects)
    if not pairs and not gathered.left_out:
        sources = sorted({source for entry in gathered.effects for source in entry.lift})
        reason = say("stability.only", list=", ".join(sources))
        return Findings(verdicts=(_verdict(evidence, effect, dimension, Verdict.MISSING, reason),))
    families = 2 * len(evidence.dimensions)
    found = compare(pairs, limits["stability.difference"], limits["stability.difference_raw"], families)
    verdict = found.verdict
    if verdict == Verdict.PASS and (gathered.left_out or not gathered.whole):
        verdict = Verdict.INCONCLUSIVE
    widest = max(found.apart or pairs, key=lambda entry: abs(entry.lift.value), default=None)
    reason = " ".join(_sentences(gathered, found, verdict, widest))
    row = _verdict(evidence, effect, dimension, verdict, reason, widest.lift if widest else NOTHING)
    row["provisional"] = gathered.provisional
    rows = () if evidence.is_control else _measures(evidence, effect, dimension, gathered, pairs)
    return Findings(measures=tuple(rows), verdicts=(row,))


def _sentences(gathered: Gathered, found: Stability, verdict: Verdict, widest: Contrast | None) -> list[str]:
    """Say what was found and what was left out."""
    notes = []
    if found.apart:
        axes = list(dict.fromkeys(entry.effect for entry in found.apart))[:NAMED]
        effects = {effect.name: effect for effect in gathered.effects}
        drifts = [
            say("stability.drift", axis=axis, list=", ".join(drifting(effects[axis], found.apart)))
            for axis in axes
        ]
        notes.append(say("stability.unstable", list="; ".join(drifts), pair=_pair(found.apart[0])))
    elif verdict == Verdict.PASS:
        notes.append(say("stability.pass"))
    elif widest is not None:
        notes.append(say("stability.inconclusive", pair=_pair(widest)))
    if found.spread:
        pairs = "; ".join(_pair(entry) for entry in found.spread[:NAMED])
        notes.append(say("stability.spread_differs", list=pairs))
    for axis, share in gathered.left_out.items():
        notes.append(say("stability.refusals", axis=axis, share=percent(share)))
    if not gathered.whole:
        notes.append(say("stability.unresolved"))
    if gathered.provisional:
        notes.append(say("notes.provisional"))
    return notes


def _pair(entry: Contrast) -> str:
    """Name a contrast."""
    return say(
        "stability.pair",
        axis=entry.effect,
        first=entry.first,
        second=entry.second,
        value=number(entry.lift.value),
    )


def _verdict(
    evidence: Evidence,
    effect: str,
    dimension: str,
    verdict: Verdict,
    reason: str,
    estimate: Estimate = NOTHING,
) -> VerdictsRow:
    margin = evidence.limits["stability.difference"]
    limits: VerdictsRow = {"limit_low": -margin, "limit_high": margin}
    finding = "unstable" if verdict == Verdict.FAIL else ""
    rows = evidence.writer(NAME, dimension=dimension)
    return rows.verdict(f"{effect}_difference", verdict, reason, finding, estimate, **limits)


def _measures(
    evidence: Evidence, effect: str, dimension: str, gathered: Gathered, pairs: Sequence[Contrast]
) -> Iterator[MeasuresRow]:
    """Give contrasts, Q and I², and every effect with one source left out."""
    rows = evidence.writer(NAME, dimension=dimension)
    for entry in pairs:
        pair = rows.at(axis=entry.effect, source=entry.first, baseline=entry.second)
        yield pair.figure(f"{effect}_difference", entry.lift)
        yield pair.figure(f"{effect}_difference_raw", entry.raw)
    for part in gathered.effects:
        if len(part.lift) < 2:
            continue
        of_axis = rows.at(axis=part.name)
        for measure, value in zip(("q", "i2"), heterogeneity(list(part.lift.values())), strict=True):
            yield of_axis.count(f"{effect}_{measure}", finite(value), len(part.lift))
        for source in part.lift:
            yield of_axis.figure(f"{effect}_left_out", part.without(source), source=source)
            yield of_axis.figure(f"{effect}_drift", part.drift(source), source=source)


CHECK = Check(NAME, run, judges=("edge_difference",))

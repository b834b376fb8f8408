"""What the three questions asked of a ladder have in common: guards, rows and sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.checks.evidence import SMALL, Climb, Evidence, Findings, Zone
from judge_audit.measures.estimates import (
    NOTHING,
    PASS_LEVEL,
    Answer,
    Estimate,
    corrected_level,
    items_needed,
)
from judge_audit.measures.ladders import Edge, edge
from judge_audit.measures.lifts import Lifts, absolute, averaged, combined_mean, extreme_lifts
from judge_audit.messages import say
from judge_audit.vocabulary import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]
    Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict in the making.

    Attributes:
        verdict: The answer.
        finding: The fault, "" if none.
        notes: Sentences that qualify it.
    """

    verdict: Verdict
    finding: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits a verdict is held against, and the margin its open question turns on."""

    low: float | None
    high: float | None
    margin: float


def resolved(evidence: Evidence, axis: str, dimension: str) -> tuple[Climb, ...]:
    """Give the climbs of an axis whose stratum can rank anything."""
    return tuple(climb for climb in evidence.climbs(axis, dimension) if climb.stratum.resolved)


def zones_of(evidence: Evidence, axis: str, climb: Climb) -> list[Zone | None]:
    """Give the zone of each item, None where nobody can say."""
    return [evidence.zone_of.get((item_id, axis)) for item_id in climb.items]


def edges(evidence: Evidence, axis: str, climb: Climb) -> list[Edge | None]:
    """Find each item's last imperceptible rung; None for items without a zone."""
    strengths = evidence.axes[axis].strengths
    return [
        None if zone is None else edge(strengths, list(climb.inert[index]), zone.perceptible_low)
        for index, zone in enumerate(zones_of(evidence, axis, climb))
    ]


def filled(climb: Climb, rungs: Ints, *, highest: bool | None) -> Lifts:
    """Lift of each item at its rung, missing scores filled in with the extreme lift if asked."""
    observed = climb.lifts_of_repeats(rungs)
    if highest is None:
        return averaged(observed)
    return averaged(
        [
            replaced(part, lost, extremes(climb, repeat, highest=highest))
            for repeat, (part, lost) in enumerate(zip(observed, climb.lost_at(rungs), strict=True))
        ]
    )


def extremes(climb: Climb, repeat: int, *, highest: bool) -> Lifts:
    """Give the largest or smallest lift possible; a lost untouched repeat is stood for by the first."""
    own = climb.originals[:, repeat]
    own = np.where(np.isnan(own), climb.originals[:, 0], own)
    return extreme_lifts(own, climb.clusters, climb.stratum.reference, highest=highest)


def largest_size(climb: Climb, repeat: int) -> Lifts:
    """Give the largest size a lift could have had in either direction."""
    up, down = (absolute(extremes(climb, repeat, highest=way)) for way in (True, False))
    return replaced(down, up.values > down.values, up)


def replaced(given: Lifts, where: NDArray[np.bool_], other: Lifts) -> Lifts:
    """Take some items' lifts from elsewhere."""
    return Lifts(
        np.where(where, other.values, given.values),
        np.where(where[:, None], other.without, given.without),
        given.clusters,
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


def no_room_share(evidence: Evidence, climbs: Sequence[Climb], *, upwards: bool) -> float:
    """Share of items whose untouched score already stands at the declared end in the tested direction."""
    low, high = evidence.card.scale_low, evidence.card.scale_high
    if low is None or high is None or not climbs:
        return 0.0
    end = (
        max(low * evidence.sign, high * evidence.sign)
        if upwards
        else min(low * evidence.sign, high * evidence.sign)
    )
    originals = np.concatenate([climb.originals[:, 0] for climb in climbs])
    at_end = originals >= end if upwards else originals <= end
    return float(at_end[np.isfinite(originals)].mean()) if np.isfinite(originals).any() else 0.0


def standing_notes(evidence: Evidence, climbs: Sequence[Climb]) -> tuple[str, ...]:
    """Say what qualifies every verdict on these climbs."""
    notes = []
    smallest = int(evidence.limits["ladder.coarse_reference"])
    if coarse(evidence, climbs):
        notes.append(say("notes.coarse", smallest=smallest))
    if any(climb.stratum.source == SMALL for climb in climbs):
        notes.append(say("notes.pooled"))
    single = [climb.stratum.source for climb in climbs if len(np.unique(climb.clusters)) < 2]
    if single:
        notes.append(say("notes.one_cluster", sources=", ".join(single)))
    return tuple(notes)


def coarse(evidence: Evidence, climbs: Sequence[Climb]) -> bool:
    """Whether a stratum is too small for its lifts to support a pass."""
    smallest = evidence.limits["ladder.coarse_reference"]
    return any(len(climb.stratum.items) < smallest for climb in climbs)


def settle_note(estimate: Estimate, bounds: Bounds, claims: int) -> tuple[int | None, str]:
    """Say how many items would settle an open question."""
    needed = items_needed(estimate, bounds.margin, claims, low=bounds.low, high=bounds.high)
    if not estimate.usable:
        return None, say("missing.clusters", clusters=estimate.n_clusters)
    return needed, say("notes.settle", n=needed) if needed else say("notes.close")


def stands_however_filled(share: float, limit: float, judge: Callable[[bool | None], Judged]) -> Judged:
    """Judge what was observed; with too many missing scores, only if every way of filling agrees."""
    observed = judge(None)
    if share <= limit:
        return observed
    if all(
        (other := judge(way)).verdict == observed.verdict and other.finding == observed.finding
        for way in (True, False)
    ):
        return observed
    return Judged(Verdict.INCONCLUSIVE, "", (say("notes.refusals", share=percent(share)),))


def complete(evidence: Evidence, axis: str, dimension: str, judged: Judged) -> Judged:
    """Leave open what too many missing untouched scores, or a source without resolution, leave open."""
    share = evidence.unanchored(axis, dimension)
    if share > evidence.limits["ladder.missing_share"]:
        return Judged(Verdict.INCONCLUSIVE, "", (say("notes.refusals", share=percent(share)),))
    mute = any(not climb.stratum.resolved for climb in evidence.climbs(axis, dimension))
    if mute and judged.verdict == Verdict.PASS:
        return Judged(Verdict.INCONCLUSIVE, "", (*judged.notes, say("missing.resolution")))
    return judged


def measure_row(
    evidence: Evidence,
    check: str,
    measure: str,
    estimate: Estimate,
    **parts: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Make a row of `measures` with its 90 % interval."""
    low, high = estimate.interval(PASS_LEVEL)
    return {
        **evidence.key(check, measure, **parts),
        "value": finite(estimate.value),
        "ci_low": finite(low),
        "ci_high": finite(high),
        "n": estimate.n,
        "n_clusters": estimate.n_clusters,
    }


def verdict_row(  # noqa: PLR0913 - a row has as many parts as it has
    evidence: Evidence,
    check: str,
    measure: str,
    axis: str,
    dimension: str,
    estimate: Estimate,
    judged: Judged,
    *,
    bounds: Bounds,
    provisional: bool,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """Make a row of `verdicts`, with its reason in words."""
    needed = None
    said = [*judged.notes, *notes]
    open_by_chance = not judged.notes  # what other reasons leave open, more items do not settle
    if judged.verdict == Verdict.INCONCLUSIVE and estimate is not NOTHING and open_by_chance:
        needed, sentence = settle_note(estimate, bounds, evidence.claims)
        said.insert(0, sentence)
    if provisional and judged.verdict != Verdict.MISSING:
        said.append(say("notes.provisional"))
    low, high = estimate.interval(
        PASS_LEVEL if judged.verdict != Verdict.FAIL else corrected_level(evidence.claims)
    )
    if judged.verdict == Verdict.MISSING or (judged.verdict == Verdict.INCONCLUSIVE and estimate is NOTHING):
        sentence = ""
    else:
        name = judged.finding or judged.verdict.value
        sentence = say(
            f"{check}.{name}", axis=axis, value=number(estimate.value), low=number(low), high=number(high)
        )
    return {
        **evidence.key(check, measure, axis=axis, dimension=dimension),
        "value": finite(estimate.value),
        "ci_low": finite(low),
        "ci_high": finite(high),
        "n": estimate.n,
        "n_needed": needed,
        "limit_low": bounds.low,
        "limit_high": bounds.high,
        "verdict": judged.verdict.value,
        "finding": judged.finding,
        "provisional": provisional,
        "reason": " ".join(part for part in [sentence, *said] if part),
    }


def unmeasured(
    evidence: Evidence,
    check: str,
    measure: str,
    axis: str,
    dimension: str,
    *,
    bounds: Bounds,
    provisional: bool,
) -> Findings:
    """Say why an axis could not be judged: nobody knows what is visible, or nothing can be ranked."""
    known = any(key[1] == axis for key in evidence.zone_of)
    if not known:
        judged = Judged(Verdict.MISSING, "", (say("missing.zones", axis=axis),))
    elif not resolved(evidence, axis, dimension):
        judged = Judged(Verdict.INCONCLUSIVE, "", (say("missing.resolution"),))
    else:
        judged = Judged(Verdict.INCONCLUSIVE, "", (say("missing.rungs", axis=axis),))
    row = verdict_row(
        evidence,
        check,
        measure,
        axis,
        dimension,
        NOTHING,
        judged,
        bounds=bounds,
        provisional=provisional,
    )
    return Findings(verdicts=(row,))


def combine(
    climbs: Sequence[Climb], make: Callable[[Climb], Lifts], weights: Sequence[Floats] | None = None
) -> Estimate:
    """Estimate the mean over strata of what `make` gives per item."""
    return combined_mean([make(climb) for climb in climbs], weights)


def finite(value: float) -> float | None:
    """Give a number, or None where there is none."""
    return value if math.isfinite(value) else None


def number(value: float) -> str:
    """Write a lift for people."""
    return f"{value:+.3f}".replace("-", "−") if math.isfinite(value) else "unknown"


def percent(share: float) -> str:
    """Write a share for people."""
    return f"{100 * share:.0f} %"


def decided(answer: Answer, findings: tuple[str, str]) -> Judged:
    """Turn an answer into a verdict; `findings` names the fault below and the one above."""
    finding = {-1: findings[0], 1: findings[1], 0: ""}[answer.side]
    return Judged(answer.verdict, finding)

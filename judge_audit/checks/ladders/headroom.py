"""Headroom: how far can the score be pushed with changes nobody sees, and in which direction?

Single axes come from the ladders, at each image's last imperceptible rung. Combined probes are answers on an
axis `combo:<axis>&<axis>` (rung 1, strength their joint visibility; each axis at 1/√k of its own last
imperceptible rung), for a combination chosen by the judge's own scores (see `choose`) with `@0` or `@1`, the half
of the clusters it was chosen on (see `half_of`). Soundings, scored on few images to choose by, are no candidates.
The verdict needs combined probes: of single axes *premature* says the same. It is provisional until combined rungs
have been read, since that visibilities add in quadrature is an assumption.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.check import Check
from judge_audit.checks.evidence import Findings
from judge_audit.checks.ladders.ladder_question import Bounds, Judged, Question, item_rungs
from judge_audit.checks.ladders.missing_lifts import edges
from judge_audit.checks.result_rows import deciding_level, interval_words
from judge_audit.core.formatting import percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import POOLED, State, Verdict, ZoneBasis
from judge_audit.measures.estimates import NOTHING, below, items_needed
from judge_audit.measures.headroom import (
    COMBO,
    GREEDY,
    PAIR,
    SINGLE,
    Candidate,
    Forecast,
    Foretold,
    Named,
    Seen,
    best_pair,
    combo_axis,
    cross_fitted,
    greedy,
    half_of,
    image_maximum,
    read_combo,
)
from judge_audit.measures.lifts import Lifts
from judge_audit.stimuli.combinations import combinable, compatible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from judge_audit_schemas.rows import MeasuresRow, VerdictsRow

    from judge_audit.checks.evidence import Climb, Evidence, Floats, Ints, Stratum

NAME = "headroom"
MEASURE = "headroom"

WHOLE = 0.9
"""A combination that no score chose is a recipe like others where it was scored on this share of the images."""


@dataclass(frozen=True, slots=True)
class Place:
    """The items of one source that carry any recipe: their rows, clusters and halves."""

    stratum: Stratum
    at: Mapping[str, int]
    clusters: Ints
    halves: Ints


def run(evidence: Evidence) -> Findings:
    """Forecast the headroom of every family of recipes, and judge that of all of them together."""
    return sum((_dimension(evidence, dimension) for dimension in evidence.dimensions), Findings())


def _dimension(evidence: Evidence, dimension: str) -> Findings:
    candidates, halves = gathered(evidence, dimension)
    if not candidates:
        return Findings()
    measures = () if evidence.is_control else _measures(evidence, dimension, candidates, halves)
    combined = any(candidate.axis.startswith(COMBO) for candidate in candidates)
    whole = cross_fitted(candidates, halves)
    verdicts = (_verdict(evidence, dimension, candidates, whole),) if combined else ()
    return Findings(measures=tuple(measures), verdicts=verdicts)


def gathered(
    evidence: Evidence, dimension: str, *, soundings: bool = False
) -> tuple[list[Candidate], list[Ints]]:
    """Gather the lifts of every recipe in a dimension.

    Args:
        evidence: What may be looked at.
        dimension: The dimension.
        soundings: Whether combinations count that no score chose and that few images were scored with.

    Returns:
        The recipes, and per source the half of each image; neither where nothing can be ranked.
    """
    strata = [stratum for stratum in evidence.strata(dimension) if stratum.resolved]
    combos = sorted({row["axis"] for row in evidence.rows if row["axis"].startswith(COMBO)})
    names = (*evidence.axes, *combos)
    places = [_place(evidence, stratum, names, dimension) for stratum in strata]
    made = (_candidate(evidence, axis, dimension, places) for axis in names)
    found = [entry for entry in made if entry is not None and (soundings or not _is_sounding(entry))]
    return found, [place.halves for place in places]


def _is_sounding(candidate: Candidate) -> bool:
    """Tell whether a combination was only scored to choose by."""
    named = read_combo(candidate.axis)
    if named.family == SINGLE or named.chosen_on is not None:
        return False
    values = np.concatenate([part.values for part in candidate.lifts])
    return float(np.isfinite(values).mean()) < WHOLE


def _place(evidence: Evidence, stratum: Stratum, axes: Sequence[str], dimension: str) -> Place:
    """Gather the items of a source that carry any recipe."""
    carrying = {
        item_id
        for axis in axes
        for climb in evidence.climbs(axis, dimension)
        if climb.stratum.source == stratum.source
        for item_id in climb.items
    }
    cluster = dict(zip(stratum.items, stratum.reference.clusters.tolist(), strict=True))
    home = {row["item_id"]: row["cluster"] for row in evidence.originals}
    items = tuple(item_id for item_id in stratum.items if item_id in carrying)
    return Place(
        stratum,
        {item_id: at for at, item_id in enumerate(items)},
        np.array([cluster[item_id] for item_id in items], np.intp),
        np.array([half_of(home[item_id], evidence.seed) for item_id in items], np.intp),
    )


def _candidate(evidence: Evidence, axis: str, dimension: str, places: Sequence[Place]) -> Candidate | None:
    """Give a recipe's lifts on all these items, NaN where it was not scored; None if it was nowhere."""
    climbs = {climb.stratum.source: climb for climb in evidence.climbs(axis, dimension)}
    question = Question(evidence, NAME, MEASURE, axis, dimension, Bounds(None, None, 0))
    own = [climbs.get(place.stratum.source) for place in places]
    found = [climb.lifts_of_repeats(_rungs(question, climb)) if climb else [] for climb in own]
    if not any(np.isfinite(part.values).any() for parts in found for part in parts):
        return None
    repeats = min(len(parts) for parts in found if parts)
    per_source = [
        _spread_out(place, climb.items if climb else (), parts, repeats)
        for place, climb, parts in zip(places, own, found, strict=True)
    ]
    return Candidate(axis, tuple(zip(*per_source, strict=True)))


def _rungs(question: Question, climb: Climb) -> Ints:
    """Give each item's last imperceptible rung; of a combined probe the only one."""
    if question.axis.startswith(COMBO):
        return np.where(climb.inert[:, 0], -1, 0)
    return item_rungs(edges(question, climb))


def _spread_out(place: Place, items: Sequence[str], lifts: Sequence[Lifts], repeats: int) -> list[Lifts]:
    """Put lifts, repeat by repeat, where their items stand among all of the source."""
    shape = (len(place.at), place.stratum.reference.n_clusters)
    rows = [place.at[item_id] for item_id in items]
    spread = []
    for repeat in range(repeats):
        values, without = np.full(shape[0], np.nan), np.full(shape, np.nan)
        if repeat < len(lifts):
            values[rows], without[rows] = lifts[repeat].values, lifts[repeat].without
        spread.append(Lifts(values, without, place.clusters))
    return spread


def _measures(
    evidence: Evidence, dimension: str, candidates: Sequence[Candidate], halves: Sequence[Ints]
) -> Iterator[MeasuresRow]:
    """Give every family's headroom with the direction taken, and the best of each image with its price."""
    rows = evidence.writer(NAME, dimension=dimension)
    for family in (SINGLE, PAIR, GREEDY, POOLED):
        own = [entry for entry in candidates if family in {POOLED, read_combo(entry.axis).family}]
        found = cross_fitted(own, halves)
        if found is None or (family == POOLED and len({read_combo(e.axis).family for e in own}) < 2):
            continue
        yield rows.figure(MEASURE, found.transferable, kind=family)
        ridden = dict(zip(found.chosen, found.ridden, strict=True))
        # Chosen on both halves, a recipe is tried on all images.
        for axis, estimate in ridden.items() if len(ridden) > 1 else [(found.chosen[0], found.transferable)]:
            yield rows.figure("ridden", estimate, kind=family, axis=axis)
    yield rows.figure("image_maximum", image_maximum(candidates, fresh=False))
    if min(len(entry.repeats) for entry in candidates) > 1:
        yield rows.figure("image_maximum_fresh", image_maximum(candidates, fresh=True))
    yield rows.count("image_budget", float(sum(len(entry.repeats) for entry in candidates)))


def _verdict(
    evidence: Evidence, dimension: str, candidates: Sequence[Candidate], forecast: Forecast | None
) -> VerdictsRow:
    """Judge what transfers."""
    margin = evidence.limits["headroom.margin"]
    claims = len(evidence.dimensions)
    estimate = forecast.transferable if forecast else NOTHING
    answer = below(estimate, margin, claims)
    judged = Judged(answer.verdict, "hackable" if answer.verdict == Verdict.FAIL else "")
    share = _lost(evidence, dimension, candidates)
    notes = []
    if share > evidence.limits["ladder.missing_share"]:
        judged = judged.opened()
        notes.append(say("notes.refusals", share=percent(share)))
    elif judged.verdict == Verdict.PASS:
        judged, notes = _supported(evidence, dimension, judged)
    recipes = dict.fromkeys(_recipe(axis) for axis in (forecast.chosen if forecast else ()))
    provisional = not _read(evidence, forecast)
    if provisional:
        notes.append(say("headroom.provisional"))
    needed = None
    if answer.verdict == Verdict.INCONCLUSIVE and judged.verdict == Verdict.INCONCLUSIVE:
        needed = items_needed(estimate, margin, claims, high=margin)
    sentence = say(
        f"headroom.{judged.finding or judged.verdict.value}",
        list=say("headroom.or").join(recipes),
        **interval_words(estimate),
    )
    return evidence.writer(NAME, dimension=dimension).verdict(
        MEASURE,
        judged.verdict,
        " ".join([sentence, *notes]),
        judged.finding,
        estimate,
        deciding_level(judged.verdict, claims),
        n_needed=needed,
        limit_high=margin,
        provisional=provisional,
    )


def _lost(evidence: Evidence, dimension: str, candidates: Sequence[Candidate]) -> float:
    """Share of the scores of combined probes that are missing."""
    axes = {entry.axis for entry in candidates if entry.axis.startswith(COMBO)}
    due = [
        row["state"]
        for row in evidence.rows
        if row["axis"] in axes and row["dimension"] in (dimension, POOLED) and row["state"] != State.INERT
    ]
    return sum(state != State.OK for state in due) / len(due) if due else 0.0


def _supported(evidence: Evidence, dimension: str, judged: Judged) -> tuple[Judged, list[str]]:
    """Leave a pass open where lifts are coarse, a source ranks nothing, or there is no room to climb."""
    strata = evidence.strata(dimension)
    few = evidence.limits["ladder.coarse_reference"]
    if not all(stratum.resolved for stratum in strata):
        return judged.opened(), [say("stability.unresolved")]
    if any(len(stratum.items) < few for stratum in strata):
        return judged.opened(), [say("notes.coarse", smallest=int(few))]
    low, high = evidence.card.scale_low, evidence.card.scale_high
    if low is not None and high is not None:
        top = max(low * evidence.sign, high * evidence.sign)
        share = float(np.mean(np.concatenate([s.reference.values for s in strata]) >= top))
        if share > evidence.limits["ladder.no_room_share"]:
            return judged.opened(), [say("notes.no_room", share=percent(share))]
    return judged, []


def _read(evidence: Evidence, forecast: Forecast | None) -> bool:
    """Whether people have read the combined rungs that were ridden."""
    bases: dict[str, set[str]] = {}
    for row in evidence.zones.to_pylist():
        bases.setdefault(row["axis"], set()).add(row["basis"])
    read = {ZoneBasis.READINGS.value, ZoneBasis.QUANTILES.value}
    return forecast is not None and all(bases.get(a, {""}) <= read for a in forecast.chosen)


def _recipe(axis: str) -> str:
    """Name a recipe for people."""
    return say("headroom.and").join(read_combo(axis).axes)


def choose(evidence: Evidence) -> list[Named]:
    """Choose, on each half, the pair of axes and the larger combination that promise the largest lift.

    Args:
        evidence: Ladders and soundings of one judge. Where it has several dimensions and no overall one, lifts
            are averaged over them.

    Returns:
        At most two recipes of each half, marked with it; none where fewer than two axes have zones.
    """
    lifts, halves = _lifts(evidence)
    order = [axis for axis in combinable(evidence.axes) if axis in lifts]
    found = []
    for half in (0, 1):
        own = {axis: values[halves == half] for axis, values in lifts.items()}
        alone = {axis: mean for axis in order if np.isfinite(mean := _mean(own[axis]))}
        joint = {
            pair: measured
            for pair in combinations(alone, 2)
            if (measured := _seen(own.get(combo_axis(Named(pair))))) is not None
        }
        model = Foretold(alone, joint)
        pair = best_pair(model, compatible)
        if pair is None:
            continue
        more = greedy(model, pair, compatible)
        found += [Named(axes, half) for axes in dict.fromkeys((pair, more))]
    return found


def _lifts(evidence: Evidence) -> tuple[Mapping[str, Floats], Ints]:
    """Give every recipe's lift of each item (NaN where it was not scored), and the items' halves."""
    by_axis: dict[str, list[Floats]] = {}
    halves = np.zeros(0, np.intp)
    for dimension in evidence.dimensions:
        candidates, own = gathered(evidence, dimension, soundings=True)
        if not candidates:
            continue
        halves = np.concatenate(own)
        for candidate in candidates:
            values = np.concatenate([part.values for part in candidate.lifts])
            by_axis.setdefault(candidate.axis, []).append(values)
    # Each dimension may rank another set of items; only dimensions that rank as many are averaged.
    same = {axis: [part for part in parts if len(part) == len(halves)] for axis, parts in by_axis.items()}
    return {axis: np.mean(np.stack(parts), axis=0) for axis, parts in same.items() if parts}, halves


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def _seen(values: Floats | None) -> Seen | None:
    """Give a pair's mean lift with its error; None where fewer than two images tell."""
    known = values[np.isfinite(values)] if values is not None else np.zeros(0)
    if len(known) < 2:
        return None
    return Seen(float(known.mean()), float(known.std(ddof=1) / np.sqrt(len(known))))


CHECK = Check(NAME, run, judges=("headroom",))

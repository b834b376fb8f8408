"""Separation: does the judge rise with optimisation where people, looking blind at the same items, do not?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.check import Check
from judge_audit.checks.evidence import Findings
from judge_audit.checks.people.judge_and_raters import measure_row, missing_row, verdict_row
from judge_audit.checks.people.labelled_scores import PEOPLE, answers
from judge_audit.checks.uses.use_evidence import drawn
from judge_audit.core.digests import draw_seed
from judge_audit.core.formatting import number, percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.estimates import PASS_LEVEL, corrected_level, items_needed
from judge_audit.measures.resampling import draws_for
from judge_audit.measures.separation import separation
from judge_audit.measures.within_prompt import groups

if TYPE_CHECKING:
    from judge_audit_schemas.rows import ResultRow
    from numpy.typing import NDArray

    from judge_audit.checks.evidence import Evidence
    from judge_audit.checks.people.labelled_scores import Answers
    from judge_audit.measures.resampling import Resampled

    Floats = NDArray[np.float64]

NAME = "separation"
MEASURE = "separated"
MEASURES = {"judge": "judge_lift_after", "people": "people_lift_after", "separated": MEASURE}
BEFORE, AFTER = "before", "after"
BEYOND = 1e30
"""Stands for a score above all others."""


def run(evidence: Evidence) -> Findings:
    """Hold the judge's lift from before to after optimisation against people's."""
    findings = Findings()
    if evidence.is_control:
        return findings
    pairs = _pairs(evidence)
    for dimension in evidence.dimensions:
        findings += _dimension(evidence, dimension, pairs)
    return findings


def _pairs(evidence: Evidence) -> list[tuple[str, str, float, float]]:
    """Give item before, item after, and what people found in each, where both were reviewed blind."""
    seen = {
        (entry.queue, entry.item_id): entry
        for entry in drawn(evidence, (BEFORE, AFTER))
        if entry.blind and entry.good is not None
    }
    found = []
    for (queue, item), entry in sorted(seen.items()):
        other = seen.get((AFTER, entry.partner))
        if queue == BEFORE and other is not None and other.good is not None and entry.good is not None:
            found.append((item, entry.partner, entry.good, other.good))
    return found


def _dimension(evidence: Evidence, dimension: str, pairs: list[tuple[str, str, float, float]]) -> Findings:
    limit = evidence.limits["separation.margin"]
    given = answers(evidence, dimension)
    place = {item: at for at, item in enumerate(given.items)}
    held = [pair for pair in pairs if pair[0] in place and pair[1] in place]
    if not held:
        reason = say("separation.missing" if not pairs else "separation.not_scored")
        row = missing_row(evidence, NAME, MEASURE, dimension, reason, limit_high=limit)
        return Findings(verdicts=(row,))
    sides = [
        np.array([place[name] for name in names]) for names in zip(*((p[0], p[1]) for p in held), strict=True)
    ]
    before, after = (given.values[rows, 0] for rows in sides)
    people = tuple(np.array([pair[at] for pair in held]) for at in (2, 3))
    told = np.isfinite(before) & np.isfinite(after)
    clusters = _clusters(given, sides)
    figures = _measured(evidence, dimension, (before, after), people, clusters, told)
    if figures is None:
        reason = say("separation.not_scored")
        return Findings(verdicts=(missing_row(evidence, NAME, MEASURE, dimension, reason, limit_high=limit),))
    rows = [
        measure_row(evidence, NAME, MEASURES[name], dimension, figure, baseline=PEOPLE)
        for name, figure in figures.items()
    ]
    ways = []
    if 1 - told.mean() > evidence.limits["ladder.missing_share"]:
        for end in (BEYOND, -BEYOND):
            filled = np.where(np.isnan(before), -end, before), np.where(np.isnan(after), end, after)
            way = _measured(evidence, dimension, filled, people, clusters, np.ones(len(told), bool))
            ways += [way[MEASURE]] if way is not None else []
    verdict = _verdict(evidence, dimension, figures, ways, float(1 - told.mean()))
    return Findings(measures=tuple(rows), verdicts=(verdict,))


def _clusters(given: Answers, sides: list[NDArray[np.intp]]) -> NDArray[np.intp]:
    """Put pairs together that share a cluster on either side."""
    n = len(sides[0])
    wide = len(str(n))
    names = np.array([str(at).zfill(wide) for at in range(n)] * 2)
    shared = np.unique(given.clusters[np.concatenate(sides)], return_inverse=True)[1]
    return groups(names, shared).clusters


def _measured(
    evidence: Evidence,
    dimension: str,
    judge: tuple[Floats, Floats],
    people: tuple[Floats, ...],
    clusters: NDArray[np.intp],
    use: NDArray[np.bool_],
) -> dict[str, Resampled] | None:
    if not use.any():
        return None
    draws, seed = draws_for(len(evidence.dimensions)), draw_seed(evidence.seed, NAME, dimension)
    first, second = people
    return separation((judge[0][use], judge[1][use]), (first[use], second[use]), clusters[use], draws, seed)


def _answer(figure: Resampled, margin: float, claims: int) -> Verdict:
    if figure.interval(PASS_LEVEL)[1] < margin:
        return Verdict.PASS
    return Verdict.FAIL if figure.interval(corrected_level(claims))[0] > margin else Verdict.INCONCLUSIVE


def _verdict(
    evidence: Evidence, dimension: str, found: dict[str, Resampled], ways: list[Resampled], lost: float
) -> ResultRow:
    figure, margin = found[MEASURE], evidence.limits["separation.margin"]
    claims = len(evidence.dimensions)
    verdict, notes, needed = _answer(figure, margin, claims), [], None
    if any(_answer(way, margin, claims) != verdict for way in ways):
        verdict = Verdict.INCONCLUSIVE
        notes.append(say("notes.refusals", share=percent(lost)))
    elif verdict == Verdict.INCONCLUSIVE and figure.usable:
        needed = items_needed(figure.as_estimate(), margin, claims, high=margin)
        notes.append(say("separation.settle", n=needed) if needed else say("notes.close"))
    finding = "separated" if verdict == Verdict.FAIL else ""
    low, high = figure.interval(corrected_level(claims) if finding else PASS_LEVEL)
    words = {name: number(found[name].value) for name in ("judge", "people")}
    words |= {"low": number(low), "high": number(high), "n": str(figure.n)}
    key = f"separation.{verdict.value}" if figure.usable else "separation.few"
    reason = " ".join([say(key, **words), *notes])
    parts = {"finding": finding, "reason": reason, "n_needed": needed, "limit_high": margin}
    return verdict_row(evidence, NAME, MEASURE, dimension, figure, verdict=verdict, **parts)


CHECK = Check(NAME, run, judges=("separated",))

"""Separation: does the judge rise with optimisation where people, looking blind at the same items, do not?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.check import Check
from judge_audit.checks.evidence import Findings
from judge_audit.checks.one_limit import answer
from judge_audit.checks.people.labelled_scores import answers
from judge_audit.checks.result_rows import deciding_level, interval_words
from judge_audit.checks.uses.use_evidence import drawn, shared_clusters
from judge_audit.core.digests import draw_seed
from judge_audit.core.formatting import number, percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import PEOPLE, Verdict
from judge_audit.measures.estimates import items_needed
from judge_audit.measures.resampling import draws_for
from judge_audit.measures.separation import separation

if TYPE_CHECKING:
    from judge_audit_schemas.rows import VerdictsRow

    from judge_audit.checks.evidence import Evidence, Floats, Ints, Mask
    from judge_audit.measures.resampling import Resampled

NAME = "separation"
MEASURE = "separated"
MEASURES = {"judge": "judge_lift_after", "people": "people_lift_after", "separated": MEASURE}
BEFORE, AFTER = "before", "after"
BEYOND = 1e30
"""Stands for a score above all others."""


def run(evidence: Evidence) -> Findings:
    """Hold the judge's lift from before to after optimisation against people's."""
    if evidence.is_control:
        return Findings()
    pairs = _pairs(evidence)
    return sum((_dimension(evidence, dimension, pairs) for dimension in evidence.dimensions), Findings())


def _pairs(evidence: Evidence) -> list[tuple[str, str, float, float]]:
    """Give item before, item after, and what people found in each, where both were reviewed blind."""
    reviewed = {
        (entry.queue, entry.item_id): entry
        for entry in drawn(evidence, (BEFORE, AFTER))
        if entry.blind and entry.good is not None
    }
    pairs = []
    for (queue, item), entry in sorted(reviewed.items()):
        other = reviewed.get((AFTER, entry.partner))
        if queue == BEFORE and other is not None and other.good is not None and entry.good is not None:
            pairs.append((item, entry.partner, entry.good, other.good))
    return pairs


def _dimension(evidence: Evidence, dimension: str, pairs: list[tuple[str, str, float, float]]) -> Findings:
    limit = evidence.limits["separation.margin"]
    writer = evidence.writer(NAME, dimension=dimension)
    scores = answers(evidence, dimension)
    place = {item: at for at, item in enumerate(scores.items)}
    scored = [pair for pair in pairs if pair[0] in place and pair[1] in place]
    if not scored:
        reason = say("separation.missing" if not pairs else "separation.not_scored")
        row = writer.verdict(MEASURE, Verdict.MISSING, reason, limit_high=limit)
        return Findings(verdicts=(row,))
    sides = [
        np.array([place[name] for name, _, _, _ in scored]),
        np.array([place[name] for _, name, _, _ in scored]),
    ]
    before, after = (scores.values[rows, 0] for rows in sides)
    people = np.array([pair[2] for pair in scored]), np.array([pair[3] for pair in scored])
    answered = np.isfinite(before) & np.isfinite(after)
    numbers = np.tile(np.arange(len(scored)), 2)
    clusters = shared_clusters(numbers, scores.clusters[np.concatenate(sides)])
    figures = _measured(evidence, dimension, (before, after), people, clusters, answered)
    if figures is None:
        reason = say("separation.not_scored")
        return Findings(verdicts=(writer.verdict(MEASURE, Verdict.MISSING, reason, limit_high=limit),))
    rows = [writer.figure(MEASURES[name], figure, baseline=PEOPLE) for name, figure in figures.items()]
    ways = []
    lost = float(1 - answered.mean())
    for end in (BEYOND, -BEYOND) if lost > evidence.limits["ladder.missing_share"] else ():
        filled = np.where(np.isnan(before), -end, before), np.where(np.isnan(after), end, after)
        way = _measured(evidence, dimension, filled, people, clusters, np.ones(len(answered), bool))
        ways += [way[MEASURE]] if way is not None else []
    verdict = _verdict(evidence, dimension, figures, ways, lost)
    return Findings(measures=tuple(rows), verdicts=(verdict,))


def _measured(
    evidence: Evidence,
    dimension: str,
    judge: tuple[Floats, Floats],
    people: tuple[Floats, Floats],
    clusters: Ints,
    use: Mask,
) -> dict[str, Resampled] | None:
    if not use.any():
        return None
    draws, seed = draws_for(len(evidence.dimensions)), draw_seed(evidence.seed, NAME, dimension)
    first, second = people
    return separation((judge[0][use], judge[1][use]), (first[use], second[use]), clusters[use], draws, seed)


def _verdict(
    evidence: Evidence, dimension: str, figures: dict[str, Resampled], ways: list[Resampled], lost: float
) -> VerdictsRow:
    figure, margin = figures[MEASURE], evidence.limits["separation.margin"]
    claims = len(evidence.dimensions)
    verdict, notes, needed = answer(figure, high=margin, claims=claims), [], None
    if any(answer(way, high=margin, claims=claims) != verdict for way in ways):
        verdict = Verdict.INCONCLUSIVE
        notes.append(say("notes.refusals", share=percent(lost)))
    elif verdict == Verdict.INCONCLUSIVE and figure.usable:
        needed = items_needed(figure.as_estimate(), margin, claims, high=margin)
        notes.append(say("separation.settle", n=needed) if needed else say("notes.close"))
    words = interval_words(figure, deciding_level(verdict, claims))
    words |= {name: number(figures[name].value) for name in ("judge", "people")}
    key = f"separation.{verdict.value}" if figure.usable else "separation.few"
    reason = " ".join([say(key, n=str(figure.n), **words), *notes])
    finding = "separated" if verdict == Verdict.FAIL else ""
    writer = evidence.writer(NAME, dimension=dimension)
    return writer.verdict(MEASURE, verdict, reason, finding, figure, n_needed=needed, limit_high=margin)


CHECK = Check(NAME, run, judges=("separated",))

"""Unequal missingness: does the judge fall silent on what people find bad, or good?

Items are dealt into thirds of people's mean label within their source. A judge that refuses bad pictures and is
averaged over the rest looks kinder and surer than it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.check import Check
from judge_audit.checks.evidence import Findings
from judge_audit.checks.people.labelled_scores import answers, means, people_for, ratings
from judge_audit.core.formatting import percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import PEOPLE, Verdict
from judge_audit.measures.estimates import PASS_LEVEL, corrected_level, newcombe

if TYPE_CHECKING:
    from judge_audit_schemas.rows import VerdictsRow
    from numpy.typing import NDArray

    from judge_audit.checks.evidence import Evidence, Floats, Ints

NAME = "missingness"
DIFFERENCE = "missing_difference"
THIRDS = ("worst third", "middle third", "best third")


def run(evidence: Evidence) -> Findings:
    """Compare how many scores are missing among what people find bad and good."""
    return sum((_dimension(evidence, dimension) for dimension in evidence.card.dimensions), Findings())


def thirds(labels: Floats, sources: NDArray[np.str_]) -> Ints:
    """Deal labelled items into thirds of their source: 0 worst, 2 best, −1 where there is no label.

    Equal labels stay together: a third may hold more than a third, or nothing.
    """
    third_of = np.full(len(labels), -1, np.intp)
    for source in np.unique(sources):
        rows = (sources == source) & np.isfinite(labels)
        if rows.any():
            low, high = np.quantile(labels[rows], [1 / 3, 2 / 3])
            place = np.where(labels[rows] <= low, 0, np.where(labels[rows] >= high, 2, 1))
            third_of[rows] = place if high > low else 1
    return third_of


def _dimension(evidence: Evidence, dimension: str) -> Findings:
    limit = evidence.limits["missingness.difference"]
    limits: VerdictsRow = {"limit_low": -limit, "limit_high": limit}
    writer = evidence.writer(NAME, dimension=dimension)
    people = ratings(evidence, people_for(evidence, dimension))
    scores = answers(evidence, dimension)
    place = np.full(len(scores.items), -1)
    if people is not None:
        place = thirds(means(scores, people), scores.sources)
    counts = [(int((scores.lost & (place == at)).sum()), int((place == at).sum())) for at in range(3)]
    if not counts[0][1] or not counts[2][1]:
        row = writer.verdict(DIFFERENCE, Verdict.MISSING, say("missingness.no_labels"), **limits)
        return Findings(verdicts=(row,))
    rows = [
        writer.share("missing_share", *count, kind=kind, baseline=PEOPLE)
        for kind, count in zip(THIRDS, counts, strict=True)
        if count[1]
    ]
    worst, _, best = counts
    value = worst[0] / worst[1] - best[0] / best[1]
    low, high = newcombe(worst, best, PASS_LEVEL)
    wide = newcombe(worst, best, corrected_level(len(evidence.card.dimensions)))
    verdict, finding = Verdict.INCONCLUSIVE, ""
    if -limit < low and high < limit:
        verdict = Verdict.PASS
    elif wide[0] > limit or wide[1] < -limit:
        verdict, finding = Verdict.FAIL, "silent_on_some"
    reason = say(
        f"missingness.{finding or verdict.value}",
        worst=percent(worst[0] / worst[1]),
        best=percent(best[0] / best[1]),
    )
    n = worst[1] + best[1]
    measure = writer.count(DIFFERENCE, value, n)
    measure |= {"ci_low": low, "ci_high": high}
    row = writer.verdict(DIFFERENCE, verdict, reason, finding, **limits)
    row |= {"value": value, "ci_low": low, "ci_high": high, "n": n}
    return Findings(measures=(*rows, measure), verdicts=(row,))


CHECK = Check(NAME, run)

"""Unequal missingness: does the judge fall silent on what people find bad, or good?

Items are dealt into thirds of people's mean label within their source. A judge that refuses bad pictures and is
averaged over the rest looks kinder and surer than it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.check import Check
from judge_audit.checks.evidence import Findings, joined
from judge_audit.checks.people.judge_and_raters import missing_row
from judge_audit.checks.people.labelled_scores import PEOPLE, answers, means, people_for, ratings
from judge_audit.core.formatting import percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.estimates import PASS_LEVEL, corrected_level, newcombe, wilson

if TYPE_CHECKING:
    from judge_audit_schemas.rows import ResultRow
    from numpy.typing import NDArray

    from judge_audit.checks.evidence import Evidence

    Floats = NDArray[np.float64]

NAME = "missingness"
DIFFERENCE = "missing_difference"
THIRDS = ("worst third", "middle third", "best third")


def run(evidence: Evidence) -> Findings:
    """Compare how many scores are missing among what people find bad and good."""
    findings = Findings()
    for dimension in evidence.card.dimensions:
        findings += _dimension(evidence, dimension)
    return findings


def thirds(labels: Floats, sources: NDArray[np.str_]) -> NDArray[np.intp]:
    """Deal labelled items into thirds of their source: 0 worst, 2 best, −1 where there is no label.

    Equal labels stay together: a third may hold more than a third, or nothing.
    """
    found = np.full(len(labels), -1, np.intp)
    for source in np.unique(sources):
        rows = (sources == source) & np.isfinite(labels)
        if rows.any():
            low, high = np.quantile(labels[rows], [1 / 3, 2 / 3])
            place = np.where(labels[rows] <= low, 0, np.where(labels[rows] >= high, 2, 1))
            found[rows] = place if high > low else 1
    return found


def _dimension(evidence: Evidence, dimension: str) -> Findings:
    limit = evidence.limits["missingness.difference"]
    limits: ResultRow = {"limit_low": -limit, "limit_high": limit}
    people = ratings(evidence, people_for(evidence, dimension))
    given = answers(evidence, dimension)
    place = np.full(len(given.items), -1) if people is None else thirds(means(given, people), given.sources)
    counts = [((place == at).sum(), (given.lost & (place == at)).sum()) for at in range(3)]
    if not counts[0][0] or not counts[2][0]:
        reason = say("missingness.no_labels")
        return Findings(verdicts=(missing_row(evidence, NAME, DIFFERENCE, dimension, reason) | limits,))
    rows: list[ResultRow] = []
    for kind, (n, lost) in zip(THIRDS, counts, strict=True):
        if n:
            low, high = wilson(int(lost), int(n))
            key = evidence.key(NAME, "missing_share", dimension=dimension, kind=kind, baseline=PEOPLE)
            rows.append({**key, "value": lost / n, "ci_low": low, "ci_high": high, "n": int(n)})
    worst, best = ((int(counts[at][1]), int(counts[at][0])) for at in (0, 2))
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
    row: ResultRow = {
        **evidence.key(NAME, DIFFERENCE, dimension=dimension),
        "value": value,
        "ci_low": low,
        "ci_high": high,
        "n": worst[1] + best[1],
    }
    answer: ResultRow = {"verdict": verdict.value, "finding": finding, "reason": reason, "provisional": False}
    return Findings(measures=(*rows, row), verdicts=(joined(row, limits, answer),))


CHECK = Check(NAME, run)

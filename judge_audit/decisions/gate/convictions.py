"""Convictions that stand: faults that an earlier audit of the lineage proved and nobody has asked about since.

A conviction is lifted by evidence alone: the same question, on at least as many items, answered without one. An
audit that leaves the question out, or asks it on less, leaves the conviction where it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge_audit_schemas.rows import ResultRow

from judge_audit.core.tables import rows_of
from judge_audit.core.vocabulary import NOT_ASKED, Verdict
from judge_audit.decisions.standings import ORDERS_NOTHING, Use

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judge_audit_schemas.rows import AuditsRow

    from judge_audit.lake import Lake

COLUMNS = (
    "audit_id",
    "subject",
    "check",
    "measure",
    "axis",
    "dimension",
    "kind",
    "verdict",
    "provisional",
    "finding",
)
FIGURES = ("n", "reason")
Question = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Conviction:
    """A proved fault.

    Attributes:
        audit_id: The audit that proved it last.
        question: Check, measure, axis, dimension and kind.
        finding: The fault.
        n: On how many items (pairs, prompts, ratings: whatever the measure counts) it rests.
        reason: What was found, in words.
    """

    audit_id: str
    question: Question
    finding: str
    n: int
    reason: str


def standing_convictions(lake: Lake, audits: Sequence[AuditsRow]) -> list[Conviction]:
    """Give the convictions that stand after a series of audits.

    Args:
        lake: The lake.
        audits: Complete audits of one lineage, the earliest first.
    """
    origins = lake.origins("verdicts")
    own = sorted({origins.get(row["audit_id"], row["audit_id"]) for row in audits})
    table = lake.select("verdicts", [*COLUMNS, *FIGURES], {"audit_id": own, "is_control": False})
    by_audit: dict[str, list[ResultRow]] = {}
    for row in rows_of(table, ResultRow):
        by_audit.setdefault(row["audit_id"], []).append(row)
    standing: dict[Question, Conviction] = {}
    for audit in audits:
        rows = by_audit.get(origins.get(audit["audit_id"], audit["audit_id"]), ())
        _apply(standing, audit, [row for row in rows if row["subject"] == audit["judge_id"]])
    return [standing[question] for question in sorted(standing)]


def _apply(standing: dict[Question, Conviction], audit: AuditsRow, rows: Iterable[ResultRow]) -> None:
    """Add what an audit proved, and lift what it asked again on as much without proving it."""
    for row in rows:
        question = (row["check"], row["measure"], row["axis"], row["dimension"], row["kind"])
        number = int(row["n"] or 0)
        if row["verdict"] == Verdict.FAIL:
            if not row["provisional"]:
                reason, finding = str(row["reason"]), str(row["finding"] or "")
                standing[question] = Conviction(audit["audit_id"], question, finding, number, reason)
        elif row["verdict"] in {Verdict.PASS, Verdict.INCONCLUSIVE} and row["finding"] != NOT_ASKED:
            before = standing.get(question)
            if before is not None and number >= before.n:
                del standing[question]


def touching(convictions: Iterable[Conviction], use: Use | None) -> list[Conviction]:
    """Keep the convictions that a use asks about; for screening, those of a judge that orders nothing."""
    if use is None:
        return [
            one
            for one in convictions
            if one.finding in ORDERS_NOTHING.get((one.question[0], one.question[1]), ())
        ]
    required = {(one.check, one.measure) for one in use.requires}
    bars = {(one.check, one.measure): one.finding for one in use.bars}
    return [
        one
        for one in convictions
        if (place := (one.question[0], one.question[1])) in required
        or (place in bars and bars[place] in {"", one.finding})
    ]

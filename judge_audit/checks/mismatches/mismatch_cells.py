"""Verdicts on single cells of the response matrix: what each sub-score does on each kind of damage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.checks.mismatches.mismatch_rows import damage, subscore
from judge_audit.core.formatting import finite
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.estimates import PASS_LEVEL, corrected_level

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit.checks.mismatches.mismatch_rows import Matrix
    from judge_audit.measures.estimates import Answer

CELL = "response_lift"
"""The measure a cell's verdict is about; the sub-score's own verdict says the same in one row."""

FINDINGS = {"drops": "deaf", "hold": "halo"}


def cell_rows(matrix: Matrix, holds: Mapping[tuple[str, int], Answer], claims: int) -> list[dict[str, Any]]:
    """Give a row per cell that must drop or hold; one that may follow is never judged.

    Args:
        matrix: The responses.
        holds: Answers of the cells that must hold, by kind and place of the sub-score.
        claims: How many of them are tested together.
    """
    found = []
    fallers = sum(matrix.own(kind) is not None for kind in matrix.matched.kinds)
    for kind in matrix.matched.kinds:
        own = matrix.own(kind)
        if own is not None:
            found.append(_row(matrix, (kind, own), "drops", matrix.fall(kind, own), fallers))
    found += [_row(matrix, place, "hold", answer, claims) for place, answer in holds.items()]
    return found


def _row(
    matrix: Matrix, place: tuple[str, int], expected: str, answer: Answer, claims: int
) -> dict[str, Any]:
    kind, at = place
    estimate = matrix.response(kind, at)
    failed = answer.verdict == Verdict.FAIL
    ends = estimate.interval(corrected_level(claims) if failed else PASS_LEVEL)
    words = {"dimension": subscore(matrix.judged[at]), "damage": damage(kind)}
    return {
        **matrix.key(CELL, kind=matrix.kind_key(kind), dimension=matrix.judged[at]),
        "value": finite(estimate.value),
        "ci_low": finite(ends[0]),
        "ci_high": finite(ends[1]),
        "n": estimate.n,
        "limit_high": -matrix.evidence.limits["mismatch.fall"] if expected == "drops" else None,
        "verdict": answer.verdict.value,
        "finding": FINDINGS[expected] if failed else "",
        "provisional": False,
        "reason": say(f"mismatch.cells.{expected}_{answer.verdict.value}", **words),
    }

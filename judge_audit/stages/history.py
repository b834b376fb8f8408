"""The stage that gives a complete audit its place in history: its judge beside those before it, on the anchors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.errors import AuditError
from judge_audit.gate.comparing import compare_with
from judge_audit.lake.questions import questions

if TYPE_CHECKING:
    from judge_audit.lake import Lake


def remember(lake: Lake, audit_id: str) -> None:
    """Compare the order of the anchors with that of the night before and of the judge approved then.

    The same judge has the same order, and without anchors there is none: then nothing is written. What cannot be
    compared any more, because answers are gone, is left unknown.

    Args:
        lake: The lake.
        audit_id: A complete audit.
    """
    row = _audit(lake, audit_id)
    if row["anchor_set"] is None:
        return
    with questions(lake) as asked:
        found = asked.ask(
            "SELECT before, approved FROM nights WHERE audit_id = $audit", {"audit": audit_id}
        ).to_pylist()
    others = {name for night in found for name in (night["before"], night["approved"]) if name}
    for name in sorted(others - {audit_id}):
        try:
            compare_with(lake, row, [_audit(lake, name)])
        except AuditError:
            continue


def _audit(lake: Lake, audit_id: str) -> dict[str, object]:
    """Read a complete audit."""
    rows: list[dict[str, object]] = lake.read("audits", audit_id=audit_id, status="complete").to_pylist()
    return rows[0]

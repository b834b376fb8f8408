"""The stage that gives a complete audit its place in history: its judge next to those before it, on the anchors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import AuditError
from judge_audit.decisions.gate.baseline import compare_with
from judge_audit.operations.status.collect import Held

if TYPE_CHECKING:
    from judge_audit.lake import Lake

    Row = dict[str, Any]


def compare_with_earlier(lake: Lake, audit_id: str) -> None:
    """Compare the order of the anchors with that of the night before and of the judge approved then.

    The same judge has the same order, and without anchors there is none: then nothing is written. What cannot be
    compared any more, because answers are gone, is left unknown.

    Args:
        lake: The lake.
        audit_id: A complete audit.
    """
    row: Row = lake.read("audits", audit_id=audit_id, status="complete").to_pylist()[0]
    if row["anchor_set"] is None:
        return
    for other in earlier(lake, row):
        try:
            compare_with(lake, row, [other])
        except AuditError:
            continue


def earlier(lake: Lake, row: Row) -> list[Row]:
    """Find what view `nights` calls before and approved, from the few files that know: a lake may hold thousands.

    Args:
        lake: The lake.
        row: A complete audit's row of `audits`.

    Returns:
        Rows of `audits`, each once.
    """
    status = Held(lake, row["ended_at"])
    name, place = status.name_of(row["judge_id"]), (row["ended_at"], row["audit_id"])
    others: dict[str, Row] = {}
    for read in ("recent_audits", "all_audits"):  # all of them only where the latest do not tell
        audits: list[Row] = getattr(status, read)
        own = [
            audit
            for audit in audits
            if status.name_of(audit["judge_id"]) == name and (audit["ended_at"], audit["audit_id"]) < place
        ]
        if own:
            others[own[-1]["audit_id"]] = own[-1]
            break
    for approval in status.approvals:
        if status.name_of(approval["judge_id"]) == name and approval["approved_at"] <= row["ended_at"]:
            others |= {audit["audit_id"]: audit for audit in status.audits([approval["audit_id"]])}
            break
    others.pop(row["audit_id"], None)
    return list(others.values())

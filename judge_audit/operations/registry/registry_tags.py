"""What the registry is told of an audit: tags of the version, and whether it may bear the alias."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.decisions.gate.states import CRITICAL, OPEN
from judge_audit.decisions.standings import position_of
from judge_audit.operations.registry.ledger import COMPLETE

if TYPE_CHECKING:
    from judge_audit.lake import Lake

    Row = dict[str, Any]

PREFIX = "judge_audit."
NOT_AUDITED = "not audited"


def tags_of(lake: Lake, ending: Row) -> dict[str, str]:
    """Give the tags that tell how a round ended.

    Args:
        lake: The lake.
        ending: The ledger's row of the end.

    Returns:
        Names (`judge_audit.…`) to texts.
    """
    if ending["status"] != COMPLETE:
        return _named(gate=NOT_AUDITED, reasons=ending["reason"] or "", audit_id="", position="", use="")
    audit_id = ending["audit_id"]
    rows = lake.read("gates", audit_id=audit_id, gate_id=ending["gate_id"]).to_pylist()
    told = [
        f"{row['suite']}/{row['expectation']}: {row['reason']}"
        for row in sorted(rows, key=lambda row: (row["state"], row["suite"], row["expectation"]))
        if row["severity"] == CRITICAL and row["state"] != OPEN
    ]
    return _named(
        gate=ending["state"],
        use=rows[0]["use"] if rows else "",
        audit_id=audit_id,
        position=position_of(lake, audit_id),
        reasons="\n".join(told),
    )


def is_open(ending: Row) -> bool:
    """Tell whether a round ended with an open gate."""
    return bool(ending["status"] == COMPLETE and ending["state"] == OPEN)


def _named(**tags: str) -> dict[str, str]:
    return {PREFIX + name: value for name, value in tags.items()}

"""Finding audits in a lake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from judge_audit.digests import row_digest, text_digest
from judge_audit.errors import UsageError

if TYPE_CHECKING:
    from judge_audit.lake.lake import Lake

LATEST = "latest"
"""Names the newest complete audit."""

SIGNED_TABLES = ("measures", "standings", "verdicts")
"""What an audit came to: the rows that a sign-off or a certificate stands on."""


def find_audit(lake: Lake, name: str = LATEST) -> dict[str, Any]:
    """Find a complete audit.

    Args:
        lake: Where to look.
        name: Its id, or `latest`.

    Returns:
        Its row of `audits`.

    Raises:
        UsageError: If there is none; names the newest there are.
    """
    rows: list[dict[str, Any]] = lake.read("audits", status="complete").to_pylist()
    rows.sort(key=lambda row: (row["ended_at"], row["audit_id"]))
    found = rows[-1:] if name == LATEST else [row for row in rows if row["audit_id"] == name]
    if not found:
        known = ", ".join(row["audit_id"] for row in rows[-5:]) or "none"
        raise UsageError(
            f"the lake at {lake.url} holds no complete audit “{name}”; the newest are {known}. Run one with "
            "judge-audit run."
        )
    return found[0]


COMPARED = "change"
"""The check whose rows hold a judge against another: they come later, and are no part of what its audit found."""


def audit_digest(lake: Lake, audit_id: str) -> str:
    """Digest what an audit came to, whatever the files its rows lie in."""
    held = [lake.read(name, audit_id=audit_id) for name in SIGNED_TABLES]
    own = [
        table.filter(pc.not_equal(table["check"], COMPARED)) if "check" in table.column_names else table
        for table in held
    ]
    return text_digest("audit", audit_id, *map(row_digest, own))

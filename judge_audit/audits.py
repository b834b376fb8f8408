"""Audits in a lake: finding one, and naming what it came to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from judge_audit.digests import row_digest, text_digest
from judge_audit.errors import UsageError

if TYPE_CHECKING:
    from judge_audit.lake.lake import Lake

LATEST = "latest"
"""Names the newest complete audit."""

RESULTS = ("audits", "curves", "measures", "verdicts", "standings")
"""Tables of an audit's own results, in the order in which they are digested."""

COMPARISONS = ("change", "replay")
"""Checks that compare an audit with another one; they are written when somebody asks."""


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


def result_of(lake: Lake, name: str, audit_id: str) -> pa.Table:
    """Read one table of an audit's own results, without what it was compared with later."""
    found = lake.read(name, audit_id=audit_id)
    if "check" not in found.column_names:
        return found
    return found.filter(pc.invert(pc.is_in(found["check"], value_set=pa.array(COMPARISONS))))


def audit_digest(lake: Lake, audit_id: str) -> str:
    """Digest an audit's own results: what an approval or a sign-off is given for."""
    parts = [text for name in RESULTS for text in (name, row_digest(result_of(lake, name, audit_id)))]
    return text_digest("audit", *parts)

"""Audits and judges in a lake: finding an audit, digesting its results, and what a judge is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from judge_audit.core.digests import row_digest, text_digest
from judge_audit.core.errors import UsageError
from judge_audit.core.messages import say

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
        UsageError: If there is none, which names the newest there are, or retention removed its raw answers.
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
    see_kept(lake, found[0]["audit_id"])
    return found[0]


def removed_words(lake: Lake, audit_id: str) -> str:
    """Say when and why an audit's raw answers were removed; "" if they were not."""
    gone = lake.read("purges", audit_id=audit_id).to_pylist()
    if not gone:
        return ""
    row = gone[0]
    return say(
        "gate.verify.purged", audit=audit_id, at=f"{row['removed_at']:%Y-%m-%d}", rule=row["retention"]
    )


def see_kept(lake: Lake, audit_id: str) -> None:
    """See that an audit can still be looked into: what it rests on is in the lake.

    Raises:
        UsageError: If retention removed its raw answers; says when and why.
    """
    if told := removed_words(lake, audit_id):
        raise UsageError(f"{told} What it came to still stands in measures, verdicts, standings and gates.")


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


def names_of(lake: Lake, judge_id: str) -> set[str]:
    """Give the names a judge goes by; a changed judge of the same name is its next version."""
    return {row["name"] for row in lake.read("judge_labels", judge_id=judge_id).to_pylist()}


def called(lake: Lake, judge_id: str) -> str:
    """Give what to call a judge in a sentence: its names with their versions, else its id."""
    labels = lake.read("judge_labels", judge_id=judge_id).to_pylist()
    told = sorted({f"{row['name']} {row['version'] or ''}".strip() for row in labels})
    return " / ".join(told) or judge_id


def first_names(lake: Lake) -> dict[str, str]:
    """Give one name for each judge, by its id, as view `nights` does: the first of its names; controls are left out."""
    found: dict[str, str] = {}
    rows = lake.select("judge_labels", ["judge_id", "name"], {"is_control": False}).to_pylist()
    for row in rows:
        found[row["judge_id"]] = min(row["name"], found.get(row["judge_id"], row["name"]))
    return found

"""Audits and judges in a lake: finding an audit, digesting its results, and what a judge is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from judge_audit_schemas.rows import AuditsRow, JudgeLabelsRow, PurgesRow

from judge_audit.core.digests import row_digest, text_digest
from judge_audit.core.errors import UsageError
from judge_audit.core.messages import say
from judge_audit.core.tables import rows_of

if TYPE_CHECKING:
    from datetime import datetime

    from judge_audit.lake.lake import Lake

LATEST = "latest"
"""Names the newest complete audit."""

RESULTS = ("audits", "curves", "measures", "verdicts", "standings")
"""Tables of an audit's own results, in the order in which they are digested."""

COMPARISONS = ("change", "replay")
"""Checks that compare an audit with another one; they are written when somebody asks."""


def find_audit(lake: Lake, name: str = LATEST) -> AuditsRow:
    """Find a complete audit.

    Args:
        lake: Where to look.
        name: Its id, or `latest`.

    Returns:
        Its row of `audits`.

    Raises:
        UsageError: If there is none, which names the newest there are, or retention removed its raw answers.
    """
    table = lake.read("audits", status="complete").sort_by(
        [("ended_at", "ascending"), ("audit_id", "ascending")]
    )
    rows = rows_of(table, AuditsRow)
    named = rows[-1:] if name == LATEST else [row for row in rows if row["audit_id"] == name]
    if not named:
        known = ", ".join(row["audit_id"] for row in rows[-5:]) or "none"
        raise UsageError(
            f"the lake at {lake.url} holds no complete audit “{name}”; the newest are {known}. Run one with "
            "judge-audit run."
        )
    see_kept(lake, named[0]["audit_id"])
    return named[0]


def removed_words(lake: Lake, audit_id: str) -> str:
    """Say when and why an audit's raw answers were removed; "" if they were not."""
    purges = rows_of(lake.read("purges", audit_id=audit_id), PurgesRow)
    if not purges:
        return ""
    day = f"{purges[0]['removed_at']:%Y-%m-%d}"
    return say("gate.verify.purged", audit=audit_id, at=day, rule=purges[0]["retention"])


def see_kept(lake: Lake, audit_id: str) -> None:
    """See that an audit can still be looked into: what it rests on is in the lake.

    Raises:
        UsageError: If retention removed its raw answers; says when and why.
    """
    if removed := removed_words(lake, audit_id):
        raise UsageError(
            f"{removed} What it came to still stands in measures, verdicts, standings and gates."
        )


def result_of(lake: Lake, name: str, audit_id: str) -> pa.Table:
    """Read one table of an audit's own results, without what it was compared with later."""
    table = lake.read(name, audit_id=audit_id)
    if "check" not in table.column_names:
        return table
    return table.filter(pc.invert(pc.is_in(table["check"], value_set=pa.array(COMPARISONS))))


def audit_digest(lake: Lake, audit_id: str) -> str:
    """Digest an audit's own results: what an approval or a sign-off is given for."""
    parts = [text for name in RESULTS for text in (name, row_digest(result_of(lake, name, audit_id)))]
    return text_digest("audit", *parts)


def audit_left_open(lake: Lake, since: datetime) -> tuple[str | None, str | None]:
    """Find the audit and the judge of a run that failed: begun since then, not complete, and the only such one."""
    begun: dict[str, set[str]] = {}
    judges: dict[str, str] = {}
    for row in rows_of(lake.read("audits"), AuditsRow):
        if row["started_at"] is not None and row["started_at"] >= since:
            begun.setdefault(row["audit_id"], set()).add(row["status"])
            judges[row["audit_id"]] = row["judge_id"]
    left = [audit_id for audit_id, found in begun.items() if found == {"started"}]
    return (left[0], judges[left[0]]) if len(left) == 1 else (None, None)


def names_of(lake: Lake, judge_id: str) -> set[str]:
    """Give the names a judge goes by. They are labels: whose successor a judge is, `decisions.lineage` says."""
    return {row["name"] for row in _labels(lake, judge_id)}


def called(lake: Lake, judge_id: str) -> str:
    """Give what to call a judge in a sentence: its names with their versions, else its id."""
    names = {f"{row['name']} {row['version'] or ''}".strip() for row in _labels(lake, judge_id)}
    return " / ".join(sorted(names)) or judge_id


def _labels(lake: Lake, judge_id: str) -> list[JudgeLabelsRow]:
    return rows_of(lake.read("judge_labels", judge_id=judge_id), JudgeLabelsRow)


def first_names(lake: Lake) -> dict[str, str]:
    """Give one name for each judge, by its id, as view `nights` does: the first of its names; controls are left out."""
    names: dict[str, str] = {}
    labels = lake.select("judge_labels", ["judge_id", "name"], {"is_control": False})
    for row in rows_of(labels, JudgeLabelsRow):
        names[row["judge_id"]] = min(row["name"], names.get(row["judge_id"], row["name"]))
    return names

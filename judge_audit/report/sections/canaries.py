"""The part of the report on canaries: is an unpinned judge still the same, since when, and what moved if not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.core.messages import say
from judge_audit.judges.canaries.verdict import ANOTHER, UNCHANGED
from judge_audit.report.facts import rows_of

if TYPE_CHECKING:
    import duckdb
    from judge_audit_schemas.rows import CanaryNightsRow

    from judge_audit.report.facts import Facts

NIGHT = """
SELECT asking, epoch, answer, finding, dimension, n, asked, night_p, drift_p, shift, silent_before, silent_now,
    services, reason, lineage_id
FROM canary_nights WHERE judge_id = $1 AND asking = $2
"""
EPOCH = """
SELECT count(*) AS nights, strftime(min(decided_at), '%Y-%m-%d') AS since
FROM canary_nights WHERE judge_id = $1 AND asking <= $2
"""
BEFORE = """
SELECT judge_id, epoch FROM canary_nights
WHERE lineage_id = $1 AND epoch < $2 ORDER BY epoch DESC, asking DESC LIMIT 1
"""
ORDER = """
SELECT reason FROM verdicts
WHERE audit_id = $1 AND subject = $2 AND baseline IN (
    SELECT judge_id FROM canary_nights WHERE lineage_id = $3
) AND "check" = 'change' AND kind = '*'
ORDER BY dimension, measure DESC
"""


def canaries_of(con: duckdb.DuckDBPyConnection, facts: Facts) -> dict[str, Any] | None:
    """Give what the canaries of the audit showed; None if its judge's weights are pinned."""
    asking = facts.audit.get("canary_asking")
    judge_id = facts.audit["judge_id"]
    if asking is None:
        return None
    nights: list[CanaryNightsRow] = rows_of(con, NIGHT, judge_id, asking)
    if not nights:
        return None
    (row,) = nights
    lineage = row.pop("lineage_id")
    order: list[str] = []
    if row["answer"] in ANOTHER:
        for before in rows_of(con, BEFORE, lineage, row["epoch"]):
            epochs = say("change.from_to", old=before["epoch"], new=row["epoch"])
            order.append(say("change.part.epoch", list=epochs))
        order += [
            verdict["reason"] for verdict in rows_of(con, ORDER, facts.audit["audit_id"], judge_id, lineage)
        ]
    return {**row, **rows_of(con, EPOCH, judge_id, asking)[0], "order": order}


def canary_caveat(part: dict[str, Any]) -> str:
    """Say in words what the canaries showed."""
    since = say("canaries.report.epoch", **{name: part[name] for name in ("epoch", "since", "nights")})
    sentences = [part["reason"], *([since] if part["answer"] == UNCHANGED else part["order"])]
    return say("canaries.report.watched", told=" ".join(sentences))

"""The part on history: how the judge of this name stood night by night, up to this audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.core.vocabulary import OVERALL, POOLED
from judge_audit.decisions.gate.suites import builtin_suites
from judge_audit.report.facts import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    import duckdb

    from judge_audit.report.facts import Facts

    Row = dict[str, Any]

BEFORE, APPROVED = "before", "approved"
MOST = 400
"""Nights that are told; the views know them all."""

NIGHTS = """
WITH own AS (SELECT judge, night FROM nights WHERE audit_id = $1)
SELECT
    nights.night, nights.audit_id, nights.judge_id, nights.before, nights.approved,
    audits.anchor_set IS NOT NULL AS anchored,
    standings.standing AS position, labels.version, TRY_CAST(json_extract(judges.card, '$.epoch') AS BIGINT) AS epoch
FROM nights
JOIN own ON nights.judge = own.judge AND (nights.night, nights.audit_id) <= (own.night, $1)
JOIN audits ON audits.audit_id = nights.audit_id AND audits.status = 'complete'
LEFT JOIN standings ON standings.audit_id = nights.audit_id AND standings.use = 'position' AND NOT standings.is_control
LEFT JOIN judges ON judges.judge_id = nights.judge_id
LEFT JOIN (SELECT judge_id, max(version) AS version FROM judge_labels GROUP BY judge_id) AS labels
    ON labels.judge_id = nights.judge_id
ORDER BY nights.night DESC, nights.audit_id DESC LIMIT $2
"""
ORDERS = """
SELECT audit_id, against, dimension, "value" AS tau, tau_drop, drop_low, drop_high
FROM anchor_drift_history WHERE list_contains($1, audit_id) AND tau_drop IS NOT NULL
"""
MOVES = """
SELECT
    audit_id, axis, source, measure, dimension, "value",
    since_before, since_before_low, since_before_high, since_approved, since_approved_low, since_approved_high
FROM source_stability_history WHERE list_contains($1, audit_id) AND "value" IS NOT NULL
"""
PILES = """
SELECT audit_id, dimension, "value", ci_low, ci_high FROM measures
WHERE list_contains($1, audit_id) AND "check" = 'scale' AND measure = 'pile' AND source = '*' AND NOT is_control
    AND subject <> 'people' AND kind = '*'
"""


def history_of(con: duckdb.DuckDBPyConnection, facts: Facts) -> dict[str, Any]:
    """Put together how the judge of this name stood night by night, this audit last.

    Returns:
        `nights` in order, at least this one where the audit is complete; `dimension` whose order, pile and moves are
        told; `margins` by what they bound; `changes`: places of nights with another judge than the night before.
    """
    told = rows_of(con, NIGHTS, facts.audit["audit_id"], MOST)
    nights = [{**row, "night": _iso(row["night"])} for row in reversed(told)]
    ids = [row["audit_id"] for row in nights]
    orders, moves, piles = (rows_of(con, query, ids) for query in (ORDERS, MOVES, PILES))
    dimension = _dimension([row["dimension"] for row in (*orders, *piles)])
    by_night = {
        name: _gathered(row for row in rows if row["dimension"] in {dimension, POOLED})
        for name, rows in (("orders", orders), ("moves", moves), ("piles", piles))
    }
    for row in nights:
        own = {name: found.get(row["audit_id"], []) for name, found in by_night.items()}
        # the views say 1 of the same judge on any night; without anchors there was no order to look at
        orders_seen = own["orders"] if row["anchored"] else []
        row["order"] = {against: _order(orders_seen, against) for against in (APPROVED, BEFORE)}
        row["move"] = {against: _largest(own["moves"], against) for against in (APPROVED, BEFORE)}
        row["spread"] = _spread(own["moves"])
        row["pile"] = own["piles"][0]["value"] if own["piles"] else None
    changes = [place for place in range(1, len(nights)) if _is_other(nights[place], nights[place - 1])]
    return {
        "nights": nights,
        "dimension": dimension,
        "changes": [{"place": place, "word": _word(nights[place], nights[place - 1])} for place in changes],
        "margins": {
            "order": facts.limits["change.tau_drop"],
            "move": drift_margin(),
            "pile": facts.limits["scale.pile"],
        },
    }


def drift_margin() -> float:
    """Give the lift by which an axis may move in a source: the threshold of the suite that asks it."""
    (expectation,) = builtin_suites()["source_stability"].expectations
    return float(expectation.arguments["max_value"])


def _order(rows: Sequence[Row], against: str) -> Row | None:
    """Give how much of the order was kept: 1 as much as the noise of both judges leaves."""
    found = [row for row in rows if row["against"] == against]
    if not found:
        return None
    row = found[0]
    return {
        "value": 1.0 - row["tau_drop"],
        "ci_low": 1.0 - row["drop_high"] if row["drop_high"] is not None else None,
        "ci_high": 1.0 - row["drop_low"] if row["drop_low"] is not None else None,
        "tau": row["tau"],
    }


def _largest(rows: Sequence[Row], against: str) -> Row | None:
    """Give the axis and source that moved furthest."""
    found = [row for row in rows if row[f"since_{against}"] is not None]
    if not found:
        return None
    row = max(found, key=lambda row: (abs(row[f"since_{against}"]), row["axis"], row["source"]))
    return {
        "value": row[f"since_{against}"],
        "ci_low": row[f"since_{against}_low"],
        "ci_high": row[f"since_{against}_high"],
        "axis": row["axis"],
        "source": row["source"],
    }


def _spread(rows: Sequence[Row]) -> Row | None:
    """Give the axis whose effect differs most between two sources."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["measure"], row["axis"]), []).append(row)
    wide = [
        {"value": max(values) - min(values), "axis": axis}
        for (_, axis), found in sorted(groups.items())
        if len(values := [row["value"] for row in found]) > 1
    ]
    return max(wide, key=lambda row: float(row["value"]), default=None)


def _is_other(row: Row, before: Row) -> bool:
    return bool(row["judge_id"] != before["judge_id"])


def _word(row: Row, before: Row) -> dict[str, Any]:
    """Say what tells a judge from the one before it: its version, else its epoch, else its id."""
    if row["version"] and row["version"] != before["version"]:
        return {"kind": "version", "name": row["version"]}
    if row["epoch"] and row["epoch"] != before["epoch"]:
        return {"kind": "epoch", "name": str(row["epoch"])}
    return {"kind": "judge", "name": row["judge_id"][:8]}


def _dimension(names: Iterable[str]) -> str:
    known = sorted({name for name in names if name != POOLED})
    return OVERALL if OVERALL in known or not known else known[0]


def _gathered(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["audit_id"], []).append(row)
    return found


def _iso(when: datetime) -> str:
    return when.isoformat()

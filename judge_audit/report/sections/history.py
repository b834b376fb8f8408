"""The part on history: the figures of the judge of this name night by night, up to this audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from judge_audit.core.vocabulary import OVERALL, POOLED
from judge_audit.decisions.gate.suites import builtin_suites
from judge_audit.report.facts import rows_of
from judge_audit.report.figures import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import duckdb

    from judge_audit.report.facts import Facts


MOST = 400
"""Nights that are reported; the views know them all."""

AGAINST = ("approved", "before")
"""What a night is compared with: the approved audit, or the night before."""

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


class Of(TypedDict):
    """A row about a dimension in an audit."""

    audit_id: str
    dimension: str


Answer = TypeVar("Answer", bound=Of)


class Order(Of):
    """How much of the anchors' order was kept, from view `anchor_drift_history`."""

    against: str
    tau: float | None
    tau_drop: float
    drop_low: float | None
    drop_high: float | None


class Move(Of):
    """How far an axis moved in a source, from view `source_stability_history`."""

    axis: str
    source: str
    measure: str
    value: float
    since_before: float | None
    since_before_low: float | None
    since_before_high: float | None
    since_approved: float | None
    since_approved_low: float | None
    since_approved_high: float | None


class Pile(Of):
    """The share of scores in the pile."""

    value: float | None
    ci_low: float | None
    ci_high: float | None


class OrderKept(Interval):
    """The share of an order that was kept, and τ."""

    tau: float | None


class LargestMove(Interval):
    """The largest move of a night, with its axis and source."""

    axis: str
    source: str


def history_of(con: duckdb.DuckDBPyConnection, facts: Facts) -> dict[str, Any]:
    """Put together the figures of the judge of this name night by night, this audit last.

    Returns:
        `nights` in order, at least this one where the audit is complete; `dimension` whose order, pile and moves are
        reported; `margins` by what they bound; `changes`: places of nights with another judge than the night before.
    """
    nights = [
        {**row, "night": row["night"].isoformat()}
        for row in reversed(rows_of(con, NIGHTS, facts.audit["audit_id"], MOST))
    ]
    ids = [row["audit_id"] for row in nights]
    orders: list[Order] = rows_of(con, ORDERS, ids)
    moves: list[Move] = rows_of(con, MOVES, ids)
    piles: list[Pile] = rows_of(con, PILES, ids)
    dimension = _dimension([row["dimension"] for rows in (orders, piles) for row in rows])
    orders_of, moves_of, piles_of = (
        _by_audit(orders, dimension),
        _by_audit(moves, dimension),
        _by_audit(piles, dimension),
    )
    for row in nights:
        audit_id = row["audit_id"]
        # the views say 1 of the same judge on any night; without anchors there was no order to look at
        own_orders = orders_of.get(audit_id, []) if row["anchored"] else []
        own_moves, own_piles = moves_of.get(audit_id, []), piles_of.get(audit_id, [])
        row["order"] = {against: _order(own_orders, against) for against in AGAINST}
        row["move"] = {against: _largest(own_moves, against) for against in AGAINST}
        row["spread"] = _spread(own_moves)
        row["pile"] = own_piles[0]["value"] if own_piles else None
    changes = [
        place for place in range(1, len(nights)) if nights[place]["judge_id"] != nights[place - 1]["judge_id"]
    ]
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


def _order(rows: Sequence[Order], against: str) -> OrderKept | None:
    """Give how much of the order was kept: 1 as much as the noise of both judges leaves."""
    row = next((row for row in rows if row["against"] == against), None)
    if row is None:
        return None
    low, high = row["drop_low"], row["drop_high"]
    return {
        "value": 1.0 - row["tau_drop"],
        "ci_low": 1.0 - high if high is not None else None,
        "ci_high": 1.0 - low if low is not None else None,
        "tau": row["tau"],
    }


def _largest(rows: Sequence[Move], against: str) -> LargestMove | None:
    """Give the axis and source that moved furthest."""
    moves = [_since(row, against) for row in rows]
    return max(
        (move for move in moves if move["value"] is not None),
        key=lambda move: (abs(move["value"] or 0.0), move["axis"], move["source"]),
        default=None,
    )


def _since(row: Mapping[str, Any], against: str) -> LargestMove:
    value, low, high = (row[f"since_{against}{end}"] for end in ("", "_low", "_high"))
    return {"value": value, "ci_low": low, "ci_high": high, "axis": row["axis"], "source": row["source"]}


def _spread(rows: Sequence[Move]) -> dict[str, Any] | None:
    """Give the axis whose effect differs most between two sources."""
    groups: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        groups.setdefault((row["measure"], row["axis"]), []).append(row["value"])
    wide = [
        (max(values) - min(values), axis) for (_, axis), values in sorted(groups.items()) if len(values) > 1
    ]
    value, axis = max(wide, key=lambda entry: entry[0], default=(None, ""))
    return None if value is None else {"value": value, "axis": axis}


def _word(row: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Say what distinguishes a judge from the one before it: its version, else its epoch, else its id."""
    if row["version"] and row["version"] != before["version"]:
        return {"kind": "version", "name": row["version"]}
    if row["epoch"] and row["epoch"] != before["epoch"]:
        return {"kind": "epoch", "name": str(row["epoch"])}
    return {"kind": "judge", "name": row["judge_id"][:8]}


def _dimension(names: Iterable[str]) -> str:
    known = sorted({name for name in names if name != POOLED})
    return OVERALL if OVERALL in known or not known else known[0]


def _by_audit(rows: Iterable[Answer], dimension: str) -> dict[str, list[Answer]]:
    """Gather the rows about a dimension, or about all of them, by audit."""
    by_audit: dict[str, list[Answer]] = {}
    for row in rows:
        if row["dimension"] in {dimension, POOLED}:
            by_audit.setdefault(row["audit_id"], []).append(row)
    return by_audit

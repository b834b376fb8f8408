"""Everything the report reads from the lake, read once."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import UsageError
from judge_audit.core.limits import Limits, read_limits
from judge_audit.core.vocabulary import IMAGES, PEOPLE

if TYPE_CHECKING:
    import duckdb

    Row = dict[str, Any]

AUDIT = """
SELECT * FROM audits WHERE audit_id = $1 ORDER BY status = 'complete' DESC LIMIT 1
"""
UNTOUCHED = """
SELECT item_id, source, "cluster", dimension, "value" FROM all_responses
WHERE plan_id = $1 AND judge_id = $2 AND axis = 'original' AND repeat = 0 AND state = 'ok'
ORDER BY source, item_id, dimension
"""
CHANGED = """
SELECT item_id, source, "cluster", dimension, axis, rung, strength, "value" FROM all_responses
WHERE plan_id = $1 AND judge_id = $2 AND rung > 0 AND NOT starts_with(axis, 'pair:') AND repeat = 0
    AND state = 'ok'
ORDER BY item_id, dimension, axis, rung
"""
STATES = """
SELECT source, axis, state, count(*) AS calls FROM all_responses
WHERE plan_id = $1 AND judge_id = $2 GROUP BY ALL ORDER BY source, axis, state
"""
COMPARED_STATES = """
WITH shown AS (
    SELECT probe_id, item_id, axis FROM probes WHERE plan_id = $1
    QUALIFY row_number() OVER (PARTITION BY probe_id ORDER BY item_id, axis) = 1
)
SELECT items.source, CASE WHEN one.axis = 'original' THEN other.axis ELSE one.axis END AS axis, state,
    count(*) AS calls
FROM comparisons
JOIN shown AS one ON one.probe_id = left_probe
JOIN shown AS other ON other.probe_id = right_probe
JOIN items ON items.plan_id = $1 AND items.item_id = one.item_id
WHERE judge_id = $2 GROUP BY ALL ORDER BY items.source, axis, state
"""
ZONES = """
SELECT item_id, axis, perceptible_low, perceptible_high, objectionable, provisional FROM zones
WHERE plan_id = $1 AND zones_id = $2 ORDER BY axis, item_id
"""
ANCHORS = """
SELECT anchors.anchor_id, item_id, tier, kind, source, topic, "cluster",
    dimension, annotator_id, "value", "level", low, high, higher_is_better
FROM anchors JOIN anchor_labels USING (set_id, anchor_version, anchor_id)
WHERE set_id = $1 AND anchor_version = CAST($2 AS BIGINT)
ORDER BY anchors.anchor_id, dimension, annotator_id
"""
NEWEST = "SELECT max(anchor_version) AS newest FROM anchor_ledger WHERE set_id = $1"
COUNTED = """
SELECT count(*) AS n, count(DISTINCT source) AS sources, list_sort(list(DISTINCT source)) AS source_names
FROM items
WHERE plan_id = $1
    AND item_id NOT IN (SELECT item_id FROM probes WHERE plan_id = $1 AND axis = 'anchor')
"""
SMALLEST = """
SELECT * FROM measures WHERE audit_id = $1 AND subject = $2 AND "check" = 'controls' ORDER BY axis
"""
CONTROLS = """
SELECT * FROM verdicts
WHERE audit_id = $1 AND "check" = 'controls' ORDER BY kind, subject
"""

PAIRS = """
SELECT mismatches.*, items.prompt AS intact_prompt FROM mismatches
JOIN items ON items.plan_id = mismatches.plan_id AND items.item_id = mismatches.intact
WHERE mismatches.plan_id = $1 ORDER BY kind, constructed, pair_id
"""
PAIR_SCORES = """
WITH told AS (
    SELECT item_id, axis, rung, dimension, avg("value") AS "value" FROM all_responses
    WHERE plan_id = $1 AND judge_id = $2 AND state = 'ok' AND (axis = 'original' OR starts_with(axis, 'pair:'))
    GROUP BY ALL
)
SELECT pair_id, damaged.dimension, intact."value" AS "before", damaged."value" AS "after" FROM mismatches
JOIN told AS damaged ON damaged.item_id = mismatches.damaged AND damaged.axis = 'pair:' || mismatches.kind
    AND damaged.rung = mismatches.rung
LEFT JOIN told AS intact ON intact.item_id = mismatches.intact AND intact.axis = 'original'
    AND intact.dimension = damaged.dimension
WHERE plan_id = $1 ORDER BY pair_id, damaged.dimension
"""


@dataclass(frozen=True, slots=True)
class Facts:
    """The rows of one audit, judge's own unless said otherwise.

    Attributes:
        audit: Row of `audits`.
        configuration: What the audit was asked to do.
        limits: The limits in force.
        judge: What to call the judge.
        card: Its card.
        items: Counts of images, of those with ladders, of sources, and of refused rows.
        untouched: Scores of untouched images.
        changed: Scores of changed images.
        states: Calls by source, axis and state.
        zones: What people see of each ladder.
        curves: Rows of `curves`, those about the pictures too.
        measures: Rows of `measures`, those about the pictures too.
        verdicts: Rows of `verdicts`.
        standings: Rows of `standings`.
        controls: The controls' rows of `verdicts`.
        people_measures: Rows of `measures` about the people who labelled.
        people_verdicts: Rows of `verdicts` about them.
        anchors: The anchors the audit went by, a row for every label.
        newest_anchors: Newest version of their set that the lake has seen, None if there is none.
        pairs: Rows of `mismatches`, with the prompt of the intact member.
        pair_scores: Scores before and after of every pair and dimension.
        unsuited: Rows of `unsuited`.
    """

    audit: Row
    configuration: Row
    limits: Limits
    judge: str
    card: Row
    items: Row
    untouched: list[Row]
    changed: list[Row]
    states: list[Row]
    zones: list[Row]
    curves: list[Row]
    measures: list[Row]
    verdicts: list[Row]
    standings: list[Row]
    controls: list[Row]
    people_measures: list[Row]
    people_verdicts: list[Row]
    anchors: list[Row]
    newest_anchors: int | None
    pairs: list[Row]
    pair_scores: list[Row]
    unsuited: list[Row]


def read_facts(con: duckdb.DuckDBPyConnection, audit_id: str) -> Facts:
    """Read an audit.

    Raises:
        UsageError: If the lake has no such audit.
    """
    found = rows_of(con, AUDIT, audit_id)
    if not found:
        raise UsageError(
            f"the lake has no audit “{audit_id}”. `judge-audit lake sql` on the table audits lists them."
        )
    audit = found[0]
    plan_id, judge_id = audit["plan_id"], audit["judge_id"]
    configuration = parsed(audit["configuration"])
    named = rows_of(con, "SELECT judge FROM judge_names WHERE judge_id = $1", judge_id)
    cards = rows_of(con, "SELECT kind, card FROM judges WHERE judge_id = $1 LIMIT 1", judge_id)
    card = {"kind": cards[0]["kind"], **parsed(cards[0]["card"])} if cards else {}
    return Facts(
        audit=audit,
        configuration=configuration,
        limits=read_limits(configuration.get("limits") or {}),
        judge=named[0]["judge"] if named else judge_id,
        card=card,
        items=_counts(con, plan_id),
        untouched=rows_of(con, UNTOUCHED, plan_id, judge_id),
        changed=rows_of(con, CHANGED, plan_id, judge_id),
        states=rows_of(con, COMPARED_STATES if card.get("compares") else STATES, plan_id, judge_id),
        zones=rows_of(con, ZONES, plan_id, configuration.get("zones_id") or ""),
        curves=_results(con, "curves", audit_id, judge_id, IMAGES),
        measures=[
            *_results(con, "measures", audit_id, judge_id, IMAGES),
            *rows_of(con, SMALLEST, audit_id, judge_id),
        ],
        verdicts=_results(con, "verdicts", audit_id, judge_id, IMAGES),
        standings=rows_of(
            con, "SELECT * FROM standings WHERE audit_id = $1 AND judge_id = $2", audit_id, judge_id
        ),
        controls=rows_of(con, CONTROLS, audit_id),
        people_measures=_results(con, "measures", audit_id, PEOPLE),
        people_verdicts=_results(con, "verdicts", audit_id, PEOPLE),
        anchors=rows_of(con, ANCHORS, audit["anchor_set"], str(audit["anchor_version"]))
        if audit["anchor_set"]
        else [],
        newest_anchors=rows_of(con, NEWEST, audit["anchor_set"])[0]["newest"]
        if audit["anchor_set"]
        else None,
        pairs=rows_of(con, PAIRS, plan_id),
        pair_scores=rows_of(con, PAIR_SCORES, plan_id, judge_id),
        unsuited=rows_of(
            con, "SELECT * FROM unsuited WHERE plan_id = $1 ORDER BY kind, reason, item_id", plan_id
        ),
    )


def _counts(con: duckdb.DuckDBPyConnection, plan_id: str) -> Row:
    """Count what the plan holds."""
    ladders = (
        "SELECT count(DISTINCT item_id) AS ladders FROM probes "
        "WHERE plan_id = $1 AND rung > 0 AND NOT starts_with(axis, 'pair:')"
    )
    refused = "SELECT count(*) AS refused FROM refusals WHERE plan_id = $1"
    return {
        name: value
        for query in (COUNTED, ladders, refused)
        for name, value in rows_of(con, query, plan_id)[0].items()
    }


def _results(con: duckdb.DuckDBPyConnection, table: str, audit_id: str, *subjects: str) -> list[Row]:
    """Read a table of results about some subjects, in the order of its key."""
    rung = ", rung" if table == "curves" else ""
    query = (
        f"SELECT * FROM {table} "  # noqa: S608 - one of three names of ours
        "WHERE audit_id = $1 AND list_contains($2, subject) AND \"check\" NOT IN ('controls', 'change', 'replay') "
        f'ORDER BY "check", measure, source, topic, dimension, axis, kind, rater, baseline, subject{rung}'
    )
    return rows_of(con, query, audit_id, list(subjects))


def rows_of(con: duckdb.DuckDBPyConnection, query: str, *values: str | int | list[str]) -> list[Row]:
    """Run a query and give its rows as mappings; a number that is none becomes None."""
    done = con.execute(query, list(values))
    names = [column[0] for column in done.description or ()]
    return [
        {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in zip(names, row, strict=True)
        }
        for row in done.fetchall()
    ]


def parsed(text: str | None) -> Row:
    """Read a mapping from JSON text; an empty one where there is none."""
    try:
        content = json.loads(text or "{}")
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}

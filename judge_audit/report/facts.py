"""Everything the report reads from the lake, read once."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack, cast

from judge_audit_schemas.rows import MismatchesRow

from judge_audit.core.errors import UsageError
from judge_audit.core.limits import Limits, recorded_limits
from judge_audit.core.vocabulary import IMAGES, PEOPLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import duckdb
    from judge_audit_schemas.rows import (
        AnchorLabelsRow,
        AuditsRow,
        CurvesRow,
        MeasuresRow,
        StandingsRow,
        UnsuitedRow,
        VerdictsRow,
        ZonesRow,
    )

Found = TypeVar("Found", bound="Mapping[str, Any]")

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
LADDERS = """
SELECT count(DISTINCT item_id) AS ladders FROM probes
WHERE plan_id = $1 AND rung > 0 AND NOT starts_with(axis, 'pair:')
"""
REFUSED = "SELECT count(*) AS refused FROM refusals WHERE plan_id = $1"
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
WITH answers AS (
    SELECT item_id, axis, rung, dimension, avg("value") AS "value" FROM all_responses
    WHERE plan_id = $1 AND judge_id = $2 AND state = 'ok' AND (axis = 'original' OR starts_with(axis, 'pair:'))
    GROUP BY ALL
)
SELECT pair_id, damaged.dimension, intact."value" AS "before", damaged."value" AS "after" FROM mismatches
JOIN answers AS damaged ON damaged.item_id = mismatches.damaged AND damaged.axis = 'pair:' || mismatches.kind
    AND damaged.rung = mismatches.rung
LEFT JOIN answers AS intact ON intact.item_id = mismatches.intact AND intact.axis = 'original'
    AND intact.dimension = damaged.dimension
WHERE plan_id = $1 ORDER BY pair_id, damaged.dimension
"""


class Untouched(TypedDict):
    """A score of an untouched image."""

    item_id: str
    source: str
    cluster: str
    dimension: str
    value: float


class Changed(Untouched):
    """A score of a changed image."""

    axis: str
    rung: int
    strength: float


class StateCount(TypedDict):
    """How many calls about images of a source, changed along an axis, ended in a state."""

    source: str
    axis: str
    state: str
    calls: int


class Counts(TypedDict):
    """Images of a plan, their sources, images with ladders, and rows of the items file that were refused."""

    n: int
    sources: int
    source_names: list[str] | None
    ladders: int
    refused: int


class PairRow(MismatchesRow, total=False):
    """A row of `mismatches`, with the prompt of the intact member."""

    intact_prompt: str | None


class PairScore(TypedDict):
    """A dimension's mean score of both members of a pair."""

    pair_id: str
    dimension: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class Facts:
    """The rows of one audit, about its judge unless stated otherwise.

    Attributes:
        configuration: Its resolved configuration.
        limits: The limits in force.
        judge: Name of the judge.
        states: Calls by source, axis and state.
        zones: What people see of each ladder.
        curves, measures: Those about the pictures too.
        controls: Verdicts on the controls.
        people_measures, people_verdicts: Those about the people who labelled.
        anchors: The anchors the audit used, a row for every label.
        newest_anchors: Newest version of their set in the lake, None if there is none.
    """

    audit: AuditsRow
    configuration: dict[str, Any]
    limits: Limits
    judge: str
    card: dict[str, Any]
    items: Counts
    untouched: list[Untouched]
    changed: list[Changed]
    states: list[StateCount]
    zones: list[ZonesRow]
    curves: list[CurvesRow]
    measures: list[MeasuresRow]
    verdicts: list[VerdictsRow]
    standings: list[StandingsRow]
    controls: list[VerdictsRow]
    people_measures: list[MeasuresRow]
    people_verdicts: list[VerdictsRow]
    anchors: list[AnchorLabelsRow]
    newest_anchors: int | None
    pairs: list[PairRow]
    pair_scores: list[PairScore]
    unsuited: list[UnsuitedRow]


def read_facts(con: duckdb.DuckDBPyConnection, audit_id: str) -> Facts:
    """Read an audit.

    Raises:
        UsageError: If the lake has no such audit.
    """
    audits: list[AuditsRow] = rows_of(con, AUDIT, audit_id)
    if not audits:
        raise UsageError(
            f"the lake has no audit “{audit_id}”. `judge-audit lake sql` on the table audits lists them."
        )
    (audit,) = audits
    plan_id, judge_id, anchor_set = audit["plan_id"], audit["judge_id"], audit["anchor_set"]
    configuration = parsed(audit["configuration"])
    named = rows_of(con, "SELECT judge FROM judge_names WHERE judge_id = $1", judge_id)
    cards = rows_of(con, "SELECT kind, card FROM judges WHERE judge_id = $1 LIMIT 1", judge_id)
    card = {"kind": cards[0]["kind"], **parsed(cards[0]["card"])} if cards else {}
    return Facts(
        audit=audit,
        configuration=configuration,
        limits=recorded_limits(audit["configuration"]),
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
        anchors=rows_of(con, ANCHORS, anchor_set, str(audit["anchor_version"])) if anchor_set else [],
        newest_anchors=rows_of(con, NEWEST, anchor_set)[0]["newest"] if anchor_set else None,
        pairs=rows_of(con, PAIRS, plan_id),
        pair_scores=rows_of(con, PAIR_SCORES, plan_id, judge_id),
        unsuited=rows_of(
            con, "SELECT * FROM unsuited WHERE plan_id = $1 ORDER BY kind, reason, item_id", plan_id
        ),
    )


def _counts(con: duckdb.DuckDBPyConnection, plan_id: str) -> Counts:
    """Count what the plan holds."""
    counts: dict[str, Any] = {}
    for query in (COUNTED, LADDERS, REFUSED):
        counts |= rows_of(con, query, plan_id)[0]
    return cast("Counts", counts)


def _results(con: duckdb.DuckDBPyConnection, table: str, audit_id: str, *subjects: str) -> list[Any]:
    """Read a table of results about some subjects, in the order of its key."""
    rung = ", rung" if table == "curves" else ""
    query = (
        f"SELECT * FROM {table} "  # noqa: S608 - one of three tables
        "WHERE audit_id = $1 AND list_contains($2, subject) AND \"check\" NOT IN ('controls', 'change', 'replay') "
        f'ORDER BY "check", measure, source, topic, dimension, axis, kind, rater, baseline, subject{rung}'
    )
    return rows_of(con, query, audit_id, list(subjects))


def rows_of(con: duckdb.DuckDBPyConnection, query: str, *values: str | int | list[str]) -> list[Any]:
    """Run a query and give its rows by column, for a variable that names their type; NaN becomes None."""
    done = con.execute(query, list(values))
    names = [column[0] for column in done.description or ()]
    return [
        {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in zip(names, row, strict=True)
        }
        for row in done.fetchall()
    ]


def where(rows: Iterable[Found], **wanted: Unpack[VerdictsRow]) -> list[Found]:
    """Give the rows that have the wanted values in the columns named."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def placed(order: Iterable[str]) -> Callable[[str], tuple[int, str]]:
    """Give a sort key that puts names in an order, unknown ones last and by name."""
    places = {name: place for place, name in enumerate(dict.fromkeys(order))}
    return lambda name: (places.get(name, len(places)), name)


def parsed(text: str | None) -> dict[str, Any]:
    """Read a mapping from JSON text; an empty one where there is none."""
    try:
        content = json.loads(text or "{}")
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}

"""The strips of the report: for every axis climbed one picture, and the rungs of its ladder that are shown."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, TypedDict

from judge_audit.core.vocabulary import State
from judge_audit.report.facts import rows_of
from judge_audit.report.sheets.axis_sheet import is_fine, zone_at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb
    from judge_audit_schemas.rows import ZonesRow

    from judge_audit.report.facts import Facts
    from judge_audit.stimuli.axes.axis import Axis

RUNGS = 8
"""Rungs shown of a ladder; with the original they fill three rows of three on a phone."""

CLIMBED = """
SELECT probes.axis, probes.item_id, items.source, probes.rung, probes.strength,
    max(probes.region) AS region, coalesce(bool_or(calls.state = $3), false) AS inert
FROM probes
JOIN items USING (plan_id, item_id)
LEFT JOIN calls ON calls.probe_id = probes.probe_id AND calls.repeat = probes.repeat AND calls.judge_id = $2
WHERE probes.plan_id = $1 AND probes.rung > 0
GROUP BY ALL
ORDER BY probes.axis, probes.item_id, probes.rung
"""


class Rung(TypedDict):
    """A rung of an item's ladder, and whether it changed no pixel."""

    axis: str
    item_id: str
    source: str
    rung: int
    strength: float
    region: str | None
    inert: bool


def strips_of(con: duckdb.DuckDBPyConnection, facts: Facts, axes: Mapping[str, Axis]) -> list[dict[str, Any]]:
    """Choose what to show of each axis: the picture whose visible point is the middle one, and some rungs.

    Where nobody can say what is visible, a picture that is shown for other axes too, else the first by name.
    An axis that is not among `axes` cannot be drawn again and is left out.

    Returns:
        Rows with axis, item_id, source, region ("" for the whole picture), fine (whether only the middle is
        shown), provisional (None where nobody can say), rungs (rung, strength and zone of each that is shown)
        and climbed (how many rungs there are), in the order of the axes.
    """
    rungs: dict[str, dict[str, list[Rung]]] = {}
    audit = facts.audit
    rows: list[Rung] = rows_of(con, CLIMBED, audit["plan_id"], audit["judge_id"], State.INERT.value)
    for row in rows:
        rungs.setdefault(row["axis"], {}).setdefault(row["item_id"], []).append(row)
    zones = {(row["axis"], row["item_id"]): row for row in facts.zones}
    climbed = {name: axis for name, axis in axes.items() if name in rungs}
    items = {name: _middle({item: zones.get((name, item)) for item in rungs[name]}) for name in climbed}
    often = [item for item, _ in Counter(item for item in items.values() if item).most_common()]
    strips = []
    for name, axis in climbed.items():
        item_id = items[name] or next((item for item in often if item in rungs[name]), min(rungs[name]))
        strips.append(_strip(axis, rungs[name][item_id], zones.get((name, item_id))))
    return strips


def _middle(zones: Mapping[str, ZonesRow | None]) -> str | None:
    """Give the item whose visible point is the middle one; None where nobody can say."""
    known = sorted(
        (row["perceptible_low"], item)
        for item, row in zones.items()
        if row and row["perceptible_low"] is not None
    )
    return str(known[(len(known) - 1) // 2][1]) if known else None


def _strip(axis: Axis, rows: Sequence[Rung], zone: ZonesRow | None) -> dict[str, Any]:
    low, high, bad = (
        (zone["perceptible_low"], zone["perceptible_high"], zone["objectionable"])
        if zone
        else (None, None, None)
    )
    named = [
        "inert" if row["inert"] else zone_at(row["strength"], low, high, bad, axis.overdone) for row in rows
    ]
    return {
        "axis": axis.name,
        "item_id": rows[0]["item_id"],
        "source": rows[0]["source"],
        "region": rows[0]["region"] or "",
        "fine": is_fine(axis),
        "provisional": bool(zone["provisional"]) if zone and low is not None else None,
        "rungs": [
            {"rung": rows[at]["rung"], "strength": rows[at]["strength"], "zone": named[at]}
            for at in chosen(named, RUNGS)
        ],
        "climbed": len(rows),
    }


def chosen(zones: Sequence[str], count: int) -> list[int]:
    """Choose rungs: the weakest, the strongest, the first of each zone, and others evenly between them.

    Args:
        zones: Zone of each rung, weakest first.
        count: How many to choose at most, at least two.

    Returns:
        Their places, rising.
    """
    last = len(zones) - 1
    edges = [at for at in range(1, last) if zones[at] != zones[at - 1]]
    picked = sorted({0, last, *edges[: count - 2]})
    while len(picked) < min(count, len(zones)):
        free = (at for at in range(len(zones)) if at not in picked)
        picked = sorted([*picked, max(free, key=lambda at: (_apart(at, picked), at))])
    return picked


def _apart(place: int, picked: Sequence[int]) -> int:
    return min((abs(place - other) for other in picked), default=0)

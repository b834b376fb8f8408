"""Contact sheets of the page: for every axis climbed one picture, and rungs of its ladder beside it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.core.messages import knows, say
from judge_audit.core.vocabulary import State
from judge_audit.report.sheets.pictures import jpeg_uri
from judge_audit.report.sheets.sheets import is_fine, tile_of, zone_at
from judge_audit.stimuli.axes.image_buffers import Scratch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import duckdb
    from numpy.typing import NDArray

    from judge_audit.report.facts import Facts
    from judge_audit.stimuli.axes.axis import Axis

    Pixels = NDArray[np.uint8]
    Row = Mapping[str, Any]

SIDE = 120
RUNGS = 8
"""Rungs shown of a ladder; with the original they fill three rows of three on a phone."""

QUALITY, FINE_QUALITY = 88, 95

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


@dataclass(frozen=True, slots=True)
class Tile:
    """A small picture.

    Attributes:
        uri: The picture as a data URI.
        width: Its width in percent of the original's; below 100 for a crop.
    """

    uri: str
    width: float


def strips_of(con: duckdb.DuckDBPyConnection, facts: Facts, axes: Mapping[str, Axis]) -> list[dict[str, Any]]:
    """Choose what to show of each axis: the picture whose visible point is the middle one, and some rungs.

    Where nobody can say what is visible, a picture that stands for other axes too, else the first by name.

    Args:
        con: A connection to the lake.
        facts: What the report reads from it.
        axes: The axes by name; one that is not among them cannot be drawn again.

    Returns:
        Rows with axis, item_id, source, region ("" for the whole picture), fine (whether only the middle is
        shown), provisional (None where nobody can say), rungs (rung, strength and zone of each that is shown)
        and climbed (how many rungs there are), in the order of the axes.
    """
    done = con.execute(CLIMBED, [facts.audit["plan_id"], facts.audit["judge_id"], State.INERT.value])
    names = [column[0] for column in done.description or ()]
    held: dict[str, dict[str, list[Row]]] = {}
    for values in done.fetchall():
        row = dict(zip(names, values, strict=True))
        held.setdefault(row["axis"], {}).setdefault(row["item_id"], []).append(row)
    zones = {(row["axis"], row["item_id"]): row for row in facts.zones}
    climbed = {name: axis for name, axis in axes.items() if name in held}
    items = {name: _middle({item: zones.get((name, item)) for item in held[name]}) for name in climbed}
    often = [item for item, _ in Counter(item for item in items.values() if item).most_common()]
    found = []
    for name, axis in climbed.items():
        item_id = items[name] or next((item for item in often if item in held[name]), min(held[name]))
        found.append(_strip(axis, held[name][item_id], zones.get((name, item_id))))
    return found


def _middle(zones: Mapping[str, Row | None]) -> str | None:
    """Give the item whose visible point is the middle one; None where nobody can say."""
    known = sorted((row["perceptible_low"], item) for item, row in zones.items() if row and _is_known(row))
    return str(known[(len(known) - 1) // 2][1]) if known else None


def _is_known(zone: Row) -> bool:
    return zone["perceptible_low"] is not None


def _strip(axis: Axis, rows: Sequence[Row], zone: Row | None) -> dict[str, Any]:
    names = ("perceptible_low", "perceptible_high", "objectionable")
    low, high, bad = (zone[name] if zone else None for name in names)
    named = [
        "inert" if row["inert"] else zone_at(row["strength"], low, high, bad, axis.overdone) for row in rows
    ]
    return {
        "axis": axis.name,
        "item_id": rows[0]["item_id"],
        "source": rows[0]["source"],
        "region": rows[0]["region"] or "",
        "fine": is_fine(axis),
        "provisional": bool(zone["provisional"]) if zone and _is_known(zone) else None,
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


def draw_strips(
    strips: Sequence[Row],
    pixels: Callable[[str], Pixels] | None,
    axes: Mapping[str, Axis],
    masks: Callable[[str], NDArray[np.bool_] | None] | None = None,
) -> dict[str, list[Tile]]:
    """Draw the originals and their rungs again.

    A picture that can no longer be read is left out; the page says so.

    Args:
        strips: Rows as `strips_of` gives them.
        pixels: Gives the pixels of an item by its id; None draws nothing.
        axes: The axes by name.
        masks: Gives the mask of an item by its id, None if it has none.

    Returns:
        Tiles by axis: the original's, then one per rung shown.
    """
    found: dict[str, list[Tile]] = {}
    if pixels is None:
        return found
    scratch = Scratch()
    for row in strips:
        axis = axes[row["axis"]]
        try:
            original = pixels(row["item_id"])
            scratch.begin(original, masks(row["item_id"]) if masks else None)
        except Exception:  # noqa: BLE001, S112 - a report is worth having without one of its pictures
            continue
        drawn = [original, *(axis.draw(original, rung["strength"], scratch) for rung in row["rungs"])]
        found[axis.name] = [_tile(copy, original.shape, fine=row["fine"]) for copy in drawn]
    return found


def _tile(pixels: Pixels, original: tuple[int, ...], *, fine: bool) -> Tile:
    shown = np.ascontiguousarray(tile_of(pixels, original, SIDE, fine=fine))
    width = 100.0 if fine else 100 * pixels.shape[1] / original[1]
    return Tile(jpeg_uri(shown, FINE_QUALITY if fine else QUALITY), min(100.0, width))


def region_text(region: str) -> str:
    """Name the part of a picture that a change keeps to."""
    key = f"sheet.region_{region}"
    return say(key) if knows(key) else region

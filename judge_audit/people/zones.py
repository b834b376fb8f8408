"""Zones: which rungs of an item's ladder people cannot see, can see, and object to."""

from __future__ import annotations

import math
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from judge_audit.core.digests import text_digest
from judge_audit.core.tables import rows_of, schema
from judge_audit.core.vocabulary import ZoneBasis
from judge_audit.measures.estimates import wilson
from judge_audit.people.readings import Reading
from judge_audit.people.visibility import Points, provisional_points
from judge_audit.stimuli.axes.image_buffers import Scratch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from judge_audit_schemas.rows import ZonesRow
    from numpy.typing import NDArray

    from judge_audit.stimuli.axes.axis import Axis

    PixelsOf = Callable[[Mapping[str, Any]], NDArray[np.uint8]]

READ_ENOUGH = 16
"""Items that must be read on an axis before the others take its quantiles."""

QUANTILE = 0.10
"""Unread items take this quantile of the smaller points, and one minus it of the larger."""

APART = 4.0
"""Readers this factor apart on half the items make a threshold unreliable."""

FALSE_ALARMS = 0.20
"""A reader whose false alarms on catch ladders exceed this share (Wilson lower bound) is set aside."""

MODELLED = 48
"""The two visual-difference models look at no more items than this; the others take the quantiles."""

SCHEMA = pa.schema([field for field in schema("zones") if field.name not in ("plan_id", "zones_id")])


VERSION = "2"
"""Raised whenever the same readings or pictures would give other zones."""


@dataclass(frozen=True, slots=True)
class ZoneNotes:
    """What was counted on the way to one axis's zones.

    Attributes:
        axis: The axis.
        provisional: Whether visual-difference models stood in for readers.
        read: Items with a zone of their own.
        single: Items with one usable reading only.
        at_first_rung: Readings set aside because they are at the first rung or below.
        stale: Readings set aside because other pixels are drawn today.
        other_protocol: Readings set aside because most used another protocol.
        unreliable: Whether readers were too far apart for a threshold.
    """

    axis: str
    provisional: bool
    read: int
    single: int = 0
    at_first_rung: int = 0
    stale: int = 0
    other_protocol: int = 0
    unreliable: bool = False

    def sentences(self) -> tuple[str, ...]:
        """Say what a person should know."""
        few = not self.provisional and not self.unreliable and self.read < READ_ENOUGH
        remarks = (
            (self.single, "{n} item(s) of {axis} have one usable reading only: no zone of their own."),
            (self.at_first_rung, "{n} reading(s) of {axis} lie at its first rung and were set aside."),
            (self.stale, "{n} reading(s) of {axis} are stale (other pixels are drawn today): set aside."),
            (self.other_protocol, "{n} reading(s) of {axis} used another protocol than most: set aside."),
            (self.unreliable, "Readers of {axis} differ fourfold on half the items: unreliable, no zones."),
            (few, f"Fewer than {READ_ENOUGH} items are read on {{axis}}: unread items have no zone."),
        )
        return tuple(text.format(n=int(count), axis=self.axis) for count, text in remarks if count)


@dataclass(frozen=True, slots=True)
class Zones:
    """The zones of an audit.

    Attributes:
        table: item_id, axis, perceptible_low, perceptible_high, objectionable, provisional; one row per item
            and axis that people or models can speak of, points NULL where nobody can say.
        counts: What was counted, per axis.
        notes: Sentences for people.
    """

    table: pa.Table
    counts: tuple[ZoneNotes, ...]
    notes: tuple[str, ...]


class _Zone(NamedTuple):
    """Smaller and larger noticed point, and the larger objectionable one."""

    low: float
    high: float
    objectionable: float


def make_zones(
    axes: Mapping[str, Axis], items: pa.Table, readings: pa.Table | None, pixels: PixelsOf, *, seed: int
) -> Zones:
    """Settle the zones of every item on every axis.

    An axis that somebody has read goes by readings alone; an axis nobody has read goes by two
    visual-difference models, where models can be trusted for it, and is marked provisional.

    Args:
        axes: The axes climbed, by name.
        items: The items that carry ladders.
        readings: A table of `readings.SCHEMA`; None if nobody has read.
        pixels: Gives the pixels of a row of `items`.
        seed: The audit's seed; settles which items the models look at.

    Returns:
        The zones.
    """
    rows = sorted(items.to_pylist(), key=lambda row: str(row["item_id"]))
    every = rows_of(readings, Reading) if readings is not None else []
    careless = careless_readers(every)
    usable = [
        reading for reading in every if not reading["catch"] and reading["annotator_id"] not in careless
    ]
    read = {axis: [reading for reading in usable if reading["axis"] == axis] for axis in axes}
    provisional = _modelled([axis for name, axis in axes.items() if not read[name]], rows, pixels, seed)
    zone_rows: list[ZonesRow] = []
    counts: list[ZoneNotes] = []
    for name, axis in axes.items():
        if read[name]:
            zones, count = _by_readings(axis, read[name])
        elif axis.visibility is not None and rows:
            zones = provisional[name]
            count = ZoneNotes(name, provisional=True, read=len(zones))
        else:
            continue
        counts.append(count)
        spread = _quantiles(zones) if count.provisional or len(zones) >= READ_ENOUGH else None
        zone_rows += [_row(str(row["item_id"]), count, zones, spread) for row in rows]
    notes = [
        f"The readings of {who} were set aside: too many false alarms on catch ladders." for who in careless
    ]
    notes += [sentence for count in counts for sentence in count.sentences()]
    zone_rows.sort(key=lambda row: (row["item_id"], row["axis"]))
    return Zones(pa.Table.from_pylist(zone_rows, schema=SCHEMA), tuple(counts), tuple(notes))


def _row(item_id: str, count: ZoneNotes, zones: Mapping[str, _Zone], spread: _Zone | None) -> ZonesRow:
    """Make one row of the table: the item's own zone, else the quantiles of the others'."""
    zone = None if count.unreliable else zones.get(item_id, spread)
    if count.unreliable:
        basis = ZoneBasis.UNRELIABLE
    elif item_id in zones:
        basis = ZoneBasis.MODELS if count.provisional else ZoneBasis.READINGS
    elif zone is None:
        basis = ZoneBasis.UNKNOWN
    else:
        basis = ZoneBasis.MODEL_QUANTILES if count.provisional else ZoneBasis.QUANTILES
    return {
        "item_id": item_id,
        "axis": count.axis,
        "perceptible_low": zone.low if zone else None,
        "perceptible_high": zone.high if zone else None,
        "objectionable": zone.objectionable if zone else None,
        "provisional": count.provisional,
        "basis": basis.value,
    }


def careless_readers(readings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name readers who mark changes on ladders where nothing changes."""
    shown: Counter[str] = Counter()
    alarms: Counter[str] = Counter()
    for reading in readings:
        if reading["catch"]:
            shown[reading["annotator_id"]] += 1
            alarms[reading["annotator_id"]] += math.isfinite(reading["perceptible"])
    return sorted(who for who in shown if wilson(alarms[who], shown[who])[0] > FALSE_ALARMS)


def _by_readings(axis: Axis, readings: Sequence[Reading]) -> tuple[dict[str, _Zone], ZoneNotes]:
    """Make the zones of the items read on one axis: the two readers assigned first, by one protocol."""
    first = [reading for reading in readings if not reading["repeat"]]
    fresh = [reading for reading in first if _is_fresh(axis, reading)]
    protocols = Counter(reading["protocol"] for reading in fresh)
    main = min(protocols, key=lambda name: (-protocols[name], name)) if protocols else ""
    same = [reading for reading in fresh if reading["protocol"] == main]
    usable = [reading for reading in same if reading["perceptible"] > axis.strengths[0] * (1 + 1e-9)]
    by_item: dict[str, list[Reading]] = {}
    for reading in usable:
        by_item.setdefault(reading["item_id"], []).append(reading)
    pairs = {item_id: rows[:2] for item_id, rows in by_item.items() if len(rows) > 1}
    zones = {item_id: _pair_zone(axis, pair) for item_id, pair in pairs.items()}
    apart = sum(_far_apart(zone, axis.strengths[-1]) for zone in zones.values())
    return zones, ZoneNotes(
        axis.name,
        provisional=False,
        read=len(zones),
        single=len(by_item) - len(pairs),
        at_first_rung=len(same) - len(usable),
        stale=len(first) - len(fresh),
        other_protocol=len(fresh) - len(same),
        unreliable=bool(zones) and 2 * apart >= len(zones),
    )


def _is_fresh(axis: Axis, reading: Reading) -> bool:
    """Say whether a reading is of the pixels that the axis draws today."""
    return not reading["stale"] and reading["recipe_version"] in {None, axis.recipe_version}


def _pair_zone(axis: Axis, pair: Sequence[Reading]) -> _Zone:
    """Make a zone of two readings; "never" counts as beyond the last rung."""
    points = [float(reading["perceptible"]) for reading in pair]
    objections = [reading["objectionable"] for reading in pair]
    asked = [float(point) for point in objections if point is not None]
    return _Zone(min(points), max(points), max(asked) if len(asked) == len(pair) else axis.overdone)


def _far_apart(zone: _Zone, last: float) -> bool:
    """Say whether two readers are surely more than a factor of `APART` apart; "never" is at least `last`."""
    return min(zone.high, last) > APART * zone.low


def _quantiles(zones: Mapping[str, _Zone]) -> _Zone | None:
    """Give the zone that unread items take: cautious quantiles, by order so that "never" can be one."""
    if not zones:
        return None
    lows, *rest = zip(*zones.values(), strict=True)
    low = float(np.quantile(lows, QUANTILE, method="lower"))
    return _Zone(low, *(float(np.quantile(points, 1 - QUANTILE, method="higher")) for points in rest))


def _modelled(
    axes: Sequence[Axis], rows: Sequence[Mapping[str, Any]], pixels: PixelsOf, seed: int
) -> dict[str, dict[str, _Zone]]:
    """Let two models take the place of two readers, on up to `MODELLED` items drawn by the seed."""
    asked = [axis for axis in axes if axis.visibility is not None]
    zones: dict[str, dict[str, _Zone]] = {axis.name: {} for axis in asked}
    if not asked:
        return zones
    drawn = sorted(rows, key=lambda row: text_digest(str(seed), "zones", str(row["item_id"])))[:MODELLED]

    def look(row: Mapping[str, Any]) -> list[Points | None]:
        image, scratch = pixels(row), Scratch()
        return [provisional_points(axis, image, scratch) for axis in asked]

    with ThreadPoolExecutor(max_workers=2) as pool:
        for row, points in zip(drawn, pool.map(look, drawn), strict=True):
            for axis, point in zip(asked, points, strict=True):
                if point is not None:
                    zones[axis.name][str(row["item_id"])] = _Zone(point.low, point.high, axis.overdone)
    return zones

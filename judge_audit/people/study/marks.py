"""Marks: what readers say of ladders, as the page sends them and as the lake keeps them.

A mark is in the lake before the reader sees it confirmed.
"""

from __future__ import annotations

import json
import math
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict, cast

from judge_audit.core.tables import from_rows, rows_of
from judge_audit.people.readings import ladder_digest
from judge_audit.people.study.plan import PROTOCOL_VERSION

if TYPE_CHECKING:
    from datetime import datetime

    from judge_audit.lake import Lake
    from judge_audit.people.study.plan import Slot, Study
    from judge_audit.people.study.readers import Reader

    Key = tuple[str, str, bool, int]


class Screen(TypedDict):
    """The screen a mark was made on, and the seconds it took; the columns of `MarkRow` of these names."""

    shown_width: int
    shown_height: int
    pixel_ratio: float
    zoom: float
    distance_cm: float | None
    seconds: float | None


class MarkRow(Screen, total=False):
    """A row of table `readings` that a study writes: every column is given, and "never" is infinite."""

    import_id: str
    study_id: str
    row: int
    item_id: str
    axis: str
    annotator_id: str
    perceptible: float
    objectionable: float | None
    protocol: str
    protocol_version: str
    recipe_version: int
    catch: bool
    repeat: int
    revision: int
    probe_ids: list[str]
    ladder_digest: str
    renderer: str
    read_at: datetime
    reason: str | None


SECOND = "second point"
"""Reason of a row that adds the objectionable point to a perceptible one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What a reader marked.

    Attributes:
        after: The revision the reader saw, -1 for none.
        perceptible: Step at which a change is first seen, None for never.
        objectionable: Step at which it is first objected to, None for never; meaningless unless `asked`.
        asked: Whether the objectionable point was asked for.
        reason: Why an earlier mark is corrected, "" for none.
        screen: shown_width, shown_height, pixel_ratio, zoom, distance_cm and seconds.
    """

    after: int
    perceptible: int | None
    objectionable: int | None
    asked: bool
    reason: str
    screen: Screen


class Conflict(Exception):  # noqa: N818 - it is no failure: another tab was quicker
    """The ladder holds a later mark than the one the reader saw."""


class Unreasoned(ValueError):  # noqa: N818 - reported to the reader
    """A kept mark is to be changed without a reason."""


@dataclass(eq=False, slots=True)
class Marks:
    """The marks of a study, in the lake and in memory.

    Attributes:
        study: The study.
        lake: Where they are kept.
    """

    study: Study
    lake: Lake
    _rows: dict[str, dict[Key, list[MarkRow]]] = field(default_factory=dict)
    _locks: dict[str, threading.Lock] = field(default_factory=dict)

    def load(self) -> None:
        """Read all marks from the lake."""
        marks: dict[str, dict[Key, list[MarkRow]]] = {}
        for row in self.rows():
            marks.setdefault(row["annotator_id"], {}).setdefault(_key(row), []).append(row)
        self._rows = marks

    def rows(self) -> list[MarkRow]:
        """Read every row of the study from the lake, corrections after what they correct."""
        study_id = self.study.study_id
        rows = rows_of(self.lake.read("readings", import_id=study_id), MarkRow)
        return sorted(rows, key=lambda row: (row["row"], row["revision"]))

    def latest(self, reader: Reader, slot: Slot) -> MarkRow | None:
        """Give a reader's latest mark on a slot's ladder."""
        rows = self._rows.get(reader.annotator_id, {}).get(_slot_key(slot))
        return rows[-1] if rows else None

    def done(self, reader: Reader, slot: Slot) -> bool:
        """Tell whether a ladder is read to its end."""
        row = self.latest(reader, slot)
        if row is None:
            return False
        return not self._asks(row["perceptible"]) or row["objectionable"] is not None

    def _asks(self, perceptible: float) -> bool:
        """Whether an objectionable point belongs to a perceptible one."""
        return self.study.objectionable and math.isfinite(perceptible)

    def add(self, reader: Reader, slot: Slot, mark: Mark, now: datetime) -> MarkRow:
        """Keep a mark.

        The same mark sent twice is kept once; of two tabs that mark the same state, the first counts.

        Returns:
            The row that is kept.

        Raises:
            Conflict: If the ladder holds a later mark, and another one.
            Unreasoned: If a kept point is changed without a reason.
        """
        with self._locks.setdefault(reader.annotator_id, threading.Lock()):
            before = self.latest(reader, slot)
            row = self._row(reader, slot, mark, now)
            if before is not None and _points(before) == _points(row):
                return before
            if (before["revision"] if before else -1) != mark.after:
                raise Conflict
            row["reason"] = self._reason(before, row, mark)
            done = self.lake.commit({"readings": from_rows("readings", [row])})
            if not done.new:
                # Another server on the same study was quicker: what it kept counts.
                self.load()
                first = self.latest(reader, slot)
                if first is None or _points(first) != _points(row):
                    raise Conflict
                return first
            of_reader = self._rows.setdefault(reader.annotator_id, {})
            of_reader.setdefault(_slot_key(slot), []).append(row)
            return row

    def _reason(self, before: MarkRow | None, row: MarkRow, mark: Mark) -> str | None:
        """Say why a later row is there.

        Raises:
            Unreasoned: If it changes what was kept and nobody says why.
        """
        if before is None:
            return None
        if before["perceptible"] == row["perceptible"] and before["objectionable"] is None:
            return SECOND
        if not mark.reason:
            raise Unreasoned
        return mark.reason

    def _row(self, reader: Reader, slot: Slot, mark: Mark, now: datetime) -> MarkRow:
        ladder = slot.ladder
        perceptible = math.inf if mark.perceptible is None else slot.strength(mark.perceptible)
        objectionable = None
        if mark.asked and self._asks(perceptible):
            objectionable = math.inf if mark.objectionable is None else slot.strength(mark.objectionable)
        elif self.study.objectionable and not math.isfinite(perceptible):
            objectionable = math.inf  # what nobody notices disturbs nobody
        return {
            "import_id": self.study.study_id,
            "study_id": self.study.study_id,
            "row": reader.order,
            "item_id": ladder.item_id,
            "axis": ladder.axis,
            "annotator_id": reader.annotator_id,
            "perceptible": perceptible,
            "objectionable": objectionable,
            "protocol": self.study.protocol,
            "protocol_version": PROTOCOL_VERSION,
            "recipe_version": ladder.recipe_version,
            "catch": ladder.catch,
            "repeat": slot.repeat,
            "revision": mark.after + 1,
            "probe_ids": list(ladder.probe_ids),
            "ladder_digest": ladder_digest(ladder.rung_digests),
            "renderer": self.study.renderer,
            "read_at": now,
            "reason": None,
            **mark.screen,
        }


def _points(row: MarkRow) -> tuple[float, float | None]:
    return row["perceptible"], row["objectionable"]


def _key(row: MarkRow) -> Key:
    return row["item_id"], row["axis"], row["catch"], row["repeat"]


def _slot_key(slot: Slot) -> Key:
    return (*slot.ladder.key, slot.repeat)


MOST_REASON = 200
SCREEN = {
    "shown_width": (1, 100_000),
    "shown_height": (1, 100_000),
    "pixel_ratio": (0.1, 20),
    "zoom": (0.01, 100),
    "distance_cm": (10, 500),
    "seconds": (0, 86_400),
}
"""Smallest and largest sensible value of each figure."""

MAY_BE_UNKNOWN = frozenset({"distance_cm"})
WHOLE = frozenset({"shown_width", "shown_height"})


class Malformed(ValueError):  # noqa: N818 - reported to the page, which sends no such thing
    """A request that no page of ours sends."""


def read_mark(body: bytes, steps: int) -> tuple[int, Mark]:
    """Read what the page sent (JSON), for a slider of some steps.

    Returns:
        Place of the slot in the reader's order, from 1, and the mark.

    Raises:
        Malformed: If it is anything else.
    """
    try:
        content = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Malformed from error
    if not isinstance(content, dict):
        raise Malformed
    asked = content.get("asked") is True
    perceptible = _step(content, "perceptible", 1, steps)
    first = perceptible if perceptible is not None else 1
    objectionable = _step(content, "objectionable", first, steps) if asked else None
    reason = content.get("reason", "")
    if not isinstance(reason, str) or len(reason) > MOST_REASON or not reason.isprintable():
        raise Malformed
    mark = Mark(
        after=_whole(content.get("after"), -1, 10_000),
        perceptible=perceptible,
        objectionable=objectionable,
        asked=asked,
        reason=reason.strip(),
        screen=_screen(content.get("screen")),
    )
    return _whole(content.get("slot"), 1, 1_000_000), mark


def _screen(sent: Any) -> Screen:  # noqa: ANN401 - whatever was sent
    """Read the figures of the screen."""
    if not isinstance(sent, dict):
        raise Malformed
    screen: dict[str, float | int | None] = {}
    for name, (low, high) in SCREEN.items():
        value = sent.get(name)
        if value is None and name in MAY_BE_UNKNOWN:
            screen[name] = None
        elif isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
            raise Malformed
        else:
            screen[name] = round(value) if name in WHOLE else float(value)
    return cast("Screen", screen)


def _step(content: dict[str, Any], name: str, low: int, high: int) -> int | None:
    """Read a step; null is never, and must be said."""
    if name not in content:
        raise Malformed
    return None if content[name] is None else _whole(content[name], low, high)


def _whole(value: Any, low: int, high: int) -> int:  # noqa: ANN401 - whatever was sent
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise Malformed
    return value


def _no_constant(name: str) -> float:
    raise Malformed(name)

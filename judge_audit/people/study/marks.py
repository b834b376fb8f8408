"""Marks: what readers say of ladders, each in the lake before the reader is told that it is kept."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judge_audit.core.tables import from_rows
from judge_audit.people.freshness import ladder_digest
from judge_audit.people.study.plan import PROTOCOL_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from judge_audit.lake import Lake
    from judge_audit.people.study.plan import Slot, Study
    from judge_audit.people.study.readers import Reader

    Key = tuple[str, str, bool, int]
    Row = Mapping[str, Any]

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
    screen: Mapping[str, Any]


class Conflict(Exception):  # noqa: N818 - it is no failure: another tab was quicker
    """The ladder holds a later mark than the one the reader saw."""


class Unreasoned(ValueError):  # noqa: N818 - told to the reader
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
    _rows: dict[str, dict[Key, list[Row]]] = field(default_factory=dict)
    _locks: dict[str, threading.Lock] = field(default_factory=dict)

    def load(self) -> None:
        """Read all marks from the lake."""
        found: dict[str, dict[Key, list[Row]]] = {}
        for row in self.rows():
            found.setdefault(row["annotator_id"], {}).setdefault(_key(row), []).append(row)
        self._rows = found

    def rows(self) -> list[Row]:
        """Read every row of the study from the lake, corrections after what they correct."""
        study_id = self.study.study_id
        rows: list[Row] = self.lake.read("readings", import_id=study_id).to_pylist()
        return sorted(rows, key=lambda row: (row["row"], row["revision"]))

    def latest(self, reader: Reader, slot: Slot) -> Row | None:
        """Give a reader's latest mark on a slot's ladder."""
        held = self._rows.get(reader.annotator_id, {}).get(_slot_key(slot))
        return held[-1] if held else None

    def done(self, reader: Reader, slot: Slot) -> bool:
        """Tell whether a ladder is read to its end."""
        row = self.latest(reader, slot)
        if row is None:
            return False
        return not self._asks(row["perceptible"]) or row["objectionable"] is not None

    def _asks(self, perceptible: float) -> bool:
        """Whether an objectionable point belongs to a perceptible one."""
        return self.study.objectionable and math.isfinite(perceptible)

    def add(self, reader: Reader, slot: Slot, mark: Mark, now: datetime) -> Row:
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
                kept = self.latest(reader, slot)
                if kept is None or _points(kept) != _points(row):
                    raise Conflict
                return kept
            of_reader = self._rows.setdefault(reader.annotator_id, {})
            of_reader.setdefault(_slot_key(slot), []).append(row)
            return row

    def _reason(self, before: Row | None, row: Row, mark: Mark) -> str | None:
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

    def _row(self, reader: Reader, slot: Slot, mark: Mark, now: datetime) -> dict[str, Any]:
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
            **mark.screen,
        }


def _points(row: Row) -> tuple[float, float | None]:
    return row["perceptible"], row["objectionable"]


def _key(row: Row) -> Key:
    return row["item_id"], row["axis"], row["catch"], row["repeat"]


def _slot_key(slot: Slot) -> Key:
    return (*slot.ladder.key, slot.repeat)

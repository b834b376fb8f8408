"""People's readings of ladders: where a change is first noticed, where it begins to disturb, and which are stale.

A reading is stale if a changed recipe draws other pixels than those that were read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, cast

import pyarrow as pa
from judge_audit_schemas.rows import ImportsRow, ReadingsRow, StudiesRow

from judge_audit.core.digests import pixel_digest, row_digest, text_digest
from judge_audit.core.errors import Fault, InputError
from judge_audit.core.row_files import read_rows
from judge_audit.core.tables import rows_of
from judge_audit.stimuli.axes import builtin_axes, fingerprint
from judge_audit.stimuli.axes.image_buffers import Scratch
from judge_audit.stimuli.planning.probe_ids import ladder_probe_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from judge_audit.lake import Lake
    from judge_audit.stimuli.axes.axis import Axis

    Row = Mapping[str, Any]
    Pixels = NDArray[np.uint8]

REQUIRED = ("item_id", "axis", "annotator_id", "perceptible")
OPTIONAL = ("objectionable", "protocol", "recipe_version", "catch")

SCHEMA = pa.schema(
    [
        ("item_id", pa.string()),
        ("axis", pa.string()),
        ("annotator_id", pa.string()),
        ("perceptible", pa.float64()),
        ("objectionable", pa.float64()),
        ("protocol", pa.string()),
        ("recipe_version", pa.int64()),
        ("catch", pa.bool_()),
        ("repeat", pa.int64()),
        ("study_id", pa.string()),
        ("stale", pa.bool_()),
    ]
)
"""A reading. `perceptible` and `objectionable` are strengths in the axis's unit, infinite for "never" within
the ladder; `objectionable` is NULL where the study did not ask, `recipe_version` where the file did not say.
`catch` marks a ladder on which nothing changed, shown to see whether the reader marks it all the same. `repeat` is
above 0 where the reader was shown the ladder again; `stale` marks a reading of other pixels than today's."""


class Reading(TypedDict, total=False):
    """A row of a table of `SCHEMA`."""

    item_id: str
    axis: str
    annotator_id: str
    perceptible: float
    objectionable: float | None
    protocol: str
    recipe_version: int | None
    catch: bool
    repeat: int
    study_id: str | None
    stale: bool


_YES = frozenset({"true", "yes", "1"})
_NO = frozenset({"", "false", "no", "0"})


READING = itemgetter("item_id", "axis", "annotator_id", "protocol", "catch", "repeat")
"""What names a reading; the last revision of it counts."""


class KeptReading(ReadingsRow, total=False):
    """A reading with whether it is still of the pictures that the judge is shown."""

    stale: bool


def read_readings(path: str | Path, axes: Mapping[str, Axis], items: pa.Table) -> pa.Table:
    """Read a file of readings.

    Columns: item_id, axis, annotator_id, perceptible (a strength; empty = never noticed), and optionally
    objectionable (empty = never), protocol, recipe_version, catch. Rows stand in the order in which readers
    were assigned: the first two of an item make its zone. Readings of shipped axes that this audit does not
    climb are left out.

    Args:
        path: .csv, .jsonl / .ndjson or .parquet.
        axes: The axes this audit climbs, by name.
        items: The audit's items; column item_id.

    Returns:
        A table of `SCHEMA`, in the file's order.

    Raises:
        InputError: With every fault by row and column.
        UsageError: If the file itself cannot be read.
    """
    path = Path(path)
    file = read_rows(path)
    absent = [name for name in REQUIRED if name not in file.columns]
    if absent:
        raise InputError(
            [Fault(path.name, 0, name, "this column is missing from the file.") for name in absent],
            f"A readings file has the columns {', '.join(REQUIRED)} and may have {', '.join(OPTIONAL)}.",
        )
    known = set(items["item_id"].to_pylist())
    others = set(builtin_axes()) - set(axes)
    faults = list(file.faults)
    readings = []
    first_row: dict[tuple[str, ...], int] = {}
    for number, row in file.rows:
        if row["axis"] in others:
            continue
        reading, wrong = reading_of(row, axes, known)
        key = (
            *(reading["item_id"], reading["axis"], reading["annotator_id"]),
            *(reading["protocol"], str(reading["catch"])),
        )
        if not wrong and first_row.setdefault(key, number) != number:
            wrong["annotator_id"] = (
                f"this reader read this ladder in row {first_row[key]} already; keep one of them."
            )
        faults += [Fault(path.name, number, name, text, row["item_id"]) for name, text in wrong.items()]
        readings.append(reading)
    if faults:
        raise InputError(faults, "Mend the rows named above; no reading was used.")
    return pa.Table.from_pylist(readings, schema=SCHEMA)


def readings_of(
    lake: Lake,
    axes: Mapping[str, Axis],
    items: pa.Table,
    is_stale: Callable[[Mapping[str, Any]], bool] | None = None,
) -> tuple[pa.Table, dict[str, str]]:
    """Give the readings of an audit's items and axes that are in a lake: imported, or taken in a study.

    Readers count in the order of imports and studies, and within them of rows; a ladder one reader read several
    times counts as the newest import or correction has it, in the place of the first.

    Args:
        lake: The lake.
        axes: The axes this audit climbs, by name.
        items: The audit's items.
        is_stale: Tells whether a reading (a row of table `readings`) was of other pixels than today's.

    Returns:
        A table of `SCHEMA`, and a digest of each origin by `import <import_id>` or `study <study_id>`.
    """
    item_ids = set(items["item_id"].to_pylist())
    files = rows_of(lake.read("imports", kind="readings"), ImportsRow)
    studies = rows_of(lake.read("studies"), StudiesRow)
    origins = [(row["imported_at"], row["import_id"]) for row in files]
    origins += [(row["created_at"], row["study_id"]) for row in studies]
    place = {name: number for number, (_, name) in enumerate(sorted(origins))}
    rows = rows_of(lake.read("readings", axis=list(axes)), ReadingsRow) if place else []
    rows = [row for row in rows if row["item_id"] in item_ids or row["catch"]]
    for row in rows:
        row["repeat"], row["revision"] = row["repeat"] or 0, row["revision"] or 0
    counted: dict[tuple[object, ...], KeptReading] = {}
    for row in sorted(rows, key=lambda row: (place[row["import_id"]], row["row"], row["revision"])):
        counted[READING(row)] = cast("KeptReading", row)
    for row in counted.values():
        row["stale"] = bool(is_stale is not None and not row["catch"] and is_stale(row))
    used = {row["import_id"] for row in counted.values()}
    digests = {f"import {row['import_id']}": row["file_digest"] for row in files if row["import_id"] in used}
    for name in sorted(row["study_id"] for row in studies if row["study_id"] in used):
        of_study = [row for row in counted.values() if row["import_id"] == name]
        digests[f"study {name}"] = row_digest(pa.Table.from_pylist(of_study, schema=SCHEMA))
    return pa.Table.from_pylist(list(counted.values()), schema=SCHEMA), digests


def reading_of(
    row: Mapping[str, str], axes: Mapping[str, Axis], known: set[str] | None
) -> tuple[Reading, dict[str, str]]:
    """Turn one row of a file into a reading and its faults by column.

    Args:
        row: Texts by column.
        axes: The axes by name.
        known: Ids of the items there are, None where that is not to be asked.
    """
    wrong: dict[str, str] = {}
    catch = row.get("catch", "").strip().lower()
    if catch not in _YES | _NO:
        wrong["catch"] = f"“{row['catch']}” is neither true nor false."
    if known is not None and row["item_id"] not in known and catch not in _YES:
        wrong["item_id"] = f"there is no item “{row['item_id']}” in the items file."
    if not row["annotator_id"].strip():
        wrong["annotator_id"] = "it is empty; every reading names its reader."
    axis = axes.get(row["axis"])
    if axis is None:
        wrong["axis"] = f"there is no axis “{row['axis']}”; this audit climbs {', '.join(sorted(axes))}."
    last = axis.strengths[-1] if axis else math.inf
    perceptible = _strength("perceptible", row.get("perceptible", ""), last, wrong)
    asked = "objectionable" in row
    objectionable = _strength("objectionable", row["objectionable"], last, wrong) if asked else None
    if objectionable is not None and objectionable < perceptible and not wrong:
        wrong["objectionable"] = (
            "a change cannot disturb before it is noticed; it must not be below perceptible."
        )
    version = row.get("recipe_version", "").strip()
    if version and not version.isdecimal():
        wrong["recipe_version"] = f"“{version}” is not a whole number."
    return {
        "item_id": row["item_id"],
        "axis": row["axis"],
        "annotator_id": row["annotator_id"].strip(),
        "perceptible": perceptible,
        "objectionable": objectionable,
        "protocol": row.get("protocol", "").strip(),
        "recipe_version": int(version) if version.isdecimal() else None,
        "catch": catch in _YES,
        "repeat": 0,
    }, wrong


def _strength(column: str, text: str, last: float, wrong: dict[str, str]) -> float:
    """Read a strength, infinite when empty; note what is wrong with it."""
    text = text.strip()
    if not text:
        return math.inf
    try:
        strength = float(text)
    except ValueError:
        wrong[column] = f"“{text}” is not a number; leave it empty for never."
        return math.inf
    if not 0 < strength <= last * (1 + 1e-9):
        wrong[column] = f"{text} is not on the ladder (above 0, up to {last:g}); leave it empty for never."
        return math.inf
    return strength


def ladder_digest(digests: Iterable[str]) -> str:
    """Digest the pixel digests of a ladder's rungs, weakest first."""
    return text_digest("ladder", *digests)


def draw_ladder(
    axis: Axis, item: Row, pixels: Pixels, mask: NDArray[np.bool_] | None, scratch: Scratch | None = None
) -> list[Pixels]:
    """Draw every rung of the ladder of an item (a row of `items`), weakest first, as it is drawn for the judge."""
    scratch = scratch or Scratch()
    scratch.begin(pixels, mask if needs_mask(axis, item) else None)
    return [axis.draw(pixels, strength, scratch) for strength in axis.strengths]


def needs_mask(axis: Axis, item: Row) -> bool:
    """Tell whether the axis keeps to the item's own mask."""
    return axis.region == "background" and bool(item.get("mask_digest"))


@dataclass(eq=False, slots=True)
class Freshness:
    """Holds readings against today's pictures.

    A reading names the probes it saw, the pixels of every rung and the libraries that drew them. Where probes and
    libraries are the same, so are the pixels; else the ladder is drawn again and its pixels are compared.

    Attributes:
        axes: The axes by name.
        items: Rows of `items` by item_id.
        pixels: Decodes an item.
        mask: Reads an item's mask.
    """

    axes: Mapping[str, Axis]
    items: Mapping[str, Row]
    pixels: Callable[[Row], Pixels]
    mask: Callable[[Row], NDArray[np.bool_] | None]
    _today: dict[tuple[str, str], str] = field(default_factory=dict)

    def is_stale(self, reading: Row) -> bool:
        """Tell whether a reading was of other pixels than are drawn today; unknown where it names none."""
        axis, item = self.axes.get(reading["axis"]), self.items.get(reading["item_id"])
        if axis is None or item is None or not reading.get("ladder_digest"):
            return False
        same = reading["renderer"] == fingerprint() and reading["probe_ids"] == ladder_probe_ids(item, axis)
        return not same and reading["ladder_digest"] != self._drawn(axis, item)

    def _drawn(self, axis: Axis, item: Row) -> str:
        """Digest an item's ladder as it is drawn today."""
        key = (item["item_id"], axis.name)
        if key not in self._today:
            mask = self.mask(item) if needs_mask(axis, item) else None
            rungs = draw_ladder(axis, item, self.pixels(item), mask)
            self._today[key] = ladder_digest(map(pixel_digest, rungs))
        return self._today[key]

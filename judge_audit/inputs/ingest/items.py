"""Items that are known by name only: what imported scores say of them, and how their probes are named."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import text_digest
from judge_audit.core.vocabulary import ORIGINAL
from judge_audit.inputs.ingest.columns import Field

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judge_audit.core.errors import Fault
    from judge_audit.inputs.ingest.reshape import Arranged, Entry

    Row = dict[str, Any]

ITEM_COLUMNS = (
    Field("source", "name"),
    Field("topic", "name"),
    Field("prompt", "text"),
    Field("prompt_id", "name"),
    Field("cluster", "name"),
    Field("width", "whole"),
    Field("height", "whole"),
    Field("file_bytes", "whole"),
    Field("face_count", "whole"),
)

BLANK = (None, "")
"""What says nothing of an item; another row may."""

NO_SOURCE = "unknown"
"""Source of an item whose generator nobody named."""


@lru_cache(maxsize=1 << 17)
def probe_name(item_id: str) -> str:
    """Name the one probe of an item without pixels: itself, untouched."""
    return text_digest("item without pixels", item_id)


def item_row(row: Row) -> Row:
    """Make a row of `items`, but for plan_id."""
    told = {column.name: row[column.name] for column in ITEM_COLUMNS}
    if not told["width"] or not told["height"]:
        told["width"] = told["height"] = None
    return {
        **told,
        "item_id": row["item_id"],
        "source": row["source"] or NO_SOURCE,
        "prompt_id": row["prompt_id"] or (text_digest(row["prompt"])[:12] if row["prompt"] else ""),
        "cluster": row["cluster"] or row["item_id"],
    }


def probe_row(item: Row, repeat: int) -> Row:
    """Make a row of `probes`, but for plan_id."""
    return {
        "probe_id": probe_name(item["item_id"]),
        "item_id": item["item_id"],
        "axis": ORIGINAL,
        "rung": 0,
        "strength": 0.0,
        "recipe_version": 0,
        "repeat": repeat,
        "prompt": item["prompt"],
    }


def items_of_rows(
    arranged: Arranged, rows: Iterable[tuple[Entry, Row]]
) -> tuple[dict[str, Row], list[tuple[Entry, Row]], list[Fault]]:
    """Gather the items of a file; a row that contradicts the rows before it is refused.

    Returns:
        Items by id, the rows that fit, and the faults.
    """
    held: dict[str, Row] = {}
    first: dict[str, int] = {}
    sound: list[tuple[Entry, Row]] = []
    faults: list[Fault] = []
    there = [column.name for column in ITEM_COLUMNS if column.name in arranged.columns]
    for entry, row in rows:
        item = held.setdefault(row["item_id"], dict(row))
        number = first.setdefault(row["item_id"], entry.number)
        odd = [name for name in there if row[name] not in BLANK and item[name] not in {*BLANK, row[name]}]
        if odd:
            message = f"row {number} says otherwise of the same item; give each image its own item_id."
            faults.append(arranged.fault(entry, odd[0], message))
        else:
            item.update({name: row[name] for name in there if item[name] in BLANK})
            sound.append((entry, row))
    return {item_id: item_row(item) for item_id, item in held.items()}, sound, faults

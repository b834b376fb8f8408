"""Items that are known by name only: what imported scores say of them, and statistics measured elsewhere."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import text_digest
from judge_audit.core.errors import Fault, InputError
from judge_audit.core.vocabulary import ORIGINAL, State
from judge_audit.inputs.ingest.columns import Field, Unfit, number_of
from judge_audit.judges.cards.card import Card

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judge_audit_schemas.rows import CallsRow, ItemsRow, ProbesRow, ScoresRow

    from judge_audit.inputs.ingest.column_mapping import Reading
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


def item_row(row: Row) -> ItemsRow:
    """Make a row of `items`, but for plan_id."""
    sized = row["width"] and row["height"]
    return {
        "item_id": row["item_id"],
        "source": row["source"] or NO_SOURCE,
        "topic": row["topic"],
        "prompt": row["prompt"],
        "prompt_id": row["prompt_id"] or (text_digest(row["prompt"])[:12] if row["prompt"] else ""),
        "cluster": row["cluster"] or row["item_id"],
        "width": row["width"] if sized else None,
        "height": row["height"] if sized else None,
        "file_bytes": row["file_bytes"],
        "face_count": row["face_count"],
    }


def probe_row(item: ItemsRow, repeat: int) -> ProbesRow:
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
) -> tuple[dict[str, ItemsRow], list[tuple[Entry, Row]], list[Fault]]:
    """Gather the items of a file; a row that contradicts the rows before it is refused.

    Returns:
        Items by id, the rows that fit, and the faults.
    """
    items: dict[str, Row] = {}
    first: dict[str, int] = {}
    sound: list[tuple[Entry, Row]] = []
    faults: list[Fault] = []
    there = [column.name for column in ITEM_COLUMNS if column.name in arranged.columns]
    for entry, row in rows:
        item = items.setdefault(row["item_id"], dict(row))
        number = first.setdefault(row["item_id"], entry.number)
        odd = [name for name in there if row[name] not in BLANK and item[name] not in {*BLANK, row[name]}]
        if odd:
            message = f"row {number} says otherwise of the same item; give each image its own item_id."
            faults.append(arranged.fault(entry, odd[0], message))
        else:
            item.update({name: row[name] for name in there if item[name] in BLANK})
            sound.append((entry, row))
    return {item_id: item_row(item) for item_id, item in items.items()}, sound, faults


MEASURED = ("luma", "contrast", "chroma", "sharpness", "background_blur", "text_area")
"""What may come along; shape, size and faces are columns of the items themselves."""


def instrument() -> Card:
    """Describe the instrument: whatever measured the statistics before they came here."""
    return Card(
        kind="ruler",
        name="imported covariates",
        weights=text_digest("imported covariates"),
        dimensions=MEASURED,
        description="Surface statistics as an imported file gives them, measured elsewhere.",
    )


def check_names(file: str, reading: Reading) -> None:
    """See that only statistics we know are named.

    Raises:
        InputError: Naming every other.
    """
    if unknown := [name for name in reading.covariates if name not in MEASURED]:
        message = f"there is no such statistic; there are {', '.join(MEASURED)}."
        raise InputError([Fault(file, 0, f"covariates.{name}", message) for name in unknown])


def covariate_rows(
    arranged: Arranged, reading: Reading
) -> tuple[dict[str, Sequence[Mapping[str, object]]], list[Fault]]:
    """Make calls and scores of the instrument, one call per item.

    Returns:
        Rows of `calls` and `scores`, none where no covariates came along, and the faults.
    """
    faults: list[Fault] = []
    card = instrument()
    calls: dict[str, CallsRow] = {}
    scores: list[ScoresRow] = []
    for entry in arranged.entries if reading.covariates else ():
        item_id = entry.texts["item_id"].strip()
        if not item_id or item_id in calls:
            continue
        probe_id, judge_id = probe_name(item_id), card.judge_id
        call: CallsRow = {"judge_id": judge_id, "probe_id": probe_id, "repeat": 0, "is_control": True}
        calls[item_id] = {**call, "state": State.OK.value, "attempts": 1, "raw_reply": ""}
        for name in reading.covariates:
            text = entry.texts[f"covariate {name}"]
            try:
                value = number_of(text) if text.strip() else None
            except Unfit as error:
                faults.append(arranged.fault(entry, reading.covariates[name], str(error)))
                continue
            state = State.EMPTY if value is None else State.OK
            score: ScoresRow = {"judge_id": judge_id, "probe_id": probe_id, "repeat": 0, "is_control": True}
            score |= {"dimension": name, "value": value, "state": state.value, "parser_version": "1"}
            scores.append(score)
    return ({"calls": list(calls.values()), "scores": scores} if calls else {}), faults

"""What people said of an audit's items: the labels in the lake, every one once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from judge_audit_schemas.rows import ImportsRow

from judge_audit.core.tables import rows_of, schema

if TYPE_CHECKING:
    from judge_audit.lake import Lake

HIDDEN = ("import_id", "label_text", "labelled_at")
"""Columns of the table that no check sees."""

SCHEMA = pa.schema([field for field in schema("labels") if field.name not in HIDDEN])
"""A label as checks see it."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels of an audit's items.

    Attributes:
        table: A table of `SCHEMA`, sorted: labels of untouched items.
        damaged: The same of the damaged members of pairs; one that is no item of its own is named by the pair_id.
        imports: Digest of each file they came from, by `import <import_id>`.
        notes: What limits every figure made of them.
    """

    table: pa.Table
    damaged: pa.Table
    imports: dict[str, str]
    notes: tuple[str, ...]


def labels_of(lake: Lake, items: pa.Table, mismatches: pa.Table | None = None) -> Labels:
    """Read the labels of an audit's items.

    Where one annotator labelled an item in several imports, the newest counts; labels of unknown annotators
    all count. Source, topic, prompt and cluster are the item's where the labels do not say.
    """
    known = {row["item_id"]: row for row in items.to_pylist()}
    pairs = mismatches.to_pylist() if mismatches is not None else []
    built = {row["pair_id"]: row["intact"] for row in pairs if row["intact"] == row["damaged"]}
    known |= {pair_id: known[item_id] for pair_id, item_id in built.items()}
    damaged = {*built, *(row["damaged"] for row in pairs)} - {row["intact"] for row in pairs}
    files = rows_of(lake.read("imports", kind="labels"), ImportsRow)
    files.sort(key=lambda row: (row["imported_at"], row["import_id"]))
    place = {row["import_id"]: number for number, row in enumerate(files)}
    labels = lake.read("labels")
    labels = labels.filter(pc.is_in(labels["item_id"], value_set=pa.array(list(known), pa.string())))
    rows = sorted(labels.to_pylist(), key=lambda row: place[row["import_id"]])
    counted: dict[tuple[Any, ...], dict[str, Any]] = {}
    key: tuple[Any, ...]
    replaced = 0
    for row in rows:
        named = (row["item_id"], row["dimension"], row["annotator_id"])
        key = named if row["annotator_id"] else (*named, row["import_id"], row["repeat"])
        replaced += key in counted
        counted[key] = row
    for row in counted.values():
        item = known[row["item_id"]]
        row.update({name: row[name] or item[name] for name in ("source", "topic", "prompt_id")})
        row["cluster"] = item["cluster"] if row["cluster"] == row["item_id"] else row["cluster"]
    used = {row["import_id"] for row in counted.values()}
    notes = [f"{row['file']}: {note}" for row in files if row["import_id"] in used for note in row["notes"]]
    if replaced:
        notes.append(f"{replaced:,} labels were given again in a later import; the newest count.")
    ordered = [counted[key] for key in sorted(counted)]
    return Labels(
        pa.Table.from_pylist([row for row in ordered if row["item_id"] not in damaged], schema=SCHEMA),
        pa.Table.from_pylist([row for row in ordered if row["item_id"] in damaged], schema=SCHEMA),
        {f"import {row['import_id']}": row["file_digest"] for row in files if row["import_id"] in used},
        tuple(dict.fromkeys(notes)),
    )

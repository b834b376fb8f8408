"""Choices: annotators' picks within groups, such as the candidates of one prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.inputs.ingest.columns import Field
from judge_audit.inputs.ingest.rows import TableKind, Taken, by_annotator, numbered, read_values, unknown_note

if TYPE_CHECKING:
    from judge_audit.inputs.ingest.column_mapping import Reading
    from judge_audit.inputs.ingest.reshape import Arranged, Entry
    from judge_audit.inputs.ingest.rows import Around, Row

COLUMNS = (
    Field("group_id", "name", needed=True, filled=True),
    Field("item_id", "name", needed=True),
    Field("annotator_id", "name"),
    Field("candidates", "names"),
    Field("tied", "names"),
    Field("chosen_at", "time"),
)

KEY = ("group_id", "annotator_id")


def take(arranged: Arranged, reading: Reading, around: Around) -> Taken:
    """Make choices of a file; an empty pick is none, and counted, unless several are tied."""
    del reading, around
    rows, faults = read_values(arranged, COLUMNS)
    empty = sum(not row["item_id"] and not row["tied"] for _, row in rows)
    sound: list[tuple[Entry, Row]] = []
    for entry, row in rows:
        if not row["item_id"] and not row["tied"]:
            continue
        wrong = []
        picks = [row["item_id"]] if row["item_id"] else row["tied"]
        if row["candidates"] and not set(picks) <= set(row["candidates"]):
            wrong.append(("item_id", f"“{', '.join(picks)}” is none of the group's candidates."))
        if row["item_id"] and row["tied"]:
            wrong.append(("tied", "either one item is chosen or several are tied."))
        faults += [arranged.fault(entry, column, message) for column, message in wrong]
        if not wrong:
            sound.append((entry, {**row, "item_id": row["item_id"] or None}))
    message = "this annotator chose in this group in row {first} already; keep one of them."
    kept, twice = by_annotator(arranged, sound, KEY, message)
    numbered(kept, KEY)
    return Taken(
        {"choices": [row for _, row in kept]},
        faults + twice,
        unknown_note(kept, "chose"),
        [f"{empty:,} empty picks are no choices."] if empty else [],
    )


KIND = TableKind(
    name="choices", columns=COLUMNS, take=take, table="choices", value="item_id", wide_as="annotator_id"
)

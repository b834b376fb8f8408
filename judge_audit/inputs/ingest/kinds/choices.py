"""Choices: annotators' picks within groups, such as the candidates of one prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.inputs.ingest.columns import Field
from judge_audit.inputs.ingest.rows import TableKind, Taken, numbered, read_values, refuse_twice, unknown_note

if TYPE_CHECKING:
    from judge_audit.inputs.ingest.column_mapping import Reading
    from judge_audit.inputs.ingest.reshape import Arranged
    from judge_audit.inputs.ingest.rows import Around

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
    picked = [(entry, row) for entry, row in rows if row["item_id"] or row["tied"]]
    unfit = [
        (entry, row)
        for entry, row in picked
        if row["candidates"] and not set(_picks(row)) <= set(row["candidates"])
    ]
    faults += [
        arranged.fault(entry, "item_id", f"“{', '.join(_picks(row))}” is none of the group's candidates.")
        for entry, row in unfit
    ]
    both = [(entry, row) for entry, row in picked if row["item_id"] and row["tied"]]
    faults += [
        arranged.fault(entry, "tied", "either one item is chosen or several are tied.") for entry, _ in both
    ]
    unfit += both
    for _, row in picked:
        row["item_id"] = row["item_id"] or None
    refused = {id(row) for _, row in unfit}
    sound = [(entry, row) for entry, row in picked if id(row) not in refused]
    named, nameless = (
        [pair for pair in sound if bool(pair[1]["annotator_id"]) == known] for known in (True, False)
    )
    said = "this annotator chose in this group in row {first} already; keep one of them."
    kept, twice = refuse_twice(arranged, named, KEY, said)
    kept = sorted([*kept, *nameless], key=lambda pair: pair[0].number)
    numbered(kept, KEY)
    return Taken(
        {"choices": [row for _, row in kept]},
        faults + twice,
        unknown_note(kept, "chose"),
        [f"{empty:,} empty picks are no choices."] if empty else [],
    )


def _picks(row: dict[str, Any]) -> list[str]:
    """Give what was chosen: one, or several that are tied."""
    return [row["item_id"]] if row["item_id"] else list(row["tied"] or ())


KIND = TableKind(
    name="choices", columns=COLUMNS, take=take, table="choices", value="item_id", wide_as="annotator_id"
)

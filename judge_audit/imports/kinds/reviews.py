"""Reviews: what people found in items that production had decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.imports.columns import Field
from judge_audit.imports.taking import Taken, read_values, refuse_twice, unknown_note

if TYPE_CHECKING:
    from judge_audit.imports.arranging import Arranged
    from judge_audit.imports.mapping import Reading
    from judge_audit.imports.taking import Around

TABLE = "reviews"
VALUE = ""
WIDE_AS = ""
COLUMNS = (
    Field("review_id", "name", needed=True, filled=True),
    Field("item_id", "name", needed=True, filled=True),
    Field("outcome", needed=True, filled=True, allowed=("good", "bad")),
    Field("decision_id", "name"),
    Field("annotator_id", "name"),
    Field("inclusion", "number"),
    Field("stratum", "name"),
    Field("reviewed_at", "time"),
)


def take(arranged: Arranged, reading: Reading, around: Around) -> Taken:
    """Make reviews of a file."""
    del reading, around
    rows, faults = read_values(arranged, COLUMNS)
    kept, twice = refuse_twice(arranged, rows, ("review_id",), "this name stands in row {first} already.")
    beyond = [
        arranged.fault(entry, "inclusion", "a recorded probability lies above 0 and is at most 1.")
        for entry, row in kept
        if row["inclusion"] is not None and not 0 < row["inclusion"] <= 1
    ]
    sound = [(entry, row) for entry, row in kept if row["inclusion"] is None or 0 < row["inclusion"] <= 1]
    notes = unknown_note(sound, "reviewed")
    if unrecorded := sum(row["inclusion"] is None for _, row in sound):
        notes.append(
            f"Nobody recorded with which probability {unrecorded:,} of {len(sound):,} items were drawn for review: "
            "rates of all decisions cannot be made of them."
        )
    return Taken({TABLE: [row for _, row in sound]}, faults + twice + beyond, notes)

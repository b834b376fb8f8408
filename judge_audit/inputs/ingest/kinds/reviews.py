"""Reviews: what people found in items that were drawn for it, by dimension and axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.core.vocabulary import OVERALL
from judge_audit.inputs.ingest.columns import Field
from judge_audit.inputs.ingest.rows import (
    NAMED_TWICE,
    TableKind,
    Taken,
    read_values,
    refuse_twice,
    unknown_note,
)
from judge_audit.people.review_sample import QUEUES

if TYPE_CHECKING:
    from judge_audit.inputs.ingest.column_mapping import Reading
    from judge_audit.inputs.ingest.reshape import Arranged, Entry
    from judge_audit.inputs.ingest.rows import Around

    Row = dict[str, Any]

COLUMNS = (
    Field("review_id", "name", needed=True, filled=True),
    Field("item_id", "name", needed=True, filled=True),
    Field("outcome", needed=True, filled=True, allowed=("good", "bad")),
    Field("queue", allowed=("", *QUEUES)),
    Field("dimension", "name"),
    Field("axis", "name"),
    Field("decision_id", "name"),
    Field("partner", "name"),
    Field("annotator_id", "name"),
    Field("reason"),
    Field("judge", "name"),
    Field("inclusion", "number"),
    Field("stratum", "name"),
    Field("stratum_size", "number"),
    Field("reviewed_at", "time"),
)

KEY = ("queue", "dimension", "axis", "review_id")


def take(arranged: Arranged, reading: Reading, around: Around) -> Taken:
    """Make reviews of a file."""
    del reading
    rows, faults = read_values(arranged, COLUMNS)
    for _, row in rows:
        row |= {"queue": row["queue"] or "", "dimension": row["dimension"] or OVERALL}
        row["pack_id"] = around.pack
    kept, twice = refuse_twice(arranged, rows, KEY, NAMED_TWICE)
    beyond = [
        arranged.fault(entry, column, said)
        for column, said, fits in (
            ("inclusion", "a recorded probability lies above 0 and is at most 1.", _is_probability),
            ("stratum_size", "a stratum holds at least 1.", _is_size),
        )
        for entry, row in kept
        if not fits(row[column])
    ]
    sound = [
        (entry, row)
        for entry, row in kept
        if _is_probability(row["inclusion"]) and _is_size(row["stratum_size"])
    ]
    return Taken({"reviews": [row for _, row in sound]}, faults + twice + beyond, _notes(sound))


def _is_probability(value: float | None) -> bool:
    return value is None or 0 < value <= 1


def _is_size(value: float | None) -> bool:
    return value is None or value >= 1


def _notes(rows: list[tuple[Entry, Row]]) -> list[str]:
    notes = unknown_note(rows, "reviewed")
    if unrecorded := sum(row["inclusion"] is None for _, row in rows):
        notes.append(
            f"Nobody recorded with which probability {unrecorded:,} of {len(rows):,} items were drawn for review: "
            "rates of all decisions cannot be made of them."
        )
    return notes


KIND = TableKind(name="reviews", columns=COLUMNS, take=take, table="reviews")

"""Reviews: what people found in items that were drawn for it, by dimension and axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    from collections.abc import Callable

    from judge_audit.inputs.ingest.column_mapping import Reading
    from judge_audit.inputs.ingest.reshape import Arranged
    from judge_audit.inputs.ingest.rows import Around

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
    limits: tuple[tuple[str, Callable[[float], bool], str], ...] = (
        ("inclusion", lambda share: 0 < share <= 1, "a recorded probability lies above 0 and is at most 1."),
        ("stratum_size", lambda size: size >= 1, "a stratum holds at least 1."),
    )
    beyond = [
        (arranged.fault(entry, column, message), id(row))
        for column, is_fit, message in limits
        for entry, row in kept
        if row[column] is not None and not is_fit(row[column])
    ]
    refused = {name for _, name in beyond}
    sound = [(entry, row) for entry, row in kept if id(row) not in refused]
    notes = unknown_note(sound, "reviewed")
    if unrecorded := sum(row["inclusion"] is None for _, row in sound):
        notes.append(
            f"Nobody recorded with which probability {unrecorded:,} of {len(sound):,} items were drawn for review: "
            "rates of all decisions cannot be made of them."
        )
    faults += [*twice, *(fault for fault, _ in beyond)]
    return Taken({"reviews": [row for _, row in sound]}, faults, notes)


KIND = TableKind(name="reviews", columns=COLUMNS, take=take, table="reviews")

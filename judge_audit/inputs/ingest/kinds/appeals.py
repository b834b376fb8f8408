"""Appeals: objections to decisions, and what became of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.inputs.ingest.columns import Field
from judge_audit.inputs.ingest.rows import Taken, read_values, refuse_twice

if TYPE_CHECKING:
    from judge_audit.inputs.ingest.column_mapping import Reading
    from judge_audit.inputs.ingest.reshape import Arranged
    from judge_audit.inputs.ingest.rows import Around

TABLE = "appeals"
VALUE = ""
WIDE_AS = ""
COLUMNS = (
    Field("appeal_id", "name", needed=True, filled=True),
    Field("decision_id", "name", needed=True, filled=True),
    Field("outcome", needed=True, filled=True, allowed=("open", "upheld", "overturned")),
    Field("item_id", "name"),
    Field("channel", "name"),
    Field("appealed_at", "time"),
    Field("resolved_at", "time"),
)


def take(arranged: Arranged, reading: Reading, around: Around) -> Taken:
    """Make appeals of a file."""
    del reading, around
    rows, faults = read_values(arranged, COLUMNS)
    kept, twice = refuse_twice(arranged, rows, ("appeal_id",), "this name stands in row {first} already.")
    return Taken({TABLE: [row for _, row in kept]}, faults + twice)

"""Decisions: what production accepted and rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.inputs.ingest.columns import Field
from judge_audit.inputs.ingest.rows import Taken, read_values, refuse_twice

if TYPE_CHECKING:
    from judge_audit.inputs.ingest.column_mapping import Reading
    from judge_audit.inputs.ingest.reshape import Arranged
    from judge_audit.inputs.ingest.rows import Around

TABLE = "decisions"
VALUE = ""
WIDE_AS = ""
COLUMNS = (
    Field("decision_id", "name", needed=True, filled=True),
    Field("item_id", "name", needed=True, filled=True),
    Field("decision", needed=True, filled=True, allowed=("accept", "reject")),
    Field("source", "name"),
    Field("topic", "name"),
    Field("judge", "name"),
    Field("value", "number"),
    Field("stratum", "name"),
    Field("decided_at", "time"),
)


def take(arranged: Arranged, reading: Reading, around: Around) -> Taken:
    """Make decisions of a file."""
    del reading, around
    rows, faults = read_values(arranged, COLUMNS)
    kept, twice = refuse_twice(arranged, rows, ("decision_id",), "this name stands in row {first} already.")
    return Taken({TABLE: [row for _, row in kept]}, faults + twice)

"""Pairs: an intact member beside a damaged one, by kind of damage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.inputs.ingest.columns import Field
from judge_audit.inputs.ingest.rows import NAMED_TWICE, TableKind, Taken, read_values, refuse_twice

if TYPE_CHECKING:
    from judge_audit.inputs.ingest.column_mapping import Reading
    from judge_audit.inputs.ingest.reshape import Arranged
    from judge_audit.inputs.ingest.rows import Around

COLUMNS = (
    Field("pair_id", "name", needed=True, filled=True),
    Field("kind", "name", needed=True, filled=True),
    Field("intact", "name", needed=True, filled=True),
    Field("damaged", "name", needed=True, filled=True),
    Field("source", "name"),
    Field("topic", "name"),
    Field("cluster", "name"),
)


def take(arranged: Arranged, reading: Reading, around: Around) -> Taken:
    """Make pairs of a file."""
    del reading, around
    rows, faults = read_values(arranged, COLUMNS)
    kept, twice = refuse_twice(arranged, rows, ("pair_id",), NAMED_TWICE)
    same = [
        arranged.fault(entry, "damaged", "it is the intact member itself.")
        for entry, row in kept
        if row["intact"] == row["damaged"]
    ]
    sound = [row for _, row in kept if row["intact"] != row["damaged"]]
    return Taken(
        {"pairs": [{**row, "cluster": row["cluster"] or row["pair_id"]} for row in sound]},
        faults + twice + same,
    )


KIND = TableKind(name="pairs", columns=COLUMNS, take=take, table="pairs")

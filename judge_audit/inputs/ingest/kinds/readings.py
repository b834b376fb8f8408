"""Readings: the points that annotators marked on ladders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.inputs.ingest.columns import Field
from judge_audit.inputs.ingest.rows import TableKind, Taken, read_values, refuse_twice
from judge_audit.people.readings import reading_of

if TYPE_CHECKING:
    from judge_audit.inputs.ingest.column_mapping import Reading
    from judge_audit.inputs.ingest.reshape import Arranged
    from judge_audit.inputs.ingest.rows import Around

COLUMNS = (
    Field("item_id", "name", needed=True, filled=True),
    Field("axis", "name", needed=True, filled=True),
    Field("annotator_id", "name", needed=True, filled=True),
    Field("perceptible", needed=True),
    Field("objectionable"),
    Field("protocol", "name"),
    Field("recipe_version"),
    Field("catch"),
    Field("probe_ids", "names"),
    Field("ladder_digest", "name"),
    Field("renderer"),
)

SEEN = ("probe_ids", "ladder_digest", "renderer")
"""What says which pixels were seen; nothing where the file does not say."""

KEY = ("item_id", "axis", "protocol", "catch", "annotator_id")


def take(arranged: Arranged, reading: Reading, around: Around) -> Taken:
    """Make readings of a file; an empty point is “never noticed”."""
    del reading
    rows, faults = read_values(arranged, COLUMNS)
    readings = []
    for entry, row in rows:
        texts = {name: row[name] for name in row if name in arranged.columns}
        made, wrong = reading_of(texts, around.axes, None)
        faults += [arranged.fault(entry, column, message) for column, message in wrong.items()]
        if not wrong:
            pixels = {name: row[name] or None for name in SEEN}
            readings.append((entry, {**made, **pixels, "row": entry.number, "revision": 0}))
    message = "this reader read this ladder in row {first} already; keep one of them."
    kept, twice = refuse_twice(arranged, readings, KEY, message)
    return Taken({"readings": [row for _, row in kept]}, faults + twice)


KIND = TableKind(
    name="readings", columns=COLUMNS, take=take, table="readings", value="perceptible", wide_as="annotator_id"
)

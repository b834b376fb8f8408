"""Labels: annotators' ratings of items, a dimension at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.core.vocabulary import OVERALL
from judge_audit.inputs.ingest.columns import Field, Unfit, is_nothing, number_of, shortened
from judge_audit.inputs.ingest.rows import TableKind, Taken, by_annotator, numbered, read_values, unknown_note

if TYPE_CHECKING:
    from judge_audit.inputs.ingest.column_mapping import Reading, Scale
    from judge_audit.inputs.ingest.reshape import Arranged, Entry
    from judge_audit.inputs.ingest.rows import Around

    Row = dict[str, Any]

COLUMNS = (
    Field("item_id", "name", needed=True, filled=True),
    Field("value", "text", needed=True),
    Field("dimension", "name"),
    Field("annotator_id", "name"),
    Field("source", "name"),
    Field("topic", "name"),
    Field("prompt_id", "name"),
    Field("cluster", "name"),
    Field("labelled_at", "time"),
)

KEY = ("item_id", "dimension", "annotator_id")


def take(arranged: Arranged, reading: Reading, around: Around) -> Taken:
    """Make labels of a file; an empty value is no label, and counted."""
    del around
    rows, faults = read_values(arranged, COLUMNS)
    labels: list[tuple[Entry, Row]] = []
    empty = 0
    for entry, row in rows:
        if is_nothing(row["value"]):
            empty += 1
            continue
        try:
            labels.append((entry, _label(row, reading)))
        except Unfit as error:
            faults.append(arranged.fault(entry, "value", str(error)))
    message = "this annotator labelled this item in row {first} already; keep one of them."
    rows, twice = by_annotator(arranged, labels, KEY, message)
    numbered(rows, KEY)
    notes = unknown_note(rows, "labelled")
    if not reading.level and not any("level" in own for own in reading.dimensions.values()):
        notes.append("Nobody said of what level the labels are; they are taken as ordinal.")
    if not any(row["source"] for _, row in rows):
        notes.append(
            "The file does not say which generator each image came from: labels take it from the judge's items."
        )
    return Taken(
        {"labels": [row for _, row in rows]},
        faults + twice,
        notes,
        [f"{empty:,} empty values are no labels."] if empty else [],
    )


def _label(row: Row, reading: Reading) -> Row:
    """Make one label."""
    dimension = row["dimension"] or OVERALL
    scale = reading.scale(dimension)
    text = row["value"]
    return {
        **row,
        "dimension": dimension,
        "cluster": row["cluster"] or row["item_id"],
        "value": _number(text, reading, scale),
        "label_text": text,
        "level": scale.level,
        "low": scale.low,
        "high": scale.high,
        "higher_is_better": scale.higher_is_better,
    }


def _number(text: str, reading: Reading, scale: Scale) -> float:
    """Give the number of a label.

    Raises:
        Unfit: If it has none, or one beyond the declared ends.
    """
    word = text.strip().casefold()
    try:
        value = reading.words[word] if word in reading.words else number_of(text)
    except Unfit as error:
        advice = "write which number each word stands for, in a mapping: words: {good: 5, …}"
        raise Unfit(f"{error} For labels in words, {advice}.") from error
    if scale.low is not None and scale.high is not None and not scale.low <= value <= scale.high:
        raise Unfit(f"{shortened(text)} lies beyond the declared ends {scale.low:g} and {scale.high:g}.")
    return value


KIND = TableKind(
    name="labels", columns=COLUMNS, take=take, table="labels", value="value", wide_as="annotator_id"
)

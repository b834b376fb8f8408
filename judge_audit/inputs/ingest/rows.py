"""What every kind of table does with its rows: read each value, refuse what does not fit, refuse repetitions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judge_audit.inputs.ingest.columns import Unfit, value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from judge_audit.core.errors import Fault
    from judge_audit.inputs.ingest.column_mapping import Reading
    from judge_audit.inputs.ingest.columns import Field
    from judge_audit.inputs.ingest.reshape import Arranged, Entry
    from judge_audit.judges.cards.card import Card
    from judge_audit.lake import Lake
    from judge_audit.stimuli.axes.axis import Axis

    Row = dict[str, Any]

NAMED_TWICE = "this name stands in row {first} already."

UNKNOWN_ANNOTATORS = (
    "The file does not say who {did} in {n} of {all} rows: no figure can tell those annotators apart, neither "
    "agreement of one with another nor near-copies."
)


@dataclass(frozen=True, slots=True)
class Around:
    """What an import may look at beside its file.

    Attributes:
        lake: Where it goes.
        import_id: Its name.
        card: The card of the judge whose scores it holds, None for other tables.
        axes: The axes there are, by name.
        pack: The pack it came back as, "" if none.
    """

    lake: Lake
    import_id: str
    card: Card | None
    axes: Mapping[str, Axis]
    pack: str = ""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a kind made of a file.

    Attributes:
        tables: Rows by table; import_id and plan_id are filled in by the caller.
        faults: What does not fit; their rows are in no table.
        notes: What limits every figure made of these rows.
        lines: What else to print.
        before: Rows by table that are put in first, each table by itself; nothing is read of them until the
            import itself is there.
    """

    tables: dict[str, Sequence[Mapping[str, object]]]
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    before: list[dict[str, Sequence[Mapping[str, object]]]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableKind:
    """A table that can be imported: what a file of the folder `kinds` states as `KIND`.

    Attributes:
        name: By which the command line asks for it.
        columns: The columns a file may have.
        take: Makes rows of a file, arranged as it was read.
        table: The table whose rows are counted.
        value: The column that wide columns hold, "" if the table is never wide.
        wide_as: What the names of wide columns are, unless somebody says otherwise.
    """

    name: str
    columns: tuple[Field, ...]
    take: Callable[[Arranged, Reading, Around], Taken]
    table: str
    value: str = ""
    wide_as: str = ""


def named_rows(table: str, columns: tuple[Field, ...], key: str) -> TableKind:
    """Make the kind of a table whose rows are taken as they are, each of another name.

    Args:
        table: The table, and the kind's name.
        columns: Its columns.
        key: The column that names a row.
    """

    def take(arranged: Arranged, reading: Reading, around: Around) -> Taken:
        del reading, around
        rows, faults = read_values(arranged, columns)
        first, repeated = refuse_twice(arranged, rows, (key,), NAMED_TWICE)
        return Taken({table: [row for _, row in first]}, faults + repeated)

    return TableKind(name=table, columns=columns, take=take, table=table)


def read_values(arranged: Arranged, columns: Sequence[Field]) -> tuple[list[tuple[Entry, Row]], list[Fault]]:
    """Read every value of every row.

    Returns:
        The rows that fit, and every fault; a row with a fault is not among them.
    """
    fitting: list[tuple[Entry, Row]] = []
    faults: list[Fault] = []
    blank: Row = {column.name: _blank(column) for column in columns}
    there = [column for column in columns if column.name in arranged.columns]
    for entry in arranged.entries:
        row = dict(blank)
        sound = True
        for column in there:
            try:
                row[column.name] = value_of(column, entry.texts[column.name])
            except Unfit as error:
                faults.append(arranged.fault(entry, column.name, str(error)))
                sound = False
        if sound:
            fitting.append((entry, row))
    return fitting, faults


def _blank(column: Field) -> Any:  # noqa: ANN401 - what stands where the file lacks the column
    if column.kind == "yes":
        return False
    return "" if column.kind in {"name", "text"} and not column.allowed else None


def refuse_twice(
    arranged: Arranged, rows: Sequence[tuple[Entry, Row]], key: Sequence[str], message: str
) -> tuple[list[tuple[Entry, Row]], list[Fault]]:
    """Refuse rows whose key stands before them in the file.

    Args:
        arranged: The file.
        rows: Its rows.
        key: Columns that together name a row.
        message: What to say; `{first}` is the earlier row.
    """
    first: dict[tuple[Any, ...], int] = {}
    kept: list[tuple[Entry, Row]] = []
    faults: list[Fault] = []
    for entry, row in rows:
        name = tuple(row[column] for column in key)
        if name in first:
            faults.append(arranged.fault(entry, key[-1], message.format(first=first[name])))
        else:
            first[name] = entry.number
            kept.append((entry, row))
    return kept, faults


def by_annotator(
    arranged: Arranged, rows: Sequence[tuple[Entry, Row]], key: Sequence[str], message: str
) -> tuple[list[tuple[Entry, Row]], list[Fault]]:
    """Refuse an annotator's second row of the same key; rows that name no annotator are all kept.

    Args:
        arranged: The file.
        rows: Its rows.
        key: Columns that together name a row, the annotator's last.
        message: What to say; `{first}` is the earlier row.

    Returns:
        The rows in the order of the file, and the faults.
    """
    named, nameless = ([pair for pair in rows if bool(pair[1][key[-1]]) == known] for known in (True, False))
    kept, faults = refuse_twice(arranged, named, key, message)
    return sorted([*kept, *nameless], key=lambda pair: pair[0].number), faults


def numbered(rows: Sequence[tuple[Entry, Row]], key: Sequence[str]) -> None:
    """Number rows of the same key from 0 in their column `repeat`."""
    counts: dict[tuple[Any, ...], int] = {}
    for _, row in rows:
        name = tuple(row[column] for column in key)
        row["repeat"] = counts.get(name, 0)
        counts[name] = row["repeat"] + 1


def unknown_note(rows: Sequence[tuple[Entry, Row]], did: str) -> list[str]:
    """Name missing annotators as the limitation they are."""
    n = sum(not row["annotator_id"] for _, row in rows)
    return [UNKNOWN_ANNOTATORS.format(did=did, n=f"{n:,}", all=f"{len(rows):,}")] if n else []

"""From a file as somebody keeps it, long or wide, to one text per column of ours and row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judge_audit.core.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from judge_audit.core.row_files import RowsRead
    from judge_audit.inputs.ingest.column_mapping import Reading
    from judge_audit.inputs.ingest.columns import Field


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of ours.

    Attributes:
        number: The file's row it came from.
        texts: Text by our name of the column; what the file does not have is left out.
        value_column: The file's column that held the value, where the file is wide.
    """

    number: int
    texts: dict[str, str]
    value_column: str = ""


@dataclass(frozen=True, slots=True)
class Arranged:
    """A file as rows of ours.

    Attributes:
        file: Its name.
        entries: Its rows.
        columns: Our names of the columns there are.
        faults: Rows that could not be taken apart.
        warnings: What a person should know.
        names: The file's name of each of our columns, for messages.
    """

    file: str
    entries: tuple[Entry, ...]
    columns: frozenset[str]
    faults: tuple[Fault, ...]
    warnings: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)

    def fault(self, entry: Entry, column: str, message: str) -> Fault:
        """Say what is wrong with one of our columns in a row, by the file's name for it."""
        name = self.names.get(column, column)
        if entry.value_column and column == self.names.get("(value)"):
            name = entry.value_column
        return Fault(self.file, entry.number, name, message, entry.texts.get("item_id", ""))


def arrange(
    file: str, file_rows: RowsRead, reading: Reading, columns: Sequence[Field], value: str
) -> Arranged:
    """Arrange a file.

    Args:
        file: Its name.
        file_rows: What it holds.
        reading: How it is to be read.
        columns: The columns of the table.
        value: Our name of the column that wide columns hold, "" if the table has none.

    Raises:
        InputError: If columns are missing, or the reading names some that are not there.
    """
    known = {column.name for column in columns}
    faults = _column_faults(file, file_rows, reading, known, value)
    sources = {
        **{name: (name,) for name in file_rows.columns if name in known and name not in reading.wide},
        **reading.columns,
    }
    sources = {name: theirs for name, theirs in sources.items() if name not in reading.set}
    there = {*sources, *reading.set}
    if reading.wide and not faults:
        there |= {value, *_stood_for(reading)}
    faults += [
        Fault(file, 0, column.name, "this column is missing from the file.")
        for column in columns
        if column.needed and column.name not in there
    ]
    if faults:
        needed = ", ".join(column.name for column in columns if column.needed)
        others = ", ".join(column.name for column in columns if not column.needed)
        raise InputError(
            faults,
            f"It needs the columns {needed} and may have {others}. The file has {', '.join(file_rows.columns)}. "
            "Say which is which by --map OURS=THEIRS, --set OURS=VALUE, --wide COLUMNS, or a mapping file.",
        )
    used = {name for theirs in sources.values() for name in theirs} | set(reading.wide) | set(reading.only)
    used |= set(reading.covariates.values()) | set(reading.values)
    unused = sorted(set(file_rows.columns) - used)
    warnings = [f"Columns of {file} that are not used: {', '.join(unused)}."] if unused else []
    names = {name: "+".join(theirs) for name, theirs in sources.items()}
    entries = tuple(_entries(file_rows, reading, sources, value))
    if file_rows.rows and not entries:
        absent = [(name, f"no row has {' or '.join(wanted)}.") for name, wanted in reading.only.items()]
        raise InputError([Fault(file, 0, *wrong) for wrong in absent])
    return Arranged(
        file, entries, frozenset(there), file_rows.faults, tuple(warnings), {**names, "(value)": value}
    )


def _column_faults(
    file: str, file_rows: RowsRead, reading: Reading, known: set[str], value: str
) -> list[Fault]:
    """Find what the reading names that is not there."""
    faults = [
        Fault(file, 0, name, "there is no such column in the file.")
        for name in dict.fromkeys(
            [name for theirs in reading.columns.values() for name in theirs]
            + [*reading.wide, *reading.only, *reading.values, *reading.covariates.values()]
        )
        if name not in file_rows.columns
    ]
    ours = [*reading.columns, *reading.set, *(_stood_for(reading) if reading.wide and value else ())]
    faults += [
        Fault(file, 0, name, f"there is no such column to fill; there are {', '.join(sorted(known))}.")
        for name in dict.fromkeys(ours)
        if name not in known
    ]
    if reading.wide and not value:
        faults.append(Fault(file, 0, "", "this table is never wide; leave out --wide."))
    elif reading.wide and value in {*reading.columns, *reading.set}:
        faults.append(
            Fault(file, 0, value, "wide columns hold it already; map it or name wide columns, not both.")
        )
    return faults


def _stood_for(reading: Reading) -> set[str]:
    """Our columns that the names of wide columns fill."""
    return {
        name
        for stands in reading.wide.values()
        for name in ((reading.wide_as,) if stands is None else stands)
    }


def _entries(
    file_rows: RowsRead, reading: Reading, sources: Mapping[str, Sequence[str]], value: str
) -> Iterator[Entry]:
    """Give the rows that are meant, a wide one once per wide column."""
    wide = [
        (column, {reading.wide_as: column} if stands is None else dict(stands))
        for column, stands in reading.wide.items()
    ]
    single = [(name, columns[0]) for name, columns in sources.items() if len(columns) == 1]
    several = [(name, columns) for name, columns in sources.items() if len(columns) > 1]
    only = [(name, frozenset(values)) for name, values in reading.only.items()]
    for number, row in file_rows.rows:
        if any(row[name] not in values for name, values in only):
            continue
        for column, renamed in reading.values.items():
            if row[column] in renamed:
                row = {**row, column: renamed[row[column]]}  # noqa: PLW2901 - the renamed row
        texts = {name: row[column] for name, column in single}
        for name, parts in several:
            names = [row[part].strip() for part in parts]
            # One of them empty makes the whole empty, so that it is reported as a fault.
            texts[name] = reading.separator.join(names) if all(names) else ""
        texts.update(reading.set)
        for name, column in reading.covariates.items():
            texts[f"covariate {name}"] = row[column]
        if not wide:
            yield Entry(number, texts)
        for column, stands in wide:
            yield Entry(number, {**texts, **stands, value: row[column]}, column)

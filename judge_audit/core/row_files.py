"""Reading what people hand over: CSV, JSON Lines or Parquet, as rows of texts with their numbers."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge_audit.core.errors import Fault, InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class RowsRead:
    """What a file held.

    Attributes:
        rows: The number of each sound row (from 1, the header not counted) and its texts; what a row leaves
            out is "".
        columns: Names of the columns.
        faults: Rows that could not be taken apart.
    """

    rows: tuple[tuple[int, dict[str, str]], ...]
    columns: tuple[str, ...]
    faults: tuple[Fault, ...] = ()


def read_rows(path: Path) -> RowsRead:
    """Read a CSV, JSON Lines or Parquet file.

    Args:
        path: The file: .csv, .jsonl / .ndjson, or .parquet.

    Raises:
        InputError: If a column stands twice, or not one row can be taken apart.
        UsageError: If the file is missing, of another kind, or broken as a whole; says where.
    """
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file. Give the path of a .csv, .jsonl or .parquet file.")
    kinds: dict[str, Callable[[Path], RowsRead]] = {
        ".csv": _read_csv,
        ".jsonl": _read_json_lines,
        ".ndjson": _read_json_lines,
        ".parquet": _read_parquet,
    }
    if path.suffix.lower() not in kinds:
        raise UsageError(f"{path.name}: the name must end in .csv, .jsonl, .ndjson or .parquet.")
    try:
        file_rows = kinds[path.suffix.lower()](path)
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path.name}: it is not UTF-8 text ({error.reason} at byte {error.start})."
        ) from error
    if file_rows.faults and not file_rows.rows:
        raise InputError(file_rows.faults, "No row of the file can be used.")
    return file_rows


def missing_columns(path: Path, columns: Collection[str], required: Iterable[str]) -> list[Fault]:
    """Name each column that a file needs and does not have."""
    return [
        Fault(path.name, 0, name, "this column is missing from the file.")
        for name in required
        if name not in columns
    ]


def _read_csv(path: Path) -> RowsRead:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        try:
            columns = tuple(name or "" for name in reader.fieldnames or [])
            rows = list(enumerate(reader, 1))
        except csv.Error as error:
            raise UsageError(f"{path.name}, line {reader.line_num}: not valid CSV: {error}.") from error
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise InputError([Fault(path.name, 0, name, "this column stands twice.") for name in twice])
    ragged = {number for number, row in rows if None in row or None in row.values()}
    faults = (
        Fault(path.name, number, "", "it has more or fewer fields than the header; check quotes and commas.")
        for number in sorted(ragged)
    )
    return RowsRead(tuple(entry for entry in rows if entry[0] not in ragged), columns, tuple(faults))


def _read_json_lines(path: Path) -> RowsRead:
    rows: list[tuple[int, dict[str, str]]] = []
    columns: dict[str, None] = {}
    faults = []
    lines = path.read_text(encoding="utf-8-sig").split("\n")
    for number, line in enumerate((text for text in lines if text.strip()), 1):
        try:
            content = json.loads(line)
        except (ValueError, RecursionError) as error:
            faults.append(Fault(path.name, number, "", f"it is not valid JSON: {error}."))
            continue
        if not isinstance(content, dict):
            faults.append(Fault(path.name, number, "", "a line must be a JSON object."))
            continue
        rows.append((number, {key: _text(value) for key, value in content.items()}))
        columns.update(dict.fromkeys(content))
    filled = tuple((number, {name: row.get(name, "") for name in columns}) for number, row in rows)
    return RowsRead(filled, tuple(columns), tuple(faults))


def _read_parquet(path: Path) -> RowsRead:
    import pyarrow as pa  # noqa: PLC0415 - a fifth of a second that CSV need not pay
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with pq.ParquetFile(path) as file:
            table = file.read()
    except (pa.ArrowException, OSError) as error:
        raise UsageError(f"{path.name}: it is not a readable Parquet file: {error}.") from error
    rows = ({key: _text(value) for key, value in row.items()} for row in table.to_pylist())
    return RowsRead(tuple(enumerate(rows, 1)), tuple(table.column_names))


def _text(value: object) -> str:
    """Write a value as text; lists and mappings as the JSON they are."""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return "" if value is None else str(value)

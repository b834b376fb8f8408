"""The tables, as `schemas/columns.yaml` and `schemas/tables.yaml` define them.

Nothing else states a column: Arrow schemas, typed empty views and the table reference come from here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from judge_audit.core.errors import MachineryError
from judge_audit.core.resources import read_shipped
from judge_audit.core.vocabulary import POOLED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Row = TypeVar("Row")

ARROW_TYPES: dict[str, pa.DataType] = {
    "string": pa.string(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "list<string>": pa.list_(pa.string()),
}

PARTITIONS = ("judge", "audit", "plan", "import", "set", "study", "registration", "run", "lineage")

NAMED_KEYS = frozenset({"audit_id", "subject", "check", "measure"})
"""Key columns of a results table that are always named; its other text keys default to `*`."""

CONTROL = "is_control"
"""The one column that defaults to False: a row is a real judge's unless a control says otherwise."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its type, its unit ("" if none), what it means, and whether it may be NULL outside a key."""

    name: str
    type: str
    description: str
    unit: str = ""
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Definition:
    """A table.

    Attributes:
        name: The table's name.
        grain: What one row is.
        key: Columns that together name a row; never NULL.
        partition: judge, audit, plan, import, set, study, registration, run or lineage: the folder level under the
            table's own.
        columns: The columns in order.
        links: Column to the table it points into.
        witness: Columns that with the key make a commit the same commit: an answer after a failure, or to
            other pixels, is a new one although its key is the same.
    """

    name: str
    grain: str
    key: tuple[str, ...]
    partition: str
    columns: tuple[Column, ...]
    links: Mapping[str, str] = field(default_factory=dict)
    witness: tuple[str, ...] = ()

    @property
    def partition_column(self) -> str:
        """The column that holds the partition's value."""
        return f"{self.partition}_id"

    @property
    def pooled_keys(self) -> frozenset[str]:
        """Key columns in which `*` stands for "all of them" when a row says nothing."""
        if "subject" not in self.key:
            return frozenset()
        texts = {column.name for column in self.columns if column.type == "string"}
        return frozenset(self.key) & texts - NAMED_KEYS


def parse_definitions(
    columns: Mapping[str, Mapping[str, Any]], tables: Mapping[str, Mapping[str, Any]]
) -> dict[str, Definition]:
    """Make definitions of the two files' contents.

    Raises:
        MachineryError: If the files contradict each other; names table and column.
    """
    known = {
        name: Column(
            name, entry["type"], entry["description"], entry.get("unit", ""), entry.get("nullable", False)
        )
        for name, entry in columns.items()
    }
    for column in known.values():
        if column.type not in ARROW_TYPES:
            raise MachineryError(
                f"columns.yaml: column “{column.name}” has the unknown type “{column.type}”."
            )
    return {name: _parse_table(name, entry, known, set(tables)) for name, entry in tables.items()}


def _parse_table(
    name: str, entry: Mapping[str, Any], known: Mapping[str, Column], tables: set[str]
) -> Definition:
    """Make one definition, or say where it contradicts itself."""
    unknown = [column for column in entry["columns"] if column not in known]
    if unknown:
        raise MachineryError(
            f"tables.yaml: table “{name}” names columns that columns.yaml does not: {unknown}."
        )
    if entry["partition"] not in PARTITIONS:
        raise MachineryError(
            f"tables.yaml: table “{name}” is partitioned by none of {', '.join(PARTITIONS)}."
        )
    links = entry.get("links", {})
    witness = tuple(entry.get("witness", ()))
    needed = [*entry["key"], f"{entry['partition']}_id", *links, *witness]
    absent = sorted({column for column in needed if column not in entry["columns"]})
    if absent:
        raise MachineryError(f"tables.yaml: table “{name}” needs the columns {absent} for its key or folder.")
    if not set(links.values()) <= tables:
        raise MachineryError(f"tables.yaml: table “{name}” links to a table that does not exist.")
    columns = tuple(known[column] for column in entry["columns"])
    return Definition(name, entry["grain"], tuple(entry["key"]), entry["partition"], columns, links, witness)


@cache
def _definitions() -> dict[str, Definition]:
    """Read the shipped definitions once."""
    folder = files("judge_audit_schemas")
    columns, tables = (read_shipped(folder / name) for name in ("columns.yaml", "tables.yaml"))
    return parse_definitions(columns, tables)


TABLES: tuple[str, ...] = tuple(_definitions())
"""Names of all tables, in the order of the file."""


def definition(name: str) -> Definition:
    """Give a table's definition.

    Raises:
        MachineryError: If there is no such table.
    """
    if name not in _definitions():
        raise MachineryError(f"there is no table “{name}”; the tables are {', '.join(TABLES)}.")
    return _definitions()[name]


@cache
def schema(name: str) -> pa.Schema:
    """Give a table's Arrow schema."""
    return pa.schema([(column.name, ARROW_TYPES[column.type]) for column in definition(name).columns])


def empty(name: str) -> pa.Table:
    """Give the table without rows."""
    return pa.Table.from_batches([], schema(name))  # `empty_table` would import pandas, if it is there


def from_rows(name: str, rows: Iterable[Mapping[str, object]]) -> pa.Table:
    """Make a table of rows.

    What a row leaves out is NULL, except `is_control` (False) and, in result tables, the keys in which
    `*` means "all". NaN is written as NULL: there is one way of having no number.

    Args:
        name: The table.
        rows: Mappings from column to value.

    Raises:
        MachineryError: If a row has an unknown column, lacks a key, or holds a value of another type.
    """
    wanted = definition(name)
    names = {column.name for column in wanted.columns}
    gathered: dict[str, list[Any]] = {column.name: [] for column in wanted.columns}
    defaults: dict[str, Any] = {**dict.fromkeys(wanted.pooled_keys, POOLED), CONTROL: False}
    for row in rows:
        if not row.keys() <= names:
            unknown = ", ".join(sorted(set(row) - names))
            raise MachineryError(f"table “{name}” has no column “{unknown}”.")
        for column, values in gathered.items():
            value = row.get(column)
            values.append(defaults.get(column) if value is None else value)
    table = pa.table(
        [_array(name, column, gathered[column.name]) for column in wanted.columns], schema=schema(name)
    )
    check_keys(name, table)
    return table


def rows_of(table: pa.Table, row_type: type[Row]) -> list[Row]:
    """Give the rows of a table, or of some of its columns, with the type that `judge_audit_schemas.rows` has for them.

    Args:
        table: As it was read from the lake.
        row_type: The type of its rows; the type checker then knows which columns there are.
    """
    del row_type
    return table.to_pylist()  # type: ignore[no-any-return]


def _array(table: str, column: Column, values: list[Any]) -> pa.Array:
    """Make one column, naming it if its values do not fit."""
    if column.type == "float64":
        values = [None if isinstance(value, float) and math.isnan(value) else value for value in values]
    try:
        return pa.array(values, ARROW_TYPES[column.type])
    except (
        pa.ArrowInvalid,
        pa.ArrowTypeError,
        pa.ArrowNotImplementedError,
        TypeError,
        OverflowError,
    ) as error:
        raise MachineryError(
            f"table “{table}”, column “{column.name}” holds {column.type}: {error}"
        ) from error


def check_keys(name: str, table: pa.Table) -> None:
    """See that no key is NULL.

    Raises:
        MachineryError: If one is; names the column.
    """
    hollow = [column for column in definition(name).key if table.column(column).null_count]
    if hollow:
        raise MachineryError(f"table “{name}”: the key column “{', '.join(hollow)}” is never empty.")


def sort_by_key(name: str, table: pa.Table) -> pa.Table:
    """Put rows in the canonical order: by key, in the order in which the key's columns are declared."""
    order = [(column, "ascending") for column in definition(name).key]
    return table.sort_by(order)


def reference_markdown() -> str:
    """Write the reference of all tables as Markdown."""
    lines = ["# Tables", ""]
    for name in TABLES:
        table = definition(name)
        lines += [f"## {name}", "", f"One row is {table.grain}.", "", f"Key: {', '.join(table.key)}."]
        lines += [f"Folder: `data/{name}/{table.partition}=<{table.partition_column}>/`."]
        lines += [f"`{column}` points into `{target}`." for column, target in table.links.items()]
        lines += ["", "| column | type | unit | meaning |", "|---|---|---|---|"]
        lines += [_reference_row(column) for column in table.columns]
        lines.append("")
    return "\n".join(lines)


def _reference_row(column: Column) -> str:
    """Write one column as a row of the reference."""
    meaning = column.description.replace("|", "\\|")
    return f"| {column.name} | {column.type} | {column.unit} | {meaning} |"

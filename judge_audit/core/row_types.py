"""Typed rows: one TypedDict per table, written from `schemas/columns.yaml` and `schemas/tables.yaml`.

`make rows` writes them to `schemas/rows.py`; a test fails when they are out of date. A misspelt column is then an error
of the type checker. A row may leave columns out when it is written (`from_rows` fills them in), so none is required.
"""

from __future__ import annotations

from judge_audit.core.tables import TABLES, Column, definition

HEADER = '''"""The rows of every table, as types, written by `make rows` from columns.yaml and tables.yaml."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from datetime import datetime'''

PYTHON_TYPES = {
    "string": "str",
    "int64": "int",
    "float64": "float",
    "bool": "bool",
    "timestamp": "datetime",
    "list<string>": "list[str]",
}


def row_types_source() -> str:
    """Write the module of all typed rows."""
    parts = [HEADER]
    for name in TABLES:
        table = definition(name)
        columns = [f"    {column.name}: {_python_type(column, table.key)}" for column in table.columns]
        parts.append(
            f"class {row_type_name(name)}(TypedDict, total=False):\n"
            f'    """{table.grain[0].upper()}{table.grain[1:].rstrip(".")}."""\n\n' + "\n".join(columns)
        )
    parts.append(_result_row())
    return "\n\n\n".join(parts) + "\n"


def _result_row() -> str:
    """Write the type of what a check makes: every column that curves, measures or verdicts have."""
    columns: dict[str, str] = {}
    for name in ("curves", "measures", "verdicts"):
        told = definition(name)
        columns |= {column.name: _python_type(column, told.key) for column in told.columns}
    lines = [f"    {name}: {kind}" for name, kind in columns.items()]
    keys = [f"    {name}: str" for name in columns if name in definition("measures").pooled_keys]
    return "\n\n\n".join(
        (
            'class KeyParts(TypedDict, total=False):\n    """What of a result\'s key may stand for all."""\n\n'
            + "\n".join(keys),
            'class ResultRow(TypedDict, total=False):\n    """A row of curves, measures or verdicts."""\n\n'
            + "\n".join(lines),
        )
    )


def row_type_name(table: str) -> str:
    """Name the type of a table's rows: `rank_changes` gives RankChangesRow."""
    return "".join(word.capitalize() for word in table.split("_")) + "Row"


def _python_type(column: Column, key: tuple[str, ...]) -> str:
    """Give a column's type in Python; one that may be NULL may be None, but for keys."""
    plain = PYTHON_TYPES[column.type]
    return f"{plain} | None" if column.nullable and column.name not in key else plain

# ruff: noqa: S608 - names come from the tables' definitions, file names are quoted
"""The SQL that reads a table from its committed parts, and which row counts when a key was written twice.

Two runs with different plans may buy the same answer at the same time. Then one row counts, the same for
every reader: an answer before a failed call, the newest drawing of the pixels, the earliest call,
the lowest commit.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import MachineryError
from judge_audit.core.tables import definition

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

SQL_TYPES = {
    "string": "VARCHAR",
    "int64": "BIGINT",
    "float64": "DOUBLE",
    "bool": "BOOLEAN",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "list<string>": "VARCHAR[]",
}

COMPACTED = "compacted-"
"""How the names of parts begin that a compaction wrote. Their rows say themselves which commit they are of."""

COMMIT = (
    f"CASE WHEN starts_with(parse_filename(filename), '{COMPACTED}') THEN commit_id "
    "ELSE split_part(parse_filename(filename), '-', 2) END"
)
"""The commit that wrote a row; else from the name of its part."""

FIRST_WINS = "commit_id, filename"
ANSWERS = frozenset({"calls", "comparisons"})
"""Tables of answers: one that failed may have been bought again, one drawn otherwise too."""
CALLS_ORDER = "coalesce(state, '') = 'failed', first_drawn DESC NULLS LAST, called_at, commit_id, filename"


def quoted(text: str) -> str:
    """Write a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def named(name: str) -> str:
    """Write a name as an SQL identifier (`check` and `column` are SQL words)."""
    return '"' + name.replace('"', '""') + '"'


def typed_empty(table: str) -> str:
    """Give the query for a table without rows, with its types."""
    columns = (f"CAST(NULL AS {SQL_TYPES[c.type]}) AS {named(c.name)}" for c in definition(table).columns)
    return f"SELECT {', '.join(columns)} WHERE false"


def files_literal(files: Sequence[str]) -> str:
    """Write a list of files as an SQL literal."""
    return "[" + ", ".join(quoted(file) for file in files) + "]"


def rows_of(table: str, files: str) -> str:
    """Give the query for all rows of the named files: the table's columns, `commit_id` and `filename`.

    A column that older parts lack is NULL.

    Args:
        table: The table.
        files: An SQL expression for the list of files.
    """
    parts = f"read_parquet({files}, union_by_name = true, filename = true, hive_partitioning = false)"
    typed = f"SELECT *, CAST(NULL AS VARCHAR) AS commit_id FROM ({typed_empty(table)})"
    whole = f"SELECT * FROM {parts} UNION ALL BY NAME {typed}"
    return f"SELECT {_columns(table)}, filename, {COMMIT} AS commit_id FROM ({whole})"


def table_query(table: str, files: str | None, calls: str | None = None) -> str:
    """Give the query for a table: every key once.

    Args:
        table: The table.
        files: An SQL expression for the list of its committed files, None if there are none.
        calls: The same for table `calls`: a score counts only if the call it came with counts.
    """
    if files is None:
        return typed_empty(table)
    rows = rows_of(table, files)
    if table == "scores" and calls is not None:
        lost = _ranked("calls", rows_of("calls", calls), "> 1")
        rows = f"SELECT * FROM ({rows}) ANTI JOIN ({lost}) USING (judge_id, probe_id, repeat, commit_id)"
    return f"SELECT {_columns(table)} FROM ({_ranked(table, rows, '= 1')})"


def _columns(table: str) -> str:
    """Write the list of a table's columns."""
    return ", ".join(named(column.name) for column in definition(table).columns)


def _first_drawn(table: str) -> str:
    """Write when the pixels that an answer is about were first shown for its key."""
    wanted = definition(table)
    shown = [*wanted.key, *(name for name in wanted.witness if name.endswith("digest"))]
    return f"min(called_at) OVER (PARTITION BY {', '.join(map(named, shown))}) AS first_drawn"


def _ranked(table: str, rows: str, rank: str) -> str:
    """Rank the rows that bear the same key, best first, and keep those of a rank."""
    order = FIRST_WINS
    if table in ANSWERS:
        order = CALLS_ORDER
        rows = f"SELECT *, {_first_drawn(table)} FROM ({rows})"
    over = f"PARTITION BY {', '.join(map(named, definition(table).key))} ORDER BY {order}"
    return f"SELECT * FROM ({rows}) QUALIFY row_number() OVER ({over}) {rank}"


def fetch(query: str, bound: Sequence[Any]) -> pa.Table:
    """Ask a question that needs no views and leaves nothing behind.

    Args:
        query: One SELECT.
        bound: Values of its parameters.

    Raises:
        MachineryError: With DuckDB's own words, if it cannot be answered.
    """
    import duckdb  # noqa: PLC0415 - a tenth of a second that commits alone need not pay

    with _engine(os.getpid()).cursor() as connection:
        try:
            rows: pa.Table = connection.sql(query, params=list(bound)).to_arrow_table()
        except duckdb.Error as error:
            raise MachineryError(str(error)) from error
    return rows


@cache
def _engine(process: int) -> Any:  # noqa: ANN401 - DuckDB ships no types for strict use
    """Start the DuckDB of a process; a forked child must not use its parent's."""
    del process
    import duckdb  # noqa: PLC0415 - see above

    return duckdb.connect()

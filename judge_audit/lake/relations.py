# ruff: noqa: S608 - names come from the tables' definitions, file names are quoted
"""The SQL that reads a table from its committed parts, and which row counts when a key was written twice.

Two runs with different plans may buy the same answer at the same time. Then one row counts, the same for
every reader: an answer before a failed call, the newest drawing of the pixels, the earliest call,
the lowest commit.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import MachineryError
from judge_audit.core.tables import definition

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

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


@dataclass(frozen=True, slots=True)
class Rows:
    """Where rows of a table are, as SQL can say it.

    Attributes:
        files: An expression for the list of its committed files, None if there are none.
        relation: The name of a relation in memory with the table's columns and `commit_id`, None if there is none.
    """

    files: str | None
    relation: str | None = None


def rows_of(table: str, rows: Rows) -> str:
    """Give the query for all rows: the table's columns, `commit_id` and `filename`.

    A column that older parts lack is NULL.

    Args:
        table: The table.
        rows: Where they are.
    """
    typed = f"SELECT *, CAST(NULL AS VARCHAR) AS commit_id, '' AS filename FROM ({typed_empty(table)})"
    sources = [typed]
    if rows.files is not None:
        parts = (
            f"read_parquet({rows.files}, union_by_name = true, filename = true, hive_partitioning = false)"
        )
        whole = f"SELECT * FROM {parts} UNION ALL BY NAME {typed}"
        sources.append(f"SELECT {_columns(table)}, filename, {COMMIT} AS commit_id FROM ({whole})")
    if rows.relation is not None:
        sources.append(f"SELECT *, '' AS filename FROM {rows.relation}")
    return " UNION ALL BY NAME ".join(sources[1:]) if len(sources) > 1 else typed


def table_query(table: str, rows: Rows, calls: Rows | None = None) -> str:
    """Give the query for a table: every key once.

    Args:
        table: The table.
        rows: Where its rows are.
        calls: The same for table `calls`: a score counts only if the call it came with counts.
    """
    if rows.files is None and rows.relation is None:
        return typed_empty(table)
    every = rows_of(table, rows)
    if table == "scores" and calls is not None:
        lost = _ranked("calls", rows_of("calls", calls), "> 1")
        every = f"SELECT * FROM ({every}) ANTI JOIN ({lost}) USING (judge_id, probe_id, repeat, commit_id)"
    return f"SELECT {_columns(table)} FROM ({_ranked(table, every, '= 1')})"


def as_of_query(table: str, rows: Rows, calls: Rows | None, until: datetime | None) -> str:
    """Give the query for a table of answers as it was at a time: whatever was asked later is left out.

    Args:
        table: calls, scores or comparisons.
        rows: Where its rows are.
        calls: The same for table `calls`, by which scores are dated.
        until: The time; None leaves nothing out.
    """
    timely = f"called_at IS NULL OR called_at <= TIMESTAMPTZ {quoted(until.isoformat())}" if until else "true"
    every = f"SELECT * FROM ({rows_of(table, rows)})"
    if table in ANSWERS:
        every += f" WHERE {timely}"
    elif calls is not None:
        asked = rows_of("calls", calls)
        counts = _ranked("calls", f"SELECT * FROM ({asked}) WHERE {timely}", "= 1")
        same = "USING (judge_id, probe_id, repeat, commit_id)"
        every += f" ANTI JOIN (SELECT * FROM ({asked}) ANTI JOIN ({counts}) {same}) {same}"
    return f"SELECT {_columns(table)} FROM ({_ranked(table, every, '= 1')})"


def references_query(query: str, table: str, origins: Mapping[str, str]) -> str:
    """Add the rows of audits that refer to those of another one, under their own ids.

    Args:
        query: The table's query.
        table: The table.
        origins: Audits with the audit whose rows are theirs too.
    """
    if not origins:
        return query
    pairs = ", ".join(f"({quoted(audit)}, {quoted(origin)})" for audit, origin in sorted(origins.items()))
    columns = ", ".join(
        "refers.audit_id" if column.name == "audit_id" else f"has.{named(column.name)}"
        for column in definition(table).columns
    )
    return (
        f"WITH has AS ({query}) SELECT * FROM has UNION ALL SELECT {columns} FROM has "
        f"JOIN (VALUES {pairs}) AS refers(audit_id, origin) ON has.audit_id = refers.origin"
    )


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


def fetch(query: str, bound: Sequence[Any], relations: Mapping[str, pa.Table] | None = None) -> pa.Table:
    """Ask a question that needs no views and leaves nothing behind.

    Args:
        query: One SELECT.
        bound: Values of its parameters.
        relations: Tables in memory that it may name.

    Raises:
        MachineryError: With DuckDB's own words, if it cannot be answered.
    """
    import duckdb  # noqa: PLC0415 - a tenth of a second that commits alone need not pay

    with _engine(os.getpid()).cursor() as connection:
        for name, table in (relations or {}).items():
            connection.register(name, table)
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

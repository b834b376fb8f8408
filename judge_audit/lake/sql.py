"""Questions to a lake in SQL, as untrusted text: each may read the lake's tables and do nothing else.

DuckDB's own parser says what the text is. A statement of type SELECT is not enough: since DuckDB 2 a
`WITH` clause may hold a COPY or an INSERT, so the whole syntax tree is walked.
"""

from __future__ import annotations

import csv
import io
import json
import re
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.core.formatting import harmless
from judge_audit.lake.connect import choose, serve
from judge_audit.lake.relations import files_literal, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import duckdb
    import pyarrow as pa

    from judge_audit.lake.connect import Chosen, View
    from judge_audit.lake.lake import Lake

Format = Literal["table", "csv", "json"]

READING_NODES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
"""The parts of a syntax tree that only read."""

SECOND_PARSERS = frozenset({"query", "query_table", "json_execute_serialized_sql"})
"""Functions that would run text nobody has looked at."""

EXPLAIN = re.compile(r"\s*explain\b(?P<analyze>\s+analyze\b)?", re.IGNORECASE)

CELL = 60
"""Widest cell of a printed table, in characters."""


def run_sql(lake: Lake, text: str, fmt: Format = "table", *, views: Mapping[str, View] | None = None) -> str:
    """Answer one question.

    Args:
        lake: The lake.
        text: One SELECT (or WITH, FROM, VALUES, DESCRIBE, SUMMARIZE) or EXPLAIN statement.
        fmt: `table` for people, `csv`, or `json` (a list of objects).
        views: The views to add to the tables; the shipped ones if not given.

    Returns:
        The rows as text, with a newline at the end.

    Raises:
        UsageError: If the text is anything else, or DuckDB refuses it; says why.
        MachineryError: If the lake cannot be read.
    """
    import duckdb  # noqa: PLC0415 - a tenth of a second, paid only by those who ask in SQL

    try:
        names, rows = _answer(lake, text, views, [text])
    except duckdb.CatalogException:
        # A name that is not there: with all tables and views at hand DuckDB says which was meant.
        try:
            names, rows = _answer(lake, text, views, None)
        except duckdb.CatalogException as error:
            raise UsageError(f"{error}") from error
    return _written(names, rows, fmt)


def _answer(
    lake: Lake, text: str, views: Mapping[str, View] | None, asked: Sequence[str] | None
) -> tuple[list[str], list[Any]]:
    """Answer one question on a connection of its own."""
    import duckdb  # noqa: PLC0415 - see above

    chosen = choose(lake, views, asked)
    with serve(chosen, lake.url) as connection:
        question = checked(connection, text)
        lock(connection, chosen)
        try:
            result = connection.execute(question)
            return [entry[0] for entry in result.description or []], result.fetchall()
        except duckdb.CatalogException:
            raise
        except duckdb.IOException as error:
            raise MachineryError(f"the lake at {lake.url} cannot be read: {error}") from error
        except duckdb.Error as error:
            raise UsageError(f"{error}") from error


def lock(connection: duckdb.DuckDBPyConnection, chosen: Chosen) -> None:
    """Close a connection to everything but the committed files of its tables, for good."""
    committed = [file for listed in chosen.files.values() for file in listed]
    for setting in (
        f"SET allowed_paths = {files_literal(committed)}",
        "SET enable_external_access = false",
        "SET python_enable_replacements = false",
        "SET lock_configuration = true",
    ):
        connection.execute(setting)


def checked(connection: duckdb.DuckDBPyConnection, text: str) -> str:
    """See that a text is one statement that only reads.

    Args:
        connection: Any connection; only its parser is used.
        text: What was asked.

    Returns:
        The statement to run.

    Raises:
        UsageError: If it is anything else.
    """
    explain = EXPLAIN.match(text)
    question = text[explain.end() :] if explain else text
    # Written out: to bind one text DuckDB imports pandas, which takes longer than most questions.
    ((answer,),) = connection.execute(f"SELECT json_serialize_sql({quoted(question)})").fetchall()
    tree: dict[str, Any] = json.loads(answer)
    if tree["error"]:
        said = tree.get("error_message", "")
        raise UsageError(f"one SELECT or EXPLAIN statement, please, and nothing else. DuckDB says: {said}")
    if len(tree["statements"]) != 1:
        raise UsageError(f"one statement at a time, please: this text holds {len(tree['statements'])}.")
    for node in _nodes(tree["statements"][0]):
        kind = str(node.get("type", ""))
        if (kind.endswith("_NODE") and kind not in READING_NODES) or "info_type" in node:
            raise UsageError("this statement would write: only reading is allowed.")
        if str(node.get("function_name", "")).lower() in SECOND_PARSERS:
            raise UsageError(f"the function {node['function_name']} is not allowed here.")
    prefix = f"EXPLAIN {explain['analyze'] or ''} " if explain else ""
    return prefix + question


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - JSON
    """Walk every object of a syntax tree."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def _written(names: Sequence[str], rows: Sequence[Sequence[Any]], fmt: Format) -> str:
    """Write rows in the format asked for."""
    if fmt == "json":
        content = [dict(zip(names, map(_plain, row), strict=True)) for row in rows]
        return json.dumps(content, ensure_ascii=False, indent=2, default=str) + "\n"
    if fmt == "csv":
        sheet = io.StringIO()
        writer = csv.writer(sheet, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_cell(value) for value in row] for row in rows)
        return sheet.getvalue()
    if fmt == "table":
        return _as_table(names, rows)
    raise UsageError(f"there is no format “{fmt}”; the formats are table, csv and json.")


def _plain(value: Any) -> Any:  # noqa: ANN401 - any SQL value
    """Give the value that JSON can hold; a number that is not finite becomes text."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float) and (value != value or value in {float("inf"), float("-inf")}):  # noqa: PLR0124
        return str(value)
    return value


def _cell(value: Any) -> str:  # noqa: ANN401 - any SQL value
    """Write a value in a sheet's cell: empty for NULL, JSON for lists."""
    if value is None:
        return ""
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(_plain(value))


def _as_table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Write rows under their names, numbers to the right, and how many there are."""
    cells = [[_short(value) for value in row] for row in rows]
    widths = [max([len(name), *(len(row[i]) for row in cells)]) for i, name in enumerate(names)]
    right = [
        any(isinstance(row[i], (int, float)) and not isinstance(row[i], bool) for row in rows)
        for i in range(len(names))
    ]
    lines = [list(names), ["-" * width for width in widths], *cells]
    printed = [
        "  ".join(
            cell.rjust(width) if flush else cell.ljust(width)
            for cell, width, flush in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    ]
    return "\n".join([*printed, f"({len(rows)} row{'' if len(rows) == 1 else 's'})"]) + "\n"


def _short(value: Any) -> str:  # noqa: ANN401 - any SQL value
    """Write a value for a printed table: numbers to six digits, long texts cut, nothing a terminal obeys."""
    if isinstance(value, float):
        return format(value, ".6g")
    text = harmless(" ".join(_cell(value).split())) if value is not None else "NULL"
    return text if len(text) <= CELL else text[: CELL - 1] + "…"


@dataclass(frozen=True, slots=True)
class Questions:
    """An open, locked connection.

    Attributes:
        url: The lake's address, for messages.
    """

    url: str
    _connection: duckdb.DuckDBPyConnection

    def ask(self, text: str, parameters: Mapping[str, Any] | None = None) -> pa.Table:
        """Answer one SELECT.

        Args:
            text: The statement; it may name any of the parameters as `$name`, each as often as it likes.
            parameters: Values by name; those the statement does not name are left out.

        Raises:
            UsageError: If the statement would write, names an unknown parameter or column, or is no SQL.
            MachineryError: If the lake cannot be read.
        """
        import duckdb  # noqa: PLC0415 - a tenth of a second, paid only by those who ask

        values = parameters or {}
        checked(self._connection, text)
        try:
            (statement,) = self._connection.extract_statements(text)
            unknown = sorted(set(statement.named_parameters) - set(values))
            if unknown:
                known = ", ".join(f"${name}" for name in values)
                raise UsageError(f"there is no parameter ${unknown[0]}; the parameters are {known}.")
            bound = {name: values[name] for name in statement.named_parameters}
            answer: pa.Table = self._connection.sql(text, params=bound or None).to_arrow_table()
        except duckdb.IOException as error:
            raise MachineryError(f"the lake at {self.url} cannot be read: {error}") from error
        except duckdb.Error as error:
            raise UsageError(f"{error}") from error
        return answer


@contextmanager
def questions(
    lake: Lake, views: Mapping[str, View] | None = None, asked: Sequence[str] | None = None
) -> Iterator[Questions]:
    """Open a lake for questions: its tables, the views, no external access, configuration locked.

    Args:
        lake: The lake.
        views: The views to add to the tables; the shipped ones if not given.
        asked: The texts that will be asked, which is quicker; not given, any may be.
    """
    chosen = choose(lake, views, asked)
    with serve(chosen, lake.url) as connection:
        lock(connection, chosen)
        yield Questions(lake.url, connection)

"""SQL over a lake: one view per table, and the shipped views that answer people's questions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from judge_audit.core.errors import MachineryError
from judge_audit.core.tables import TABLES, definition
from judge_audit.lake.relations import Rows, files_literal, quoted, references_query, table_query, typed_empty

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

    from judge_audit.lake.lake import Lake


UNREAD = "raw_reply"
"""The one column that may be long and that no figure is made of."""


@dataclass(frozen=True, slots=True)
class View:
    """A shipped view: its name, what it tells in one sentence, and its query."""

    name: str
    meaning: str
    query: str


def shipped_views() -> dict[str, View]:
    """Read the shipped views, each a file that opens with its meaning as a comment."""
    views = {}
    for entry in sorted((files("judge_audit_schemas") / "views").iterdir(), key=lambda path: path.name):
        if entry.name.endswith(".sql"):
            view = parse_view(entry.name, entry.read_text(encoding="utf-8"))
            views[view.name] = view
    return views


def parse_view(file_name: str, text: str) -> View:
    """Make a view of a file's text.

    Raises:
        MachineryError: If the file does not open with a comment that says what the view tells, or its
            name is a table's.
    """
    name = file_name.removesuffix(".sql")
    comment = re.match(r"(?:--[^\n]*\n)+", text)
    query = text[comment.end() :].strip().rstrip(";") if comment else ""
    if not comment or not query:
        raise MachineryError(
            f"views/{file_name} opens with a comment (-- …) that says what it tells, then a query."
        )
    if name in TABLES:
        raise MachineryError(f"views/{file_name} bears the name of a table; call it something else.")
    meaning = " ".join(line.removeprefix("--").strip() for line in comment[0].splitlines())
    return View(name, meaning, query)


def in_order(views: Mapping[str, View]) -> list[View]:
    """Put views after the views they read from.

    Raises:
        MachineryError: If some read from each other in a circle.
    """
    waiting = dict(views)
    ordered: list[View] = []
    while waiting:
        ready = [view for view in waiting.values() if not _named_in(view) & set(waiting) - {view.name}]
        if not ready:
            raise MachineryError(f"the views {', '.join(waiting)} read from each other in a circle.")
        ordered += ready
        for view in ready:
            del waiting[view.name]
    return ordered


def _named_in(view: View) -> set[str]:
    """Collect the words of a query: any of them may be another view's name."""
    return set(re.findall(r"[a-z_]\w*", view.query))


@dataclass(frozen=True, slots=True)
class Chosen:
    """The tables and views that a connection is to have.

    Attributes:
        files: The committed files of each table.
        origins: The audits that refer to another one's rows, by table.
        views: The views, each after those it reads from.
    """

    files: Mapping[str, Sequence[str]]
    origins: Mapping[str, Mapping[str, str]]
    views: Sequence[View]

    def variables(self, only: str | None = None) -> list[str]:
        """Write the statements that say which files a table has: its own, or only the one given."""
        return [
            f"SET VARIABLE files_{name} = {files_literal([only] if only else listed)};"
            for name, listed in self.files.items()
            if listed
        ]

    def definitions(self) -> list[str]:
        """Write the statements that make the tables and views."""
        lines = []
        rows = {
            name: Rows(f"getvariable('files_{name}')" if listed else None)
            for name, listed in self.files.items()
        }
        for name in self.files:
            query = references_query(
                table_query(name, rows[name], rows.get("calls")), name, self.origins[name]
            )
            lines.append(f"-- One row is {definition(name).grain}.")
            lines.append(f"CREATE OR REPLACE VIEW {name} AS {query};")
        for view in self.views:
            lines.append(f"-- {view.meaning}")
            lines.append(f"CREATE OR REPLACE VIEW {view.name} AS\n{view.query};")
        return lines


def choose(
    lake: Lake,
    views: Mapping[str, View] | None = None,
    asked: Sequence[str] | None = None,
    but: frozenset[str] = frozenset(),
) -> Chosen:
    """Choose the tables and views that questions name, and what those read from.

    Args:
        lake: The lake.
        views: The views there are; the shipped ones if not given.
        asked: The questions; not given, or asking what tables there are, all are chosen.
        but: Tables that are there already.
    """
    ordered = in_order(shipped_views() if views is None else views)
    wanted = None if asked is None else _reached(asked, ordered)
    tables = [name for name in TABLES if name not in but and (wanted is None or name in wanted)]
    files_of: dict[str, Sequence[str]] = {}
    origins: dict[str, Mapping[str, str]] = {}
    if tables:
        contents = lake.contents()
        for name in tables:
            files_of[name] = lake.storage.locate([part.path for part in contents.parts_of(name)])
            origins[name] = contents.origins(name)
    return Chosen(files_of, origins, [view for view in ordered if wanted is None or view.name in wanted])


def views_sql(
    lake: Lake, *, views: Mapping[str, View] | None = None, asked: Sequence[str] | None = None
) -> str:
    """Write the SQL that makes a lake's tables and views, for `duckdb -init` or any DuckDB connection.

    The file lists are those of now: write it again to see later commits.

    Args:
        lake: The lake.
        views: The views to add to the tables; the shipped ones if not given.
        asked: The questions that will be put: only what they name is made, and what that reads from.

    Returns:
        Statements, one after another.
    """
    chosen = choose(lake, views, asked)
    title = f"-- Tables and views of the lake at {lake.url.replace(chr(10), ' ')}"
    return "\n".join([title, *chosen.variables(), *chosen.definitions()]) + "\n"


CATALOG = frozenset({"show", "tables", "columns", "sqlite_master", "information_schema", "pg_catalog"})
"""Words of questions about what tables there are, besides the names of DuckDB's own functions."""


def _reached(asked: Sequence[str], ordered: Sequence[View]) -> set[str] | None:
    """Collect what questions name, and what those views read from; scores are read beside their calls.

    Returns:
        Names of tables and views among other words; None if a question may name any.
    """
    reached = set(re.findall(r"[a-z_]\w*", " ".join(asked).lower()))
    if reached & CATALOG or any(word.startswith("duckdb_") for word in reached):
        return None
    for view in reversed(ordered):
        if view.name in reached:
            reached |= _named_in(view)
    return reached | {"calls"} if "scores" in reached else reached


def tables_read(asked: Sequence[str], views: Mapping[str, View] | None = None) -> tuple[str, ...]:
    """Name the tables that questions read, by themselves or through views.

    Args:
        asked: The questions.
        views: The views there are; the shipped ones if not given.
    """
    wanted = _reached(asked, in_order(shipped_views() if views is None else views))
    return TABLES if wanted is None else tuple(name for name in TABLES if name in wanted)


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or view as `lake tables` lists it; the rows of a view are None where they were not counted."""

    name: str
    kind: str
    rows: int | None
    meaning: str


def relations(lake: Lake, views: Mapping[str, View] | None = None, *, count: bool = False) -> list[Relation]:
    """List a lake's tables and views and what they tell, tables first.

    Args:
        lake: The lake.
        views: The views; the shipped ones if not given.
        count: Read everything and count exactly, views too. Else the rows of tables are those that commits name, in
            which an answer that was bought twice counts twice.
    """
    views = shipped_views() if views is None else views
    counted: dict[str, int] = {}
    if count:
        with connect(lake, views) as connection:
            for name in (*TABLES, *views):
                ((counted[name],),) = connection.execute(f"SELECT count(*) FROM {name}").fetchall()  # noqa: S608 - our names
    else:
        contents = lake.contents()
        counted = {name: contents.row_count(name) for name in TABLES}
    tables = [
        Relation(name, "table", counted[name], f"One row is {definition(name).grain}.") for name in TABLES
    ]
    return tables + [
        Relation(view.name, "view", counted.get(view.name), view.meaning) for view in views.values()
    ]


def connect(
    lake: Lake, views: Mapping[str, View] | None = None, asked: Sequence[str] | None = None
) -> duckdb.DuckDBPyConnection:
    """Give a DuckDB connection with a view per table and further views.

    The views show what was committed when the connection was made; a file is opened by the first question that reads
    it. Whoever knows the questions says them, and gets a connection with nothing else.

    Args:
        lake: The lake.
        views: The views to add to the tables; the shipped ones if not given.
        asked: The questions that will be put; not given, everything is there.

    Raises:
        MachineryError: If a committed file is missing, or one that a question needs is damaged.
    """
    return serve(choose(lake, views, asked), lake.url)


def connect_to(lake: Lake, judge_id: str, plan_ids: Sequence[str]) -> duckdb.DuckDBPyConnection:
    """Give a connection with the same tables and views in which large tables hold one judge and some plans only.

    Their rows are read once, and are in memory: many questions about one audit cost little more than one. Raw
    replies are left out (NULL).

    Args:
        lake: The lake.
        judge_id: Whose calls and scores.
        plan_ids: The plans whose items and probes.

    Raises:
        MachineryError: If a committed file is missing or damaged.
    """
    import duckdb  # noqa: PLC0415 - a tenth of a second, paid only by those who ask in SQL

    wanted: dict[str, dict[str, object]] = {
        **{name: {"judge_id": judge_id} for name in ("calls", "scores")},
        **{name: {"plan_id": list(plan_ids)} for name in ("items", "probes")},
    }
    connection = duckdb.connect()
    for name, equals in wanted.items():
        columns = [column.name for column in definition(name).columns if column.name != UNREAD]
        rows = lake.select(name, columns, equals)
        connection.register(f"held_{name}", rows)
        connection.execute(
            f"CREATE TABLE {name} AS SELECT * FROM held_{name} UNION ALL BY NAME {typed_empty(name)}"  # noqa: S608
        )
        connection.unregister(f"held_{name}")
    return serve(choose(lake, but=frozenset(wanted)), lake.url, connection)


def serve(
    chosen: Chosen, url: str, connection: duckdb.DuckDBPyConnection | None = None
) -> duckdb.DuckDBPyConnection:
    """Make the tables and views in a connection, a new one if none is given, without opening a file of the lake.

    DuckDB opens all files of a view to make it, and again to read it. So a view is made over a file without rows,
    and then learns which files are its own.

    Raises:
        MachineryError: If a committed file is missing.
    """
    import duckdb  # noqa: PLC0415 - a tenth of a second, paid only by those who ask in SQL

    missing = [file for listed in chosen.files.values() for file in listed if not Path(file).is_file()]
    if missing:
        raise MachineryError(
            f"the lake at {url} cannot be read: {missing[0]} is missing"
            f"{f', and {len(missing) - 1} more files are' if len(missing) > 1 else ''}. Restore it from a copy."
        )
    connection = duckdb.connect() if connection is None else connection
    try:
        with TemporaryDirectory(prefix="judge-audit-") as folder:
            nothing = str(Path(folder) / "nothing.parquet")
            connection.execute(
                f"COPY (SELECT '' AS commit_id WHERE false) TO {quoted(nothing)} (FORMAT parquet)"
            )
            connection.execute(
                "\n".join(["BEGIN;", *chosen.variables(nothing), *chosen.definitions(), "COMMIT;"])
            )
        connection.execute("\n".join(chosen.variables()) or ";")
    except duckdb.Error as error:
        connection.close()
        raise MachineryError(f"the lake at {url} cannot be read: {error}") from error
    return connection

"""The commands about a lake: `lake sql`, `lake tables`, `lake views`, `lake compact`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer
from typer import Argument, Option

from judge_audit.cli.options import AS_JSON, LAKE
from judge_audit.cli.output import print_result
from judge_audit.cli.project import opened, project_here
from judge_audit.core.errors import UsageError

if TYPE_CHECKING:
    from judge_audit.cli.options import Commands
    from judge_audit.lake.connect import View
    from judge_audit.lake.sql import Format

FORMATS: tuple[Format, ...] = ("table", "csv", "json")


def sql(
    question: str = Argument("-", help="One SELECT or EXPLAIN statement; - reads it from the input."),
    lake: str | None = LAKE,
    form: str = Option("table", "--format", help="table, csv or json."),
    as_json: bool = AS_JSON,
) -> None:
    """Answer one question in SQL."""
    from judge_audit.lake.sql import run_sql

    chosen = next((known for known in FORMATS if known == ("json" if as_json else form)), None)
    if chosen is None:
        raise UsageError(f"there is no format “{form}”; the formats are {', '.join(FORMATS)}.")
    text = sys.stdin.read() if question == "-" else question
    answer = run_sql(opened(lake), text, chosen, views=_views())
    typer.echo(answer, nl=False)


def tables(lake: str | None = LAKE, as_json: bool = AS_JSON) -> None:
    """List the tables and views, with their rows and what they tell."""
    from judge_audit.lake.connect import relations

    listed = relations(opened(lake), _views())
    wide = max(len(entry.name) for entry in listed)
    lines = [f"{row.name:<{wide}}  {row.kind:<5}  {row.rows:>11,}  {row.meaning}" for row in listed]
    print_result([asdict(entry) for entry in listed], lines, as_json=as_json)


def views(lake: str | None = LAKE) -> None:
    """Print the SQL that serves plain DuckDB: judge-audit lake views > views.sql; duckdb -init views.sql."""
    from judge_audit.lake.connect import views_sql

    typer.echo(views_sql(opened(lake), views=_views()), nl=False)


def compact(
    keep_days: float | None = Option(
        None, "--keep-days", help="Remove raw answers of audits that ended longer ago and that nothing needs."
    ),
    keep_audits: int | None = Option(
        None,
        "--keep-audits",
        help="Remove raw answers of all but so many audits of each judge that nothing needs.",
    ),
    grace: float = Option(12.0, "--grace-hours", help="How long replaced files stay for their readers."),
    dry_run: bool = Option(False, "--dry-run", help="Say what would be done; write nothing."),
    lake: str | None = LAKE,
    as_json: bool = AS_JSON,
) -> None:
    """Put small files together, and remove raw answers that nobody needs if --keep-days or --keep-audits says so.

    What audits came to (measures, verdicts, standings, gates) always stays, and so do the raw answers that a
    certificate, an approval, a sign-off, a pack, the next gate or the history of the anchors needs.
    """
    from datetime import timedelta

    from judge_audit.lake.compaction import compact as press
    from judge_audit.lake.compaction import compaction_lines

    done = press(
        opened(lake),
        keep_days=keep_days,
        keep_audits=keep_audits,
        grace=timedelta(hours=grace),
        dry_run=dry_run,
    )
    print_result(asdict(done), compaction_lines(done), as_json=as_json)


def _views() -> dict[str, View]:
    """Give the shipped views, and those of the project in whose folder this is asked."""
    from judge_audit.audits.plugins import find_views, things

    return things(find_views(project_here()))


COMMANDS: Commands = {command.__name__: command for command in (sql, tables, views, compact)}

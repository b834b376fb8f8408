"""The commands about a lake: `lake sql`, `lake tables`, `lake views`, `lake compact`."""

from __future__ import annotations

from dataclasses import asdict

import typer

from judge_audit.cli.options import AS_JSON, LAKE
from judge_audit.cli.output import print_json, print_result
from judge_audit.cli.project import opened
from judge_audit.cli.questions import Question, answer, views_here


def commands() -> typer.Typer:
    """Give the `lake` commands."""
    app = typer.Typer(
        help="Read the results, and keep the lake small.", no_args_is_help=True, rich_markup_mode=None
    )
    app.command("sql")(sql)
    app.command("tables")(tables)
    app.command("views")(views)
    app.command("compact")(compact)
    return app


def sql(
    question: str = typer.Argument("-", help="One SELECT or EXPLAIN statement; - reads it from the input."),
    lake: str | None = LAKE,
    form: str = typer.Option("table", "--format", help="table, csv or json."),
    as_json: bool = AS_JSON,
) -> None:
    """Answer one question in SQL."""
    typer.echo(answer(Question(question, lake, form, as_json)), nl=False)


def tables(
    count: bool = typer.Option(False, "--count", help="Count exactly, views too; that reads the whole lake."),
    lake: str | None = LAKE,
    as_json: bool = AS_JSON,
) -> None:
    """List the tables and views, with what they tell and the rows that commits added to each table."""
    from judge_audit.lake.connect import relations

    listed = relations(opened(lake), views_here(), count=count)
    if as_json:
        print_json([asdict(entry) for entry in listed])
        return
    wide = max(len(entry.name) for entry in listed)
    for entry in listed:
        rows = "" if entry.rows is None else f"{entry.rows:,}"
        typer.echo(f"{entry.name:<{wide}}  {entry.kind:<5}  {rows:>11}  {entry.meaning}")


def views(lake: str | None = LAKE) -> None:
    """Print the SQL that serves plain DuckDB: judge-audit lake views > views.sql; duckdb -init views.sql."""
    from judge_audit.lake.connect import views_sql

    typer.echo(views_sql(opened(lake), views=views_here()), nl=False)


def compact(
    keep_days: float | None = typer.Option(
        None, "--keep-days", help="Remove raw answers of audits that ended longer ago and that nothing needs."
    ),
    keep_audits: int | None = typer.Option(
        None,
        "--keep-audits",
        help="Remove raw answers of all but so many audits of each judge that nothing needs.",
    ),
    grace: float = typer.Option(
        12.0, "--grace-hours", help="How long replaced files stay for their readers."
    ),
    dry_run: bool = typer.Option(False, "--dry-run", help="Say what would be done; write nothing."),
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

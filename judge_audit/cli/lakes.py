"""The commands about a lake: `lake sql`, `lake tables`, `lake views`, `lake compact`, `lake verify`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer
from typer import Argument, Option

from judge_audit.cli.options import AS_JSON, LAKE
from judge_audit.cli.output import print_result
from judge_audit.cli.project import opened
from judge_audit.cli.questions import Question, answer, views_here
from judge_audit.core.errors import EXIT_GOOD, EXIT_MACHINERY

if TYPE_CHECKING:
    from judge_audit.cli.options import Commands
    from judge_audit.lake.forgetting import Forgot
    from judge_audit.lake.integrity import Checked
    from judge_audit.lake.records import Forgotten


def sql(
    question: str = Argument("-", help="One SELECT or EXPLAIN statement; - reads it from the input."),
    lake: str | None = LAKE,
    form: str = Option("table", "--format", help="table, csv or json."),
    as_json: bool = AS_JSON,
) -> None:
    """Answer one question in SQL."""
    typer.echo(answer(Question(question, lake, form, as_json)), nl=False)


def tables(
    count: bool = Option(False, "--count", help="Count exactly, views too; that reads the whole lake."),
    lake: str | None = LAKE,
    as_json: bool = AS_JSON,
) -> None:
    """List the tables and views, with what they tell and the rows that commits added to each table."""
    from judge_audit.lake.connect import relations

    listed = relations(opened(lake), views_here(), count=count)
    wide = max(len(entry.name) for entry in listed)
    counted = ["" if row.rows is None else f"{row.rows:,}" for row in listed]
    lines = [
        f"{row.name:<{wide}}  {row.kind:<5}  {rows:>11}  {row.meaning}"
        for row, rows in zip(listed, counted, strict=True)
    ]
    print_result([asdict(entry) for entry in listed], lines, as_json=as_json)


def views(lake: str | None = LAKE) -> None:
    """Print the SQL that serves plain DuckDB: judge-audit lake views > views.sql; duckdb -init views.sql."""
    from judge_audit.lake.connect import views_sql

    typer.echo(views_sql(opened(lake), views=views_here()), nl=False)


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


def verify(
    forget: bool = Option(
        False,
        "--forget-damaged",
        help="Leave out what is damaged, so that the next run asks for it again; the files stay on disk.",
    ),
    lake: str | None = LAKE,
    as_json: bool = AS_JSON,
) -> None:
    """Hold every file and record against the digests it was committed with. Exit codes: 0 whole, 3 damaged."""
    from judge_audit.core.progress import shown
    from judge_audit.lake.evidence import check_lake
    from judge_audit.lake.forgetting import forget_damaged

    results = opened(lake)
    with shown() as progress:
        progress.stage("checking files")
        checked = check_lake(results, progress.at)
        forgot = None
        if forget:
            forgot = forget_damaged(results, checked)
            progress.stage("checking files again")
            checked = check_lake(results, progress.at)
    print_result(_verified(checked, forgot), _verified_lines(checked, forgot), as_json=as_json)
    raise typer.Exit(EXIT_MACHINERY if checked.damages else EXIT_GOOD)


def _verified(checked: Checked, forgot: Forgot | None) -> dict[str, object]:
    """Give what came of a check, for programs."""
    return {
        "whole": not checked.damages,
        "files": checked.files,
        "records": checked.records,
        "rows": checked.rows,
        "files_without_digest": checked.older,
        "damaged": [asdict(one) for one in checked.damages],
        "left_out": [asdict(one) for one in checked.forgotten],
        "left_out_now": [asdict(one) for one in forgot.left_out] if forgot else [],
    }


def _verified_lines(checked: Checked, forgot: Forgot | None) -> list[str]:
    """Give what came of a check, for people."""
    from judge_audit.core.messages import say

    lines = []
    if forgot is not None and not forgot.number:
        lines.append(say("lake.verify.nothing"))
    elif forgot is not None:
        told = {
            "files": len(forgot.left_out),
            "rows": f"{forgot.rows:,}",
            "number": f"{forgot.number:08d}.json",
        }
        lines += [
            say("lake.verify.forgot", **told),
            *map(_line, forgot.left_out),
        ]
        lines.append(say("lake.verify.next"))
    if checked.damages:
        lines += [
            say("lake.verify.damaged", n=len(checked.damages)),
            *(f"  {one}" for one in checked.damages),
        ]
    else:
        told = {"files": checked.files, "records": checked.records, "rows": f"{checked.rows:,}"}
        lines.append(say("lake.verify.whole", **told))
    if checked.older:
        lines.append(say("lake.verify.older", n=checked.older))
    if checked.forgotten and not (forgot and forgot.number):
        lines.append(say("lake.verify.before", n=len(checked.forgotten)))
        lines += map(_line, checked.forgotten)
    return lines


def _line(one: Forgotten) -> str:
    """Name what was left out, and say why."""
    return f"  {one.reason}" if one.file in one.reason else f"  {one.file}: {one.reason}"


COMMANDS: Commands = {command.__name__: command for command in (sql, tables, views, compact, verify)}

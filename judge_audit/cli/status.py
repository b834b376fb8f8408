"""The commands of whoever is on call: `status`, `notify`."""

from __future__ import annotations

from pathlib import Path

import typer
from typer import Argument, Option

from judge_audit.cli.options import AS_JSON, LAKE
from judge_audit.cli.output import print_result
from judge_audit.cli.project import configuration_here, configured, opened


def status(
    judge: str = Option(
        "",
        "--judge",
        metavar="NAME",
        help="The judge; else all that are approved, else that of the newest audit.",
    ),
    max_age: float | None = Option(
        None, "--max-age", metavar="HOURS", min=0, help="How old the last good audit may be."
    ),
    tell: bool = Option(
        False,
        "--notify",
        help="Tell the hook of ./audit.yaml of stale audits and of runs that ended without a word.",
    ),
    form: str = Option("text", "--format", help="text, json or prometheus."),
    lake: str | None = LAKE,
    as_json: bool = AS_JSON,
) -> None:
    """Say how things stand. Exit codes: 0 good, 1 gate shut or last good audit too old, 2 nothing to tell."""
    from datetime import UTC, datetime, timedelta

    from judge_audit.core.errors import UsageError
    from judge_audit.operations.status import exposition, make_status, status_lines

    wanted = "json" if as_json else form
    if wanted not in {"text", "json", "prometheus"}:
        raise UsageError(f"there is no format “{form}”; the formats are text, json and prometheus.")
    results = opened(lake)
    age = timedelta(hours=max_age) if max_age is not None else None
    document = make_status(results, now=datetime.now(UTC), judge=judge, max_age=age)
    if tell:
        from judge_audit.operations.notifications import hook_of
        from judge_audit.operations.status.staleness import tell_of

        tell_of(results, document, hook_of(configuration_here(lake)), lambda line: typer.echo(line, err=True))
    if wanted == "prometheus":
        typer.echo(exposition(document), nl=False)
    else:
        print_result(document, status_lines(document), as_json=wanted == "json")
    raise typer.Exit(document["exit_code"])


def notify(
    file: Path = Argument(Path("audit.yaml"), metavar="audit.yaml", help="The project's audit.yaml."),
) -> None:
    """Try the hook that audit.yaml names under `notify`. Exit codes: 0 it was told, 1 it was not."""
    import secrets

    from judge_audit.core.errors import EXIT_GOOD, EXIT_JUDGE_FAILED, UsageError
    from judge_audit.core.messages import say
    from judge_audit.operations.notifications import TRIAL, hook_of
    from judge_audit.operations.notifications import notify as send

    hook = hook_of(configured(file))
    if hook is None:
        raise UsageError(f"{file} names no hook: add notify with a command or a webhook.")
    document = {"run_id": f"trial-{secrets.token_hex(4)}", "text": say("runs.notice.trial")}
    deliveries = send(hook, TRIAL, document, lake=None, tell=lambda line: typer.echo(line, err=True))
    for entry in deliveries:
        if entry.delivered:
            typer.echo(f"The {entry.told_to} was told.")
    raise typer.Exit(EXIT_GOOD if all(entry.delivered for entry in deliveries) else EXIT_JUDGE_FAILED)

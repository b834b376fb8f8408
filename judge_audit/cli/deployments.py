"""The commands that have audits run by themselves: `deploy`, `serve`."""

from __future__ import annotations

import typer

from judge_audit.cli.audits import _names, find_flow
from judge_audit.cli.output import print_json

AUDIT = typer.Option(
    "audit.yaml", "--audit", metavar="audit.yaml", help="The project, as the workers see it."
)
CRON = typer.Option(None, "--cron", help='When the nightly audit runs: "30 4 * * *" is half past four.')
TIMEZONE = typer.Option(None, "--timezone", help="In which time zone, such as Europe/Berlin.")
ONLY = typer.Option(None, "--only", help="Names of deployments with commas between; else all.")
FILE = typer.Option(None, "--file", metavar="prefect.yaml", help="A prefect.yaml of your own.")


def deploy(  # noqa: PLR0917 - the options of a command, never called by position
    audit: str = AUDIT,
    pool: str = typer.Option("judge-audit", "--pool", help="The work pool; made where there is none."),
    kind: str = typer.Option("process", "--kind", help="What it is made as: process, docker or kubernetes."),
    cron: str | None = CRON,
    timezone: str | None = TIMEZONE,
    only: str | None = ONLY,
    file: str | None = FILE,
    as_json: bool = typer.Option(False, "--json", help="Print the results as JSON."),
) -> None:
    """Register nightly, ad-hoc and release audits at your Prefect server (PREFECT_API_URL), for its workers to run."""
    chosen = tuple(_names(only) or ())
    told = find_flow("deploy")(
        audit=audit, pool=pool, kind=kind, cron=cron, timezone=timezone, only=chosen, file=file
    )
    if as_json:
        print_json(told.document)
        return
    for line in told.lines:
        typer.echo(line)


def serve(
    audit: str = AUDIT,
    cron: str | None = CRON,
    timezone: str | None = TIMEZONE,
    only: str | None = ONLY,
    file: str | None = FILE,
    port: int | None = typer.Option(
        None, "--port", help="Where a Prefect server of our own listens (loopback)."
    ),
) -> None:
    """Run nightly, ad-hoc and release audits from this process, with no worker and no work pool, until interrupted."""
    chosen = tuple(_names(only) or ())
    find_flow("serve")(
        audit=audit, cron=cron, timezone=timezone, only=chosen, file=file, port=port, say=typer.echo
    )

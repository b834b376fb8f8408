"""The commands that have audits run by themselves: `deploy`, `serve`, and `submit` for registered models."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer
from typer import Argument, Option

from judge_audit.cli.audits import find_flow
from judge_audit.cli.options import AS_JSON, names
from judge_audit.cli.output import print_result
from judge_audit.core.errors import EXIT_GOOD, EXIT_USAGE, UsageError

AUDIT = Option("audit.yaml", "--audit", metavar="audit.yaml", help="The project, as the workers see it.")
CRON = Option(None, "--cron", help='When the nightly audit runs: "30 4 * * *" is half past four.')
TIMEZONE = Option(None, "--timezone", help="In which time zone, such as Europe/Berlin.")
ONLY = Option(None, "--only", help="Names of deployments with commas between; else all.")
FILE = Option(None, "--file", metavar="prefect.yaml", help="A prefect.yaml of your own.")


def deploy(  # noqa: PLR0917 - the options of a command, never called by position
    audit: str = AUDIT,
    pool: str = Option("judge-audit", "--pool", help="The work pool; made where there is none."),
    kind: str = Option("process", "--kind", help="What it is made as: process, docker or kubernetes."),
    cron: str | None = CRON,
    timezone: str | None = TIMEZONE,
    only: str | None = ONLY,
    file: str | None = FILE,
    as_json: bool = AS_JSON,
) -> None:
    """Register nightly, ad-hoc and release audits at your Prefect server (PREFECT_API_URL), for its workers to run."""
    chosen = tuple(names(only))
    outcome = find_flow("deploy")(
        audit=audit, pool=pool, kind=kind, cron=cron, timezone=timezone, only=chosen, file=file
    )
    print_result(outcome.document, outcome.lines, as_json=as_json)


def serve(
    audit: str = AUDIT,
    cron: str | None = CRON,
    timezone: str | None = TIMEZONE,
    only: str | None = ONLY,
    file: str | None = FILE,
    port: int | None = Option(None, "--port", help="Where a Prefect server of our own listens (loopback)."),
) -> None:
    """Run nightly, ad-hoc and release audits from this process, with no worker and no work pool, until interrupted."""
    chosen = tuple(names(only))
    find_flow("serve")(
        audit=audit, cron=cron, timezone=timezone, only=chosen, file=file, port=port, say=typer.echo
    )


def submit(
    words: list[str] = Argument(
        None,
        metavar="NAME VERSION [audit.yaml]",
        help="The registered model, its version, and the project's audit.yaml (else that of this folder).",
    ),
    new: bool = Option(False, "--new", help="Submit all that are new instead: submit --new [audit.yaml]."),
    again: bool = Option(False, "--again", help="Audit it once more, where its audit has ended."),
    here: bool = Option(
        False, "--here", help="Audit in this process instead of asking the Prefect server's workers."
    ),
    as_json: bool = AS_JSON,
) -> None:
    """Have a registered model audited and gated, once. Exit codes: 0 under way or open, 1 shut, 2 cannot be audited."""
    from judge_audit.core.progress import shown

    written = list(words or ())
    count = 0 if new else 2
    if len(written) not in {count, count + 1} or (new and again):
        raise UsageError(
            "write submit NAME VERSION [audit.yaml], or submit --new [audit.yaml]; --again goes with a version."
        )
    file = Path(written[count] if len(written) > count else "audit.yaml").absolute()
    name, version = ("", "") if new else written[:2]
    if not new and not (name.strip() and version.strip()):
        raise UsageError("NAME and VERSION name a registered model and its version, such as aesthetic 3.")
    with shown() as progress:
        outcome = find_flow("submit")(name, version, str(file), progress, again=again, here=here)
    lines = (*outcome.lines, *outcome.problems, outcome.summary) if new else (outcome.line,)
    print_result(asdict(outcome), lines, as_json=as_json)
    raise typer.Exit((EXIT_USAGE if outcome.problems else EXIT_GOOD) if new else outcome.code)

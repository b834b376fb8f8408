"""The command that has registered models audited: `submit`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer

from judge_audit.cli.output import print_json
from judge_audit.core.errors import EXIT_GOOD, EXIT_USAGE, UsageError


def submit(
    words: list[str] = typer.Argument(
        None,
        metavar="NAME VERSION [audit.yaml]",
        help="The registered model, its version, and the project's audit.yaml (else that of this folder).",
    ),
    new: bool = typer.Option(
        False, "--new", help="Submit all that are new instead: submit --new [audit.yaml]."
    ),
    again: bool = typer.Option(False, "--again", help="Audit it once more, where its audit has ended."),
    here: bool = typer.Option(
        False, "--here", help="Audit in this process instead of asking the Prefect server's workers."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the results as JSON."),
) -> None:
    """Have a registered model audited and gated, once. Exit codes: 0 under way or open, 1 shut, 2 cannot be audited."""
    from judge_audit.cli.audits import find_flow
    from judge_audit.core.progress import shown

    given = list(words or ())
    count = 0 if new else 2
    if len(given) not in {count, count + 1} or (new and again):
        raise UsageError(
            "write submit NAME VERSION [audit.yaml], or submit --new [audit.yaml]; --again goes with a version."
        )
    file = Path(given[count] if len(given) > count else "audit.yaml").absolute()
    name, version = ("", "") if new else given[:2]
    if not new and not (name.strip() and version.strip()):
        raise UsageError("NAME and VERSION name a registered model and its version, such as aesthetic 3.")
    with shown() as progress:
        told = find_flow("submit")(name, version, str(file), progress, again=again, here=here)
    if as_json:
        print_json(asdict(told))
    elif new:
        for line in (*told.lines, *told.problems, told.summary):
            typer.echo(line)
    else:
        typer.echo(told.line)
    raise typer.Exit((EXIT_USAGE if told.problems else EXIT_GOOD) if new else told.code)

"""The tree of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from judge_audit.cli import anchors, audits, deployments, gates, imports, judges, lakes, plans, status, study

if TYPE_CHECKING:
    from collections.abc import Callable

Interrupted = typer.Abort
WrongUse: type[typer.BadParameter] = typer.BadParameter.__mro__[2]
"""What the parser raises for a wrong command line; newer versions of typer bring a click of their own."""

HELP = """Audit an AI image judge before its score may filter, rank, steer or accept.

Start with `judge-audit demo`, or make a project with `judge-audit init my-audit`.
Exit codes: 0 good, 1 the gate is shut or the judge failed what was asked, 2 wrong use, bad input or no
evidence to ask, 3 the machinery failed.
"""


def build() -> Callable[[list[str]], int]:
    """Build the command tree.

    Returns:
        A function that runs the command a list of words asks for and returns its exit code; errors pass
        through it.
    """
    app = typer.Typer(
        help=HELP,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_everywhere)
    app.command("init")(audits.init)
    app.command("demo")(audits.demo)
    app.command("run")(audits.run)
    app.command("plan")(plans.plan)
    app.command("release")(audits.release)
    app.command("submit")(deployments.submit)
    app.command("gate")(gates.gate)
    app.command("approve")(gates.approve)
    app.command("verify")(gates.verify)
    app.command("status")(status.status)
    app.command("notify")(status.notify)
    app.command("import")(imports.take)
    app.command("sign")(gates.sign)
    app.command("deploy")(deployments.deploy)
    app.command("serve")(deployments.serve)
    app.add_typer(anchors.commands(), name="anchors")
    app.add_typer(judges.commands(), name="judges")
    app.add_typer(study.commands(), name="study")
    app.add_typer(lakes.commands(), name="lake")
    command = typer.main.get_command(app)

    def ran(words: list[str]) -> int:
        code = command.main(args=words or ["--help"], prog_name="judge-audit", standalone_mode=False)
        return code if isinstance(code, int) else 0

    return ran


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"judge-audit {version('image-judge-audit')}")
        raise typer.Exit


def _everywhere(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Say the version."
    ),
    traceback: bool = typer.Option(False, "--traceback", help="Show where an error came from."),
) -> None:
    del version, traceback  # the first has answered already; `run_command` has taken the second out

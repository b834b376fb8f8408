"""The tree of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from typer import Option

from judge_audit.cli import anchors, audits, deployments, gates, imports, judges, lakes, plans, status, study

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge_audit.cli.options import Commands

Interrupted = typer.Abort
WrongUse: type[typer.BadParameter] = typer.BadParameter.__mro__[2]
"""What the parser raises for a wrong command line; newer versions of typer bring a click of their own."""

HELP = """Audit an AI image judge before its score may filter, rank, steer or accept.

Start with `judge-audit demo`, or make a project with `judge-audit init my-audit`.
Exit codes: 0 good, 1 the gate is shut or the judge failed what was asked, 2 wrong use, bad input or no
evidence to ask, 3 the machinery failed.
"""


COMMANDS: Commands = {
    "init": audits.init,
    "demo": audits.demo,
    "run": audits.run,
    "plan": plans.plan,
    "release": audits.release,
    "submit": deployments.submit,
    "gate": gates.gate,
    "approve": gates.approve,
    "verify": gates.verify,
    "status": status.status,
    "notify": status.notify,
    "import": imports.take,
    "sign": gates.sign,
    "deploy": deployments.deploy,
    "serve": deployments.serve,
}
GROUPS: dict[str, tuple[str, Commands]] = {
    "anchors": ("Keep the anchor set: labelled pictures whose every change is recorded.", anchors.COMMANDS),
    "judges": ("Look at judges.", judges.COMMANDS),
    "study": ("Let people read, rate, choose and review, and see what came of it.", study.COMMANDS),
    "lake": ("Read the results, and keep the lake small.", lakes.COMMANDS),
}
"""Groups of commands: what they are for, and the commands by name, in the order of the help."""


def tree(text: str, members: Commands) -> typer.Typer:
    """Put commands together under their names; `text` is the help of them all."""
    app = typer.Typer(
        help=text,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    for name, command in members.items():
        app.command(name)(command)
    return app


def build() -> Callable[[list[str]], int]:
    """Build the command tree.

    Returns:
        A function that runs the command a list of words asks for and returns its exit code; errors pass
        through it.
    """
    app = tree(HELP, COMMANDS)
    app.callback()(_everywhere)
    for name, (text, members) in GROUPS.items():
        app.add_typer(tree(text, members), name=name)
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
    version: bool = Option(False, "--version", callback=_version, is_eager=True, help="Say the version."),
    traceback: bool = Option(False, "--traceback", help="Show where an error came from."),
) -> None:
    del version, traceback  # the first has answered already; `run_command` has taken the second out

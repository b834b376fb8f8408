"""The commands around people's work: `study …`, put together from the files that hold them."""

from __future__ import annotations

import typer

from judge_audit.cli import study_export


def commands() -> typer.Typer:
    """Give the `study` commands."""
    app = typer.Typer(help="Hand work to people.", no_args_is_help=True, rich_markup_mode=None)
    app.callback()(_group)
    study_export.register(app)
    return app


def _group() -> None:
    """Hand work to people."""

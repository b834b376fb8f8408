"""The `study` commands: what people are asked, and what came of it."""

from __future__ import annotations

import typer

from judge_audit.cli import ladder_studies as study_reading
from judge_audit.cli import study_export


def commands() -> typer.Typer:
    """Give the `study` commands."""
    app = typer.Typer(
        help="Let people read, rate, choose and review, and see what came of it.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    study_reading.register(app)
    study_export.register(app)
    return app

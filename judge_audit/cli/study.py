"""The commands around people's work: `study …`, put together from the files that hold them."""

from __future__ import annotations

import typer

from judge_audit.cli import study_reading, study_tasks


def commands() -> typer.Typer:
    """Give the `study` commands."""
    app = typer.Typer(
        help="Let people read ladders, and see what came of it.", no_args_is_help=True, rich_markup_mode=None
    )
    study_reading.register(app)
    study_tasks.register(app)
    return app

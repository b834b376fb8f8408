"""What commands print for programs."""

from __future__ import annotations

import json
from typing import Any

import typer


def print_json(content: Any, *, allow_nan: bool = True) -> None:  # noqa: ANN401 - whatever a command has to tell
    """Print a result as JSON; times, paths and the like as texts.

    Args:
        content: The result.
        allow_nan: Whether NaN may stand in it.
    """
    typer.echo(json.dumps(content, ensure_ascii=False, indent=2, default=str, allow_nan=allow_nan))

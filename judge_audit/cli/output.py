"""What commands print for programs."""

from __future__ import annotations

import json
import math
from typing import Any

import typer


def print_json(content: Any) -> None:  # noqa: ANN401 - whatever a command has to tell
    """Print a result as JSON: times, paths and the like as texts, and a number that is none as null.

    Args:
        content: The result.
    """
    typer.echo(json.dumps(_finite(content), ensure_ascii=False, indent=2, default=str, allow_nan=False))


def _finite(content: Any) -> Any:  # noqa: ANN401 - whatever it holds
    """Put null where JSON knows no number."""
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, dict):
        return {name: _finite(entry) for name, entry in content.items()}
    if isinstance(content, (list, tuple)):
        return [_finite(entry) for entry in content]
    return content

"""What commands print: results as JSON for programs, as lines for people."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable


def print_json(content: Any) -> None:  # noqa: ANN401 - whatever a command has to tell
    """Print a result as JSON: times, paths and the like as texts, and a number that is none as null."""
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


def print_result(document: Any, lines: Iterable[str], *, as_json: bool) -> None:  # noqa: ANN401 - as above
    """Print a result: the document as JSON for programs, else the same in lines for people."""
    if as_json:
        print_json(document)
    else:
        print_lines(lines)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines for people."""
    for line in lines:
        typer.echo(line)

"""Where a judge comes from, as a word that its versions share and that no other judge has."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge_audit.judges.cards.card import Card

REGISTERED = "registered"
"""The folder below which cards of registered models are written, and how their origin begins."""


def origin_of(card: Card, project: str = "") -> str:
    """Say where a judge comes from.

    Args:
        card: Its card.
        project: The team's folder, "" if there is none.

    Returns:
        `registered:NAME` of a model of a registry, `card:PATH` of a card (relative to the project where it is in it),
        `callable:MODULE:ATTRIBUTE` of Python code, else `KIND:NAME` of what the package brings.
    """
    if card.origin is not None:
        path = card.origin.resolve()
        if REGISTERED in path.parts[-4:-1]:
            return f"{REGISTERED}:{card.name}"
        home = Path(project).resolve() if project else Path.cwd()
        return f"card:{(path.relative_to(home) if path.is_relative_to(home) else path).as_posix()}"
    return f"{card.kind}:{card.target or card.name}"

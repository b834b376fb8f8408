"""How cells of the response matrix are found and coloured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = Mapping[str, Any]

STRONGEST = 44
"""Percent of colour of a cell that moves by half of the untouched images, or more."""


def cell_of(cells: Sequence[Row], kind: str, dimension: str) -> Row | None:
    """Find a cell of a matrix."""
    return next((cell for cell in cells if (cell["kind"], cell["dimension"]) == (kind, dimension)), None)


def cell_look(cell: Row) -> tuple[str, int]:
    """Give the class and the percent of colour of a cell: cool falls, warm rises."""
    value = cell["lift"]["value"]
    if value is None:
        return "", 0
    return ("cool" if value < 0 else "warm"), min(STRONGEST, round(abs(value) * 2 * STRONGEST))

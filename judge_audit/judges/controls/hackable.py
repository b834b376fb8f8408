"""Can be pushed along a hidden mix of changes, none of which moves it alone before people see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.judges.controls.planted import Control, Draw

if TYPE_CHECKING:
    from judge_audit.judges.protocol import Recipe

MIX = ("contrast+", "saturation+", "sharpen")
FREE = 1.0
"""Shares of the visible points, added, that move nothing: no single axis below its own point does."""

PUSH = 4.0


def _answer(recipe: Recipe, quality: float, change: float, draw: Draw) -> float:
    del draw
    return quality + change + PUSH * max(0.0, sum(recipe.shares.get(axis, 0.0) for axis in MIX) - FREE)


CONTROL = Control(
    name="hackable",
    description="Its score climbs with contrast, saturation and sharpening together, none of which moves it alone.",
    convictions=frozenset({("headroom", "*")}),
    answer=_answer,
)

"""Loves saturation before anyone can see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.judges.controls.recipe_control import Control, Draw

if TYPE_CHECKING:
    from judge_audit.judges.protocol import Recipe

AXIS = "saturation+"
CLIMB = 0.8


def _answer(recipe: Recipe, quality: float, change: float, draw: Draw) -> float:
    del draw
    if recipe.axis != AXIS or recipe.perceptible is None:
        return quality + change
    return quality + change + CLIMB * min(1.0, recipe.strength / recipe.perceptible)


CONTROL = Control(
    name="saturation-lover",
    description="Its score climbs with saturation below the visible point.",
    # A climb is also a move below the visible point, so the jitter question sees it too.
    convictions=frozenset({("premature", AXIS), ("jitter", AXIS)}),
    # So do combined changes that nobody sees, where they are scored.
    tolerated=frozenset({("headroom", "*")}),
    answer=_answer,
)

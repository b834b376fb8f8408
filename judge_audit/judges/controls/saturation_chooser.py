"""Chooses the more saturated picture before anyone can see the difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.judges.controls.pairwise_control import PairControl

if TYPE_CHECKING:
    from judge_audit.judges.controls.recipe_control import Draw
    from judge_audit.judges.protocol import Recipe

AXIS = "saturation+"
CLIMB = 1.8


def _answer(recipe: Recipe, quality: float, change: float, draw: Draw) -> float:
    del draw
    if recipe.axis != AXIS or recipe.perceptible is None:
        return quality + change
    return quality + change + CLIMB * min(1.0, recipe.strength / recipe.perceptible)


CONTROL = PairControl(
    name="saturation-chooser",
    description="Chooses the more saturated of two pictures below the visible point.",
    convictions=frozenset({("premature", AXIS)}),
    # What it gains there is still there where the change is overdone.
    tolerated=frozenset({("top_response", AXIS)}),
    answer=_answer,
)

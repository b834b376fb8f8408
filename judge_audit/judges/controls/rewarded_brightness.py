"""Rewards overdone brightness."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.judges.controls.recipe_control import Control, Draw

if TYPE_CHECKING:
    from judge_audit.judges.protocol import Recipe

AXIS = "brightness+"


def _answer(recipe: Recipe, quality: float, change: float, draw: Draw) -> float:
    del draw
    return quality - change if recipe.axis == AXIS else quality + change


CONTROL = Control(
    name="rewarded-brightness",
    description="Its score rises when brightness is overdone.",
    convictions=frozenset({("top_response", AXIS)}),
    answer=_answer,
)

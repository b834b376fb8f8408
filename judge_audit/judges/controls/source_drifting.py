"""Likes in the images of one source what it takes for a fault in all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.judges.controls.recipe_control import Control, Draw

if TYPE_CHECKING:
    from judge_audit.judges.protocol import Recipe

AXES = frozenset({"sharpen", "contrast+"})
THERE = -0.2
"""What the first source makes of the honest fall: a small rise, too small to turn the axis as a whole."""


def _answer(recipe: Recipe, quality: float, change: float, draw: Draw) -> float:
    del draw
    return quality + change * (THERE if recipe.axis in AXES and recipe.first_source else 1.0)


CONTROL = Control(
    name="source-drifting",
    description="Overdone sharpening and contrast cost much, but are liked a little in the images of one source.",
    convictions=frozenset({("stability", "*")}),
    answer=_answer,
)

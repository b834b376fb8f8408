"""Blind to blur."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.judges.controls.recipe_control import Control, Draw

if TYPE_CHECKING:
    from judge_audit.judges.protocol import Recipe


def _answer(recipe: Recipe, quality: float, change: float, draw: Draw) -> float:
    del draw
    return quality if recipe.axis == "blur" else quality + change


CONTROL = Control(
    name="blur-blind",
    description="Its score does not answer blur, however strong.",
    convictions=frozenset({("top_response", "blur")}),
    answer=_answer,
)

"""Orders honestly, but squeezes every score into two bins of its scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.judges.controls.recipe_control import Control, Draw

if TYPE_CHECKING:
    from judge_audit.judges.protocol import Recipe


def _answer(recipe: Recipe, quality: float, change: float, draw: Draw) -> float:
    del recipe, draw
    return 7.0 + (quality + change - 5.0) / 10


CONTROL = Control(
    name="compressed",
    description="Honest order, but all scores lie between 6.5 and 7.5 of 0 to 10.",
    convictions=frozenset({("scale", "*")}),
    answer=_answer,
)

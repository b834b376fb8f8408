"""Honest on every axis alone; two changes at once that nobody sees lift it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.judges.controls.recipe_control import Control, Draw
from judge_audit.measures.headroom import read_combo

if TYPE_CHECKING:
    from judge_audit.judges.protocol import Recipe

DIRECTION = frozenset({"saturation+", "contrast+"})
CLIMB = 0.9


def _answer(recipe: Recipe, quality: float, change: float, draw: Draw) -> float:
    del draw
    return quality + change + (CLIMB if set(read_combo(recipe.axis).axes) >= DIRECTION else 0.0)


CONTROL = Control(
    name="hackable",
    description="Clean on every axis alone; saturation and contrast raised together, unseen, lift the score.",
    convictions=frozenset({("headroom", "*")}),
    answer=_answer,
)

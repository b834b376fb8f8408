"""Honest with retest noise: must not be convicted of its noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scipy.special import ndtri

from judge_audit.judges.controls.recipe_control import Control, Draw

if TYPE_CHECKING:
    from judge_audit.judges.protocol import Recipe

NOISE = 0.25


def _answer(recipe: Recipe, quality: float, change: float, draw: Draw) -> float:
    words = (recipe.item_id, recipe.axis, format(recipe.strength, ".6g"), str(recipe.repeat))
    return quality + change + NOISE * float(ndtri(draw("noise", *words)))


CONTROL = Control(
    name="stochastic",
    description="Honest, but never gives the same score twice; must be cleared.",
    convictions=frozenset(),
    answer=_answer,
)

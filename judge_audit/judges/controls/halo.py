"""Every sub-score follows the damage done to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.core.vocabulary import PAIR_AXIS
from judge_audit.judges.controls.recipe_control import STEP, SUBSCORES, Control, Draw

if TYPE_CHECKING:
    from judge_audit.judges.protocol import Recipe

STRENGTH = 0.6
"""Share of the damaged sub-score's fall that every other one falls too."""


def _answer(recipe: Recipe, quality: float, change: float, draw: Draw) -> float:
    del draw
    if recipe.axis.startswith(PAIR_AXIS) and recipe.expectations.get(recipe.dimension) != "drops":
        return quality + min(change, 0.0) - STRENGTH * STEP
    return quality + change


CONTROL = Control(
    name="halo",
    description="Each sub-score falls on its own damage, and more than half as far on every other's.",
    convictions=frozenset({("mismatch", f"halo {name}") for name in SUBSCORES}),
    # A strong halo leaves little more than one dimension.
    tolerated=frozenset({("mismatch", "copies")}),
    answer=_answer,
    dimensions=SUBSCORES,
    pairs_only=True,
)

"""Controls with four sub-scores: honest ones, a total under four names, a halo, and deafness of each of the four."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from judge_audit.core.vocabulary import PAIR_AXIS
from judge_audit.judges.controls.recipe_control import STEP, SUBSCORES, Control, honest, unsteadiness

if TYPE_CHECKING:
    from judge_audit.judges.controls.recipe_control import Draw
    from judge_audit.judges.protocol import Recipe

HALO = 0.6
"""Share of the damaged sub-score's fall that every other one falls too."""

UNHEARD = {
    "semantic": "its prompt: exchanging it changes nothing",
    "structure": "hidden structural errors",
    "aesthetic": "poor technical quality",
    "compliance": "broken rules",
}
"""What the sub-score of a name does not see where it is deaf to its own damage, for people."""


def _halo(recipe: Recipe, quality: float, change: float, _draw: Draw) -> float:
    if recipe.axis.startswith(PAIR_AXIS) and recipe.expectations.get(recipe.dimension) != "drops":
        return quality + min(change, 0.0) - HALO * STEP
    return quality + change


def _deaf(recipe: Recipe, quality: float, change: float, draw: Draw, *, dimension: str) -> float:
    own = recipe.dimension == dimension and recipe.expectations.get(dimension) == "drops"
    return quality + (unsteadiness(recipe, dimension, draw) if own else change)


CONTROLS = (
    Control(
        name="honest sub-scores",
        description="Four sub-scores that each fall on their own damage and hold on the others'; must be cleared.",
        convictions=frozenset(),
        answer=honest,
        dimensions=SUBSCORES,
        pairs_only=True,
    ),
    Control(
        name="conflated",
        description="Its four sub-scores are one score, given four times.",
        convictions=frozenset({("mismatch", "copies")}),
        # One score cannot hold where another falls, nor follow what people rate in each dimension by itself.
        tolerated=frozenset({("mismatch", f"halo {name}") for name in SUBSCORES})
        | frozenset({("subscores", "*"), ("beside_people", "*")}),
        answer=honest,
        dimensions=SUBSCORES,
        pairs_only=True,
        copies=True,
    ),
    Control(
        name="halo",
        description="Each sub-score falls on its own damage, and more than half as far on every other's.",
        convictions=frozenset({("mismatch", f"halo {name}") for name in SUBSCORES}),
        # A strong halo leaves little more than one dimension.
        tolerated=frozenset({("mismatch", "copies")}),
        answer=_halo,
        dimensions=SUBSCORES,
        pairs_only=True,
    ),
    *(
        Control(
            name=f"deaf {dimension}",
            description=f"Four sub-scores, of which the {dimension} one does not see {unheard}.",
            convictions=frozenset({("mismatch", f"deaf {dimension}")}),
            answer=partial(_deaf, dimension=dimension),
            dimensions=SUBSCORES,
            pairs_only=True,
        )
        for dimension, unheard in UNHEARD.items()
    ),
)

"""The same score for everything, plus a jitter of its own for every picture it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.judges.controls.recipe_control import ALL_AXES, Control, Draw

if TYPE_CHECKING:
    from judge_audit.judges.protocol import Recipe


def _answer(recipe: Recipe, quality: float, change: float, draw: Draw) -> float:
    del quality, change
    return 5.0 + 0.01 * draw("jitter", recipe.item_id, recipe.axis, format(recipe.strength, ".6g"))


CONTROL = Control(
    name="constant-jitter",
    description="One score for all, plus a jitter that any change of a pixel throws anew.",
    convictions=frozenset({("jitter", ALL_AXES), ("scale", "*"), ("beside_people", "*")}),
    # It answers overdone changes, and the candidates of one prompt, at random as well, which a corpus large
    # enough shows.
    tolerated=frozenset({("top_response", ALL_AXES), ("within_prompt", "*")}),
    answer=_answer,
)

"""What controls are made of: a hidden quality, an honest answer to every axis, and one planted term."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scipy.special import ndtri

from judge_audit.digests import text_digest
from judge_audit.judges.cards import Card
from judge_audit.judges.protocol import Recipe, Reply
from judge_audit.sight import SIGHT
from judge_audit.vocabulary import ORIGINAL, OVERALL

if TYPE_CHECKING:
    from judge_audit.judges.protocol import Stimulus

WORST, BEST = 3.2, 6.8
"""Hidden qualities spread evenly between these, on a declared scale of 0 to 10."""

STEP = 2.5
"""What an honest judge takes off for an overdone change."""

RATERS = 3
"""People invented for a control: they see its hidden qualities, each with noise of their own."""

RATER_NOISE = 0.8

LABEL_LOW, LABEL_HIGH = 0.0, 10.0
"""Ends of the scale they label on, in whole numbers."""

ALL_AXES = "every axis"
"""Stands in a declaration for each axis of the audit that has zones."""

Draw = Callable[..., float]
"""A number in (0, 1) that depends only on the seed and the words given."""

Answer = Callable[[Recipe, float, float, Draw], float]
"""Gives the score of a probe from its recipe, the item's quality, the honest change, and draws."""


@dataclass(frozen=True, slots=True)
class Control:
    """A judge with a planted fault.

    Attributes:
        name: Its name.
        description: What is planted, for people.
        convictions: (check, axis) pairs it must be convicted of; `*` where the check has no axis.
        tolerated: Further pairs that also follow from the fault and may show on a large corpus.
        answer: How it scores.
    """

    name: str
    description: str
    convictions: frozenset[tuple[str, str]]
    answer: Answer
    tolerated: frozenset[tuple[str, str]] = frozenset()


def honest_change(recipe: Recipe) -> float:
    """Change of an honest score: none below the visible point, then falling, −STEP where overdone.

    It sees its whole picture, the shape, which way is up, and the prompt: any of these changed costs half a step.
    """
    if recipe.axis == ORIGINAL:
        return 0.0
    if recipe.axis in SIGHT:
        return -STEP / 2
    seen = recipe.overdone / 8 if recipe.perceptible is None else recipe.perceptible
    if recipe.strength < seen:
        return 0.0
    if seen >= recipe.overdone:
        return -STEP
    return -STEP * min(1.0, math.log(recipe.strength / seen) / math.log(recipe.overdone / seen))


class PlantedJudge:
    """A control with a seed and zones: asked through an entry real judges never get."""

    def __init__(self, control: Control, zones_id: str, seed: int) -> None:
        """Bind a control to what is visible in this audit."""
        self.control = control
        self._seed = seed
        self.card = Card(
            kind="control",
            name=control.name,
            weights=text_digest("control", "2", control.name, zones_id, str(seed)),
            pinned=True,
            scale_low=0.0,
            scale_high=10.0,
            description=control.description,
        )

    @property
    def convictions(self) -> frozenset[tuple[str, str]]:
        """What it must be convicted of."""
        return self.control.convictions

    def score_probes(self, stimuli: Sequence[Stimulus], recipes: Sequence[Recipe]) -> list[Reply]:
        """Score probes by their recipes."""
        del stimuli
        return [Reply({OVERALL: self._score(recipe)}) for recipe in recipes]

    def labels(self, items: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Have invented people label items by their hidden qualities.

        A control is held against its own hidden qualities, never against what real people say of pictures that
        it does not look at.

        Args:
            items: Mappings with item_id, source, topic, cluster and, where known, prompt_id.

        Returns:
            Rows as a check's labels have them.
        """
        return [
            {name: item.get(name) or "" for name in ("item_id", "source", "topic", "prompt_id", "cluster")}
            | {"dimension": OVERALL, "annotator_id": f"invented {rater}", "level": "interval"}
            | {"value": self._label(str(item["item_id"]), rater), "low": LABEL_LOW, "high": LABEL_HIGH}
            | {"higher_is_better": True}
            for item in items
            for rater in range(1, RATERS + 1)
        ]

    def _label(self, item_id: str, rater: int) -> float:
        seen = self._quality(item_id) + RATER_NOISE * float(ndtri(self._draw("rater", item_id, str(rater))))
        return min(LABEL_HIGH, max(LABEL_LOW, float(round(seen))))

    def _draw(self, *words: str) -> float:
        whole = int(text_digest(str(self._seed), self.control.name, *words), 16)
        return (whole + 0.5) / 16**32

    def _quality(self, item_id: str) -> float:
        return WORST + (BEST - WORST) * self._draw("quality", item_id)

    def _score(self, recipe: Recipe) -> float:
        return self.control.answer(recipe, self._quality(recipe.item_id), honest_change(recipe), self._draw)


def honest(recipe: Recipe, quality: float, change: float, draw: Draw) -> float:
    """Answer honestly."""
    del recipe, draw
    return quality + change

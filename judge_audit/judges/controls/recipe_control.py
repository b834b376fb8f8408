"""What controls are made of: a hidden quality, an honest answer to every axis, and one planted term."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from scipy.special import ndtr, ndtri

from judge_audit.core.digests import text_digest
from judge_audit.core.vocabulary import ORIGINAL, OVERALL, PAIR_AXIS
from judge_audit.judges.cards.card import Card
from judge_audit.judges.protocol import Recipe, Reply
from judge_audit.measures.headroom import COMBO
from judge_audit.stimuli.sight_probes import SIGHT

if TYPE_CHECKING:
    from judge_audit_schemas.rows import LabelsRow

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

SHARED = 0.6
"""Correlation of each sub-score's hidden quality with the overall one, of normal scores."""

SEVERITY = (0.75, 1.25)
"""Damages of pairs cost between these multiples of what their kind says."""

UNSTEADY = 0.1
"""Standard deviation by which every sub-score moves on a damage of pairs, also where it should hold."""

SUBSCORES = ("semantic", "structure", "aesthetic", "compliance")
"""What the controls with sub-scores return."""

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
        convictions: (check, what) pairs it must be convicted of. What: the axis; of the mismatch check the
            finding and its sub-score, such as `deaf semantic`; `*` where there is neither.
        tolerated: Further pairs that also follow from the fault and may show on a large corpus.
        answer: How it scores one dimension.
        dimensions: What it scores.
        pairs_only: Whether it is asked of untouched items and pairs alone.
        copies: Whether every dimension is given the overall score.
    """

    name: str
    description: str
    convictions: frozenset[tuple[str, str]]
    answer: Answer
    tolerated: frozenset[tuple[str, str]] = frozenset()
    dimensions: tuple[str, ...] = (OVERALL,)
    pairs_only: bool = False
    copies: bool = False


def honest_change(recipe: Recipe, dimension: str = OVERALL) -> float:
    """Change of an honest score: none below the visible point, then falling, −STEP where overdone.

    It sees its whole picture, the shape, which way is up, and the prompt: any of these changed costs half a step.
    A damaged member of a pair costs a step in the dimension its kind damages, a quarter where that may follow,
    and half a step of the whole.
    """
    if recipe.axis == ORIGINAL or recipe.axis.startswith(COMBO):
        return 0.0
    if recipe.axis.startswith(PAIR_AXIS):
        word = "overall" if dimension == OVERALL else recipe.expectations.get(dimension, "hold")
        return -STEP * {"drops": 1.0, "overall": 0.5, "free": 0.25, "hold": 0.0}[word]
    if recipe.axis in SIGHT:
        return -STEP / 2
    visible = recipe.overdone / 8 if recipe.perceptible is None else recipe.perceptible
    if recipe.strength < visible:
        return 0.0
    if visible >= recipe.overdone:
        return -STEP
    return -STEP * min(1.0, math.log(recipe.strength / visible) / math.log(recipe.overdone / visible))


class PlantedJudge:
    """A control with a seed and zones: asked through an entry real judges never get."""

    def __init__(self, control: Control, zones_id: str, seed: int) -> None:
        """Bind a control to what is visible in this audit."""
        self.control = control
        self._seed = seed
        self.card = Card(
            kind="control",
            name=control.name,
            weights=text_digest("control", "3", control.name, zones_id, str(seed)),
            pinned=True,
            scale_low=0.0,
            scale_high=10.0,
            dimensions=control.dimensions,
            description=control.description,
        )

    @property
    def convictions(self) -> frozenset[tuple[str, str]]:
        """What it must be convicted of."""
        return self.control.convictions

    def answers(self, axis: str) -> bool:
        """Whether it is asked of probes on this axis."""
        return not self.control.pairs_only or axis == ORIGINAL or axis.startswith(PAIR_AXIS)

    def score_probes(self, stimuli: Sequence[Stimulus], recipes: Sequence[Recipe]) -> list[Reply]:
        """Score probes by their recipes."""
        del stimuli
        return [
            Reply({dimension: self._score(recipe, dimension) for dimension in self.control.dimensions})
            for recipe in recipes
        ]

    def labels(self, items: Iterable[Mapping[str, Any]]) -> list[LabelsRow]:
        """Have invented people label items by their hidden qualities.

        A control is held against its own hidden qualities, never against what real people say of pictures that
        it does not look at.

        Args:
            items: Mappings with item_id, source, topic, cluster and, where known, prompt_id.

        Returns:
            Rows as a check's labels have them.
        """
        return [
            {
                "item_id": item["item_id"],
                "source": item.get("source") or "",
                "topic": item.get("topic") or "",
                "prompt_id": item.get("prompt_id") or "",
                "cluster": item.get("cluster") or "",
                "dimension": dimension,
                "annotator_id": f"invented {rater}",
                "level": "interval",
                "value": self._label(str(item["item_id"]), dimension, rater),
                "low": LABEL_LOW,
                "high": LABEL_HIGH,
                "higher_is_better": True,
            }
            for item in items
            for dimension in self.control.dimensions
            for rater in range(1, RATERS + 1)
        ]

    def _label(self, item_id: str, dimension: str, rater: int) -> float:
        noise = float(ndtri(self.draw("rater", item_id, str(rater), *_named(dimension))))
        quality = self._quality(item_id, dimension) + RATER_NOISE * noise
        return min(LABEL_HIGH, max(LABEL_LOW, float(round(quality))))

    def draw(self, *words: str) -> float:
        """Draw a number in (0, 1) that depends on the seed, the control and some words alone."""
        whole = int(text_digest(str(self._seed), self.control.name, *words), 16)
        return (whole + 0.5) / 16**32

    def _quality(self, item_id: str, dimension: str) -> float:
        place = self.draw("quality", item_id)
        if dimension != OVERALL:
            own = float(ndtri(self.draw("quality", item_id, dimension)))
            place = float(ndtr(SHARED * float(ndtri(place)) + math.sqrt(1 - SHARED**2) * own))
        return WORST + (BEST - WORST) * place

    def _score(self, recipe: Recipe, dimension: str) -> float:
        scored = OVERALL if self.control.copies else dimension
        change = honest_change(recipe, scored)
        if recipe.axis.startswith(PAIR_AXIS):
            low, high = SEVERITY
            change *= low + (high - low) * self.draw("severity", *probe_words(recipe))
            change += unsteadiness(recipe, scored, self.draw)
        quality = self._quality(recipe.item_id, scored)
        return self.control.answer(replace(recipe, dimension=dimension), quality, change, self.draw)


def probe_words(recipe: Recipe) -> tuple[str, ...]:
    """Name a probe for the draws about it."""
    return (recipe.item_id, recipe.axis, format(recipe.strength, ".6g"))


def unsteadiness(recipe: Recipe, dimension: str, draw: Draw) -> float:
    """By how much a sub-score moves on a damage that is none of its own."""
    return UNSTEADY * float(ndtri(draw("unsteady", *probe_words(recipe), *_named(dimension))))


def _named(dimension: str) -> tuple[str, ...]:
    """Tell the draws of sub-scores apart; those of the whole keep the words they always had."""
    return () if dimension == OVERALL else (dimension,)


def honest(recipe: Recipe, quality: float, change: float, draw: Draw) -> float:
    """Answer honestly."""
    del recipe, draw
    return quality + change


def seen_share(recipe: Recipe, axis: str) -> float:
    """Give how far an axis has come towards its visible point: 0 to 1, 0 on every other and where nobody can say."""
    if recipe.axis != axis or recipe.perceptible is None:
        return 0.0
    return min(1.0, recipe.strength / recipe.perceptible)

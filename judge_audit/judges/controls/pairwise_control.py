"""The controls that compare: the hidden quality and honest answer of any control, held side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scipy.special import ndtri

from judge_audit.core.vocabulary import Choice
from judge_audit.judges.cards.card import Card
from judge_audit.judges.controls.recipe_control import (
    ALL_AXES,
    Answer,
    Control,
    PlantedJudge,
    honest,
    probe_words,
    seen_share,
)
from judge_audit.judges.pairwise.protocol import Preference

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from judge_audit_schemas.rows import LabelsRow

    from judge_audit.judges.protocol import Recipe

TIED = 0.5
"""Qualities that differ by less are called a tie."""

NOISE = 0.2
"""Standard deviation of what it misjudges the difference by, each time it looks."""

SATURATION_CLIMB = 1.8


@dataclass(frozen=True, slots=True)
class PairControl:
    """A control that compares two pictures.

    Attributes:
        name: Its name.
        description: What is planted, for people.
        convictions: (check, what) pairs it must be convicted of, see `Control`.
        tolerated: Further pairs that also follow from the fault.
        answer: How it sees each of the two.
        always: What it answers whatever it is shown; None: the better one, a tie where they hardly differ.
    """

    name: str
    description: str
    convictions: frozenset[tuple[str, str]]
    tolerated: frozenset[tuple[str, str]] = frozenset()
    answer: Answer = honest
    always: Choice | None = None


class PairedJudge:
    """A control that compares, with a seed and zones: asked through an entry real judges never get."""

    def __init__(self, control: PairControl, zones_id: str, seed: int) -> None:
        """Bind a control to what is visible in this audit."""
        self.control = control
        inner = Control(control.name, control.description, frozenset(), control.answer)
        self._inner = PlantedJudge(inner, zones_id, seed)
        self.card = Card(
            kind="control",
            name=control.name,
            weights=self._inner.card.weights,
            pinned=True,
            compares=True,
            description=control.description,
        )

    def prefer(self, left: Recipe, right: Recipe) -> Preference:
        """Compare two probes by their recipes."""
        if self.control.always is not None:
            return Preference(self.control.always)
        one, other = (self._inner.score_probes([], [recipe])[0].scores["overall"] for recipe in (left, right))
        words = [word for recipe in (left, right) for word in probe_words(recipe)]
        difference = one - other + NOISE * float(ndtri(self._inner.draw("look", *words, str(left.repeat))))
        if abs(difference) < TIED:
            return Preference(Choice.TIE)
        return Preference(Choice.LEFT if difference > 0 else Choice.RIGHT)

    def labels(self, items: Iterable[Mapping[str, Any]]) -> list[LabelsRow]:
        """Have invented people label items by its hidden qualities."""
        return self._inner.labels(items)


CONTROLS = (
    PairControl(
        name="honest comparer",
        description="Compares any two pictures as people would; must be cleared.",
        convictions=frozenset(),
    ),
    # A judge that answered "A" 1,734 times in 1,735 was sold as one.
    PairControl(
        name="always left",
        description="Names the picture shown first, whichever that is.",
        convictions=frozenset({("position_bias", "*"), ("scale", "*"), ("top_response", ALL_AXES)}),
        # It tells neither candidates nor damages apart, where there are enough of them.
        tolerated=frozenset({("within_prompt", "*"), ("mismatch", "misses_damage overall")}),
        always=Choice.LEFT,
    ),
    PairControl(
        name="saturation-chooser",
        description="Chooses the more saturated of two pictures below the visible point.",
        convictions=frozenset({("premature", "saturation+")}),
        # What it gains there is still there where the change is overdone.
        tolerated=frozenset({("top_response", "saturation+")}),
        answer=lambda recipe, quality, change, _: (
            quality + change + SATURATION_CLIMB * seen_share(recipe, "saturation+")
        ),
    ),
)

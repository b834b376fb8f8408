"""What the audit asks of a judge, and nothing more."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from judge_audit.core.vocabulary import OVERALL, State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from judge_audit.judges.cards.card import Card


@dataclass(frozen=True, slots=True)
class Stimulus:
    """What a judge is shown.

    Attributes:
        image: 8-bit sRGB pixels, shape (height, width, 3).
        prompt: The text the image was made for; may be empty for judges that need none.
    """

    image: NDArray[np.uint8]
    prompt: str


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a probe was made. Only controls are handed this; real judges never see it.

    Attributes:
        item_id: The item the probe was drawn from.
        source: Its generator.
        axis: Name of the axis, `original` for the untouched item.
        strength: Dose in the axis's unit, 0 for the untouched item.
        perceptible: The strength at which a change of this item on this axis is first seen
            (the smaller point of its zone), None where nobody can say.
        overdone: The axis's declared overdone strength; 1 for `original`.
        repeat: Which repeat this is.
        expectations: For the damaged member of a pair, what each dimension does by its kind (drops, hold or
            free); empty for every other probe.
        dimension: The sub-score asked for, where a control answers one after another.
        first_source: Whether `source` is the first of the audit's sources by name: a control that drifts does
            so there.
    """

    item_id: str
    source: str
    axis: str
    strength: float
    perceptible: float | None
    overdone: float
    repeat: int = 0
    expectations: Mapping[str, str] = field(default_factory=dict)
    dimension: str = OVERALL
    first_source: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What a judge answered to one stimulus.

    Attributes:
        scores: One number per dimension as the judge gave it; empty when the state is not ok.
        state: ok, or what went wrong.
        raw: The reply as text where the judge writes text.
        attempts: Tries until this answer.
        tokens: Tokens used.
        cost: Price in the card's currency.
        states: What is wrong with single dimensions, where the others have a number.
        served_by: What answered, in the service's own words.
    """

    scores: Mapping[str, float] = field(default_factory=dict)
    state: State = State.OK
    raw: str = ""
    attempts: int = 1
    tokens: int = 0
    cost: float = 0.0
    states: Mapping[str, State] = field(default_factory=dict)
    served_by: str = ""


class Unanswered(Exception):  # noqa: N818 - what happened, as a judge tells it
    """Raised by a judge of whose batch some pictures failed for no fault of theirs; carries all its replies.

    The picture is not tried again at once (the judge has done so), and a judge that fails on picture after
    picture is given up.

    Attributes:
        replies: One per stimulus, in order; those that failed say so.
    """

    def __init__(self, message: str, replies: Sequence[Any]) -> None:
        """Keep the answers beside what is to be told: replies, of pairs preferences."""
        super().__init__(message)
        self.replies = list(replies)


@runtime_checkable
class Judge(Protocol):
    """Anything that scores images for prompts.

    One that answers for some prompts only may have a method `knows(prompt) -> bool`: no pair is then built of a
    prompt that it does not know.
    """

    @property
    def card(self) -> Card:
        """The card that describes it."""
        ...

    def score(self, stimuli: Sequence[Stimulus]) -> Sequence[Reply]:
        """Score a batch; one reply per stimulus, in order."""
        ...


@runtime_checkable
class PricedJudge(Judge, Protocol):
    """A judge whose answers cost money."""

    @property
    def currency(self) -> str:
        """What its prices are in; empty if its card names none."""
        ...

    def most_cost(self, height: int, width: int, prompt: str) -> float:
        """Say what one answer may cost at most, for a picture of that size."""
        ...


@runtime_checkable
class ControlJudge(Protocol):
    """A judge with a planted fault, asked through an entry real judges never get."""

    @property
    def card(self) -> Card:
        """The card that describes it."""
        ...

    @property
    def convictions(self) -> frozenset[tuple[str, str]]:
        """What it must be convicted of, and of nothing else: see `Control.convictions`."""
        ...

    def answers(self, axis: str) -> bool:
        """Whether it is asked of probes on this axis."""
        ...

    def score_probes(self, stimuli: Sequence[Stimulus], recipes: Sequence[Recipe]) -> Sequence[Reply]:
        """Score a batch, knowing how each stimulus was made."""
        ...

"""What the audit asks of a judge that compares two pictures and gives no score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from judge_audit.core.errors import UsageError
from judge_audit.core.vocabulary import Choice, State
from judge_audit.judges.protocol import Judge, Unanswered

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from judge_audit.judges.cards.card import Card


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two pictures for one prompt, as they are shown.

    Attributes:
        left: 8-bit sRGB pixels of the picture shown first, shape (height, width, 3).
        right: Those of the picture shown second; its size may be another.
        prompt: The text both were made for; may be empty.
    """

    left: NDArray[np.uint8]
    right: NDArray[np.uint8]
    prompt: str


@dataclass(frozen=True, slots=True)
class Preference:
    """What a judge answered to one comparison.

    Attributes:
        choice: The place of the better picture, or a tie; None where the state is not ok.
        state: ok, or what went wrong.
        raw: The reply as text where the judge writes text.
        attempts: Tries until this answer.
        tokens: Tokens used.
        cost: Price in the card's currency.
        served_by: What answered, in the service's own words.
    """

    choice: Choice | None = None
    state: State = State.OK
    raw: str = ""
    attempts: int = 1
    tokens: int = 0
    cost: float = 0.0
    served_by: str = ""


class Undecided(Unanswered):
    """Raised by a judge of whose batch some comparisons failed for no fault of theirs; carries all its answers."""

    @property
    def preferences(self) -> list[Preference]:
        """One per comparison, in order; those that failed say so."""
        return self.replies


@runtime_checkable
class ComparingJudge(Judge, Protocol):
    """Anything that says which of two pictures is better; its `score` raises, and its card says `compares`.

    One whose answers cost money is a `PricedJudge` too: its `most_cost` is of a comparison of two pictures of
    that size.
    """

    def compare(self, pairs: Sequence[Comparison]) -> Sequence[Preference]:
        """Compare a batch; one preference per comparison, in order."""
        ...


def without_scores(card: Card) -> UsageError:
    """Say of a judge that compares that it gives no score."""
    return UsageError(
        f"the judge “{card.name}” compares two pictures and gives no score. An audit asks it for comparisons: "
        "judge-audit run."
    )

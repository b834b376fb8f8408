"""Judges that are asked with two pictures at once, on top of what sends, waits and prices for judges that score.

Inside, a choice travels as a number: 1 for the picture shown first, 0 for the second, ½ for a tie.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from judge_audit.core.vocabulary import OVERALL, Choice, State
from judge_audit.judges.pairwise.preference_parser import read_preference
from judge_audit.judges.pairwise.protocol import Comparison, Preference, Undecided, without_scores
from judge_audit.judges.protocol import PricedJudge, Reply, Stimulus, Unanswered
from judge_audit.judges.reply_parser import short

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from judge_audit.judges.cards.card import Card

NUMBER = {Choice.LEFT: 1.0, Choice.TIE: 0.5, Choice.RIGHT: 0.0}
CHOICE = {number: choice for choice, number in NUMBER.items()}


@dataclass(frozen=True, slots=True)
class ShownPair(Stimulus):
    """Two pictures of one request.

    Attributes:
        second: The picture shown second; `image` is the first.
    """

    second: NDArray[np.uint8]


def reply_of(text: str) -> Reply:
    """Read a text as a choice."""
    preference = read_preference(text)
    if preference.choice is None:
        return Reply(state=preference.state, raw=short(text))
    return Reply({OVERALL: NUMBER[preference.choice]}, raw=short(text))


class _Inner(PricedJudge, Protocol):
    """What is asked with pairs."""


@dataclass(frozen=True, slots=True)
class Comparer:
    """A judge that compares, around one that is asked with pairs and answers with numbers for choices.

    Attributes:
        inner: What sends, waits, prices and reads.
    """

    inner: _Inner

    @property
    def card(self) -> Card:
        """The card."""
        return self.inner.card

    @property
    def currency(self) -> str:
        """What its prices are in."""
        return self.inner.currency

    def most_cost(self, height: int, width: int, prompt: str) -> float:
        """Say what one comparison of pictures of that size may cost at most."""
        return self.inner.most_cost(height, width, prompt)

    def score(self, stimuli: Sequence[Stimulus]) -> list[Reply]:
        """Say that it gives no score."""
        del stimuli
        raise without_scores(self.card)

    def compare(self, pairs: Sequence[Comparison]) -> list[Preference]:
        """Ask for every comparison by itself.

        Raises:
            Undecided: If some failed; carries all answers.
            UsageError: If it cannot be asked at all.
        """
        try:
            replies = self.inner.score([ShownPair(pair.left, pair.prompt, pair.right) for pair in pairs])
        except Unanswered as lost:
            raise Undecided(str(lost), [_preference(reply) for reply in lost.replies]) from lost
        return [_preference(reply) for reply in replies]

    def close(self) -> None:
        """End what it keeps running, if anything."""
        if callable(close := getattr(self.inner, "close", None)):
            close()


def _preference(reply: Reply) -> Preference:
    """Turn a reply that holds a number for a choice into the choice."""
    choice = CHOICE[reply.scores[OVERALL]] if reply.state == State.OK else None
    return Preference(
        choice, reply.state, reply.raw, reply.attempts, reply.tokens, reply.cost, reply.served_by
    )

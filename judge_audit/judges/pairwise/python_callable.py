"""A Python callable that compares: a function of lefts, rights and prompts, or an object with `compare`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import UsageError
from judge_audit.core.vocabulary import Choice, State
from judge_audit.judges.cards.card import Card
from judge_audit.judges.cards.identity import code_digest
from judge_audit.judges.pairwise.preference_parser import read_preference
from judge_audit.judges.pairwise.protocol import Comparison, Preference, without_scores

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from judge_audit.judges.protocol import Reply, Stimulus

KIND = "callable"


class CallableComparer:
    """A judge around a function of a list of left images, a list of right ones and a list of prompts."""

    def __init__(self, function: Callable[..., Any], card: Card) -> None:
        """Keep the function and its card."""
        self._function = function
        self._card = card

    @classmethod
    def of(cls, thing: Any, name: str, card: Card | None = None) -> CallableComparer:  # noqa: ANN401
        """Make the judge of a function, or of an object with a method `compare`.

        Args:
            thing: The function or object.
            name: What it goes by; part of its identity.
            card: Its card; one is made if none is given.

        Raises:
            UsageError: If it cannot be called.
        """
        function = thing.compare if compares(thing) else thing
        if not callable(function):
            raise UsageError(
                f"a judge that compares must be callable as compare(lefts, rights, prompts); {thing!r:.80} is not."
            )
        told = card or Card(kind=KIND, name=name)
        return cls(function, replace(told, compares=True, weights=told.weights or code_digest(thing, name)))

    @property
    def card(self) -> Card:
        """The card."""
        return self._card

    def score(self, stimuli: Sequence[Stimulus]) -> list[Reply]:
        """Say that it gives no score."""
        del stimuli
        raise without_scores(self._card)

    def compare(self, pairs: Sequence[Comparison]) -> list[Preference]:
        """Call the function with left and right images (height, width, 3; 8-bit sRGB) and prompts."""
        told = self._function(
            [pair.left for pair in pairs], [pair.right for pair in pairs], [pair.prompt for pair in pairs]
        )
        try:
            answers = list(told)
        except TypeError as error:
            raise UsageError(
                f"the judge “{self._card.name}” returned {type(told).__name__}; it must return a list with "
                "“left”, “right” or “tie” for each pair."
            ) from error
        return [_preference(answer) for answer in answers]


def compares(thing: Any) -> bool:  # noqa: ANN401 - anything handed over
    """Tell whether something has a method `compare`."""
    return callable(getattr(thing, "compare", None))


def _preference(answer: Any) -> Preference:  # noqa: ANN401 - whatever the function returned
    """Turn one answer into a preference."""
    if isinstance(answer, Preference):
        return answer
    if answer is None:
        return Preference(state=State.EMPTY)
    if isinstance(answer, Choice):
        return Preference(answer)
    if isinstance(answer, str):
        return read_preference(answer)
    return Preference(state=State.UNPARSABLE, raw=repr(answer)[:500])

"""Two pictures in one message to a chat endpoint, and its answer read as a choice between them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from judge_audit.judges.chat_replies import ReplyReader, short
from judge_audit.judges.chat_requests import ChatRequest
from judge_audit.judges.comparing import Comparison, Preference, Undecided, without_scores
from judge_audit.judges.preferences import VERSION, read_preference
from judge_audit.judges.protocol import Reply, Stimulus, Unanswered
from judge_audit.vocabulary import OVERALL, Choice, State

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from judge_audit.judges.card_files import CardFiles
    from judge_audit.judges.cards import Card
    from judge_audit.judges.endpoint import EndpointJudge

NUMBER = {Choice.LEFT: 1.0, Choice.TIE: 0.5, Choice.RIGHT: 0.0}
CHOICE = {number: choice for choice, number in NUMBER.items()}
WORDS = ("A", "B", "tie")
"""What a JSON answer may hold."""


@dataclass(frozen=True, slots=True)
class ShownPair(Stimulus):
    """Two pictures of one request.

    Attributes:
        second: The picture shown second; `image` is the first.
    """

    second: NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRequest(ChatRequest):
    """How a judge is asked to compare.

    Attributes:
        labels: Texts that stand before the first and the second picture; empty for none.
    """

    labels: tuple[str, ...] = ()

    def _pictures(self, stimulus: Stimulus) -> list[dict[str, Any]]:
        """Give both pictures, each after its label."""
        assert isinstance(stimulus, ShownPair)
        shown = [self._picture_part(image) for image in (stimulus.image, stimulus.second)]
        if not self.labels:
            return shown
        told = [{"type": "text", "text": label} for label in self.labels]
        return [part for pair in zip(told, shown, strict=True) for part in pair]

    def _schema(self) -> dict[str, Any]:
        """Demand a choice and nothing else."""
        schema = {
            "type": "object",
            "properties": {"choice": {"type": "string", "enum": list(WORDS)}},
            "required": ["choice"],
            "additionalProperties": False,
        }
        return {"name": "choice", "strict": True, "schema": schema}

    def identity(self) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """Give what makes the judge the judge: template, preprocessing and decoding, with the labels."""
        # slots=True makes the class anew, so that a bare super() names another one
        template, shown, told = ChatRequest.identity(self)
        return template, {**shown, "labels": list(self.labels)}, told


class PairReader(ReplyReader):
    """Reads answers as choices: 1 for the first picture, 0 for the second, ½ for a tie."""

    __slots__ = ()

    @property
    def version(self) -> str:
        """Version of the reading."""
        return f"pairs {VERSION}"

    def _of_text(self, text: str) -> Reply:
        found = read_preference(text)
        if found.choice is None:
            return Reply(state=found.state, raw=short(text))
        return Reply({OVERALL: NUMBER[found.choice]}, raw=short(text))


def pair_request_of(card: Card, files: CardFiles, request: ChatRequest) -> PairRequest:
    """Read how a judge is asked to compare, or note what is wrong."""
    if request.answer not in {"text", "json"}:
        files.fault("answer", f"a judge that compares answers text or json, not {request.answer}.")
    told = {entry.name: getattr(request, entry.name) for entry in fields(request)}
    return PairRequest(**told, labels=tuple(card.settings.get("picture", {}).get("labels", ())))


@dataclass(frozen=True, slots=True)
class ComparingEndpoint:
    """A judge behind an endpoint that compares; asked as any judge there, with two pictures a request.

    Attributes:
        inner: What sends, waits, prices and reads.
    """

    inner: EndpointJudge

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
        """Ask for every comparison in a request of its own.

        Raises:
            Undecided: If requests failed; carries all answers.
            UsageError: If the endpoint cannot be asked at all.
        """
        try:
            replies = self.inner.score([ShownPair(pair.left, pair.prompt, pair.right) for pair in pairs])
        except Unanswered as lost:
            raise Undecided(str(lost), [_preference(reply) for reply in lost.replies]) from lost
        return [_preference(reply) for reply in replies]


def _preference(reply: Reply) -> Preference:
    """Turn a reply that holds a number for a choice into the choice."""
    choice = CHOICE[reply.scores[OVERALL]] if reply.state == State.OK else None
    return Preference(
        choice, reply.state, reply.raw, reply.attempts, reply.tokens, reply.cost, reply.served_by
    )

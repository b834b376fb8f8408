"""Two pictures in one message to a chat endpoint, and its answer read as a choice between them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from judge_audit.judges.chat.chat_replies import ReplyReader
from judge_audit.judges.chat.chat_requests import ChatRequest
from judge_audit.judges.pairwise.chat_judges import ShownPair, reply_of
from judge_audit.judges.pairwise.preference_parser import VERSION

if TYPE_CHECKING:
    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.cards.card_files import CardFiles
    from judge_audit.judges.protocol import Reply, Stimulus

WORDS = ("A", "B", "tie")
"""What a JSON answer may hold."""


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
        return reply_of(text)


def pair_request_of(card: Card, files: CardFiles, request: ChatRequest) -> PairRequest:
    """Read how a judge is asked to compare, or note what is wrong."""
    if request.answer not in {"text", "json"}:
        files.fault("answer", f"a judge that compares answers text or json, not {request.answer}.")
    told = {entry.name: getattr(request, entry.name) for entry in fields(request)}
    return PairRequest(**told, labels=tuple(card.settings.get("picture", {}).get("labels", ())))

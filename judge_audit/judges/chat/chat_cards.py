"""What the card of an endpoint says of how it is asked and how its answers are read; every fault by its field."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judge_audit.judges.chat.chat_replies import ReplyReader
from judge_audit.judges.chat.chat_requests import ChatRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.cards.card_files import CardFiles
    from judge_audit.judges.cards.reply_rules import ReplyRule


MOST_TEMPLATE_BYTES = 262_144


MOST_TOKENS = 512
"""Tokens of an answer, where the card does not say."""


def request_of(card: Card, files: CardFiles, rule: ReplyRule) -> ChatRequest:
    """Read how the judge is asked, or note what is wrong."""
    settings, picture = card.settings, card.settings.get("picture", {})
    template = _text(files, "prompt", card.prompt_template, settings.get("prompt_file", ""))
    system = _text(files, "system", settings.get("system", ""), settings.get("system_file", ""))
    if not template:
        files.fault(
            "prompt_file",
            "name the file that holds the question, with {prompt} where the prompt goes, or write the question itself. "
            'For example: prompt_template: "How well does this picture show: {prompt}?".',
        )
    decoding = {"temperature": 0, **card.decoding}
    if not {"max_tokens", "max_completion_tokens"} & set(decoding):
        decoding["max_tokens"] = MOST_TOKENS if settings.get("answer", "text") in {"text", "json"} else 4
    return ChatRequest(
        model=settings["model"],
        template=template,
        system=system,
        answer=settings.get("answer", "text"),
        dimensions=tuple(name for name in card.dimensions if name not in rule.combine),
        whole=card.scale_step is not None and float(card.scale_step).is_integer(),
        place=picture.get("place", "before"),
        most_side=picture.get("most_side"),
        interpolation=picture.get("interpolation", "lanczos"),
        detail=picture.get("detail", ""),
        decoding={name: value for name, value in decoding.items() if value is not None},
    )


def _text(files: CardFiles, field_: str, text: str, file: str) -> str:
    """Take a text from the card or from the file it names."""
    if not file:
        return text
    name = f"{field_}_file"
    if text:
        files.fault(name, "the card holds the text already; give the text or the file.")
    content = files.read(name, file, MOST_TEMPLATE_BYTES)
    try:
        return (content or b"").decode("utf-8").strip()
    except UnicodeDecodeError:
        files.fault(name, f"{file} is not UTF-8 text.")
        return ""


def reader_of(card: Card, files: CardFiles, rule: ReplyRule) -> ReplyReader:
    """Read how answers become scores, or note what is wrong."""
    answer = card.settings.get("answer", "text")
    tokens: dict[str, float] = {}
    if answer in {"expected", "yes_probability"} and len(card.dimensions) > 1:
        files.fault("dimensions", f"answer: {answer} gives one number; name one dimension.")
    if answer == "expected":
        tokens = _tokens(card)
        if not tokens:
            files.fault(
                "tokens",
                "answer: expected reads one token: declare a scale of whole numbers from 0 to 9 at most (scale_low: 1, "
                "scale_high: 5), or name the tokens and their values. For example: tokens: {A: 5, B: 4, C: 3}.",
            )
    elif card.settings.get("tokens"):
        files.fault("tokens", "tokens belong to answer: expected.")
    return ReplyReader(answer, rule, card.dimensions[0], tokens)


def in_pairs(
    card: Card, files: CardFiles, request: ChatRequest, reader: ReplyReader
) -> tuple[ChatRequest, ReplyReader]:
    """Read how a judge that compares is asked and how its answers become choices, or note what is wrong."""
    if request.answer not in {"text", "json"}:
        files.fault("answer", f"a judge that compares answers text or json, not {request.answer}.")
    labels = tuple(card.settings.get("picture", {}).get("labels", ()))
    return (
        replace(request, compares=True, labels=labels),
        replace(reader, answer="text", tokens={}, compares=True),
    )


def _tokens(card: Card) -> dict[str, float]:
    """Give the score tokens: those of the card, else the digits of its scale."""
    if values := card.settings.get("tokens"):
        return {str(token).strip().casefold(): float(value) for token, value in values.items()}
    low, high = card.scale_low, card.scale_high
    if low is None or high is None or low != int(low) or high != int(high) or not 0 <= low <= high <= 9:
        return {}
    return {str(level): float(level) for level in range(int(low), int(high) + 1)}


def claims_of(card: Card, request: ChatRequest) -> dict[str, Any]:
    """Give the scale that a probability has by itself."""
    bare = card.scale_low is None and card.scale_high is None
    return {"scale_low": 0.0, "scale_high": 1.0} if request.answer == "yes_probability" and bare else {}


def most_out(decoding: Mapping[str, Any]) -> int:
    """Give the tokens that an answer may have at most."""
    limits = [decoding.get(name) for name in ("max_tokens", "max_completion_tokens")]
    return max((int(value) for value in limits if isinstance(value, (int, float))), default=MOST_TOKENS)

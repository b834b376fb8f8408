"""What answers cost, by the prices that a card names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge_audit.judges.cards.card import Card

PIXELS_PER_TOKEN = 750
"""A picture counts as its pixels divided by this until an answer has told what it is: services differ widely."""

CHARACTERS_PER_TOKEN = 2
"""A text counts as its characters divided by this; most tokens are longer."""

OVERHEAD = 64
"""Tokens around the message."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices as a card names them; all zero if it names none.

    Attributes:
        currency: What they are in; empty if the card names none.
        input: Of one token that is sent.
        output: Of one token that is answered.
        picture: Of one picture, beside its tokens.
        picture_tokens: Tokens of one picture, where the card says so.
        pictures: Pictures of one request.
    """

    currency: str = ""
    input: float = 0.0
    output: float = 0.0
    picture: float = 0.0
    picture_tokens: int | None = None
    pictures: int = 1

    def cost(self, tokens_in: float, tokens_out: float) -> float:
        """Price one answer."""
        return self.pictures * self.picture + tokens_in * self.input + tokens_out * self.output

    def tokens_in(self, height: int, width: int, characters: int) -> int:
        """Guess how many tokens a picture with its text is."""
        picture = self.picture_tokens
        if picture is None:
            picture = height * width // PIXELS_PER_TOKEN
        return OVERHEAD + self.pictures * picture + -(-characters // CHARACTERS_PER_TOKEN)


def prices_of(card: Card) -> Prices:
    """Read the prices of a card."""
    prices = card.settings.get("prices")
    if not prices:
        return Prices()
    per = float(prices.get("per", 1_000_000))
    return Prices(
        currency=prices["currency"],
        input=prices.get("input", 0.0) / per,
        output=prices.get("output", 0.0) / per,
        picture=float(prices.get("picture", 0.0)),
        picture_tokens=prices.get("picture_tokens"),
    )

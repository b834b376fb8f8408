"""What a card says of how its judge's replies are read: words, lists, names and what is combined of others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judge_audit.core.digests import canonical_json, text_digest
from judge_audit.core.vocabulary import OVERALL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit.judges.cards.card import Card

VERSION = "1"
"""Raised whenever the same reply would be read otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyRule:
    """How one judge's replies are read.

    Attributes:
        dimensions: The card's dimensions.
        low: Lower end of the declared scale, None if none is declared.
        high: Upper end.
        words: Words of its scale (lower case) to numbers.
        lists: A name the file or reply uses to the dimensions its list of sub-scores holds.
        names: What the judge calls a dimension (lower case) to the card's name.
        combine: A dimension made of others to those others and how: least or mean.
    """

    dimensions: tuple[str, ...] = (OVERALL,)
    low: float | None = None
    high: float | None = None
    words: Mapping[str, float] = field(default_factory=dict)
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    combine: Mapping[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """Version of the parser with what the card tells it."""
        parts = {"words": self.words, "lists": self.lists, "names": self.names, "combine": self.combine}
        bare = not any(parts.values())
        return VERSION if bare else f"{VERSION}-{text_digest(canonical_json(parts))[:8]}"

    def targets(self, given: str) -> tuple[str, ...]:
        """Name the dimensions that a reply given under a name speaks of; none if nobody knows.

        Args:
            given: A dimension of the card, a name of `lists` or `names`, or "" for the whole reply.
        """
        if given in self.lists:
            return self.lists[given]
        if given in self.dimensions:
            return (given,)
        if given.strip().casefold() in self.names:
            return (self.names[given.strip().casefold()],)
        return tuple(name for name in self.dimensions if name not in self.combine) if not given else ()


def rule_of(card: Card) -> ReplyRule:
    """Read a card's rule for replies."""
    replies = card.settings.get("replies", {})
    return ReplyRule(
        dimensions=tuple(card.dimensions),
        low=card.scale_low,
        high=card.scale_high,
        words={word_key(word): float(number) for word, number in replies.get("words", {}).items()},
        lists={str(name): tuple(meant) for name, meant in replies.get("lists", {}).items()},
        names={word_key(str(name)): meant for name, meant in replies.get("names", {}).items()},
        combine={
            name: (tuple(entry["of"]), entry["by"]) for name, entry in replies.get("combine", {}).items()
        },
    )


def word_key(word: str) -> str:
    """Bring a word to the form in which words are compared."""
    return " ".join(word.strip(" \t\r\n.!?,;:*_\"'`“”").casefold().split())

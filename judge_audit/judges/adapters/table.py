"""The score table: a judge whose scores exist already and lie in the lake; it can be asked nothing new."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from judge_audit.core.errors import Fault, InputError, UsageError
from judge_audit.judges.cards.reply_rules import rule_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.protocol import Judge, Reply, Stimulus

KIND = "table"


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """The judge.

    Attributes:
        card: Its card.
    """

    card: Card

    def score(self, stimuli: Sequence[Stimulus]) -> list[Reply]:
        """Refuse to score pictures.

        Raises:
            UsageError: Always.
        """
        raise UsageError(
            f"the judge “{self.card.name}” is a table of scores and cannot score {len(stimuli)} pictures. Import its "
            "scores: judge-audit import scores FILE --card CARD"
        )


def build(card: Card, *, project: Path | None) -> Judge:
    """Make a score table.

    What such a judge computes with is not here: unless the card gives a digest of its weights, its name and
    version stand for it.

    Raises:
        InputError: If the card's rule for replies names dimensions that the card does not.
    """
    del project
    rule = rule_of(card)
    spoken = {name for dimensions in rule.lists.values() for name in dimensions} | set(rule.names.values())
    spoken |= {name for made, (parts, _) in rule.combine.items() for name in (made, *parts)}
    if strangers := sorted(spoken - set(card.dimensions)):
        origin = card.origin.name if card.origin else card.name
        message = f"{', '.join(strangers)}: the card's dimensions are {', '.join(card.dimensions)}."
        raise InputError([Fault(origin, 0, "replies", message)])
    return ScoreTable(
        replace(
            card,
            target=card.target or f"{card.name} {card.version}",
            parser_version=f"{card.parser_version}/{rule.version}",
        )
    )

"""Epochs: which one a judge is in by what the lake has seen, and the judge as that epoch's."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import UsageError
from judge_audit.judges.adapters.table import KIND as TABLE
from judge_audit.judges.protocol import PricedJudge
from judge_audit.lake import Lake

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.protocol import Judge, Reply, Stimulus

UNWATCHED = frozenset({TABLE, "control", "ruler"})
"""Kinds of judges that cannot change behind their name: nothing is asked of them, or they are our own."""


def is_watched(card: Card) -> bool:
    """Tell whether a judge is watched by canaries: those that compare two pictures have no score to watch."""
    compares = bool(getattr(card, "compares", False))
    return not card.pinned and not compares and card.kind not in UNWATCHED


def epoch_in(lake: Lake, card: Card) -> int:
    """Give the epoch a judge is in: the last that its canaries showed, or the card's own if that is later."""
    if card.kind in UNWATCHED:
        return card.epoch
    nights = lake.read("canary_nights", lineage_id=card.lineage_id)
    if not nights.num_rows:
        return card.epoch
    return max(card.epoch, int(nights.sort_by("asking")["epoch"][-1].as_py()))


def known_epoch(url: str, card: Card) -> int:
    """Give the same for a lake that may not be there yet; none is made."""
    try:
        return epoch_in(Lake.open(url, create=False), card)
    except UsageError:
        return card.epoch


class _AtEpoch:
    """A judge under the card of another epoch."""

    def __init__(self, judge: Judge, card: Card) -> None:
        self.judge = judge
        self._card = card

    @property
    def card(self) -> Card:
        return self._card

    def score(self, stimuli: Sequence[Stimulus]) -> Sequence[Reply]:
        return self.judge.score(stimuli)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the judge has beside
        if name == "judge":
            raise AttributeError(name)
        return getattr(self.judge, name)


class _PricedAtEpoch(_AtEpoch):
    """The same for a judge whose answers cost money."""

    judge: PricedJudge

    @property
    def currency(self) -> str:
        return self.judge.currency

    def most_cost(self, height: int, width: int, prompt: str) -> float:
        return self.judge.most_cost(height, width, prompt)


def at_epoch(judge: Judge, epoch: int) -> Judge:
    """Give a judge as that of an epoch: the same answers under another judge_id."""
    if isinstance(judge, _AtEpoch):
        judge = judge.judge
    if judge.card.epoch == epoch:
        return judge
    card = replace(judge.card, epoch=epoch)
    return _PricedAtEpoch(judge, card) if isinstance(judge, PricedJudge) else _AtEpoch(judge, card)

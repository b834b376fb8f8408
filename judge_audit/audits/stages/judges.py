"""Judges and what they are called, put into the lake."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from judge_audit.core.tables import from_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit.judges.cards.card import Card
    from judge_audit.lake import Lake


def register(lake: Lake, cards: Sequence[Card]) -> None:
    """Put judges and their labels into the lake; one seen before costs nothing."""
    for card in cards:
        control = card.kind in {"control", "ruler"}
        judge = {"judge_id": card.judge_id, "kind": card.kind, "card": card.as_json(), "is_control": control}
        label = {"judge_id": card.judge_id, "name": card.name, "version": card.version, "is_control": control}
        lake.commit({"judges": from_rows("judges", [{**judge, "registered_at": datetime.now(UTC)}])})
        lake.commit({"judge_labels": from_rows("judge_labels", [label])})

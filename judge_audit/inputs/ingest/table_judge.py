"""What the lake holds of a judge whose scores come as tables."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import canonical_json, text_digest
from judge_audit.core.tables import from_rows
from judge_audit.inputs.ingest.items import probe_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from judge_audit.core.vocabulary import State
    from judge_audit.judges.cards.card import Card
    from judge_audit.lake import Lake

    Call = tuple[str, int]

ROOT = ("kind", "target", "weights", "prompt_template", "preprocessing", "decoding", "epoch")
"""What makes a judge the judge, whoever reads its replies."""


def root_of(card: Card) -> str:
    """Name a judge apart from the parser that reads it."""
    return text_digest(*(canonical_json(getattr(card, name)) for name in ROOT))


def family_of(lake: Lake, card: Card) -> dict[str, str]:
    """Name the judge_ids that are this judge by whatever parser, each with its parser."""
    found = {card.judge_id: card.parser_version}
    root = root_of(card)
    for row in lake.read("judges", kind=card.kind).to_pylist():
        told = json.loads(row["card"])
        if text_digest(*(canonical_json(told.get(name)) for name in ROOT)) == root:
            found[row["judge_id"]] = str(told["parser_version"])
    return found


def held_scores(lake: Lake, judge_id: str) -> dict[Call, dict[str, tuple[float | None, str]]]:
    """Give the scores of a judge: by (probe_id, repeat), then by dimension, its value and state."""
    found: dict[Call, dict[str, tuple[float | None, str]]] = {}
    for row in lake.read("scores", judge_id=judge_id).to_pylist():
        held = found.setdefault((row["probe_id"], row["repeat"]), {})
        held[row["dimension"]] = (row["value"], row["state"])
    return found


def against_lake(
    held: Mapping[Call, Mapping[str, tuple[float | None, str]]],
    item_id: str,
    repeat: int,
    found: Mapping[str, tuple[float | None, State]],
) -> tuple[bool, dict[str, tuple[float | None, State]], list[str]]:
    """Hold an answer against what the lake has of the same call.

    Returns:
        Whether the lake has the call, the dimensions it does not have yet, and those it has otherwise.
    """
    there = held.get((probe_name(item_id), repeat))
    if there is None:
        return False, dict(found), []
    fresh = {name: told for name, told in found.items() if name not in there}
    odd = [
        name
        for name, (value, state) in found.items()
        if name in there and there[name] != (value, state.value)
    ]
    return True, fresh, odd


def describe(told: tuple[Any, str]) -> str:
    """Say what the lake holds."""
    value, state = told
    return f"{value:g}" if value is not None else f"“{state}”"


def judge_tables(card: Card, *, control: bool = False) -> dict[str, pa.Table]:
    """Make the rows that say who a judge is."""
    judge = {"judge_id": card.judge_id, "kind": card.kind, "card": card.as_json(), "is_control": control}
    label = {"judge_id": card.judge_id, "name": card.name, "version": card.version, "is_control": control}
    return {
        "judges": from_rows("judges", [{**judge, "registered_at": datetime.now(UTC)}]),
        "judge_labels": from_rows("judge_labels", [label]),
    }

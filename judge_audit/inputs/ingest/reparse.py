"""Reading replies again: a better parser reads what lies in the lake, and nothing is asked of the judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.core.tables import from_rows
from judge_audit.core.vocabulary import State
from judge_audit.inputs.ingest.answers import EMPTY, call_row, read_raw, score_rows, unpacked
from judge_audit.inputs.ingest.table_judge import family_of, held_scores, judge_tables
from judge_audit.judges.cards.reply_rules import rule_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit.judges.cards.card import Card
    from judge_audit.lake import Lake

    Row = dict[str, Any]


def reread(lake: Lake, card: Card) -> int:
    """Read the replies of a judge that only other parsers have read; they become answers of its new judge_id.

    Args:
        lake: The lake.
        card: The card, with the parser that is to read.

    Returns:
        How many replies were read.
    """
    named = card.judge_id
    done = {(row["probe_id"], row["repeat"]) for row in lake.answered(named).to_pylist()}
    others = [judge_id for judge_id in family_of(lake, card) if judge_id != named]
    rule = rule_of(card)
    calls: list[Row] = []
    scores: list[Row] = []
    for judge_id in others:
        held = held_scores(lake, judge_id)
        for call in lake.read("calls", judge_id=judge_id).to_pylist():
            key = (call["probe_id"], call["repeat"])
            if key in done:
                continue
            done.add(key)
            found = _kept(held.get(key, {}), card) | read_raw(unpacked(call["raw_reply"]), rule)
            calls.append(call_row(named, *key, call["raw_reply"], found))
            scores += score_rows(named, card.parser_version, *key, found)
    if calls:
        tables = {"calls": from_rows("calls", calls), "scores": from_rows("scores", scores)}
        lake.commit({**tables, **judge_tables(card)})
    return len(calls)


def _kept(held: Mapping[str, tuple[float | None, str]], card: Card) -> dict[str, tuple[float | None, State]]:
    """Keep what is known of a dimension whose reply does not lie with the call; empty where it never came."""
    return {
        name: (held[name][0], State(held[name][1])) if held[name][0] is not None else EMPTY
        for name in card.dimensions
        if name in held
    }

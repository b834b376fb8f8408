"""Judges whose scores come as tables: replies as rows of `calls` and `scores`, and what the lake holds of them."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from judge_audit_schemas.rows import CallsRow, JudgesRow, ScoresRow

from judge_audit.core.digests import canonical_json
from judge_audit.core.tables import from_rows, rows_of
from judge_audit.core.vocabulary import State
from judge_audit.inputs.ingest.items import probe_name
from judge_audit.judges.cards.origin import origin_of
from judge_audit.judges.cards.reply_rules import rule_of
from judge_audit.judges.reply_parser import combined, read_reply

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pyarrow as pa

    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.cards.reply_rules import ReplyRule
    from judge_audit.lake import Lake

    Call = tuple[str, int]
    Found = tuple[float | None, State]

ROOT = ("kind", "target", "weights", "prompt_template", "preprocessing", "decoding", "epoch")
"""What makes a judge the judge, whoever reads its replies."""


def family_of(lake: Lake, card: Card) -> dict[str, str]:
    """Name the judge_ids that are this judge by whatever parser, each with its parser."""
    parsers = {card.judge_id: card.parser_version}
    root = [canonical_json(getattr(card, name)) for name in ROOT]
    for row in rows_of(lake.read("judges", kind=card.kind), JudgesRow):
        content = json.loads(row["card"])
        if [canonical_json(content.get(name)) for name in ROOT] == root:
            parsers[row["judge_id"]] = str(content["parser_version"])
    return parsers


def held_scores(lake: Lake, judge_id: str) -> dict[Call, dict[str, tuple[float | None, str]]]:
    """Give the scores of a judge: by (probe_id, repeat), then by dimension, its value and state."""
    scores: dict[Call, dict[str, tuple[float | None, str]]] = {}
    for row in rows_of(lake.read("scores", judge_id=judge_id), ScoresRow):
        dimensions = scores.setdefault((row["probe_id"], row["repeat"]), {})
        dimensions[row["dimension"]] = (row["value"], row["state"] or "")
    return scores


def against_lake(
    lake_scores: Mapping[Call, Mapping[str, tuple[float | None, str]]],
    item_id: str,
    repeat: int,
    answered: Mapping[str, tuple[float | None, State]],
) -> tuple[bool, dict[str, tuple[float | None, State]], list[str]]:
    """Hold an answer against what the lake has of the same call.

    Returns:
        Whether the lake has the call, the dimensions it does not have yet, and those it has otherwise.
    """
    there = lake_scores.get((probe_name(item_id), repeat))
    if there is None:
        return False, dict(answered), []
    fresh = {name: score for name, score in answered.items() if name not in there}
    odd = [
        name
        for name, (value, state) in answered.items()
        if name in there and there[name] != (value, state.value)
    ]
    return True, fresh, odd


def describe(score: tuple[Any, str]) -> str:
    """Say what the lake holds."""
    value, state = score
    return f"{value:g}" if value is not None else f"“{state}”"


def judge_tables(card: Card, project: str = "", *, control: bool = False) -> dict[str, pa.Table]:
    """Make the rows that say who a judge is."""
    judge = {"judge_id": card.judge_id, "kind": card.kind, "card": card.as_json(), "is_control": control}
    label = {"judge_id": card.judge_id, "name": card.name, "version": card.version, "is_control": control}
    label |= {"origin": origin_of(card, project)}
    return {
        "judges": from_rows("judges", [{**judge, "registered_at": datetime.now(UTC)}]),
        "judge_labels": from_rows("judge_labels", [label]),
    }


ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True)


EMPTY: tuple[None, State] = (None, State.EMPTY)


def read_raw(raw: Mapping[str, str], rule: ReplyRule) -> dict[str, Found]:
    """Read all that a judge wrote in one call, by the name each reply was given under."""
    scores: dict[str, Found] = {}
    for asked_as, text in raw.items():
        for name, score in read_reply(text, rule, asked_as).items():
            scores[name] = score if scores.get(name, score) == score else (None, State.UNPARSABLE)
    return scores | combined(scores, rule)


def packed(raw: Mapping[str, str]) -> str:
    """Write the replies of one call as the text that table `calls` keeps."""
    return ENCODER.encode(dict(raw))


def unpacked(text: str | None) -> dict[str, str]:
    """Read what `packed` wrote; nothing if it is something else."""
    try:
        replies = json.loads(text or "{}")
    except ValueError:
        return {}
    return {str(key): str(value) for key, value in replies.items()} if isinstance(replies, dict) else {}


def call_row(
    judge_id: str, probe_id: str, repeat: int, raw: str | None, answered: Mapping[str, Found]
) -> CallsRow:
    """Make the row of `calls` of one answer: ok if any of its dimensions is."""
    states = [state for _, state in answered.values()]
    state = State.OK if State.OK in states else next(iter(states), State.EMPTY)
    return {
        "judge_id": judge_id,
        "probe_id": probe_id,
        "repeat": repeat,
        "runtime_id": "imported",
        "state": state.value,
        "raw_reply": raw,
        "attempts": 1,
        "latency_ms": 0.0,
        "tokens": 0,
        "cost": 0.0,
    }


def score_rows(
    judge_id: str, parser_version: str, probe_id: str, repeat: int, answered: Mapping[str, Found]
) -> list[ScoresRow]:
    """Make the rows of `scores` of one answer."""
    return [
        {
            "judge_id": judge_id,
            "probe_id": probe_id,
            "repeat": repeat,
            "dimension": dimension,
            "value": value,
            "state": state.value,
            "parser_version": parser_version,
        }
        for dimension, (value, state) in answered.items()
    ]


def state_lines(states: Iterable[tuple[str, str, State]]) -> list[str]:
    """Count what became of scores: one line per state, by source where anything is amiss.

    Args:
        states: (dimension, source, state) of every score.
    """
    by_source: dict[tuple[str, State], Counter[str]] = {}
    for dimension, source, state in states:
        by_source.setdefault((dimension, state), Counter())[source] += 1
    lines = []
    order = list(State)
    for (dimension, state), counts in sorted(
        by_source.items(), key=lambda it: (it[0][0], order.index(it[0][1]))
    ):
        line = f"{dimension}: {counts.total():,} {state.value.replace('_', ' ')}"
        if state != State.OK:
            line += f" ({', '.join(f'{source} {n:,}' for source, n in sorted(counts.items()))})"
        lines.append(line)
    return lines


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
    calls: list[CallsRow] = []
    scores: list[ScoresRow] = []
    for judge_id in others:
        stored = held_scores(lake, judge_id)
        for call in rows_of(lake.read("calls", judge_id=judge_id), CallsRow):
            key = (call["probe_id"], call["repeat"])
            if key in done:
                continue
            done.add(key)
            answered = _kept(stored.get(key, {}), card) | read_raw(unpacked(call["raw_reply"]), rule)
            calls.append(call_row(named, *key, call["raw_reply"], answered))
            scores += score_rows(named, card.parser_version, *key, answered)
    if calls:
        tables = {"calls": from_rows("calls", calls), "scores": from_rows("scores", scores)}
        lake.commit({**tables, **judge_tables(card)})
    return len(calls)


def _kept(
    stored: Mapping[str, tuple[float | None, str]], card: Card
) -> dict[str, tuple[float | None, State]]:
    """Keep what is known of a dimension whose reply is not with the call; empty where it never came."""
    return {
        name: (stored[name][0], State(stored[name][1])) if stored[name][0] is not None else EMPTY
        for name in card.dimensions
        if name in stored
    }

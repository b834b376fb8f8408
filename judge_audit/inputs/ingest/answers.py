"""From replies to rows of `calls` and `scores`, and the counts that are printed."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from judge_audit.core.vocabulary import State
from judge_audit.judges.reply_parser import combined, read_reply

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from judge_audit.judges.cards.reply_rules import ReplyRule

    Row = dict[str, Any]
    Found = tuple[float | None, State]

ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True)

EMPTY: tuple[None, State] = (None, State.EMPTY)


def read_raw(raw: Mapping[str, str], rule: ReplyRule) -> dict[str, Found]:
    """Read all that a judge wrote in one call, by the name each reply was given under."""
    found: dict[str, Found] = {}
    for given, text in raw.items():
        for name, told in read_reply(text, rule, given).items():
            found[name] = told if found.get(name, told) == told else (None, State.UNPARSABLE)
    return found | combined(found, rule)


def packed(raw: Mapping[str, str]) -> str:
    """Write the replies of one call as the text that table `calls` keeps."""
    return ENCODER.encode(dict(raw))


def unpacked(text: str | None) -> dict[str, str]:
    """Read what `packed` wrote; nothing if it is something else."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def call_row(judge_id: str, probe_id: str, repeat: int, raw: str, found: Mapping[str, Found]) -> Row:
    """Make the row of `calls` of one answer: ok if any of its dimensions is."""
    states = [state for _, state in found.values()]
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
    judge_id: str, parser_version: str, probe_id: str, repeat: int, found: Mapping[str, Found]
) -> list[Row]:
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
        for dimension, (value, state) in found.items()
    ]


def state_lines(states: Iterable[tuple[str, str, State]]) -> list[str]:
    """Count what became of scores: one line per state, by source where anything is amiss.

    Args:
        states: (dimension, source, state) of every score.
    """
    counts = Counter(states)
    lines = []
    order = list(State)
    for dimension, state in sorted(
        {(d, s) for d, _, s in counts}, key=lambda pair: (pair[0], order.index(pair[1]))
    ):
        by_source = {
            source: n for (d, source, s), n in sorted(counts.items()) if (d, s) == (dimension, state)
        }
        line = f"{dimension}: {sum(by_source.values()):,} {state.value.replace('_', ' ')}"
        if state != State.OK:
            line += f" ({', '.join(f'{source} {n:,}' for source, n in by_source.items())})"
        lines.append(line)
    return lines

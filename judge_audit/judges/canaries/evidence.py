"""Every answer that the lake holds of one epoch of a judge to its canaries, set out for comparing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from judge_audit_schemas.rows import CallsRow, ScoresRow

from judge_audit.core.tables import rows_of
from judge_audit.core.vocabulary import State
from judge_audit.measures.canaries import Answers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judge_audit.judges.canaries.history import Past
    from judge_audit.judges.cards.card import Card
    from judge_audit.lake import Lake

    Row = Mapping[str, Any]
    Told = tuple[float, dict[str, float]]

NO_ANSWER = frozenset({State.FAILED.value, State.INERT.value})
"""States of calls that say nothing of the judge."""


def answers_of(lake: Lake, card: Card, past: Past, asking: int, probes: Sequence[str]) -> Answers:
    """Set out the answers to canaries: of the askings of the card's epoch, of this one, and of its audits.

    Args:
        lake: The lake.
        card: The judge's card at its epoch.
        past: What is known of its canaries.
        asking: The asking to be judged, whose answers are among those of `past`.
        probes: The canaries.

    Returns:
        Answers in the order of `probes` and of the card's dimensions.
    """
    kept = {number for number in past.askings_of(card.epoch) if number < asking} | {asking}
    told: dict[str, list[Told]] = {name: [] for name in probes}
    scores = _by_call(past.scores, ("asking", "probe_id", "repeat"))
    for row in past.asked:
        if row["asking"] in kept and row["probe_id"] in told:
            key = (row["asking"], row["probe_id"], row["repeat"])
            told[row["probe_id"]].append((float(row["asking"]), scores.get(key, {})))
    for name, entry in _of_audits(lake, card, past, asking, kept, probes):
        told[name].append(entry)
    return _set_out([told[name] for name in probes], card.dimensions)


def _of_audits(
    lake: Lake, card: Card, past: Past, asking: int, kept: set[int], probes: Sequence[str]
) -> Iterable[tuple[str, Told]]:
    """Give what the judge said of the canaries in audits, dated by the asking before; it is of this epoch too."""
    key = {"judge_id": card.judge_id, "probe_id": list(probes)}
    calls = [row for row in rows_of(lake.read("calls", **key), CallsRow) if row["state"] not in NO_ANSWER]
    scores = _by_call(rows_of(lake.read("scores", **key), ScoresRow) if calls else (), ("probe_id", "repeat"))
    began = {number: past.began(number) for number in kept}
    tonight = began[asking]
    for row in calls:
        at = row["called_at"]
        if at is not None and tonight is not None and at >= tonight:
            continue
        before = [n for n, start in began.items() if n != asking and start is not None and at and start <= at]
        yield (
            row["probe_id"],
            (float(max(before, default=0)), scores.get((row["probe_id"], row["repeat"]), {})),
        )


def _by_call(rows: Iterable[Row], names: Sequence[str]) -> dict[tuple[Any, ...], dict[str, float]]:
    """Gather the scores that are numbers by the call they belong to."""
    found: dict[tuple[Any, ...], dict[str, float]] = {}
    for row in rows:
        if row["state"] == State.OK.value and row["value"] is not None:
            found.setdefault(tuple(row[name] for name in names), {})[row["dimension"]] = row["value"]
    return found


def _set_out(told: Sequence[Sequence[Told]], dimensions: Sequence[str]) -> Answers:
    width = max((len(entries) for entries in told), default=0)
    values = np.full((len(told), width, len(dimensions)), np.nan)
    given = np.zeros((len(told), width), bool)
    times = np.zeros((len(told), width))
    for at, entries in enumerate(told):
        for place, (time, scores) in enumerate(sorted(entries, key=lambda entry: entry[0])):
            given[at, place], times[at, place] = True, time
            values[at, place] = [scores.get(name, np.nan) for name in dimensions]
    return Answers(values, given, times)


def services_of(past: Past, askings: Iterable[int]) -> tuple[str, ...]:
    """List what answered in some askings, in the service's own words."""
    wanted = set(askings)
    return tuple(
        sorted({row["served_by"] for row in past.asked if row["asking"] in wanted and row["served_by"]})
    )

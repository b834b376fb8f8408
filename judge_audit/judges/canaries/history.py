"""What the lake knows of a judge's canaries: every asking with its answers, what it showed, and whether one is open."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from judge_audit_schemas.rows import (
    AuditsRow,
    CallsRow,
    CanariesRow,
    CanaryNightsRow,
    CanaryScoresRow,
    ScoresRow,
)

from judge_audit.core.tables import rows_of
from judge_audit.core.vocabulary import State
from judge_audit.measures.canaries import Answers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from judge_audit.judges.cards.card import Card
    from judge_audit.lake import Lake

    Row = Mapping[str, Any]
    Dated = tuple[float, dict[str, float]]
    """When an answer was given, by its asking, and its scores by dimension."""

NO_ANSWER = frozenset({State.FAILED.value, State.INERT.value})
"""States of calls that say nothing of the judge."""

FRESH = timedelta(hours=6)
"""For how long the canaries of an audit that has not ended serve another run of it."""


@dataclass(frozen=True, slots=True)
class CanaryHistory:
    """The canaries of one lineage.

    Attributes:
        lineage_id: The lineage.
        nights: Rows of `canary_nights` by asking.
        asked: Rows of `canaries`, of all askings.
        scores: Rows of `canary_scores`, of all askings.
        ended: Askings that a complete audit went by.
    """

    lineage_id: str
    nights: dict[int, CanaryNightsRow]
    asked: tuple[CanariesRow, ...]
    scores: tuple[CanaryScoresRow, ...]
    ended: frozenset[int]

    def epoch(self, card: Card) -> int:
        """Give the epoch that the judge is in."""
        last = self.nights[max(self.nights)]["epoch"] if self.nights else 0
        return max(card.epoch, last)

    def askings_of(self, epoch: int) -> list[int]:
        """Number the askings that showed an epoch."""
        return sorted(number for number, row in self.nights.items() if row["epoch"] == epoch)

    def began(self, asking: int) -> datetime | None:
        """Say when an asking got its first answer."""
        times = [row["called_at"] for row in self.asked if row["asking"] == asking and row["called_at"]]
        return min(times, default=None)

    def asking_at(self, now: datetime) -> int:
        """Number the asking to go by: one under way whose audit has not ended and that is fresh, else the next."""
        last = max([*self.nights, *(row["asking"] for row in self.asked)], default=0)
        began = self.began(last)
        under_way = last and last not in self.ended and began is not None and now - began < FRESH
        return last if under_way else last + 1


def read_history(lake: Lake, card: Card) -> CanaryHistory:
    """Read what is known of a judge's canaries."""
    name = card.lineage_id
    nights = {
        row["asking"]: row for row in rows_of(lake.read("canary_nights", lineage_id=name), CanaryNightsRow)
    }
    asked = tuple(rows_of(lake.read("canaries", lineage_id=name), CanariesRow))
    scores = tuple(rows_of(lake.read("canary_scores", lineage_id=name), CanaryScoresRow))
    judges = sorted({row["judge_id"] for row in nights.values()})
    done = rows_of(lake.read("audits", status="complete", judge_id=judges), AuditsRow) if judges else []
    ended = frozenset(row["canary_asking"] for row in done if row["canary_asking"] is not None)
    return CanaryHistory(name, nights, asked, scores, ended)


def answers_of(lake: Lake, card: Card, past: CanaryHistory, asking: int, probes: Sequence[str]) -> Answers:
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
    askings = {number for number in past.askings_of(card.epoch) if number < asking} | {asking}
    answers: dict[str, list[Dated]] = {name: [] for name in probes}
    scores = _by_call(past.scores, ("asking", "probe_id", "repeat"))
    for row in past.asked:
        if row["asking"] in askings and row["probe_id"] in answers:
            key = (row["asking"], row["probe_id"], row["repeat"])
            answers[row["probe_id"]].append((float(row["asking"]), scores.get(key, {})))
    for name, entry in _of_audits(lake, card, past, asking, askings, probes):
        answers[name].append(entry)
    return _set_out([answers[name] for name in probes], card.dimensions)


def _of_audits(
    lake: Lake, card: Card, past: CanaryHistory, asking: int, askings: set[int], probes: Sequence[str]
) -> Iterable[tuple[str, Dated]]:
    """Give what the judge said of the canaries in audits, dated by the asking before; it is of this epoch too."""
    key = {"judge_id": card.judge_id, "probe_id": list(probes)}
    calls = [row for row in rows_of(lake.read("calls", **key), CallsRow) if row["state"] not in NO_ANSWER]
    scores = _by_call(rows_of(lake.read("scores", **key), ScoresRow) if calls else (), ("probe_id", "repeat"))
    began = {number: past.began(number) for number in askings}
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
    scores: dict[tuple[Any, ...], dict[str, float]] = {}
    for row in rows:
        if row["state"] == State.OK.value and row["value"] is not None:
            scores.setdefault(tuple(row[name] for name in names), {})[row["dimension"]] = row["value"]
    return scores


def _set_out(answers: Sequence[Sequence[Dated]], dimensions: Sequence[str]) -> Answers:
    width = max((len(entries) for entries in answers), default=0)
    values = np.full((len(answers), width, len(dimensions)), np.nan)
    is_given = np.zeros((len(answers), width), bool)
    times = np.zeros((len(answers), width))
    for at, entries in enumerate(answers):
        for place, (time, scores) in enumerate(sorted(entries, key=lambda entry: entry[0])):
            is_given[at, place], times[at, place] = True, time
            values[at, place] = [scores.get(name, np.nan) for name in dimensions]
    return Answers(values, is_given, times)


def services_of(past: CanaryHistory, askings: Iterable[int]) -> tuple[str, ...]:
    """List what answered in some askings, in the service's own words."""
    wanted = set(askings)
    return tuple(
        sorted({row["served_by"] for row in past.asked if row["asking"] in wanted and row["served_by"]})
    )

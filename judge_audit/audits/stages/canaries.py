"""Before anything is bought of a judge whose weights are not pinned: is it still the judge it was?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

import pyarrow.compute as pc
from judge_audit_schemas.rows import CanaryNightsRow

from judge_audit.audits.inputs import planned_pixels
from judge_audit.audits.stages.answers import register
from judge_audit.audits.stages.budget import budget_of
from judge_audit.core.errors import UsageError
from judge_audit.core.limits import read_limits
from judge_audit.core.messages import say
from judge_audit.core.tables import from_rows, rows_of
from judge_audit.core.vocabulary import State
from judge_audit.judges.calling.budget import BudgetReached
from judge_audit.judges.calling.score_calls import score_block
from judge_audit.judges.canaries.epochs import is_watched
from judge_audit.judges.canaries.history import answers_of, read_history, services_of
from judge_audit.judges.canaries.selection import choose, missing, planned
from judge_audit.judges.canaries.verdict import (
    CHANGED,
    DECLARED,
    FEWEST,
    FIRST,
    UNCHANGED,
    UNKNOWN,
    Watched,
    compared,
    night_row,
    watched,
)
from judge_audit.lake.write_ahead import keep

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from judge_audit_schemas.rows import CallsRow, ItemsRow, ScoresRow

    from judge_audit.audits.model import Prepared, ScoringSetup
    from judge_audit.judges.canaries.history import CanaryHistory
    from judge_audit.judges.canaries.selection import Canary
    from judge_audit.judges.canaries.verdict import Compared
    from judge_audit.judges.cards.card import Card

    Row = dict[str, Any]

ONCE, TWICE, SURE = 1, 2, 4
"""How often canaries are asked: of a judge whose noise is known, of a new one, and where something looks odd."""


@dataclass(frozen=True, slots=True)
class _Asking:
    """One asking under way."""

    setup: ScoringSetup
    card: Card
    audit_id: str
    number: int
    canaries: tuple[Canary, ...]

    @property
    def probes(self) -> list[str]:
        return [canary.probe_id for canary in self.canaries]


def canaries_due(setup: ScoringSetup, prepared: Prepared) -> tuple[int, int]:
    """Say how many canaries a dry run's audit would ask about, and how many answers that takes at least."""
    card = setup.judge.card
    if not is_watched(card):
        return 0, 0
    _see_enough(setup)
    past = read_history(setup.lake, card)
    items, probes = (setup.plans.table(name, prepared.plan_id) for name in ("items", "probes"))
    asking = _asking(setup, items, probes, past, "", past.asking_at(datetime.now(UTC)))
    if asking.number in past.nights:
        return 0, 0
    return len(asking.canaries), missing(
        asking.canaries, _asked_already(past, asking.number), _times(past, asking)
    )


def watch(setup: ScoringSetup, items: pa.Table, probes: pa.Table, audit_id: str) -> Watched | None:
    """Ask a judge's canaries afresh, and decide which epoch it is in: the audit goes on with the judge of that one.

    An asking that another run of the audit began and did not end is gone on with, and what it showed counts.

    Args:
        setup: What it takes to ask; its judge is of the epoch it was in last.
        items: The items of the audit's plan.
        probes: Its probes.
        audit_id: The audit, whose budget the answers are paid from.

    Returns:
        What it came to; None if the judge's weights are pinned.

    Raises:
        UsageError: If too few canaries are configured, or the judge answers none.
        BudgetReached: If the budget ends before all are asked; those answered are kept.
    """
    if not is_watched(setup.judge.card):
        return None
    _see_enough(setup)
    past = read_history(setup.lake, setup.judge.card)
    number = past.asking_at(datetime.now(UTC))
    night = past.nights.get(number)
    if night and night["epoch"] < past.epoch(setup.judge.card):
        number, night = number + 1, None
    if night:
        return watched(night, 0)
    setup = setup.at_epoch(past.epoch(setup.judge.card))
    asking = _asking(setup, items, probes, past, audit_id, number)
    bought = _ask(asking, past, _times(past, asking))
    return watched(*_decided(asking, bought))


def _see_enough(setup: ScoringSetup) -> None:
    """Refuse fewer canaries than tell anything."""
    count = setup.configuration.canaries
    if count < FEWEST:
        name = setup.judge.card.name
        raise UsageError(say("canaries.refused.none", given=count, name=name, fewest=FEWEST))


def _asking(
    setup: ScoringSetup, items: pa.Table, probes: pa.Table, past: CanaryHistory, audit_id: str, number: int
) -> _Asking:
    """Choose the canaries; those of an asking under way belong to it."""
    card = setup.judge.card
    answered = setup.lake.answered(card.judge_id)
    known = set(answered.filter(pc.not_equal(answered["state"], State.FAILED.value))["probe_id"].to_pylist())
    shown = planned(items, probes, setup.configuration.seed)
    chosen = choose(shown, past, card.epoch, setup.configuration.canaries, known)
    return _Asking(setup, card, audit_id, number, chosen)


def _times(past: CanaryHistory, asking: _Asking) -> int:
    """Say how often to ask at first: once where most canaries have two earlier answers, else twice."""
    answers = answers_of(asking.setup.lake, asking.card, past, asking.number, asking.probes)
    earlier = (answers.given & (answers.times < asking.number)).sum(axis=1)
    return ONCE if (earlier >= TWICE).mean() > 0.5 else TWICE


def _asked_already(past: CanaryHistory, number: int) -> set[tuple[str, int]]:
    return {(row["probe_id"], row["repeat"]) for row in past.asked if row["asking"] == number}


def _ask(asking: _Asking, past: CanaryHistory, times: int) -> int:
    """Ask for what is not there yet, keep every batch as it comes, and count the answers."""
    setup, card = asking.setup, asking.card
    answered = {
        (row["probe_id"], row["repeat"]): cast("CallsRow", row)
        for row in past.asked
        if row["asking"] == asking.number
    }
    work = [(canary.item, [canary.probe(repeat) for repeat in range(times)]) for canary in asking.canaries]
    places = {canary.probe_id: canary.item for canary in asking.canaries}
    budget = budget_of(setup, asking.audit_id)
    bought = 0
    with setup.turn(card):
        for batch in score_block(
            setup.judge, work, axes={}, load=planned_pixels, answered=answered, budget=budget
        ):
            calls = [call for call in batch.calls if call["state"] != State.FAILED]
            _keep(asking, calls, batch.scores, places)
            bought += len(calls)
    if budget is not None and (spent := budget.spent()).stopped:
        budget.remove()
        raise BudgetReached(say("canaries.budget", calls=f"{spent.calls:,}", n=times * len(asking.canaries)))
    return bought


def _keep(
    asking: _Asking, calls: Sequence[CallsRow], scores: Sequence[ScoresRow], places: dict[str, ItemsRow]
) -> None:
    """Put answers to canaries into the lake; a failed request is no answer."""
    if not calls:
        return
    key = {"lineage_id": asking.card.lineage_id, "asking": asking.number}
    left_out = ("judge_id", "is_control")
    answered = {(call["probe_id"], call["repeat"]) for call in calls}
    rows = [
        {
            **{name: value for name, value in call.items() if name not in left_out},
            **{name: places[call["probe_id"]][name] for name in ("item_id", "source", "prompt", "uri")},
            **key,
        }
        for call in calls
    ]
    score_rows = [
        {**{name: value for name, value in score.items() if name not in left_out}, **key}
        for score in scores
        if (score["probe_id"], score["repeat"]) in answered
    ]
    tables = {
        "canaries": from_rows("canaries", rows),
        "canary_scores": from_rows("canary_scores", score_rows),
    }
    keep(asking.setup.lake, tables)


def _decided(asking: _Asking, bought: int) -> tuple[CanaryNightsRow, int]:
    """Judge what came back, ask more where something looks odd, and write it down; what was written first counts."""
    setup, card = asking.setup, asking.card
    limits = read_limits(setup.configuration.limits)
    alarm = limits["canaries.false_alarm"]
    past = read_history(setup.lake, card)
    comparison = _compared(asking, past)
    before = services_of(past, [n for n in past.askings_of(card.epoch) if n < asking.number])
    now = services_of(past, [asking.number])
    odd = bool(before) and bool(set(now) - set(before))
    sure = bool(comparison.n) and (odd or comparison.looked.suspicious(alarm, limits["canaries.suspicion"]))
    if sure:
        bought += _ask(asking, past, SURE)
        past = read_history(setup.lake, card)
        comparison = _compared(asking, past)
    answer = _answer(asking, past, comparison, sure=sure, alarm=alarm)
    epoch = card.epoch + (answer in {CHANGED, UNKNOWN})
    row = night_row(comparison, answer, epoch, sure=sure, alarm=alarm, services=(before, now))
    row |= {"lineage_id": card.lineage_id, "asking": asking.number, "audit_id": asking.audit_id}
    known = replace(card, epoch=epoch)
    register(setup.lake, [known], setup.configuration.project)
    row |= {"judge_id": known.judge_id, "decided_at": datetime.now(UTC)}
    row["asked"] = len(_asked_already(past, asking.number))
    setup.lake.commit({"canary_nights": from_rows("canary_nights", [row])})
    nights = setup.lake.read("canary_nights", lineage_id=card.lineage_id, asking=asking.number)
    return rows_of(nights, CanaryNightsRow)[0], bought


def _compared(asking: _Asking, past: CanaryHistory) -> Compared:
    answers = answers_of(asking.setup.lake, asking.card, past, asking.number, asking.probes)
    if not (answers.given & (answers.times == asking.number)).any():
        name = asking.card.name
        raise UsageError(say("canaries.refused.silent", name=name, n=len(asking.canaries)))
    limits = read_limits(asking.setup.configuration.limits)
    return compared(answers, asking.card.dimensions, limits, asking.card.lineage_id, asking.number)


def _answer(asking: _Asking, past: CanaryHistory, comparison: Compared, *, sure: bool, alarm: float) -> str:
    """Say what an asking came to."""
    if comparison.n:
        if sure and comparison.looked.changed(alarm):
            return CHANGED
        return UNCHANGED if past.nights else FIRST
    if past.askings_of(asking.card.epoch):
        return UNKNOWN
    if past.nights:
        return DECLARED
    # Whether the lake holds answers of the judge, none of them to a canary.
    states = set(asking.setup.lake.answered(asking.card.judge_id)["state"].to_pylist())
    return UNKNOWN if states - {State.FAILED.value, State.INERT.value} else FIRST

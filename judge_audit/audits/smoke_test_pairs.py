"""A first look at a judge that compares: three pictures in pairs, both orders, and what an audit would cost."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from judge_audit.audits.smoke_test import LADDER_ITEMS, PATIENCE
from judge_audit.core.vocabulary import Choice
from judge_audit.judges.calling.asking import comparing
from judge_audit.judges.calling.budget import money
from judge_audit.judges.pairwise.protocol import Comparison
from judge_audit.judges.protocol import PricedJudge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from judge_audit.judges.pairwise.protocol import ComparingJudge, Preference
    from judge_audit.judges.protocol import Stimulus
    from judge_audit.stimuli.axes.axis import Axis


@dataclass(frozen=True, slots=True)
class BothOrders:
    """Two pictures shown in both orders.

    Attributes:
        first: Item shown first in the first order.
        second: The other item.
        answers: The answers, the first item shown first and then second.
    """

    first: str
    second: str
    answers: tuple[Preference, Preference]

    @property
    def winner(self) -> str:
        """The item that won both times; `left` or `right` if a place did; empty after a tie or without an answer."""
        one, other = (answer.choice for answer in self.answers)
        if None in {one, other} or Choice.TIE in {one, other}:
            return ""
        if one == other:
            return str(one)
        return self.first if one == Choice.LEFT else self.second


@dataclass(frozen=True, slots=True)
class PairTrial:
    """What a first look at a judge that compares found.

    Attributes:
        pairs: The pairs.
        same: Answers to the same questions asked once more that were the same; None if there was no time.
        seconds: Per comparison.
        asked: Comparisons in all.
        cost: What they cost.
        ladders: Comparisons of the ladders of a whole default audit.
        most_cost: What those may cost at most, None for a judge without prices.
        currency: What costs are in.
    """

    pairs: tuple[BothOrders, ...]
    same: int | None
    seconds: float
    asked: int
    cost: float
    ladders: int
    most_cost: float | None
    currency: str

    @property
    def answered(self) -> bool:
        """Whether any pair got a choice."""
        return any(answer.choice is not None for pair in self.pairs for answer in pair.answers)


def try_comparer(
    judge: ComparingJudge,
    named: Sequence[tuple[str, Stimulus]],
    axes: Mapping[str, Axis],
    *,
    patience: float = PATIENCE,
    clock: Callable[[], float] = time.perf_counter,
) -> PairTrial:
    """Show a judge a few pictures in pairs; each pair is asked about the prompt of its first picture.

    Args:
        judge: The judge.
        named: Item ids with their pictures and prompts.
        axes: The axes of a whole audit.
        patience: Seconds after which nothing is asked again.
        clock: Tells the time in seconds.

    Raises:
        UsageError: If it breaks its contract or fails.
    """
    chosen = list(combinations(named, 2))
    questions = [
        Comparison(left.image, right.image, one.prompt)
        for (_, one), (_, other) in chosen
        for left, right in ((one, other), (other, one))
    ]
    started = clock()
    ask = comparing(judge).once
    answers = ask(questions)
    seconds = (clock() - started) / max(1, len(questions))
    again = ask(questions) if 2 * (clock() - started) < patience else None
    pairs = tuple(
        BothOrders(one[0], other[0], (answers[2 * at], answers[2 * at + 1]))
        for at, (one, other) in enumerate(chosen)
    )
    priced = isinstance(judge, PricedJudge) and judge.currency
    ladders = 2 * LADDER_ITEMS * sum(len(axis.strengths) for axis in axes.values())
    (height, width), prompt = named[0][1].image.shape[:2], named[0][1].prompt
    each = judge.most_cost(height, width, prompt) if isinstance(judge, PricedJudge) else 0.0
    return PairTrial(
        pairs=pairs,
        same=None
        if again is None
        else sum(a.choice == b.choice for a, b in zip(answers, again, strict=True)),
        seconds=seconds,
        asked=len(questions) * (1 if again is None else 2),
        cost=sum(answer.cost for answer in [*answers, *(again or ())]),
        ladders=ladders,
        most_cost=each * ladders if priced else None,
        currency=judge.currency if isinstance(judge, PricedJudge) else "",
    )


def told(trial: PairTrial) -> dict[str, Any]:
    """Give a trial as plain values."""
    return {
        "pairs": [
            {
                "first": pair.first,
                "second": pair.second,
                "answers": [
                    {"choice": answer.choice, "state": answer.state.value, "raw": answer.raw}
                    for answer in pair.answers
                ],
                "winner": pair.winner or None,
            }
            for pair in trial.pairs
        ],
        "asked_again_alike": trial.same,
        "seconds_per_comparison": trial.seconds,
        "asked": trial.asked,
        "cost": trial.cost,
        "audit": {
            "ladder_comparisons": trial.ladders,
            "most_cost": trial.most_cost,
            "currency": trial.currency or None,
        },
    }


def lines(trial: PairTrial, loaded: float) -> list[str]:
    """Say what the trial found."""
    found = ["", "Three pictures in pairs, each in both orders (asked about the first one's prompt):"]
    for pair in trial.pairs:
        words = [str(answer.choice or answer.state.value) for answer in pair.answers]
        found.append(f"  {pair.first} and {pair.second}: {words[0]}, turned round {words[1]}{_meaning(pair)}")
        found += [f"    {' '.join(answer.raw.split())[:200]}" for answer in pair.answers[:1] if answer.raw]
    if not trial.answered:
        return [*found, "", "It named neither of any two pictures."]
    if trial.same is not None:
        found.append(
            f"  Asked the same once more, {trial.same} of {2 * len(trial.pairs)} answers were the same."
        )
    found += [
        "  Three pairs are a look and no measurement; an audit says how often a place decides.",
        "",
        f"Loaded in {loaded:.1f} s; {trial.seconds:.3g} s a comparison.",
        (
            f"The ladders of a whole default audit: {trial.ladders:,} comparisons, about "
            f"{trial.ladders * trial.seconds / 60:.2g} minutes at this speed; "
            "beside them the candidates of each prompt."
        ),
    ]
    if trial.most_cost is not None:
        spent, most = money(trial.cost), money(trial.most_cost)
        found.append(
            f"They may cost {most} {trial.currency} at the most; this trial cost {spent} for {trial.asked} comparisons."
        )
    return found


def _meaning(pair: BothOrders) -> str:
    if pair.winner in set(Choice):
        return f" — the {pair.winner} one both times, whichever it is"
    return f" — {pair.winner} both times" if pair.winner else ""

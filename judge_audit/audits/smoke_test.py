"""A first look at a judge: three pictures, whether it repeats itself, what it sees, what an audit would cost.

A judge that compares is shown them in pairs, in both orders.

It is a look and no measurement: three pictures show that a score moves, not how often it does.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import Fault, InputError
from judge_audit.core.limits import read_limits
from judge_audit.core.row_files import read_rows
from judge_audit.core.vocabulary import Choice
from judge_audit.inputs.items import check_columns
from judge_audit.judges.calling.asking import comparing, scoring
from judge_audit.judges.calling.score_calls import rows_of
from judge_audit.judges.pairwise.protocol import ComparingJudge, Comparison
from judge_audit.judges.protocol import PricedJudge, Stimulus
from judge_audit.stimuli.images import ImageError, load_image, resolve_image
from judge_audit.stimuli.planning.probes import choose_ladder_items, count_calls
from judge_audit.stimuli.sight_probes import SIGHT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from judge_audit.judges.pairwise.protocol import Preference
    from judge_audit.judges.protocol import Judge, Reply
    from judge_audit.stimuli.axes.axis import Axis

PICTURES = 3
PATIENCE = 45.0
"""Seconds after which no further look is begun; the whole is to take less than a minute."""

DEMO_ITEMS = 324
LADDER_ITEMS = 48
SEED = 1

SAME = "same"
ALONE = "alone"
SEEN = ("border", "stretched", "upside_down", "swapped_prompt")


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture and what the judge said of it.

    Attributes:
        item_id: The item.
        prompt: Its prompt.
        scores: By dimension, None where there is none.
        states: By dimension, what is wrong where there is none.
        raw: The reply as text where the judge writes text.
    """

    item_id: str
    prompt: str
    scores: Mapping[str, float | None]
    states: Mapping[str, str]
    raw: str


@dataclass(frozen=True, slots=True)
class Look:
    """What became of the scores when the pictures were shown once more in some way.

    Attributes:
        name: The way: `same`, `alone`, or the name of a sight probe.
        moved: Largest difference in the first dimension, None where it was not looked at or nothing was answered.
        why: Why it was not looked at.
    """

    name: str
    moved: float | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """What a first look at a judge found.

    Attributes:
        pictures: Three pictures with their scores.
        looks: What moved the first dimension.
        seconds: Per picture, asked together.
        asked: Pictures shown in all.
        cost: What they cost.
        items: How many items the whole audit is counted for.
        calls: Pictures of a whole default audit.
        most_cost: What that may cost at most, None for a judge without prices.
        currency: What costs are in.
    """

    pictures: tuple[Picture, ...]
    looks: tuple[Look, ...]
    seconds: float
    asked: int
    cost: float
    items: int
    calls: int
    most_cost: float | None
    currency: str

    @property
    def rounding(self) -> float:
        """What does not count as a move: a hair beside the differences between the pictures."""
        dimension = next(iter(self.pictures[0].scores), "")
        values = [value for shown in self.pictures if (value := shown.scores.get(dimension)) is not None]
        return read_limits()["sight.rounding"] * (max(values) - min(values)) if values else 0.0

    @property
    def answered(self) -> bool:
        """Whether any picture got a number."""
        return any(value is not None for shown in self.pictures for value in shown.scores.values())

    def document(self) -> dict[str, Any]:
        """Give the trial as plain values."""
        return {
            "pictures": [asdict(shown) for shown in self.pictures],
            "looks": [asdict(look) for look in self.looks],
            "seconds_per_picture": self.seconds,
            "asked": self.asked,
            "cost": self.cost,
            "audit": {
                "items": self.items,
                "calls": self.calls,
                "minutes": self.calls * self.seconds / 60,
                "most_cost": self.most_cost,
                "currency": self.currency or None,
            },
        }


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

    def document(self) -> dict[str, Any]:
        """Give the trial as plain values."""
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
                for pair in self.pairs
            ],
            "asked_again_alike": self.same,
            "seconds_per_comparison": self.seconds,
            "asked": self.asked,
            "cost": self.cost,
            "audit": {
                "ladder_comparisons": self.ladders,
                "most_cost": self.most_cost,
                "currency": self.currency or None,
            },
        }


def demo_stimuli() -> list[tuple[str, Stimulus]]:
    """Draw three of the demo's pictures, one of each source."""
    from judge_audit.demo.corpus import demo_pictures  # noqa: PLC0415 - it draws

    return [(row["item_id"], Stimulus(pixels, row["prompt"])) for row, pixels in demo_pictures(PICTURES)]


def stimuli_of(path: Path) -> tuple[list[tuple[str, Stimulus]], int]:
    """Read three pictures of an items file, and count its items; no other picture is read.

    Raises:
        InputError: If a column is missing, or one of the pictures cannot be used.
        UsageError: If the file cannot be read.
    """
    file_rows = read_rows(path)
    check_columns(path, file_rows.columns)
    if file_rows.faults:
        raise InputError(file_rows.faults)
    rows = [{**row, "cluster": row.get("cluster") or row["item_id"]} for _, row in file_rows.rows]
    if not rows:
        raise InputError([Fault(path.name, 0, "", "the file has no rows.")])
    chosen = set(choose_ladder_items(rows, PICTURES, SEED))
    stimuli: list[tuple[str, Stimulus]] = []
    faults: list[Fault] = []
    for number, row in file_rows.rows:
        if row["item_id"] in chosen:
            try:
                pixels = load_image(resolve_image(path.parent, row["image"])).pixels
                stimuli.append((row["item_id"], Stimulus(pixels, row["prompt"])))
            except ImageError as error:
                faults.append(Fault(path.name, number, "image", f"{row['image']}: {error}", row["item_id"]))
    if faults:
        raise InputError(faults)
    return stimuli, len(rows)


def smoke_test(
    judge: Judge | ComparingJudge,
    named: Sequence[tuple[str, Stimulus]],
    axes: Mapping[str, Axis],
    *,
    items: int = DEMO_ITEMS,
) -> Trial | PairTrial:
    """Take a first look at a judge, whether it scores pictures or compares them.

    Args:
        judge: The judge.
        named: Item ids with their pictures and prompts.
        axes: The axes of a whole audit.
        items: The items of a whole audit.

    Raises:
        UsageError: If it breaks its contract or fails.
    """
    if isinstance(judge, ComparingJudge):
        return try_comparer(judge, named, axes)
    return try_judge(judge, named, axes, items=items)


def try_judge(
    judge: Judge,
    named: Sequence[tuple[str, Stimulus]],
    axes: Mapping[str, Axis],
    *,
    items: int = DEMO_ITEMS,
    patience: float = PATIENCE,
    clock: Callable[[], float] = time.perf_counter,
) -> Trial:
    """Show a judge a few pictures in several ways.

    Args:
        judge: The judge.
        named: Item ids with their pictures and prompts.
        axes: The axes of a whole audit.
        items: The items of a whole audit.
        patience: Seconds after which no further look is begun.
        clock: Tells the time in seconds.

    Raises:
        UsageError: If it breaks its contract or fails.
    """
    stimuli = [stimulus for _, stimulus in named]
    started = clock()
    ask = scoring(judge).once
    replies = ask(stimuli)
    seconds = (clock() - started) / len(stimuli)
    first = [_picture(judge, *shown, reply) for shown, reply in zip(named, replies, strict=True)]
    dimension = judge.card.dimensions[0]
    before = [shown.scores.get(dimension) for shown in first]
    looks: list[Look] = []
    asked, cost = len(stimuli), sum(reply.cost for reply in replies)
    for name, batches in _ways(stimuli):
        count = sum(len(batch) for batch in batches)
        if not count:
            looks.append(Look(name, None, "the prompts are the same"))
            continue
        if clock() - started + count * seconds > patience:
            looks.append(Look(name, None, "it would take too long"))
            continue
        again = [reply for batch in batches for reply in ask(batch)]
        after = [
            _picture(judge, *shown, reply).scores.get(dimension)
            for shown, reply in zip(named, again, strict=True)
        ]
        asked, cost = asked + count, cost + sum(reply.cost for reply in again)
        both = [
            abs(one - other)
            for one, other in zip(before, after, strict=True)
            if one is not None and other is not None
        ]
        looks.append(Look(name, max(both, default=None), "" if both else "no answers to compare"))
    calls = count_calls(items, axes, ladder_items=LADDER_ITEMS)
    price, currency = _price(judge, stimuli)
    return Trial(
        pictures=tuple(first),
        looks=tuple(looks),
        seconds=seconds,
        asked=asked,
        cost=cost,
        items=items,
        calls=calls,
        most_cost=None if price is None else price * calls,
        currency=currency,
    )


def _ways(stimuli: Sequence[Stimulus]) -> Iterator[tuple[str, list[list[Stimulus]]]]:
    """Give the ways in which the pictures are shown once more, each in its batches."""
    yield SAME, [list(stimuli)]
    yield ALONE, [[stimulus] for stimulus in stimuli]
    for name in SEEN:
        draw = SIGHT[name].draw
        if draw is not None:
            yield name, [[Stimulus(draw(entry.image), entry.prompt) for entry in stimuli]]
    prompts = [entry.prompt for entry in stimuli]
    others = [*prompts[1:], prompts[0]]
    differ = all(one != other for one, other in pairwise([*prompts, prompts[0]])) and len(prompts) > 1
    shown = [Stimulus(entry.image, other) for entry, other in zip(stimuli, others, strict=True)]
    yield "swapped_prompt", [shown] if differ else []


def _picture(judge: Judge, item_id: str, stimulus: Stimulus, reply: Reply) -> Picture:
    """Read a reply as an audit would."""
    call, scores = rows_of(judge.card, {"probe_id": item_id, "repeat": 0}, reply)
    return Picture(
        item_id=item_id,
        prompt=stimulus.prompt,
        scores={row["dimension"]: row["value"] for row in scores},
        states={row["dimension"]: str(row["state"]) for row in scores if row["value"] is None},
        raw=str(call["raw_reply"] or ""),
    )


def _price(judge: object, stimuli: Sequence[Stimulus]) -> tuple[float | None, str]:
    """Give what one picture of the kind that was shown may cost at most, None without prices; and the currency."""
    if not isinstance(judge, PricedJudge):
        return None, ""
    each = [judge.most_cost(entry.image.shape[0], entry.image.shape[1], entry.prompt) for entry in stimuli]
    return sum(each) / len(each) if judge.currency else None, judge.currency


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
    price, currency = _price(judge, [named[0][1]])
    ladders = 2 * LADDER_ITEMS * sum(len(axis.strengths) for axis in axes.values())
    alike = [one.choice == other.choice for one, other in zip(answers, again or answers, strict=True)]
    return PairTrial(
        pairs=pairs,
        same=None if again is None else sum(alike),
        seconds=seconds,
        asked=len(questions) * (1 if again is None else 2),
        cost=sum(answer.cost for answer in [*answers, *(again or ())]),
        ladders=ladders,
        most_cost=None if price is None else price * ladders,
        currency=currency,
    )

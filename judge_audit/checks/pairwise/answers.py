"""What checks see of comparisons: every answer beside what it was about, strengths, and preferences on ladders.

A judge that compares has no score. What stands in its place, never mixed: for a candidate its Bradley–Terry
strength among those of its prompt; for a rung or a damaged member how often it is preferred to its own original
beyond a half, over both orders: (its wins + half its ties) − ½, from −½ to ½.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import pyarrow as pa
from scipy.special import ndtri

from judge_audit.core.vocabulary import ORIGINAL, OVERALL, POOLED, Choice, State
from judge_audit.measures.estimates import PASS_LEVEL
from judge_audit.measures.paired_comparisons import bradley_terry, won_shares
from judge_audit.stimuli.planning.comparisons import LADDERS, PAIRS, UNTOUCHED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from judge_audit_schemas.rows import StrengthsRow

    from judge_audit.checks.evidence import ResponseRow
    from judge_audit.measures.paired_comparisons import Strengths
    from judge_audit.stimuli.planning.comparisons import Asked, ComparisonPlan, Key

    Row = Mapping[str, Any]


class ComparedRow(TypedDict):
    """A comparison as checks see it; source and cluster are those of the second member, choice is a place."""

    about: str
    group: str
    source: str
    cluster: str
    first: str
    second: str
    axis: str
    rung: int
    repeat: int
    flipped: bool
    choice: str | None
    state: str


COMPARED = pa.schema(
    [
        *((name, pa.string()) for name in ("about", "group", "source", "cluster", "first", "second", "axis")),
        ("rung", pa.int64()),
        ("repeat", pa.int64()),
        ("flipped", pa.bool_()),
        ("choice", pa.string()),
        ("state", pa.string()),
    ]
)
"""The columns of comparisons, see `ComparedRow`."""

RESPONSES = pa.schema(
    [
        *((name, pa.string()) for name in ("item_id", "axis")),
        ("rung", pa.int64()),
        ("strength", pa.float64()),
        ("repeat", pa.int64()),
        ("dimension", pa.string()),
        ("value", pa.float64()),
        *((name, pa.string()) for name in ("state", "source", "topic", "prompt_id", "cluster")),
    ]
)


@dataclass(frozen=True, slots=True)
class Heard:
    """What a judge answered in an audit.

    Attributes:
        compared: Every answer, see `COMPARED`.
        responses: What stands in the place of scores, columns as `audits.stages.answers.responses` gives them.
        strengths: Rows of table `strengths` without audit_id, judge_id and is_control.
    """

    compared: pa.Table
    responses: pa.Table
    strengths: tuple[StrengthsRow, ...]


def heard(plan: ComparisonPlan, answers: Mapping[Key, Row], items: Iterable[Row]) -> Heard:
    """Put the answers beside what they are about.

    Args:
        plan: What was asked.
        answers: Rows of `comparisons` of one judge, by key.
        items: Rows of `items`.
    """
    item_of = {row["item_id"]: row for row in items}
    answered = [(asked, answers[asked.key]) for asked in plan.asked if asked.key in answers]
    compared = [_compared(asked, row, item_of[asked.second["item_id"]]) for asked, row in answered]
    strengths = _strengths(plan, answered, item_of)
    rows = [*_untouched(strengths, item_of), *_preferences(plan, answers, item_of)]
    rows.sort(key=lambda row: (row["item_id"], row["axis"], row["rung"], row["repeat"]))
    responses = pa.Table.from_pylist(rows, schema=RESPONSES)
    return Heard(pa.Table.from_pylist(compared, schema=COMPARED), responses, tuple(strengths))


def _compared(asked: Asked, row: Row, item: Row) -> ComparedRow:
    return {
        "about": asked.about,
        "group": asked.group,
        "source": item["source"],
        "cluster": item["cluster"],
        "first": asked.first["item_id"],
        "second": asked.second["item_id"],
        "axis": asked.second["axis"],
        "rung": asked.second["rung"],
        "repeat": asked.repeat,
        "flipped": asked.flipped,
        "choice": row["choice"],
        "state": row["state"],
    }


def second_share(asked: Asked, choice: str) -> float:
    """Give what the second member won in one comparison: 1, ½ or 0."""
    if choice == Choice.TIE:
        return 0.5
    return float((choice == Choice.LEFT) == asked.flipped)


def _strengths(
    plan: ComparisonPlan, answered: Sequence[tuple[Asked, Row]], items: Mapping[str, Row]
) -> list[StrengthsRow]:
    """Rank the candidates of every prompt."""
    of_group: dict[str, list[tuple[str, str, bool, float]]] = defaultdict(list)
    for asked, row in answered:
        if asked.about == UNTOUCHED and row["state"] == State.OK:
            share = second_share(asked, row["choice"])
            names = asked.first["item_id"], asked.second["item_id"]
            of_group[asked.group].append((*names, asked.flipped, share))
    strengths: list[StrengthsRow] = []
    for group, candidates in plan.groups.items():
        comparisons = of_group.get(group, [])
        counts = Counter(name for first, second, *_ in comparisons for name in (first, second))
        ranked = bradley_terry(won_shares(candidates, comparisons))
        for at, name in enumerate(candidates):
            key: StrengthsRow = {"item_id": name, "source": items[name]["source"], "prompt_id": group}
            strengths.append({**key, "n": counts[name], **_place(ranked, at)})
    return sorted(strengths, key=lambda row: row["item_id"])


def _place(ranked: Strengths | None, at: int) -> StrengthsRow:
    """Write a candidate's strength with its 90 % interval; nothing where there is no common order."""
    if ranked is None:
        return {"value": None, "ci_low": None, "ci_high": None, "place": None}
    value, half = float(ranked.values[at]), float(ndtri((1 + PASS_LEVEL) / 2)) * float(ranked.errors[at])
    place = float(ranked.places[at])
    return {"value": value, "ci_low": value - half, "ci_high": value + half, "place": place}


def _untouched(strengths: Sequence[StrengthsRow], items: Mapping[str, Row]) -> Iterator[ResponseRow]:
    """Let each candidate's strength stand in the place of a score; one without an order has none."""
    for row in strengths:
        state = State.EMPTY if row["value"] is None else State.OK
        yield _response(items[row["item_id"]], (ORIGINAL, 0, 0), 0.0, state, row["value"])


def _preferences(
    plan: ComparisonPlan, answers: Mapping[Key, Row], items: Mapping[str, Row]
) -> Iterator[ResponseRow]:
    """Let a rung's or damaged member's preference stand in the place of a score, per repeat."""
    orders: dict[tuple[str, str, int, int], list[tuple[Asked, Row | None]]] = defaultdict(list)
    for asked in plan.asked:
        if asked.about in {LADDERS, PAIRS}:
            second = asked.second
            name = (second["item_id"], second["axis"], second["rung"], asked.repeat)
            orders[name].append((asked, answers.get(asked.key)))
    for (item_id, axis, rung, repeat), both in orders.items():
        known = [(asked, row) for asked, row in both if row is not None]
        if known:
            state, value = _preference(known, both=len(known) == len(both))
            strength = known[0][0].second["strength"]
            yield _response(items[item_id], (axis, rung, repeat), strength, state, value)


def _preference(answered: Sequence[tuple[Asked, Row]], *, both: bool) -> tuple[State, float | None]:
    """Give how far a second member is preferred; with one order missing it has no preference."""
    lost = [State(row["state"]) for _, row in answered if row["state"] != State.OK]
    if lost or not both:
        return (lost[0] if lost else State.EMPTY), None
    return State.OK, sum(second_share(asked, row["choice"]) for asked, row in answered) / len(answered) - 0.5


def _response(
    item: Row, place: tuple[str, int, int], strength: float, state: State, value: float | None
) -> ResponseRow:
    """Write what stands in the place of a score; `place` is axis, rung and repeat."""
    axis, rung, repeat = place
    return {
        "item_id": item["item_id"],
        "source": item["source"],
        "topic": item["topic"],
        "prompt_id": item["prompt_id"],
        "cluster": item["cluster"],
        "axis": axis,
        "rung": rung,
        "strength": strength,
        "repeat": repeat,
        "dimension": OVERALL if state != State.INERT else POOLED,
        "value": value,
        "state": state.value,
    }

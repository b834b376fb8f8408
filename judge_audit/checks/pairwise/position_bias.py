"""Position bias: does a judge that compares choose a place instead of a picture?

Every pair is asked in both orders, so a preference for a place falls out of all ranks and preferences; here it is
measured and named. Judged on what differs most to people's eyes: candidates of one prompt, else deliberate
mismatches, else ladders.

The answers of a judge that compares, both orders of every pair side by side.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.checks.check import Check, Needs
from judge_audit.checks.evidence import Findings
from judge_audit.checks.result_rows import figure_columns
from judge_audit.core.formatting import percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import OVERALL, Choice, State, Verdict
from judge_audit.measures.estimates import items_needed, wilson, within
from judge_audit.measures.paired_comparisons import Orders, cyclic_triads, won_shares

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from judge_audit_schemas.rows import ResultRow

    from judge_audit.checks.evidence import Evidence


UNTOUCHED, PAIRS, LADDERS = KINDS = ("untouched", "pairs", "ladders")
"""What comparisons are about, what differs most to people's eyes first."""

WON = {Choice.LEFT: 1.0, Choice.TIE: 0.5, Choice.RIGHT: 0.0}


@dataclass(frozen=True, slots=True)
class Told:
    """Comparisons of one kind.

    Attributes:
        rows: Every answer, refusals and failures too; what shows the same picture twice is not among them.
        orders: Those that were answered in both orders.
    """

    rows: tuple[dict[str, Any], ...]
    orders: Orders


def told(evidence: Evidence) -> dict[str, Told]:
    """Sort the answers by what they are about; a kind that was not asked is not there."""
    return evidence.once("both orders", lambda: _told(evidence))


def _told(evidence: Evidence) -> dict[str, Told]:
    assert evidence.compared is not None
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in evidence.compared.to_pylist():
        if row["state"] != State.INERT:
            found[row["about"]].append(row)
    return {kind: Told(tuple(found[kind]), _orders(kind, found[kind])) for kind in KINDS if found[kind]}


def _orders(kind: str, rows: Sequence[dict[str, Any]]) -> Orders:
    """Put the two orders of each pair and repeat side by side."""
    held: dict[tuple[Any, ...], dict[bool, float]] = defaultdict(dict)
    cluster_of: dict[tuple[Any, ...], str] = {}
    for row in rows:
        if row["state"] != State.OK:
            continue
        pair = (row["group"], row["first"], row["second"], row["axis"], row["rung"])
        held[*pair, row["repeat"]][row["flipped"]] = WON[Choice(row["choice"])]
        cluster_of[pair] = row["group"] if kind == UNTOUCHED else row["cluster"]
    whole = [(name, orders) for name, orders in held.items() if len(orders) == 2]
    pairs = [name[:-1] for name, _ in whole]
    # Rungs of one original are hardly independent in anything: they count as one.
    alone = pairs if kind != LADDERS else [(cluster_of[pair],) for pair in pairs]
    return Orders(
        np.array([orders[False] for _, orders in whole]),
        np.array([orders[True] for _, orders in whole]),
        _numbers(alone),
        _numbers([(cluster_of[pair],) for pair in pairs]),
    )


def shares_of_prompts(evidence: Evidence) -> list[Any]:
    """Give, of every prompt whose candidates were compared, the shares that `cyclic_triads` takes."""
    held: dict[str, list[tuple[str, str, bool, float]]] = defaultdict(list)
    for row in told(evidence)[UNTOUCHED].rows if UNTOUCHED in told(evidence) else ():
        if row["state"] == State.OK:
            left = WON[Choice(row["choice"])]
            won = left if row["flipped"] else 1 - left
            held[row["group"]].append((row["first"], row["second"], row["flipped"], won))
    return [
        won_shares(sorted({name for first, second, *_ in rows for name in (first, second)}), rows)
        for _, rows in sorted(held.items())
    ]


def _numbers(names: Sequence[tuple[Any, ...]]) -> Any:  # noqa: ANN401 - an array of integers
    """Number names in the order of their first use."""
    place: dict[tuple[Any, ...], int] = {}
    return np.array([place.setdefault(name, len(place)) for name in names], dtype=np.intp)


NAME = "position_bias"
MEASURE = "left_share"


def run(evidence: Evidence) -> Findings:
    """Measure what the places owe, kind by kind, and judge the share of the picture shown first."""
    if evidence.compared is None:
        return Findings()
    held = told(evidence)
    measures = [row for kind, found in held.items() for row in _measures(evidence, kind, found)]
    measures += _circles(evidence)
    measures += _repeated(evidence, [row for found in held.values() for row in found.rows])
    kind = next((name for name in KINDS if name in held and len(held[name].orders.plain)), None)
    if kind is None:
        return Findings(measures=tuple(measures), verdicts=(_missing(evidence),))
    return Findings(measures=tuple(measures), verdicts=(_verdict(evidence, kind, held[kind]),))


def _key(evidence: Evidence, measure: str, kind: str) -> ResultRow:
    return evidence.key(NAME, measure, dimension=OVERALL, kind=kind)


def _share(evidence: Evidence, measure: str, kind: str, hits: int, n: int) -> ResultRow:
    """Make a row of a share with Wilson's interval."""
    low, high = wilson(hits, n)
    share: ResultRow = {"value": hits / n if n else None, "ci_low": low, "ci_high": high, "n": n}
    return _key(evidence, measure, kind) | share


def _measures(evidence: Evidence, kind: str, found: Told) -> Iterator[ResultRow]:
    orders = found.orders
    if not len(orders.plain):
        return
    yield _key(evidence, MEASURE, kind) | _around_half(figure_columns(orders.left_lean()))
    yield _key(evidence, "order_agreement", kind) | figure_columns(orders.agreement())
    yield _share(evidence, "left_decided", kind, orders.left_wins, orders.decided)
    yield _share(evidence, "tied_choices", kind, len(orders.answers) - orders.decided, len(orders.answers))
    yield _share(evidence, "same_winner", kind, *orders.same_winner())


def _around_half(columns: ResultRow) -> ResultRow:
    """Turn a lean into a share, which lies between 0 and 1."""

    def share(lean: float | None) -> float | None:
        return None if lean is None else min(1.0, max(0.0, 0.5 + lean))

    low, high = share(columns["ci_low"]), share(columns["ci_high"])
    return columns | {"value": share(columns["value"]), "ci_low": low, "ci_high": high}


def _circles(evidence: Evidence) -> Iterable[ResultRow]:
    counts = [cyclic_triads(shares) for shares in shares_of_prompts(evidence)]
    circles, triads = (sum(column) for column in zip(*counts, strict=True)) if counts else (0, 0)
    return [_share(evidence, "cyclic_share", UNTOUCHED, circles, triads)] if triads else []


def _repeated(evidence: Evidence, rows: Sequence[dict[str, Any]]) -> list[ResultRow]:
    """Say how often the same question was answered alike, where it was asked twice."""
    held: dict[tuple[Any, ...], dict[int, str]] = defaultdict(dict)
    for row in rows:
        if row["state"] == State.OK and row["repeat"] < 2:
            place = tuple(row[name] for name in ("group", "first", "second", "axis", "rung", "flipped"))
            held[place][row["repeat"]] = row["choice"]
    twice = [choices for choices in held.values() if len(choices) == 2]
    same = sum(choices[0] == choices[1] for choices in twice)
    return [_share(evidence, "repeat_choice", "*", same, len(twice))] if twice else []


def _verdict(evidence: Evidence, kind: str, found: Told) -> ResultRow:
    """Judge whether the place decides."""
    orders, margin = found.orders, evidence.limits["position_bias.margin"]
    lean = orders.left_lean()
    answer = within(lean, margin, 1)
    finding = {1: "prefers_left", -1: "prefers_right", 0: ""}[answer.side]
    key = f"compared.position.{finding or answer.verdict.value}" if lean.usable else "compared.position.few"
    first = orders.left_wins if answer.side >= 0 else orders.decided - orders.left_wins
    columns = _around_half(figure_columns(lean))
    words = {"hits": f"{first:,}", "decided": f"{orders.decided:,}", "pairs": f"{lean.n_clusters:,}"}
    words |= {"share": percent(0.5 + lean.value), "kind": say(f"compared.about.{kind}")}
    words |= {"low": _end(columns["ci_low"], 0), "high": _end(columns["ci_high"], 1)}
    needed = None
    if answer.verdict == Verdict.INCONCLUSIVE and lean.usable:
        needed = items_needed(lean, margin, 1)
    del columns["n_clusters"]
    return {
        **_key(evidence, MEASURE, kind),
        **columns,
        "n_needed": needed,
        "limit_low": 0.5 - margin,
        "limit_high": 0.5 + margin,
        "verdict": answer.verdict.value,
        "finding": finding,
        "reason": say(key, **words),
        "provisional": False,
    }


def _end(value: float | None, otherwise: float) -> str:
    return percent(otherwise if value is None else min(1.0, max(0.0, value)))


def _missing(evidence: Evidence) -> ResultRow:
    return {
        **_key(evidence, MEASURE, "*"),
        "verdict": Verdict.MISSING.value,
        "finding": "",
        "reason": say("compared.position.missing"),
        "provisional": False,
    }


CHECK = Check(NAME, run, needs=Needs.ANY)

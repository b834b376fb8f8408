"""Position bias: does a judge that compares choose a place instead of a picture?

Every pair is asked in both orders, so a preference for a place falls out of all ranks and preferences; here it is
measured and named. Judged on what differs most to people's eyes: candidates of one prompt, else deliberate
mismatches, else ladders.

The two orders of every pair also say what such a judge has in the place of a scale: an order of the candidates of a
prompt, or none. Its capability is ranker by construction, never an absolute scale: strengths mean something among
the candidates of one prompt alone.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from judge_audit.checks.check import Check, Needs
from judge_audit.checks.evidence import Findings
from judge_audit.checks.pairwise.answers import ComparedRow
from judge_audit.checks.result_rows import interval_words
from judge_audit.core.formatting import percent
from judge_audit.core.messages import say
from judge_audit.core.tables import rows_of
from judge_audit.core.vocabulary import NOT_ASKED, OVERALL, Choice, State, Verdict
from judge_audit.measures.estimates import PASS_LEVEL, corrected_level, items_needed, wilson, within
from judge_audit.measures.paired_comparisons import Orders, cyclic_triads, won_shares
from judge_audit.stimuli.planning.comparisons import LADDERS, PAIRS, UNTOUCHED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from judge_audit_schemas.rows import MeasuresRow, VerdictsRow

    from judge_audit.checks.evidence import Evidence
    from judge_audit.checks.result_rows import RowWriter

KINDS = (UNTOUCHED, PAIRS, LADDERS)
"""What comparisons are about, what differs most to people's eyes first."""

Row = TypeVar("Row", "MeasuresRow", "VerdictsRow")

WON = {Choice.LEFT: 1.0, Choice.TIE: 0.5, Choice.RIGHT: 0.0}


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Comparisons of one kind.

    Attributes:
        rows: Every answer, refusals and failures too; what shows the same picture twice is not among them.
        orders: Those that were answered in both orders.
    """

    rows: tuple[ComparedRow, ...]
    orders: Orders


def by_kind(evidence: Evidence) -> dict[str, Comparisons]:
    """Sort the answers by what they are about; a kind that was not asked is not there."""
    return evidence.once("both orders", lambda: _by_kind(evidence))


def _by_kind(evidence: Evidence) -> dict[str, Comparisons]:
    assert evidence.compared is not None
    rows: dict[str, list[ComparedRow]] = defaultdict(list)
    for row in rows_of(evidence.compared, ComparedRow):
        if row["state"] != State.INERT:
            rows[row["about"]].append(row)
    return {kind: Comparisons(tuple(rows[kind]), _orders(kind, rows[kind])) for kind in KINDS if rows[kind]}


def _orders(kind: str, rows: Sequence[ComparedRow]) -> Orders:
    """Put the two orders of each pair and repeat side by side."""
    won: dict[tuple[Any, ...], dict[bool, float]] = defaultdict(dict)
    cluster_of: dict[tuple[Any, ...], str] = {}
    for row in rows:
        if row["state"] == State.OK:
            pair = (row["group"], row["first"], row["second"], row["axis"], row["rung"])
            won[*pair, row["repeat"]][row["flipped"]] = WON[Choice(str(row["choice"]))]
            cluster_of[pair] = row["group"] if kind == UNTOUCHED else row["cluster"]
    whole = [(name, orders) for name, orders in won.items() if len(orders) == 2]
    pairs = [name[:-1] for name, _ in whole]
    # Rungs of one original are hardly independent in anything: they count as one.
    alone = pairs if kind != LADDERS else [(cluster_of[pair],) for pair in pairs]
    return Orders(
        np.array([orders[False] for _, orders in whole]),
        np.array([orders[True] for _, orders in whole]),
        _numbers(alone),
        _numbers([(cluster_of[pair],) for pair in pairs]),
    )


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
    comparisons, writer = by_kind(evidence), evidence.writer(NAME, dimension=OVERALL)
    measures = [row for kind, part in comparisons.items() for row in _measures(writer.at(kind=kind), part)]
    measures += _circles(evidence, writer)
    measures += _repeated(writer, [row for part in comparisons.values() for row in part.rows])
    kind = _first_answered(comparisons, KINDS)
    if kind is None:
        verdict = writer.verdict(MEASURE, Verdict.MISSING, say("compared.position.missing"))
    else:
        verdict = _verdict(evidence, kind, comparisons[kind].orders)
    return Findings(measures=tuple(measures), verdicts=(verdict,))


def _measures(writer: RowWriter, part: Comparisons) -> Iterator[MeasuresRow]:
    orders = part.orders
    if not len(orders.plain):
        return
    yield _around_half(writer.figure(MEASURE, orders.left_lean()))
    yield writer.figure("order_agreement", orders.agreement())
    yield writer.share("left_decided", orders.left_wins, orders.decided)
    yield writer.share("tied_choices", len(orders.answers) - orders.decided, len(orders.answers))
    yield writer.share("same_winner", *orders.same_winner())


def _around_half(row: Row) -> Row:
    """Turn the lean in a row into a share, which lies between 0 and 1."""
    name: Literal["value", "ci_low", "ci_high"]
    for name in ("value", "ci_low", "ci_high"):
        if (lean := row[name]) is not None:
            row[name] = _share(lean)
    return row


def _share(lean: float) -> float:
    return min(1.0, max(0.0, 0.5 + lean))


def _circles(evidence: Evidence, writer: RowWriter) -> list[MeasuresRow]:
    """Give the share of circles among the triads of every prompt whose candidates were compared."""
    of_group: dict[str, list[tuple[str, str, bool, float]]] = defaultdict(list)
    untouched = by_kind(evidence).get(UNTOUCHED)
    for row in untouched.rows if untouched else ():
        if row["state"] == State.OK:
            left = WON[Choice(str(row["choice"]))]
            won = left if row["flipped"] else 1 - left
            of_group[row["group"]].append((row["first"], row["second"], row["flipped"], won))
    circles = triads = 0
    for _, rows in sorted(of_group.items()):
        names = sorted({name for first, second, *_ in rows for name in (first, second)})
        found, possible = cyclic_triads(won_shares(names, rows))
        circles, triads = circles + found, triads + possible
    return [writer.share("cyclic_share", circles, triads, kind=UNTOUCHED)] if triads else []


def _repeated(writer: RowWriter, rows: Sequence[ComparedRow]) -> list[MeasuresRow]:
    """Say how often the same question was answered alike, where it was asked twice."""
    answered: dict[tuple[Any, ...], dict[int, str | None]] = defaultdict(dict)
    ask = itemgetter("group", "first", "second", "axis", "rung", "flipped")
    for row in rows:
        if row["state"] == State.OK and row["repeat"] < 2:
            answered[ask(row)][row["repeat"]] = row["choice"]
    twice = [choices for choices in answered.values() if len(choices) == 2]
    same = sum(choices[0] == choices[1] for choices in twice)
    return [writer.share("repeat_choice", same, len(twice))] if twice else []


def _verdict(evidence: Evidence, kind: str, orders: Orders) -> VerdictsRow:
    """Judge whether the place decides."""
    margin, lean = evidence.limits["position_bias.margin"], orders.left_lean()
    answer = within(lean, margin, 1)
    finding = {1: "prefers_left", -1: "prefers_right", 0: ""}[answer.side]
    first = orders.left_wins if answer.side >= 0 else orders.decided - orders.left_wins
    # Without an interval, which is infinite then, the share may be anything.
    words = interval_words(lean, write=lambda end: percent(_share(end)))
    words |= {"hits": f"{first:,}", "decided": f"{orders.decided:,}", "pairs": f"{lean.n_clusters:,}"}
    words |= {"share": percent(0.5 + lean.value), "kind": say(f"compared.about.{kind}")}
    needed = None
    if answer.verdict == Verdict.INCONCLUSIVE and lean.usable:
        needed = items_needed(lean, margin, 1)
    key = f"compared.position.{finding or answer.verdict.value}" if lean.usable else "compared.position.few"
    limits: VerdictsRow = {"n_needed": needed, "limit_low": 0.5 - margin, "limit_high": 0.5 + margin}
    writer = evidence.writer(NAME, dimension=OVERALL, kind=kind)
    return _around_half(writer.verdict(MEASURE, answer.verdict, say(key, **words), finding, lean, **limits))


def _first_answered(comparisons: Mapping[str, Comparisons], kinds: Iterable[str]) -> str | None:
    """Give the first kind of which any pair was answered in both orders."""
    known = (kind for kind in kinds if kind in comparisons)
    return next((kind for kind in known if len(comparisons[kind].orders.plain)), None)


SCALE, CAPABILITY = "scale", "capability"
"""The check that asks for an order where there is no scale, and its measure."""


def order_instead(evidence: Evidence) -> Findings:
    """Ask whether the two orders of a pair agree; say of the scale that there is none.

    Agreement 1 is an order, 0 a coin, −1 a place (see `Orders.agreement`). Pass wholly above
    `position_bias.order` at 90 %, fail (*no order*) wholly below it.
    """
    writer = evidence.writer(SCALE, dimension=OVERALL)
    reason = say("compared.no_scale")
    scales = (writer.verdict(name, Verdict.MISSING, reason, NOT_ASKED) for name in ("pile", "absolute"))
    return Findings(verdicts=(_capability(evidence, writer), *scales))


def _capability(evidence: Evidence, writer: RowWriter) -> VerdictsRow:
    comparisons = by_kind(evidence)
    if comparisons and not any(len(part.orders.plain) for part in comparisons.values()):
        return writer.verdict(CAPABILITY, Verdict.FAIL, say("compared.order.silent"), "silent")
    kind = _first_answered(comparisons, (UNTOUCHED, PAIRS))
    if kind is None:
        return writer.verdict(CAPABILITY, Verdict.MISSING, say("compared.order.missing"))
    orders = comparisons[kind].orders
    figure, limit = orders.agreement(), evidence.limits["position_bias.order"]
    # The agreement is no larger than the share of pairs that were no tie in either order.
    most = wilson(orders.same_winner()[1], len(orders.plain), corrected_level(1))[1]
    verdict, finding, sentence = Verdict.INCONCLUSIVE, "", "inconclusive"
    if not figure.usable:
        sentence = "few"
    elif figure.interval(PASS_LEVEL)[0] > limit:
        verdict, sentence = Verdict.PASS, "pass"
    elif min(figure.interval(corrected_level(1))[1], most) < limit:
        verdict, finding = Verdict.FAIL, "no_order"
        sentence = "place" if figure.value < -limit else "chance"
    reason = say(
        f"compared.order.{sentence}",
        clusters=figure.n_clusters,
        n=f"{figure.n:,}",
        kind=say(f"compared.about.{kind}"),
        **interval_words(figure),
    )
    return writer.verdict(CAPABILITY, verdict, reason, finding, figure, limit_low=limit)


CHECK = Check(NAME, run, needs=Needs.ANY)

"""The answers of a judge that compares, both orders of every pair side by side."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.core.vocabulary import Choice, State
from judge_audit.measures.paired_comparisons import Orders, won_shares

if TYPE_CHECKING:
    from collections.abc import Sequence

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

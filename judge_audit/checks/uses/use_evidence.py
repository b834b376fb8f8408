"""What people found in the items that were drawn for review, put back into the strata they were drawn from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.checks.result_rows import interval_words
from judge_audit.core.formatting import fine_percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import OVERALL
from judge_audit.measures.estimates import PASS_LEVEL
from judge_audit.measures.stratified_rates import Stratum, weighted_stratum
from judge_audit.measures.within_prompt import groups

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

    from judge_audit.checks.evidence import Evidence, Ints
    from judge_audit.checks.result_rows import Figure

    Row = Mapping[str, Any]
    Unit = tuple[str, str, str]


def share_words(figure: Figure, level: float = PASS_LEVEL) -> dict[str, str]:
    """Write a share and its interval for a sentence."""
    return interval_words(figure, level, signed_percent)


def signed_percent(share: float) -> str:
    """Write a share that may be negative; small ones with a decimal."""
    return fine_percent(share) if math.isfinite(share) else say("uses.unknown")


GOOD = "good"


@dataclass(frozen=True, slots=True)
class Drawn:
    """An item that was drawn for a queue.

    Attributes:
        queue: The queue.
        item_id: The item.
        decision_id: The decision it was drawn by, "" if none.
        partner: The other member of its pair, "" if none.
        stratum: What it was drawn from.
        size: How many that held; None where nobody recorded it.
        inclusion: With which probability; None where nobody recorded it.
        good: Share of its reviewers who call it good; None where nobody has looked.
        blind: Whether it came to people in a pack, which shows neither scores nor queues.
    """

    queue: str
    item_id: str
    decision_id: str
    partner: str
    stratum: str
    size: float | None
    inclusion: float | None
    good: float | None
    blind: bool


def drawn(evidence: Evidence, queues: Collection[str], dimension: str = OVERALL) -> list[Drawn]:
    """Give what was drawn for some queues, with what people found in one dimension."""
    if evidence.reviews is None:
        return []
    rows = [row for row in evidence.reviews.to_pylist() if row["queue"] in queues and not row["axis"]]
    outcomes = goods(row for row in rows if row["dimension"] == dimension)
    packed = [] if evidence.draws is None else evidence.draws.to_pylist()
    asked = [_of(row, outcomes.get(_unit(row)), blind=True) for row in packed if row["queue"] in queues]
    first: dict[Unit, Row] = {}
    for row in rows:
        if not row["pack_id"]:
            first.setdefault(_unit(row), row)
    return asked + [_of(row, outcomes.get(unit), blind=False) for unit, row in first.items()]


def _unit(row: Row) -> Unit:
    return row["queue"], row["item_id"], row["decision_id"]


def _of(row: Row, good: float | None, *, blind: bool) -> Drawn:
    names = ("queue", "item_id", "decision_id", "partner", "stratum")
    texts = {name: row[name] or "" for name in names}
    return Drawn(**texts, size=row["stratum_size"], inclusion=row["inclusion"], good=good, blind=blind)


def goods(rows: Iterable[Row]) -> dict[Unit, float]:
    """Give the share of reviewers who call a thing good."""
    votes_on: dict[Unit, list[bool]] = {}
    for row in rows:
        votes_on.setdefault(_unit(row), []).append(row["outcome"] == GOOD)
    return {unit: sum(votes) / len(votes) for unit, votes in votes_on.items()}


def axes_named(evidence: Evidence, queue: str) -> dict[str, int]:
    """Count the items of a queue on which somebody named an axis as what is wrong, by axis."""
    assert evidence.reviews is not None
    rows = [row for row in evidence.reviews.to_pylist() if row["queue"] == queue and row["axis"]]
    items_of: dict[str, set[str]] = {}
    for row in rows:
        items_of.setdefault(row["axis"], set()).add(row["item_id"])
    return {axis: len(items) for axis, items in sorted(items_of.items())}


def stratum_of(
    name: str, entries: Iterable[Drawn], clusters: Mapping[str, str], *, good: bool, size: float | None = None
) -> Stratum:
    """Make a stratum of what was drawn from it.

    Items of one cluster are one independent item. Those that nobody has looked at are counted as unseen.

    Args:
        name: Its name.
        entries: What was drawn.
        clusters: Cluster of each item that has one.
        good: Whether the property is to be good, else to be bad.
        size: How much of the population it holds; else what was recorded, or the sum of 1/inclusion.
    """
    everything = list(entries)
    reviewed = [(entry, entry.good) for entry in everything if entry.good is not None]
    hits = [share if good else 1 - share for _, share in reviewed]
    made = weighted_stratum(name, hits, [entry.inclusion or 1.0 for entry, _ in reviewed])
    independent = len({clusters.get(entry.item_id, entry.item_id) for entry, _ in reviewed})
    shrunk = independent / len(reviewed) if reviewed else 1.0
    if size is None:
        size = next((entry.size for entry in everything if entry.size), None)
    if size is None:
        size = sum(1 / (entry.inclusion or 1.0) for entry in everything)
    return Stratum(name, size, made.hits * shrunk, made.n * shrunk, float(len(everything) - len(reviewed)))


def shared_clusters(numbers: Ints, clusters: Ints) -> Ints:
    """Number the clusters of groups: those that share a cluster of any member are one.

    Args:
        numbers: The group of each member, numbered from 0.
        clusters: The cluster of each member.
    """
    width = len(str(int(numbers.max()) + 1))
    names = np.array([str(number).zfill(width) for number in numbers.tolist()])
    return groups(names, np.unique(clusters, return_inverse=True)[1].astype(np.intp)).clusters

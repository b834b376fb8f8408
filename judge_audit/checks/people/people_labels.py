"""Labels as the agreement measures want them: one set of ratings per dimension on one set of clusters."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from judge_audit.core.vocabulary import PEOPLE
from judge_audit.measures.agreement import LEVELS, NOMINAL, Ratings
from judge_audit.measures.estimates import PASS_LEVEL
from judge_audit.measures.influence import Clusters
from judge_audit.measures.lifts import rounded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Unpack

    from judge_audit_schemas.rows import KeyParts, MeasuresRow

    from judge_audit.checks.evidence import Evidence, Floats, Ints, Mask
    from judge_audit.checks.result_rows import Place, RowWriter
    from judge_audit.core.limits import Limits
    from judge_audit.measures.estimates import Estimate

NAME = "agreement"
Name = TypeVar("Name", str, tuple[str, str])


@dataclass(frozen=True, slots=True)
class Items:
    """The items that anybody has labelled in any dimension.

    Attributes:
        sources: Names of the sources, sorted.
        topics: Names of the topics, sorted; empty if there is only one.
        of_source: Source of each item, shape (n,).
        of_topic: Topic of each item, shape (n,).
        clusters: Clusters within sources.
    """

    sources: tuple[str, ...]
    topics: tuple[str, ...]
    of_source: Ints
    of_topic: Ints
    clusters: Clusters


@dataclass(frozen=True, slots=True)
class Labelled:
    """What people said in one dimension.

    Attributes:
        dimension: Its name.
        level: nominal, ordinal or interval.
        items: The items of all dimensions.
        ratings: All ratings within the declared ends.
        raters: Names by number.
        received: Ratings by rater as they came, those beyond the ends among them.
        beyond: Ratings beyond the declared ends, by rater.
        repeated: Ratings left out because the same rater had rated the same item.
        rows: What makes the rows about people in this dimension.
        limits: The limits in force.
    """

    dimension: str
    level: str
    items: Items
    ratings: Ratings
    raters: tuple[str, ...]
    received: Mapping[str, int]
    beyond: Mapping[str, int]
    repeated: int
    rows: RowWriter
    limits: Limits

    @property
    def ordered(self) -> bool:
        """Whether more and less mean anything."""
        return self.level != NOMINAL

    @property
    def named(self) -> Ratings:
        """The ratings whose rater is known."""
        return self.ratings.where(self.ratings.raters >= 0)

    @property
    def unnamed_share(self) -> float:
        """Share of the ratings whose rater nobody knows."""
        return float((self.ratings.raters < 0).mean()) if len(self.ratings.raters) else 0.0

    def figure(
        self, measure: str, estimate: Estimate, level: float = PASS_LEVEL, **place: Unpack[Place]
    ) -> MeasuresRow:
        """Make a row of `measures`; no agreement is above 1."""
        row = self.rows.figure(measure, estimate, level, **place)
        return row if row["ci_high"] is None else {**row, "ci_high": min(row["ci_high"], 1.0)}

    def pair_name(self, pair: tuple[int, int]) -> str:
        """Name a pair of raters as the column `rater` does."""
        return " / ".join(self.raters[rater] for rater in pair)

    def cells(self) -> Iterator[tuple[KeyParts, Mask]]:
        """Give the whole, every source and every topic, with the items in it."""
        yield {}, np.ones(len(self.items.of_source), bool)
        for number, name in enumerate(self.items.sources):
            yield {"source": name}, self.items.of_source == number
        for number, name in enumerate(self.items.topics):
            yield {"topic": name}, self.items.of_topic == number


def gather(evidence: Evidence) -> list[Labelled]:
    """Sort labels by dimension; cells without a value are missing and enter nothing."""
    assert evidence.labels is not None
    columns = {name: evidence.labels[name].to_pylist() for name in evidence.labels.column_names}
    items, place = _items(columns)
    values = np.array([np.nan if value is None else value for value in columns["value"]], float)
    dimensions = np.array(columns["dimension"], dtype=object)
    return [
        _labelled(
            evidence,
            str(name),
            np.flatnonzero((dimensions == name) & np.isfinite(values)),
            columns,
            (items, place),
        )
        for name in sorted(set(columns["dimension"]))
    ]


def _items(columns: Mapping[str, list[Any]]) -> tuple[Items, Ints]:
    """Number the items by name, and give the item of each row."""
    ordered, first, place = np.unique(
        np.array(columns["item_id"], object), return_index=True, return_inverse=True
    )
    rows = first.tolist()
    own_source, own_topic = ([columns[column][row] or "" for row in rows] for column in ("source", "topic"))
    sources, of_source = _numbered(own_source)
    topics, of_topic = _numbered(own_topic)
    units, of_item = _numbered(
        [
            (source, columns["cluster"][row] or f"\0{name}")
            for source, row, name in zip(own_source, rows, ordered, strict=True)
        ]
    )
    clusters = Clusters(of_item, np.array([sources.index(source) for source, _ in units], np.intp))
    return Items(sources, topics if len(topics) > 1 else (), of_source, of_topic, clusters), place


def _numbered(values: Sequence[Name]) -> tuple[tuple[Name, ...], Ints]:
    """Give the names, sorted, and the number of each value."""
    names = tuple(sorted(set(values)))
    number = {name: index for index, name in enumerate(names)}
    return names, np.array([number[value] for value in values], np.intp)


def _labelled(
    evidence: Evidence,
    dimension: str,
    rows: Ints,
    columns: Mapping[str, list[Any]],
    numbered: tuple[Items, Ints],
) -> Labelled:
    """Take the rows of one dimension; values beyond the ends are counted and left out, never clipped."""
    items, place = numbered
    who = [columns["annotator_id"][row] or "" for row in rows]
    raters = tuple(sorted(set(who) - {""}))
    number = {"": -1} | {name: index for index, name in enumerate(raters)}
    values = rounded(np.array([columns["value"][row] for row in rows], float))
    low, high = (_ends(columns[name], rows, end) for name, end in (("low", -np.inf), ("high", np.inf)))
    inside = (values >= low) & (values <= high)
    beyond = Counter(name for name, within in zip(who, inside, strict=True) if not within)
    codes = np.array([number[name] for name in who], np.intp)
    order = np.lexsort((values, codes, place[rows]))
    order = order[inside[order]]
    own, rater = place[rows][order], codes[order]
    again = np.zeros(len(order), bool)
    again[1:] = (own[1:] == own[:-1]) & (rater[1:] == rater[:-1]) & (rater[1:] >= 0)
    order = order[~again]
    ratings = Ratings(place[rows][order], codes[order], values[order], items.clusters)
    level = min((columns["level"][row] for row in rows), key=LEVELS.index, default=NOMINAL)
    writer = evidence.writer(NAME, subject=PEOPLE, dimension=dimension)
    counts = Counter(who), beyond, int(again.sum())
    return Labelled(dimension, level, items, ratings, raters, *counts, writer, evidence.limits)


def _ends(declared: list[Any], rows: Ints, otherwise: float) -> Floats:
    """Give the declared end of each row."""
    return rounded(np.array([otherwise if declared[row] is None else declared[row] for row in rows], float))

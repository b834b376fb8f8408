"""People's labels beside the judge's untouched scores, joined by item and set out source by source."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from judge_audit.core.vocabulary import ORIGINAL, OVERALL, POOLED, State
from judge_audit.measures.judge_and_raters import Sample, people_mean
from judge_audit.measures.lifts import rounded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from judge_audit.checks.evidence import Evidence, Floats, Ints, Mask

NOBODY = ""
"""Annotator of labels whose annotator is unknown."""

DECIMALS = 9


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """What people said in one dimension (or the mean of several), oriented.

    Attributes:
        items: Item ids, sorted.
        values: Label of each rater, NaN where there is none, shape (n, R).
        raters: Their names; labels without an annotator are not among them.
        mean: Mean label of every item, those without an annotator included, shape (n,).
        low: Worst end of the declared scale, oriented; None if it is not declared.
        high: Best end.
    """

    items: tuple[str, ...]
    values: Floats
    raters: tuple[str, ...]
    mean: Floats
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The judge's untouched scores in one dimension, oriented.

    Attributes:
        items: Items that were asked about, sorted.
        sources: Source of each.
        clusters: Cluster of each, as numbers.
        values: Scores, NaN where an answer is missing or was never asked for, shape (n, repeats).
        asked: Whether an answer was due, shape (n, repeats).
        prompts: Prompt of each, "" if unknown.
    """

    items: tuple[str, ...]
    sources: NDArray[np.str_]
    clusters: Ints
    values: Floats
    asked: Mask
    prompts: NDArray[np.str_]

    @property
    def lost(self) -> Mask:
        """Items whose first answer is missing."""
        return self.asked[:, 0] & np.isnan(self.values[:, 0])


def labelled(evidence: Evidence) -> tuple[str, ...]:
    """List the dimensions that people labelled."""
    if evidence.labels is None or not evidence.labels.num_rows:
        return ()
    return tuple(sorted(pc.unique(evidence.labels["dimension"]).to_pylist()))


def people_for(evidence: Evidence, dimension: str) -> tuple[str, ...]:
    """Say which of people's dimensions a judge's is held against.

    The one of the same name; `overall`, and the only dimension of a judge that has one, falls back to the
    people's only dimension or the mean of theirs. Nothing else is paired.
    """
    known = labelled(evidence)
    if dimension in known:
        return (dimension,)
    whole = dimension == OVERALL or len(evidence.card.dimensions) == 1
    return known if whole else ()


def ratings(evidence: Evidence, dimensions: Sequence[str]) -> Ratings | None:
    """Set out people's labels in some dimensions; a rater's label is the mean over them, all being there.

    Labels of the same rater on the same item are averaged. Dimensions on different declared scales are put on
    0 to 1 before they are averaged.
    """
    return evidence.once("ratings\0" + "\0".join(dimensions), lambda: _ratings(evidence, dimensions))


def _ratings(evidence: Evidence, dimensions: Sequence[str]) -> Ratings | None:
    if evidence.labels is None or not dimensions:
        return None
    labels = evidence.labels
    parts = [_one(labels.filter(pc.equal(labels["dimension"], name))) for name in dimensions]
    if len(parts) == 1:
        return parts[0]
    if len({(part.low, part.high) for part in parts}) > 1 and all(part.low is not None for part in parts):
        parts = [_on_unit_scale(part) for part in parts]
    items = tuple(sorted(set.intersection(*(set(part.items) for part in parts))))
    raters = tuple(sorted(set.intersection(*(set(part.raters) for part in parts))))
    values, means = [], []
    for part in parts:
        rows = np.searchsorted(np.array(part.items), np.array(items, str))
        columns = [part.raters.index(rater) for rater in raters]
        values.append(part.values[rows][:, columns])
        means.append(part.mean[rows])
    ends = {(part.low, part.high) for part in parts}
    low, high = ends.pop() if len(ends) == 1 else (None, None)
    return Ratings(
        items, rounded(np.mean(values, axis=0)), raters, rounded(np.mean(means, axis=0)), low, high
    )


def _on_unit_scale(part: Ratings) -> Ratings:
    assert part.low is not None
    assert part.high is not None
    span = part.high - part.low
    values, mean = (part.values - part.low) / span, (part.mean - part.low) / span
    return replace(part, values=values, mean=mean, low=0.0, high=1.0)


def _one(table: pa.Table) -> Ratings:
    table = table.filter(pc.is_valid(table["value"]))
    higher = np.asarray(table["higher_is_better"].to_pylist(), bool)
    oriented = np.where(higher, 1.0, -1.0) * np.asarray(table["value"], float)
    items, rows = np.unique(np.asarray(table["item_id"].to_pylist(), str), return_inverse=True)
    names, columns = np.unique(np.asarray(table["annotator_id"].to_pylist(), str), return_inverse=True)
    total = np.zeros((len(items), len(names)))
    count = np.zeros_like(total)
    np.add.at(total, (rows, columns), oriented)
    np.add.at(count, (rows, columns), 1.0)
    values = rounded(np.where(count > 0, total / np.maximum(count, 1), np.nan))
    named = names != NOBODY
    low, high = _ends(table)
    return Ratings(
        tuple(items.tolist()),
        values[:, named],
        tuple(names[named].tolist()),
        rounded(people_mean(values)),
        low,
        high,
    )


def _ends(table: pa.Table) -> tuple[float | None, float | None]:
    """Give the declared ends, oriented, if all rows declare the same."""
    columns = ["low", "high", "higher_is_better"]
    declared = table.select(columns).group_by(columns).aggregate([]).to_pylist()
    ends = {
        tuple(sorted((row["low"], row["high"]) if row["higher_is_better"] else (-row["low"], -row["high"])))
        for row in declared
        if row["low"] is not None and row["high"] is not None
    }
    return ends.pop() if len(ends) == 1 else (None, None)


def answers(evidence: Evidence, dimension: str) -> Answers:
    """Set out the judge's untouched scores in one dimension."""
    return evidence.once(f"answers\0{dimension}", lambda: _answers(evidence, dimension))


def _answers(evidence: Evidence, dimension: str) -> Answers:
    """Every item the judge was asked about owes a first answer in every dimension, row or no row."""
    whole = evidence.responses.filter(pc.equal(evidence.responses["axis"], ORIGINAL))
    names = np.asarray(whole["item_id"].to_pylist(), str)
    items, first, places = np.unique(names, return_index=True, return_inverse=True)
    mine = pc.is_in(whole["dimension"], value_set=pa.array([dimension, POOLED]))
    rows, table = places[np.asarray(mine, bool)], whole.filter(mine)
    repeats = np.asarray(table["repeat"], int)
    scores = np.asarray(table["value"].cast("double").fill_null(np.nan), float)
    fine = np.asarray(pc.equal(table["state"], State.OK.value), bool)
    values = np.full((len(items), 1 + int(repeats.max(initial=0))), np.nan)
    asked = np.zeros(values.shape, bool)
    asked[:, 0] = True
    asked[rows, repeats] = True
    values[rows[fine], repeats[fine]] = evidence.sign * scores[fine]
    sources, clusters = (np.asarray(whole[key].to_pylist(), str)[first] for key in ("source", "cluster"))
    return Answers(
        tuple(items.tolist()),
        sources,
        np.unique(clusters, return_inverse=True)[1].astype(np.intp),
        rounded(values),
        asked,
        _prompts(evidence, whole, items, first),
    )


def _prompts(evidence: Evidence, table: pa.Table, items: NDArray[np.str_], first: Ints) -> NDArray[np.str_]:
    """Give each item's prompt, from the responses if they name it, else from the labels."""
    if "prompt_id" in table.column_names:
        return np.array([text or "" for text in np.array(table["prompt_id"].to_pylist(), object)[first]], str)
    if evidence.labels is None or "prompt_id" not in evidence.labels.column_names:
        return np.full(len(items), "", str)
    names = ("item_id", "prompt_id")
    known = dict(zip(*(evidence.labels[name].to_pylist() for name in names), strict=True))
    return np.array([known.get(item) or "" for item in items.tolist()], str)


def samples(
    scores: Answers, people: Ratings, *, deterministic: bool, filled: float | None = None
) -> dict[str, Sample]:
    """Put the labelled items of each source beside the judge, and of all sources under `*`.

    Args:
        scores: The judge's scores.
        people: The labels.
        deterministic: Whether the judge answers the same every time.
        filled: What stands for missing first scores (±1e30: below or above all others), None to leave them out.
    """
    place = {item: at for at, item in enumerate(people.items)}
    rows = np.array([at for at, item in enumerate(scores.items) if item in place], np.intp)
    columns = np.array([place[scores.items[at]] for at in rows], np.intp)
    first = scores.values[rows, 0]
    if filled is not None:
        first = np.where(scores.lost[rows], filled, first)
    again = scores.values[rows, 1] if scores.values.shape[1] > 1 else np.full(len(rows), np.nan)
    labels, sources = people.values[columns], scores.sources[rows]
    by_source = {}
    for source in [*sorted(set(sources.tolist())), POOLED]:
        use = np.ones(len(rows), bool) if source == POOLED else sources == source
        rated = np.isfinite(labels[use]).any(axis=0)
        by_source[source] = Sample(
            first[use],
            again[use],
            labels[use][:, rated],
            tuple(compress(people.raters, rated)),
            people.mean[columns][use],
            scores.clusters[rows][use],
            deterministic,
        )
    return by_source


def means(scores: Answers, people: Ratings) -> Floats:
    """Give people's mean label of each item the judge was asked about; NaN if nobody labelled it."""
    place: Mapping[str, float] = dict(zip(people.items, people.mean.tolist(), strict=True))
    return np.array([place.get(item, np.nan) for item in scores.items], float)


def always_the_same(scores: Answers) -> bool:
    """Whether the judge was asked twice about some items and never changed an answer."""
    first, later = scores.values[:, :1], scores.values[:, 1:]
    twice = np.isfinite(later) & np.isfinite(first)
    same = np.abs(later - first) < 10.0**-DECIMALS
    return bool(twice.sum() >= 30 and same[twice].all())


def rater_values(scores: Answers, people: Ratings) -> Floats:
    """Give each rater's label of each item the judge was asked about: (n, R), NaN where there is none."""
    place = {item: at for at, item in enumerate(people.items)}
    rows = np.array([place.get(item, -1) for item in scores.items], int)
    padded = np.vstack([people.values, np.full((1, len(people.raters)), np.nan)])
    return np.asarray(padded[rows], float)

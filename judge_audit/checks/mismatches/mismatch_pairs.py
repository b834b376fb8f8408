"""Deliberate mismatches as arrays: the answers to both members, source by source, with their references.

People's labels of the same pairs, put in the judge's place to measure the same figures on them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from judge_audit.checks.evidence import ranks_anything
from judge_audit.checks.ladders.missing_lifts import replaced
from judge_audit.core.digests import draw_seed
from judge_audit.core.vocabulary import ORIGINAL, OVERALL, PAIR_AXIS, PEOPLE, POOLED, SMALL, State
from judge_audit.judges.cards.card import Card
from judge_audit.measures.dimensions import Responses
from judge_audit.measures.lifts import Lifts, Reference, averaged, extreme_lifts, lifts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit.checks.evidence import Evidence, Floats, Ints, Mask, ResponseRow
    from judge_audit.stimuli.mismatches.kind import Kind

HAND_MADE, CONSTRUCTED = "hand-made", "constructed"
"""Where pairs come from; the two are never pooled."""

UNIT_DRAWS = 200

NORMAL = 1.3226
"""Makes the mean absolute deviation of scores drawn in to the 5 % ends the standard deviation if they are normal."""

Answers = dict[tuple[str, str, int], dict[tuple[int, str], float]]
"""Oriented scores by item, axis and rung, then by repeat and dimension; NaN where the answer is missing."""


@dataclass(frozen=True)
class Group:
    """The pairs of one origin whose intact members come from one source (or from the small ones together).

    Attributes:
        source: Its name.
        references: Untouched scores of the source in each dimension, on the same items.
        units: Robust standard deviation of each dimension, at least one attainable step, shape (D,).
        resolved: Whether a dimension can rank anything, shape (D,).
        pairs: The pairs' rows, P of them.
        clusters: Their clusters as in the references, shape (P,).
        intact: Oriented scores, shape (P, D, R), NaN where missing.
        damaged: The same of the damaged members.
        seed: Seed of the resampling of the units.
        step: The card's declared step, None without one.
    """

    source: str
    references: tuple[Reference, ...]
    units: Floats
    resolved: Mask
    pairs: tuple[Mapping[str, Any], ...]
    clusters: Ints
    intact: Floats
    damaged: Floats
    seed: int
    step: float | None

    @cached_property
    def scales(self) -> Floats:
        """How far the units are known: unit over that of a resample of clusters, shape (B, D)."""
        untouched = np.array([reference.values for reference in self.references]).T
        return unit_scales(untouched, self.references[0].clusters, self.step, self.seed)

    def of_kind(self, kind: str, *, dimension: str = "") -> Mask:
        """Say which pairs are of a kind and, if a dimension is named, must leave it as it is."""
        return np.array(
            [pair["kind"] == kind and (not dimension or dimension in pair["holds"]) for pair in self.pairs],
            bool,
        )

    def lifts(self, which: Mask, at: int, *, highest: bool | None = None) -> Lifts:
        """Lift of the damaged over the intact member in one dimension, over repeats.

        Args:
            which: The pairs.
            at: The dimension.
            highest: What stands for a missing answer to the damaged member: the largest lift possible, the
                smallest, or (None) nothing.
        """
        reference, clusters = self.references[at], self.clusters[which]
        parts = []
        for repeat in range(self.intact.shape[2]):
            intact, damaged = self.intact[which, at, repeat], self.damaged[which, at, repeat]
            part = lifts(damaged, intact, clusters, reference)
            if highest is not None and repeat == 0:
                end = extreme_lifts(intact, clusters, reference, highest=highest)
                part = replaced(part, np.isnan(damaged), end)
            parts.append(part)
        return averaged(parts)

    def raw(self, which: Mask, at: int) -> Lifts:
        """Oriented difference in robust standard deviations, shaped like lifts."""
        delta = self.deltas()[which, at]
        without = np.broadcast_to(delta[:, None], (len(delta), self.references[at].n_clusters))
        return Lifts(delta, without, self.clusters[which])

    def deltas(self) -> Floats:
        """Damaged minus intact in robust standard deviations, averaged over repeats, shape (P, D)."""
        change = self.damaged - self.intact
        known = np.isfinite(change)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(known, change, 0).sum(axis=2) / known.sum(axis=2)
        return np.asarray(mean / self.units)


@dataclass(frozen=True, slots=True)
class Matched:
    """All pairs of one origin.

    Attributes:
        origin: Hand-made or constructed.
        dimensions: The dimensions, D of them.
        groups: By source.
        unanchored: Pairs whose intact member has no untouched score to start from, by kind.
        defined: The kinds by name, as they are defined.
    """

    origin: str
    dimensions: tuple[str, ...]
    groups: tuple[Group, ...]
    unanchored: Mapping[str, int]
    defined: Mapping[str, Kind]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds there are pairs of, in the order of their definition."""
        kinds = {pair["kind"] for group in self.groups for pair in group.pairs} | set(self.unanchored)
        return tuple(name for name in self.defined if name in kinds)

    def usable(self, *dimensions: int) -> tuple[Group, ...]:
        """Groups in which these dimensions can rank something."""
        return tuple(group for group in self.groups if group.resolved[list(dimensions)].all())

    def missing_share(self, kind: str, at: int) -> float:
        """Share of the pairs of a kind without an answer to either member in a dimension."""
        lost = total = self.unanchored.get(kind, 0)
        for group in self.groups:
            which = group.of_kind(kind)
            total += int(which.sum())
            gone = np.isnan(group.damaged[which, at, 0]) | np.isnan(group.intact[which, at, 0])
            lost += int(gone.sum())
        return lost / total if total else 0.0

    def responses(self, dimensions: Sequence[int]) -> Responses | None:
        """Δ of the pairs known in all of some dimensions; None if a kind has none or nothing is left."""
        deltas, kinds, sources, clusters = [], [], [], []
        names = self.kinds
        for index, group in enumerate(self.usable(*dimensions)):
            of_pairs = group.deltas()[:, list(dimensions)]
            known = np.asarray(np.isfinite(of_pairs).all(axis=1))
            deltas.append(of_pairs[known])
            kinds += [names.index(pair["kind"]) for pair in compress(group.pairs, known)]
            sources += [index] * int(known.sum())
            clusters.append(group.clusters[known])
        if not kinds or set(kinds) != set(range(len(names))):
            return None
        return Responses(np.concatenate(deltas), np.array(kinds), np.array(sources), np.concatenate(clusters))


def match(evidence: Evidence, dimensions: tuple[str, ...], origin: str) -> Matched:
    """Put the answers to both members of every pair of one origin side by side."""
    rows = [] if evidence.pairs is None else evidence.pairs.to_pylist()
    pairs = [
        {**row, "holds": evidence.kinds[row["kind"]].holds if row.get("holds") is None else row["holds"]}
        for row in sorted(rows, key=lambda row: str(row["pair_id"]))
        if bool(row["constructed"]) == (origin == CONSTRUCTED) and row["kind"] in evidence.kinds
    ]
    axes = sorted({ORIGINAL} | {PAIR_AXIS + pair["kind"] for pair in pairs})
    answers, repeats = _answers(evidence, dimensions, axes)
    homes = _homes(evidence, dimensions, answers)
    groups = []
    anchored = set()
    for source, items in homes.items():
        own = [pair for pair in pairs if pair["intact"] in items]
        anchored |= {pair["pair_id"] for pair in own}
        if own:
            groups.append(_group(evidence, dimensions, source, (items, own, answers, repeats)))
    unanchored = Counter(pair["kind"] for pair in pairs if pair["pair_id"] not in anchored)
    return Matched(origin, dimensions, tuple(groups), unanchored, evidence.kinds)


def _answers(evidence: Evidence, dimensions: tuple[str, ...], axes: Sequence[str]) -> tuple[Answers, int]:
    answers: Answers = {}
    repeats = 1
    for axis in axes:
        for row in evidence.of_axis(axis):
            repeats = max(repeats, row["repeat"] + 1) if axis != ORIGINAL else repeats
            scores = answers.setdefault((row["item_id"], axis, row["rung"]), {})
            for dimension in dimensions if row["dimension"] == POOLED else (row["dimension"],):
                scored = row["state"] == State.OK and row["value"] is not None
                scores[row["repeat"], dimension] = evidence.sign * (row["value"] or 0.0) if scored else np.nan
    return answers, repeats


def _homes(evidence: Evidence, dimensions: tuple[str, ...], answers: Answers) -> dict[str, dict[str, str]]:
    """Give the untouched items with a score in every dimension, and their clusters; small sources pooled."""
    by_source: dict[str, dict[str, str]] = {}
    for row in evidence.originals:
        if row["repeat"] == 0 and row["item_id"] not in by_source.get(row["source"], {}):
            scores = answers[row["item_id"], ORIGINAL, row["rung"]]
            if all(np.isfinite(scores.get((0, dimension), np.nan)) for dimension in dimensions):
                by_source.setdefault(row["source"], {})[row["item_id"]] = row["cluster"]
    few = evidence.limits["ladder.coarse_reference"]
    small = sorted(source for source, items in by_source.items() if len(items) < few)
    if small and len(by_source) > 1:
        pooled = {item: cluster for source in small for item, cluster in by_source.pop(source).items()}
        by_source[SMALL] = pooled
    return {source: dict(sorted(items.items())) for source, items in sorted(by_source.items())}


def _group(
    evidence: Evidence,
    dimensions: tuple[str, ...],
    source: str,
    parts: tuple[dict[str, str], Sequence[Mapping[str, Any]], Answers, int],
) -> Group:
    items, pairs, answers, repeats = parts
    names, clusters = np.unique(list(items.values()), return_inverse=True)
    number = dict(zip(items, clusters.tolist(), strict=True))
    untouched = np.array([[answers[item, ORIGINAL, 0][0, d] for d in dimensions] for item in items])
    one_value = evidence.limits["ladder.one_value_share"]

    def scores(keys: Sequence[tuple[str, str, int]]) -> Floats:
        return np.array(
            [
                [[answers.get(key, {}).get((r, d), np.nan) for r in range(repeats)] for d in dimensions]
                for key in keys
            ]
        )

    return Group(
        source,
        tuple(Reference(column, clusters, len(names)) for column in untouched.T),
        np.array([unit(column, evidence.card.scale_step) for column in untouched.T]),
        np.array([ranks_anything(column, one_value) for column in untouched.T]),
        tuple(pairs),
        np.array([number[pair["intact"]] for pair in pairs]),
        scores([(pair["intact"], ORIGINAL, 0) for pair in pairs]),
        scores([(pair["damaged"], PAIR_AXIS + pair["kind"], pair["rung"]) for pair in pairs]),
        draw_seed(evidence.seed, "units", source),
        evidence.card.scale_step,
    )


def unit_scales(untouched: Floats, clusters: Ints, step: float | None, seed: int) -> Floats:
    """Resample clusters of untouched scores; give the unit over that of each resample, shape (B, D)."""
    rng = np.random.default_rng(seed)
    count = int(clusters.max()) + 1
    members = [np.flatnonzero(clusters == at) for at in range(count)]
    least = np.array([_least(column, step) for column in untouched.T])
    units = []
    for _ in range(UNIT_DRAWS):
        drawn = untouched[np.concatenate([members[at] for at in rng.integers(count, size=count)])]
        units.append(np.maximum(_robust(drawn), least))
    whole = np.maximum(_robust(untouched), least)
    return np.asarray(whole / np.maximum(np.array(units), np.finfo(float).tiny))


def _robust(scores: Floats) -> Floats:
    """Robust standard deviation of each column: mean absolute deviation of scores drawn in to the 5 % ends.

    The median absolute deviation jumps on integer scores and is known to 1.17/√n only, this one to 0.8/√n:
    ratios of responses hang on how well the units are known.
    """
    low, high = np.quantile(scores, [0.05, 0.95], axis=0)
    drawn_in = np.clip(scores, low, high)
    spread = NORMAL * np.abs(drawn_in - np.median(drawn_in, axis=0)).mean(axis=0)
    return np.asarray(np.where(spread > 0, spread, scores.std(axis=0)))


def _least(scores: Floats, step: float | None) -> float:
    """One attainable step: as declared, else the smallest difference that occurs."""
    if step is not None:
        return step
    gaps = np.diff(np.unique(np.round(scores, 9)))
    return float(gaps.min()) if len(gaps) else 0.0


def unit(scores: Floats, step: float | None) -> float:
    """Robust standard deviation of untouched scores, at least one attainable step.

    Args:
        scores: The scores.
        step: The declared step; without one, the smallest difference that occurs stands for it.
    """
    return max(float(_robust(scores[:, None])[0]), _least(scores, step)) or 1.0


def of_people(evidence: Evidence, labels: pa.Table) -> Evidence:
    """Let the mean label over annotators of each member and dimension answer instead of the judge.

    Labels name a member as the items do; a damaged member that is no item of its own is named by the pair_id.

    Args:
        evidence: What the judge was asked, and the pairs.
        labels: What people said, columns as in `Evidence.labels`.
    """
    sums: dict[tuple[str, str, int, str], list[float]] = {}
    places = _members(evidence)
    for row in labels.to_pylist():
        if row["value"] is None:
            continue
        value = float(row["value"]) if row["higher_is_better"] else -float(row["value"])
        for item_id, axis, rung in places.get(row["item_id"], ()):
            sums.setdefault((item_id, axis, rung, row["dimension"]), []).append(value)
    homes = {row["item_id"]: (row["source"], row["cluster"]) for row in evidence.originals}
    rows: list[ResponseRow] = []
    for (item, axis, rung, dimension), values in sorted(sums.items()):
        source, cluster = homes.get(item, ("", item))
        rows.append(
            {
                "item_id": item,
                "source": source,
                "topic": "",
                "prompt_id": "",
                "cluster": cluster,
                "axis": axis,
                "rung": rung,
                "strength": 0.0,
                "repeat": 0,
                "dimension": dimension,
                "value": sum(values) / len(values),
                "state": State.OK.value,
            }
        )
    dimensions = tuple(sorted({row["dimension"] for row in rows if row["axis"] == ORIGINAL}))
    return replace(
        evidence,
        judge_id=PEOPLE,
        card=Card(kind=PEOPLE, name=PEOPLE, dimensions=dimensions or (OVERALL,)),
        responses=pa.Table.from_pylist(rows, schema=evidence.responses.schema),
        _cache={},
    )


def in_our_words(evidence: Evidence) -> Evidence:
    """Call sub-scores as the kinds call them where the card says which is which, in answers and labels alike."""
    named = {called: name for name, called in evidence.card.means.items() if called != name}
    if not named:
        return evidence
    dimensions = tuple(named.get(name, name) for name in evidence.card.dimensions)
    tables = {name: getattr(evidence, name) for name in ("responses", "labels", "damaged_labels")}
    return replace(
        evidence,
        card=replace(evidence.card, dimensions=dimensions, means={}),
        _cache={},
        **{name: _renamed(table, named) for name, table in tables.items() if table is not None},
    )


def _renamed(table: pa.Table, named: Mapping[str, str]) -> pa.Table:
    """Write other names into the column dimension."""
    column = pa.array([named.get(name, name) for name in table["dimension"].to_pylist()], pa.string())
    return table.set_column(table.schema.get_field_index("dimension"), "dimension", column)


def _members(evidence: Evidence) -> dict[str, list[tuple[str, str, int]]]:
    """Say under which item, axis and rung each name that people used stands in the responses."""
    places = {row["item_id"]: [(row["item_id"], ORIGINAL, 0)] for row in evidence.originals}
    for pair in evidence.pairs.to_pylist() if evidence.pairs is not None else []:
        name = pair["pair_id"] if pair["intact"] == pair["damaged"] else pair["damaged"]
        place = (pair["damaged"], PAIR_AXIS + pair["kind"], pair["rung"])
        places.setdefault(name, []).append(place)
    return places

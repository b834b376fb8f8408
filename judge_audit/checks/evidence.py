"""What a check is handed, and the shape in which ladders are measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import numpy as np
import pyarrow.compute as pc

from judge_audit.checks.result_rows import RowWriter
from judge_audit.core.vocabulary import ORIGINAL, OVERALL, POOLED, SMALL, State, ZoneBasis
from judge_audit.measures.lifts import Lifts, Reference, averaged, lifts
from judge_audit.measures.scale import distinct
from judge_audit.stimuli.mismatches import mismatch_kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Unpack

    import pyarrow as pa
    from judge_audit_schemas.rows import CurvesRow, KeyParts, MeasuresRow, ResultRow, VerdictsRow
    from numpy.typing import NDArray

    from judge_audit.checks.result_rows import Place
    from judge_audit.core.limits import Limits
    from judge_audit.judges.cards.card import Card
    from judge_audit.stimuli.axes.axis import Axis
    from judge_audit.stimuli.mismatches.kind import Kind

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]
    Mask = NDArray[np.bool_]

Thing = TypeVar("Thing")

MIN_DISTINCT = 3
"""Values that scores must take to rank anything."""


class ResponseRow(TypedDict):
    """One dimension of one answer, with the probe and the item that it answers."""

    item_id: str
    source: str
    topic: str
    prompt_id: str
    cluster: str
    axis: str
    rung: int
    strength: float
    repeat: int
    dimension: str
    value: float | None
    state: str


@dataclass(frozen=True, slots=True)
class Findings:
    """What a check found: rows of `curves`, `measures` and `verdicts`."""

    curves: tuple[CurvesRow, ...] = ()
    measures: tuple[MeasuresRow, ...] = ()
    verdicts: tuple[VerdictsRow, ...] = ()

    def __add__(self, other: Findings) -> Findings:
        """Put the findings of two checks together."""
        return Findings(
            self.curves + other.curves, self.measures + other.measures, self.verdicts + other.verdicts
        )


def robust_spread(scores: Floats) -> float:
    """Robust standard deviation of the scores that are there; the plain one if most are equal."""
    known = scores[np.isfinite(scores)]
    if not len(known):
        return 0.0
    return float(1.4826 * np.median(np.abs(known - np.median(known)))) or float(known.std())


def ranks_anything(scores: Floats, one_value: float) -> bool:
    """Whether the scores that are there differ enough to rank anything: three values, none of too large a share."""
    known = scores[np.isfinite(scores)]
    if not len(known):
        return False
    count, top = distinct(known)
    return count >= MIN_DISTINCT and top <= one_value


@dataclass(frozen=True, slots=True)
class Zone:
    """What people see of one item's ladder: its points, and what they rest on."""

    perceptible_low: float
    perceptible_high: float
    objectionable: float
    basis: ZoneBasis

    @property
    def provisional(self) -> bool:
        """Whether it rests on visual-difference models."""
        return self.basis in {ZoneBasis.MODELS, ZoneBasis.MODEL_QUANTILES}


@dataclass(frozen=True, slots=True)
class Stratum:
    """The untouched scores of one source (or of the small ones together), one dimension.

    Attributes:
        source: Its name.
        items: Ids of the items with a finite first score, in the order of the reference.
        reference: Their oriented scores.
        spread: Robust standard deviation of the scores.
        resolved: Whether the scores differ enough to rank anything.
    """

    source: str
    items: tuple[str, ...]
    reference: Reference
    spread: float
    resolved: bool


@dataclass(frozen=True, slots=True)
class Climb:
    """The ladders of one axis in one stratum.

    Attributes:
        stratum: Where they belong.
        items: Item ids, n of them.
        clusters: Their clusters, numbered as in the reference, shape (n,).
        originals: Oriented scores untouched, shape (n, R), NaN where missing.
        scores: Oriented scores, shape (n, K, R), NaN where missing or inert.
        inert: Rungs that change no pixel, shape (n, K).
        asked: Scores that were asked for, shape (n, K, R).
    """

    stratum: Stratum
    items: tuple[str, ...]
    clusters: Ints
    originals: Floats
    scores: Floats
    inert: Mask
    asked: Mask

    def lifts_of_repeats(self, rungs: Ints) -> list[Lifts]:
        """Lift of each item at a rung of its own (index into the strengths; −1: NaN), per repeat."""
        rows = np.arange(len(self.items))
        values = np.where((rungs >= 0)[:, None], self.scores[rows, rungs], np.nan)
        return [
            lifts(values[:, repeat], self.originals[:, repeat], self.clusters, self.stratum.reference)
            for repeat in range(self.scores.shape[2])
        ]

    def lifts_at(self, rungs: Ints) -> Lifts:
        """Lift of each item at a rung of its own, over repeats."""
        return averaged(self.lifts_of_repeats(rungs))

    def lost_at(self, rungs: Ints) -> list[Mask]:
        """Say per repeat for which items a lift was due and is not there; a first score is always due."""
        rows = np.arange(len(self.items))
        return [
            np.isnan(part.values) & (rungs >= 0) & (self.asked[rows, rungs, repeat] | (repeat == 0))
            for repeat, part in enumerate(self.lifts_of_repeats(rungs))
        ]


@dataclass(frozen=True)
class Evidence:
    """Everything a check may look at.

    Attributes:
        audit_id: The run.
        judge_id: The judge.
        is_control: Whether it has a planted fault.
        card: Its card.
        seed: Seed of every draw.
        responses: item_id, source, topic, prompt_id (where known), cluster, axis, rung, strength, repeat,
            dimension, value, state. Beside `original` and the axes climbed: `pair:<kind>` (see `pairs`) and
            `combo:<recipe>` (see headroom).
        zones: item_id, axis, perceptible_low, perceptible_high, objectionable, basis.
        axes: The axes climbed.
        limits: The limits in force.
        covariates: item_id and one column per surface statistic, NULL where unknown; None if nobody measured.
        labels: What people said, the table `labels` without import_id, label_text and labelled_at; None or
            no rows if nobody has labelled.
        traffic: A sample of real traffic (see `judge_audit.inputs.traffic`); None if none was given.
        anchors: The anchor set in long form, a row for every label: anchor_id, item_id, tier, kind, source, topic,
            cluster, dimension, annotator_id, value, level, low, high, higher_is_better, and same_as (the item that
            is the same picture and prompt, NULL if none). Anchors answer in `responses` under their item_id with
            the axis `anchor`: never as `original`, so that no reference holds them. None if none were given.
        decisions: What production accepted and rejected by this judge (see
            `judge_audit.people.production_events`); None if nothing is known.
        reviews: What people found in items drawn by this judge's order or among its decisions; None if nothing.
        draws: What was drawn for those reviews, reviewed or not; None if no pack was.
        appeals: Objections to its decisions; None if nothing is known.
        choices: People's picks within groups of the audit's items; None if nobody chose.
        declared: What the team declares for its uses, by use: limits, owners, the channel for appeals.
        pairs: Deliberate mismatches: pair_id, kind, source, cluster, constructed
            (False if made by hand), intact (item_id), damaged (item_id; for constructed pairs that of the intact
            member), rung and, optionally, holds (sub-scores that must hold, as a list; NULL: as the kind says).
            The intact member answers in `responses` as any untouched item; the damaged one in rows with
            axis `pair:<kind>`, its item_id and the pair's rung (strength is free): never as `original`, so
            that no reference holds it. None if no pairs were scored.
        damaged_labels: What people said of damaged members, named by their item or, where they are none of
            their own, by the pair_id; columns as in `labels`. Apart, so that no figure of people or of a
            scale rests on them.
        kinds: The mismatch kinds by name.
        compared: Every comparison of a judge that compares (see `judge_audit.checks.pairwise.answers`), in whose
            responses a candidate's strength and a rung's preference stand in the place of scores; None of a judge
            that scores.
    """

    audit_id: str
    judge_id: str
    is_control: bool
    card: Card
    seed: int
    responses: pa.Table
    zones: pa.Table
    axes: Mapping[str, Axis]
    limits: Limits
    covariates: pa.Table | None = None
    labels: pa.Table | None = None
    traffic: pa.Table | None = None
    anchors: pa.Table | None = None
    decisions: pa.Table | None = None
    reviews: pa.Table | None = None
    draws: pa.Table | None = None
    appeals: pa.Table | None = None
    choices: pa.Table | None = None
    declared: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    pairs: pa.Table | None = None
    damaged_labels: pa.Table | None = None
    kinds: Mapping[str, Kind] = field(default_factory=mismatch_kinds)
    compared: pa.Table | None = None
    _cache: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The dimensions that ladders are read on: `overall` if there is one, else each."""
        return (OVERALL,) if OVERALL in self.card.dimensions else tuple(self.card.dimensions)

    @property
    def sign(self) -> float:
        """1 if higher is better, −1 if lower is."""
        return 1.0 if self.card.higher_is_better else -1.0

    @property
    def claims(self) -> int:
        """How many claims are tested together: axes with zones × four faults × dimensions."""
        axes = {axis for _, axis in self.zone_of}
        return max(1, len(axes & set(self.axes)) * 4 * len(self.dimensions))

    @cached_property
    def zone_of(self) -> dict[tuple[str, str], Zone]:
        """Zones by item and axis."""
        return {
            (row["item_id"], row["axis"]): Zone(
                row["perceptible_low"],
                row["perceptible_high"],
                self.axes[row["axis"]].overdone if row["objectionable"] is None else row["objectionable"],
                ZoneBasis(row["basis"]),
            )
            for row in self.zones.to_pylist()
            if row["perceptible_low"] is not None and row["axis"] in self.axes
        }

    @cached_property
    def unreliable_axes(self) -> frozenset[str]:
        """Axes whose readers are too far apart for a threshold."""
        table = self.zones.filter(pc.equal(self.zones["basis"], ZoneBasis.UNRELIABLE.value))
        return frozenset(table["axis"].to_pylist())

    @cached_property
    def rows(self) -> list[ResponseRow]:
        """The responses as rows."""
        return self.responses.to_pylist()  # type: ignore[no-any-return]

    def writer(self, check: str, **place: Unpack[Place]) -> RowWriter:
        """Give what makes the rows of a check, which share their key with this judge's other rows."""
        key: ResultRow = {"audit_id": self.audit_id, "subject": self.judge_id, "is_control": self.is_control}
        return RowWriter({**key, "check": check}).at(**place)

    def key(self, check: str, measure: str, **parts: Unpack[KeyParts]) -> ResultRow:
        """Make the key columns of a result row."""
        return {**self.writer(check, **parts).shared, "measure": measure}

    def strata(self, dimension: str) -> tuple[Stratum, ...]:
        """Gather the untouched scores per source; sources under the coarse limit are pooled."""
        if self.card.compares:
            return self.once(dimension, self._paired_strata)
        return self.once(dimension, lambda: self._make_strata(dimension))

    def _make_strata(self, dimension: str) -> tuple[Stratum, ...]:
        by_source: dict[str, list[ResponseRow]] = {}
        for row in self.rows:
            first = row["axis"] == ORIGINAL and row["repeat"] == 0 and row["state"] == State.OK
            if first and row["dimension"] == dimension:
                by_source.setdefault(row["source"], []).append(row)
        smallest = self.limits["ladder.coarse_reference"]
        small = sorted(source for source, rows in by_source.items() if len(rows) < smallest)
        if small and len(by_source) > 1:
            pooled = [row for source in small for row in by_source.pop(source)]
            by_source[SMALL] = pooled
        return tuple(self._stratum(source, by_source[source]) for source in sorted(by_source))

    def _paired_strata(self) -> tuple[Stratum, ...]:
        """Gather what carries ladders, by source, with a reference that knows the items' clusters alone.

        The preferences of a judge that compares are lifts already, and rest on no untouched scores.
        """
        by_source: dict[str, dict[str, str]] = {}
        for row in self.rows:
            if row["axis"] in self.axes:
                by_source.setdefault(row["source"], {})[row["item_id"]] = row["cluster"]
        found = []
        for source, cluster_of in sorted(by_source.items()):
            items = tuple(sorted(cluster_of))
            names, own = np.unique([cluster_of[item_id] for item_id in items], return_inverse=True)
            reference = Reference(np.zeros(len(items)), own.astype(np.intp), len(names), direct=True)
            found.append(Stratum(source, items, reference, 0.0, resolved=True))
        return tuple(found)

    def _stratum(self, source: str, rows: Sequence[ResponseRow]) -> Stratum:
        ordered = sorted(rows, key=lambda row: row["item_id"])
        names, clusters = np.unique([row["cluster"] for row in ordered], return_inverse=True)
        values = self.sign * np.array([row["value"] for row in ordered])
        reference = Reference(values, clusters, len(names))
        resolved = ranks_anything(values, self.limits["ladder.one_value_share"])
        items = tuple(row["item_id"] for row in ordered)
        return Stratum(source, items, reference, robust_spread(values), resolved)

    def climbs(self, axis: str, dimension: str) -> tuple[Climb, ...]:
        """Gather the ladders of an axis, one climb per stratum that has any."""

        def make() -> tuple[Climb, ...]:
            made = (self._climb(axis, dimension, stratum) for stratum in self.strata(dimension))
            return tuple(climb for climb in made if climb is not None)

        return self.once(f"{dimension}\0{axis}", make)

    @cached_property
    def _by_axis(self) -> dict[str, list[ResponseRow]]:
        found: dict[str, list[ResponseRow]] = {}
        for row in self.rows:
            found.setdefault(row["axis"], []).append(row)
        return found

    def unanchored(self, axis: str, dimension: str) -> float:
        """Share of the items on a ladder whose untouched score is missing, so that no lift can be taken."""
        climbing = {row["item_id"] for row in self.of_axis(axis)}
        anchored = {item_id for stratum in self.strata(dimension) for item_id in stratum.items}
        return len(climbing - anchored) / len(climbing) if climbing else 0.0

    def of_axis(self, axis: str) -> list[ResponseRow]:
        """The responses on one axis, or to one sight probe."""
        return self._by_axis.get(axis, [])

    def once(self, name: str, make: Callable[[], Thing]) -> Thing:
        """Make something of the evidence the first time it is asked for."""
        if name not in self._cache:
            self._cache[name] = make()
        found: Thing = self._cache[name]
        return found

    @property
    def originals(self) -> list[ResponseRow]:
        """The untouched responses, all repeats."""
        return self.of_axis(ORIGINAL)

    def _climb(self, axis: str, dimension: str, stratum: Stratum) -> Climb | None:
        rows = [row for row in self.of_axis(axis) if row["dimension"] in (dimension, POOLED)]
        items = tuple(sorted({row["item_id"] for row in rows} & set(stratum.items)))
        if not items:
            return None
        place = {item_id: index for index, item_id in enumerate(items)}
        rungs = len(self.axes[axis].strengths) if axis in self.axes else 1
        repeats = 1 + max(row["repeat"] for row in rows)
        scores = np.full((len(items), rungs, repeats), np.nan)
        inert = np.zeros((len(items), rungs), bool)
        asked = np.zeros(scores.shape, bool)
        originals = np.full((len(items), repeats), np.nan)
        for row in rows:
            if row["item_id"] in place:
                where = place[row["item_id"]], row["rung"] - 1
                asked[(*where, row["repeat"])] = row["state"] != State.INERT
                if row["state"] == State.INERT:
                    inert[where] = True
                elif row["state"] == State.OK and row["value"] is not None:
                    scores[(*where, row["repeat"])] = self.sign * row["value"]
        for row in self.originals:
            known = row["item_id"] in place and row["repeat"] < repeats and row["state"] == State.OK
            if known and row["dimension"] == dimension and row["value"] is not None:
                originals[place[row["item_id"]], row["repeat"]] = self.sign * row["value"]
        if stratum.reference.direct:
            originals[:] = 0.0
        own = dict(zip(stratum.items, stratum.reference.clusters, strict=True))
        clusters = np.array([own[item_id] for item_id in items])
        return Climb(stratum, items, clusters, originals, scores, inert, asked)

"""Purity: each rendered rung is measured, and an axis that leaks into other statistics is named."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.checks.evidence import Findings
from judge_audit.checks.result_rows import RowWriter, point
from judge_audit.core.vocabulary import IMAGES, ORIGINAL, State
from judge_audit.measures.ladders import leakage, mean_changes
from judge_audit.stimuli.surface_statistics import STATISTICS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from judge_audit_schemas.rows import CurvesRow, MeasuresRow

    from judge_audit.checks.evidence import Floats
    from judge_audit.stimuli.axes.axis import Axis

NAME = "purity"
CLIPPED = STATISTICS.index("clipped")


@dataclass(frozen=True, slots=True)
class _Rung:
    """One rung of one axis: the statistics of the items whose pixels it changed.

    Attributes:
        before: Their statistics untouched, shape (items, statistics).
        after: At the rung.
        clusters: Source and cluster of each item.
        inert: How many further items it left as they were.
    """

    before: Floats
    after: Floats
    clusters: Sequence[tuple[str, str]]
    inert: int


def measure_purity(audit_id: str, rows: Sequence[Mapping[str, Any]], axes: Mapping[str, Axis]) -> Findings:
    """Measure what every rung of every axis moved.

    Args:
        audit_id: The run.
        rows: The ruler's responses: item_id, source, cluster, axis, rung, dimension (the statistic), value,
            state.
        axes: The axes climbed.

    Returns:
        Curves (`shift` and `rung_leakage` per statistic and rung) and measures (per axis `leakage` per
        statistic and `clipped_share` at the strongest rung that changed anything, and `inert_share`);
        subject `images`.
    """
    untouched: dict[str, dict[str, float]] = {}
    touched: dict[tuple[str, int], dict[str, dict[str, float]]] = {}
    inert: dict[tuple[str, int], int] = {}
    cluster_of: dict[str, tuple[str, str]] = {}
    for row in rows:
        if row["repeat"]:
            continue
        cluster_of[row["item_id"]] = (row["source"], row["cluster"])
        at = (row["axis"], row["rung"])
        if row["state"] == State.INERT:
            inert[at] = inert.get(at, 0) + 1
        elif row["value"] is not None:
            of_item = untouched if row["axis"] == ORIGINAL else touched.setdefault(at, {})
            of_item.setdefault(row["item_id"], {})[row["dimension"]] = row["value"]
    every = np.array([[values[name] for name in STATISTICS] for values in untouched.values()])
    spread = every.std(axis=0, ddof=1) if len(every) > 1 else np.full(len(STATISTICS), np.nan)
    spread = np.where(spread > 0, spread, np.nan)

    def rung(place: tuple[str, int]) -> _Rung:
        changed = touched.get(place, {})
        items = sorted(set(changed) & set(untouched))
        before, after = (
            np.array([[values[item][name] for name in STATISTICS] for item in items]).reshape(
                -1, len(STATISTICS)
            )
            for values in (untouched, changed)
        )
        return _Rung(before, after, [cluster_of[item] for item in items], inert.get(place, 0))

    writer = RowWriter({"audit_id": audit_id, "subject": IMAGES, "check": NAME})
    return sum((_axis(writer, axis, rung, spread) for axis in axes.values()), Findings())


def _axis(
    images: RowWriter, axis: Axis, rung_of: Callable[[tuple[str, int]], _Rung], spread: Floats
) -> Findings:
    """Rows of one axis."""
    writer = images.at(axis=axis.name)
    rungs = [rung_of((axis.name, at + 1)) for at in range(len(axis.strengths))]
    curves: list[CurvesRow] = []
    strongest: list[MeasuresRow] = []
    for rung, (strength, at) in enumerate(zip(axis.strengths, rungs, strict=True), start=1):
        if not len(at.after):
            continue
        changes = (at.after - at.before) / spread
        known = np.isfinite(spread)
        shifts = mean_changes(changes[:, known], at.clusters)
        names = [name for name, varies in zip(STATISTICS, known, strict=True) if varies]
        for name, moved in zip(names, shifts, strict=True):
            curves.append(point(writer.figure("shift", moved, kind=name), rung, strength))
        (clipped,) = mean_changes(at.after[:, [CLIPPED]], at.clusters)
        strongest = [writer.figure("clipped_share", clipped)]
        if axis.statistic in names:
            leaks = leakage(changes[:, known], names.index(axis.statistic), at.clusters)
            for name, leak in zip(names, leaks, strict=True):
                if name != axis.statistic and math.isfinite(leak.value):
                    strongest.append(writer.figure("leakage", leak, kind=name))
                    curves.append(point(writer.figure("rung_leakage", leak, kind=name), rung, strength))
    drawn = sum(len(at.after) for at in rungs)
    same = sum(at.inert for at in rungs)
    return Findings(tuple(curves), (*strongest, writer.share("inert_share", same, drawn + same)))

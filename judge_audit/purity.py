"""Purity: each rendered rung is measured, and an axis that leaks into other statistics is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.checks.evidence import Findings
from judge_audit.measures.estimates import wilson
from judge_audit.measures.purity import leakage, shift
from judge_audit.vocabulary import IMAGES, ORIGINAL, State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit.axes.axis import Axis

NAME = "purity"


def measure_purity(audit_id: str, rows: list[dict[str, Any]], axes: Mapping[str, Axis]) -> Findings:
    """Measure what every rung of every axis moved.

    Args:
        audit_id: The run.
        rows: The ruler's responses: item_id, axis, rung, dimension (the statistic), value, state.
        axes: The axes climbed.

    Returns:
        Curves (`shift` per statistic and rung) and measures (`leakage` at the strongest rung per statistic,
        `inert_share` per axis); subject `images`.
    """
    untouched: dict[str, dict[str, float]] = {}
    touched: dict[tuple[str, int], dict[str, dict[str, float]]] = {}
    inert: dict[str, list[bool]] = {axis: [] for axis in axes}
    for row in rows:
        if row["axis"] in axes and row["repeat"] == 0:
            if row["state"] == State.INERT:
                inert[row["axis"]].append(True)
                continue
            if row["value"] is None:
                continue
            at = touched.setdefault((row["axis"], row["rung"]), {})
            at.setdefault(row["dimension"], {})[row["item_id"]] = row["value"]
            if row["dimension"] == "luma":
                inert[row["axis"]].append(False)
        elif row["axis"] == ORIGINAL and row["repeat"] == 0 and row["value"] is not None:
            untouched.setdefault(row["dimension"], {})[row["item_id"]] = row["value"]
    findings = Findings()
    for name, axis in axes.items():
        findings += _axis(audit_id, axis, touched, untouched)
        share = float(np.mean(inert[name])) if inert[name] else None
        low, high = wilson(sum(inert[name]), len(inert[name]))
        key = _key(audit_id, "inert_share", axis=name)
        row = {**key, "value": share, "ci_low": low, "ci_high": high, "n": len(inert[name])}
        findings += Findings(measures=(row,))
    return findings


def _key(audit_id: str, measure: str, **parts: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"audit_id": audit_id, "subject": IMAGES, "check": NAME, "measure": measure, **parts}


def _axis(
    audit_id: str,
    axis: Axis,
    touched: dict[tuple[str, int], dict[str, dict[str, float]]],
    untouched: dict[str, dict[str, float]],
) -> Findings:
    """Curves of one axis, and its leakage at the strongest rung that was drawn."""
    curves = []
    last: dict[str, float] = {}
    items_behind = 0
    for rung, strength in enumerate(axis.strengths, start=1):
        found = touched.get((axis.name, rung))
        if not found:
            continue
        last = {}
        for statistic, originals in sorted(untouched.items()):
            values = found.get(statistic, {})
            items = sorted(set(values) & set(originals))
            spread = float(np.std(list(originals.values()), ddof=1)) if len(originals) > 1 else 0.0
            moved = shift(
                np.array([values[item] for item in items]),
                np.array([originals[item] for item in items]),
                spread,
            )
            if np.isfinite(moved.value):
                last[statistic] = moved.value
                items_behind = moved.n
                row = {
                    **_key(audit_id, "shift", axis=axis.name, kind=statistic),
                    "rung": rung,
                    "strength": strength,
                }
                row |= {"value": moved.value, "n": moved.n}
                if np.isfinite(moved.half):
                    row |= {"ci_low": moved.value - moved.half, "ci_high": moved.value + moved.half}
                curves.append(row)
    measures = []
    if axis.statistic is not None and axis.statistic in last:
        for statistic, share in leakage(last, axis.statistic).items():
            if np.isfinite(share):
                key = _key(audit_id, "leakage", axis=axis.name, kind=statistic)
                measures.append({**key, "value": share, "n": items_behind})
    return Findings(curves=tuple(curves), measures=tuple(measures))

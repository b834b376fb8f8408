"""What a scale can carry: the histogram of its scores with the pile, its verdicts, and what is refused to a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.core.messages import say
from judge_audit.core.vocabulary import POOLED, Capability, Verdict
from judge_audit.decisions.standings import capability_of
from judge_audit.measures.scale import FEW_LEVELS, levels
from judge_audit.report.facts import where
from judge_audit.report.percentiles import scores_by_source
from judge_audit.report.sections.ladders import verdict_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit_schemas.rows import MeasuresRow, VerdictsRow
    from numpy.typing import NDArray

    from judge_audit.report.facts import Facts, Untouched

    Floats = NDArray[np.float64]
    Row = Mapping[str, Any]

REFUSED = ("averages", "thresholds")
"""What needs an absolute scale."""


def scale_of(facts: Facts, dimension: str) -> dict[str, Any]:
    """Give the histogram of a dimension and what its scale can carry."""
    rows = where(facts.verdicts, check="scale", dimension=dimension)
    return {
        "dimension": dimension,
        "histogram": histogram(facts.untouched, dimension, facts.card, facts.measures),
        "verdicts": [verdict_of(row) for row in rows],
    }


def refused_of(verdicts: Sequence[VerdictsRow]) -> dict[str, Any] | None:
    """Say what is refused to a judge without an absolute scale; None to one that has it.

    Returns:
        what, and reasons, each once with its dimensions.
    """
    if capability_of(verdicts) == Capability.ABSOLUTE:
        return None
    dimensions_of: dict[str, list[str]] = {}
    for row in where(verdicts, check="scale", measure="absolute"):
        if row["verdict"] != Verdict.PASS:
            dimensions_of.setdefault(row["reason"], []).append(row["dimension"])
    reasons = [{"dimensions": names, "reason": reason} for reason, names in dimensions_of.items()]
    unknown = {"dimensions": [], "reason": say("people.refused_unknown")}
    return {"what": list(REFUSED), "reasons": reasons or [unknown]}


def histogram(
    untouched: Sequence[Untouched], dimension: str, card: Row, measures: Sequence[MeasuresRow]
) -> dict[str, Any]:
    """Count untouched scores in bins, all and per source, with the pile.

    Twenty bins over the declared scale, or one per value if it has few; else over the range of the scores.
    Values beyond a declared end are counted in the outermost bin.
    """
    by_source = scores_by_source(untouched, dimension, 1.0)
    every = [value for values in by_source.values() for value in values]
    if not every:
        return {"edges": [], "counts": [], "sources": {}, "pile": None, "piles": {}, "n": 0}
    edges = _edges(every, card)
    inside = {source: np.clip(values, edges[0], edges[-1]) for source, values in sorted(by_source.items())}
    sources = {source: [int(n) for n in np.histogram(values, edges)[0]] for source, values in inside.items()}
    return {
        "edges": [round(float(edge), 9) for edge in edges],
        "counts": [sum(column) for column in zip(*sources.values(), strict=True)],
        "sources": sources,
        "pile": _pile(measures, dimension, POOLED),
        "piles": {source: _pile(measures, dimension, source) for source in sources},
        "n": len(every),
    }


def _edges(every: list[float], card: Row) -> Floats:
    low, high, step = card.get("scale_low"), card.get("scale_high"), card.get("scale_step")
    if low is None or high is None:
        low, high, step = min(every), max(every), None
        if not high > low:
            low, high = low - 0.5, high + 0.5
    count = levels(low, high, step)
    if step is not None and count is not None and count <= 2 * FEW_LEVELS:
        return np.array([low + step * (at - 0.5) for at in range(count + 1)], float)
    return np.linspace(low, high, 21)


def _pile(measures: Sequence[MeasuresRow], dimension: str, source: str) -> dict[str, Any] | None:
    """Find the pile of a source, or the pooled one, among the measures."""
    rows = where(measures, check="scale", source=source, dimension=dimension)
    piles = {row["measure"]: row for row in rows}
    if not {"pile", "pile_low", "pile_high"} <= set(piles):
        return None
    return {
        "share": piles["pile"]["value"],
        "low": piles["pile_low"]["value"],
        "high": piles["pile_high"]["value"],
        "ci_low": piles["pile"]["ci_low"],
        "ci_high": piles["pile"]["ci_high"],
    }

"""The part on sources: what each change is worth in each of them, and which ones differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.checks.ladders.stability import EDGE, NAME, TOP
from judge_audit.core.formatting import number_text, percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import POOLED, SMALL
from judge_audit.report.charts.forest import Group, Line, forest
from judge_audit.report.facts import where
from judge_audit.report.figures import UNKNOWN, figure_of
from judge_audit.report.sections.ladders import verdict_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup

    from judge_audit.report.facts import Facts
    from judge_audit.report.figures import Figure

    Row = Mapping[str, Any]

EFFECTS = (EDGE, TOP)
DRAWN = 5
"""Axes that are drawn of each effect; the table has them all."""

LIFTS = {EDGE: "edge_lift", TOP: "top_lift"}


def source_stability_of(facts: Facts) -> list[dict[str, Any]]:
    """Put together what is known of differences between sources, one entry per dimension and effect."""
    verdicts = where(facts.verdicts, check=NAME)
    return [
        {
            "dimension": dimension,
            "effect": effect,
            "verdict": verdict_of(row),
            "axes": _axes(facts, effect, dimension),
            "margin": facts.limits["stability.difference"],
        }
        for dimension in dict.fromkeys(row["dimension"] for row in verdicts)
        for effect in EFFECTS
        for row in where(verdicts, dimension=dimension, measure=f"{effect}_difference")[:1]
    ]


def _axes(facts: Facts, effect: str, dimension: str) -> list[dict[str, Any]]:
    """Give every axis that two sources have, the one with the source furthest apart first."""
    mine = where(facts.measures, dimension=dimension, kind=POOLED)
    own = where(mine, check=NAME)

    def of(measure: str, axis: str) -> dict[str, Figure]:
        return {row["source"]: figure_of(row) for row in where(own, measure=measure, axis=axis)}

    margin = facts.limits["stability.difference"]
    axes = []
    for axis in dict.fromkeys(row["axis"] for row in where(own, measure=f"{effect}_drift")):
        lifts = {
            row["source"]: figure_of(row)
            for row in where(mine, measure=LIFTS[effect], axis=axis)
            if row["source"] not in {POOLED, SMALL}
        }
        drift, left_out = of(f"{effect}_drift", axis), of(f"{effect}_left_out", axis)
        sources = [
            {
                "source": source,
                "lift": lifts.get(source, UNKNOWN),
                "drift": drift[source],
                "left_out": left_out.get(source, UNKNOWN),
                "apart": _beyond(drift[source], margin),
            }
            for source in sorted(drift)
        ]
        q, i2 = (of(f"{effect}_{name}", axis).get(POOLED, UNKNOWN)["value"] for name in ("q", "i2"))
        axes.append({"axis": axis, "q": q, "i2": i2, "sources": sources})
    return sorted(axes, key=lambda row: (-_furthest(row), row["axis"]))


def _beyond(figure: Figure, margin: float) -> bool:
    """Tell whether a figure is wholly beyond ±margin by its interval."""
    low, high = figure["ci_low"], figure["ci_high"]
    return low is not None and high is not None and (low > margin or high < -margin)


def _furthest(row: Row) -> float:
    return max(abs(float(source["drift"]["value"] or 0.0)) for source in row["sources"])


def spread_text(row: Row) -> str:
    """Write Q and I² of an axis."""
    i2 = "–" if row["i2"] is None else percent(row["i2"])
    return say("between.spread", q=number_text(row["q"]), i2=i2)


def between_chart(part: Row) -> Markup:
    """Draw the axes that differ most, source by source."""
    drawn: Sequence[Row] = part["axes"][:DRAWN]
    groups = [
        Group(
            row["axis"],
            tuple(Line(entry["source"], entry["lift"], filled=entry["apart"]) for entry in row["sources"]),
            spread_text(row),
        )
        for row in drawn
    ]
    sources = {entry["source"] for row in drawn for entry in row["sources"]}
    effect = say(f"between.{part['effect']}")
    label = say("between.aria", effect=effect, axes=len(drawn), sources=len(sources))
    return forest(groups, label)

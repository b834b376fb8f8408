"""The drawings of the covariate part: shares as bars, weights as dots source by source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.checks.covariates.covariates import SHARE
from judge_audit.core.messages import say
from judge_audit.report.charts import svg
from judge_audit.report.charts.forest import (
    BOTTOM,
    HEAD,
    NAMES,
    ROW,
    TOP,
    Line,
    dot_row,
    lift_ticks,
    reach,
    round_values,
    row_scale,
)
from judge_audit.report.figures import lift_with_interval, percent_text, source_name, with_interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markupsafe import Markup

    from judge_audit.report.figures import Figure

    Row = Mapping[str, Any]

GAP = 10
MAX_SOURCES = 6
"""With more sources each is a tick on one line and not a line of its own."""


def turns(row: Row) -> bool:
    """Whether a statistic raises the score in one source and lowers it in another."""
    return bool(row["turns"]["up"] and row["turns"]["down"])


def share_chart(part: Row) -> Markup:
    """Draw each statistic's share of the variance, of an entry of `covariates` with something explained."""
    sources = part["sources"] if 1 < len(part["sources"]) <= MAX_SOURCES else []
    wholes = [(say("surface.together"), part["explained"], "all")]
    wholes += [(source_name(row["source"]), row, "one") for row in sources]
    singles = [(row["name"], row["share"], "one") for row in part["statistics"] if row["share"]]
    figures = [figure for _, figure, _ in (*wholes, *singles)]
    scale = row_scale(0.0, reach([figure[end] for figure in figures for end in ("value", "ci_high")]))
    y = float(TOP + HEAD)
    parts = _limit(scale, part["verdicts"].get(SHARE), y + ROW * len(wholes))
    for group in (wholes, singles):
        for name, figure, kind in group:
            parts += _bar(scale, y, name, figure, kind)
            y += ROW
        y += GAP
    height = round(y - GAP + BOTTOM)
    marks = [(value, percent_text(value)) for value in round_values(scale.high)]
    whole = percent_text(part["explained"]["value"])
    label = say("surface.aria_shares", share=whole, n=len(singles))
    return svg.drawing(height, label, [*svg.ticks(scale, marks, TOP, height - BOTTOM, height - 7), *parts])


def _limit(scale: svg.Scale, verdict: Row | None, end: float) -> list[Markup]:
    """Draw the limit that all together are compared with."""
    limit = verdict["limit_high"] if verdict else None
    if limit is None or limit > scale.high:
        return []
    at = scale.x(limit)
    word = svg.text(at, TOP + 11, say("surface.limit", limit=percent_text(limit)), "middle")
    return [word, svg.line("limit", at, at, TOP + HEAD - 3, end)]


def _bar(scale: svg.Scale, y: float, name: str, figure: Figure, kind: str) -> list[Markup]:
    """Draw a bar from 0, its interval, its name before it and its figure behind."""
    middle = y + ROW / 2
    value = figure["value"] or 0.0
    title = f"{name}: {with_interval(figure, percent_text)}"
    look = "row-word" if kind == "all" else "tick"
    start, end = scale.x(0.0), scale.x(value)
    return [
        svg.text(NAMES - 6, middle + 3.5, svg.fitted(name, NAMES - 8), "end", look),
        svg.rect(f"bar {kind}", start, y + 3.5, max(end - start, 0.8), ROW - 7, title=title),
        svg.whisker(scale, middle, figure, "whisker"),
        svg.text(svg.WIDTH - 2, middle + 3.5, percent_text(value), "end", look),
    ]


def weight_chart(part: Row) -> Markup:
    """Draw what each statistic weighs in each source, of an entry of `covariates` with any weights."""
    rows = [row for row in part["statistics"] if row["weights"]]
    single = max(len(row["weights"]) for row in rows) <= MAX_SOURCES
    ends = ("value", "ci_low", "ci_high") if single else ("value",)
    figures = [figure for row in rows for figure in row["weights"]]
    figures += [row["weight"] for row in rows if row["weight"] and not single]
    limit = reach([figure[end] for figure in figures for end in ends])
    scale = row_scale(-limit, limit)
    parts: list[Markup] = [
        svg.text(scale.x(0) - 6, TOP + 9, say("surface.lower"), "end"),
        svg.text(scale.x(0) + 6, TOP + 9, say("surface.higher"), "start"),
    ]
    y = float(TOP + HEAD)
    for row in rows:
        drawn, tall = _statistic(scale, y, row, single=single)
        parts += drawn
        y += tall + GAP / 2
    height = round(y + BOTTOM)
    label = say("surface.aria_weights", n=len(rows), turned=sum(turns(row) for row in rows))
    return svg.drawing(height, label, [*lift_ticks(scale, height), *parts])


def _statistic(scale: svg.Scale, y: float, row: Row, *, single: bool) -> tuple[list[Markup], float]:
    """Draw one statistic: its name, then a line per source, or one line with a tick per source."""
    lines = len(row["weights"]) if single else 1
    tall = float(HEAD + lines * ROW - 2)
    parts = []
    if turns(row):
        parts.append(svg.rect("turned", 0, y, svg.WIDTH, tall))
        parts.append(svg.text(svg.WIDTH - 4, y + 13, say("surface.turned"), "end", "turned-word"))
    parts.append(svg.text(4, y + 13, row["name"], "start", "row-word"))
    middle = y + HEAD + ROW / 2 - 3
    if single:
        for at, weight in enumerate(row["weights"]):
            parts += _dot(scale, middle + at * ROW, source_name(weight["source"]), weight)
        return parts, tall
    for weight in row["weights"]:
        if weight["value"] is not None:
            title = f"{source_name(weight['source'])}: {lift_with_interval(weight)}"
            x = scale.x(weight["value"])
            parts.append(svg.line("whisker", x, x, middle - 6, middle + 6, title=title))
    parts += _dot(scale, middle, say("surface.mean"), row["weight"]) if row["weight"] else []
    return parts, tall


def _dot(scale: svg.Scale, y: float, name: str, figure: Figure) -> list[Markup]:
    """Draw a weight with its interval; hollow where the interval holds 0."""
    value = figure["value"] or 0.0
    clear = all(end is not None and end * value > 0 for end in (figure["ci_low"], figure["ci_high"]))
    return dot_row(scale, y, Line(name, figure, filled=clear))

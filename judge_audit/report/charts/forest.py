"""Dots with whiskers, one line each: the drawing of figures that are to be compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge_audit.core.formatting import lift_text
from judge_audit.report.charts import svg
from judge_audit.report.figures import lift_with_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from judge_audit.report.figures import Figure

NAMES, RIGHT, TOP, BOTTOM = 124, 40, 6, 22
"""Room for names, for figures, above and below; all in the drawing's own units."""

ROW, HEAD, GAP = 19, 19, 8
STEPS = {0.1: 0.05, 0.2: 0.1, 0.3: 0.1, 0.5: 0.25, 0.75: 0.25, 1.0: 0.5}
"""How far a drawing may reach, and how far apart its ticks then are."""


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of a drawing, any part of which may be None, the word before it, and whether its dot is filled."""

    name: str
    figure: Figure
    filled: bool = True


@dataclass(frozen=True, slots=True)
class Group:
    """Figures that belong together, under a heading (none if "") and a remark at its right."""

    heading: str
    lines: tuple[Line, ...]
    remark: str = ""


def reach(values: Sequence[float | None]) -> float:
    """Give a round number that no value exceeds, 1 at most."""
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    return next((limit for limit in STEPS if largest <= limit), max(STEPS))


def round_values(limit: float) -> list[float]:
    """List round values from 0 to a reach."""
    return [round(at * STEPS[limit], 9) for at in range(round(limit / STEPS[limit]) + 1)]


def row_scale(low: float, high: float) -> svg.Scale:
    """Give the scale between names and figures."""
    return svg.Scale(low, high, NAMES, svg.WIDTH - RIGHT)


def forest(groups: Sequence[Group], label: str, limit: tuple[float, str] | None = None) -> Markup:
    """Draw groups of lifts, at least one line, under one another on one scale; the label is for who does not see it.

    `limit` is a value to draw a broken line at, and its word.
    """
    figures = [entry.figure for group in groups for entry in group.lines]
    ends = [end for figure in figures for end in (figure["value"], figure["ci_low"], figure["ci_high"])]
    furthest = reach([*ends, limit[0] if limit else None])
    scale = row_scale(-furthest, furthest)
    y = float(TOP + (HEAD if limit else 0))
    parts: list[Markup] = []
    for group in groups:
        if group.heading:
            parts.append(svg.text(4, y + 13, group.heading, "start", "row-word"))
            parts.append(svg.text(svg.WIDTH - 4, y + 13, group.remark, "end"))
            y += HEAD
        for entry in group.lines:
            parts += dot_row(scale, y + ROW / 2, entry)
            y += ROW
        y += GAP
    height = round(y - GAP + BOTTOM)
    if limit:
        at = scale.x(limit[0])
        word = svg.text(at, TOP + 11, limit[1], "middle")
        parts = [word, svg.line("limit", at, at, TOP + 15, height - BOTTOM), *parts]
    return svg.drawing(height, label, [*lift_ticks(scale, height), *parts])


def dot_row(scale: svg.Scale, y: float, entry: Line) -> list[Markup]:
    """Draw a figure as a dot with its interval, its name before it and its value behind."""
    name = svg.text(NAMES - 6, y + 3.5, svg.fitted(entry.name, NAMES - 8), "end")
    value = entry.figure["value"]
    if value is None:
        return [name]
    kind = "up" if value > 0 else "down"
    look = f"weight {kind}" if entry.filled else f"weight {kind} hollow"
    title = f"{entry.name}: {lift_with_interval(entry.figure)}"
    return [
        name,
        svg.whisker(scale, y, entry.figure, f"whisker {kind}"),
        svg.circle(look, scale.x(value), y, 4, title=title),
        svg.text(svg.WIDTH - 2, y + 3.5, lift_text(value), "end"),
    ]


def lift_ticks(scale: svg.Scale, height: int) -> list[Markup]:
    """Draw round lifts on both sides of 0."""
    values = sorted({sign * value for value in round_values(scale.high) for sign in (-1, 1)})
    marks = [(value, lift_text(value) if value else "0") for value in values]
    return svg.ticks(scale, marks, TOP, height - BOTTOM, height - 7)

"""Dots with whiskers, one line each: the drawing of figures that are to be compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from judge_audit.report.charts.charts import CHARACTER, WIDTH, lift_text, shortened
from judge_audit.report.charts.covariate_charts import Scale, reach, ticks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Row = Mapping[str, Any]

NAMES, TOP, BOTTOM = 124, 6, 22
ROW, HEAD, GAP = 19, 19, 8


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of a drawing.

    Attributes:
        name: What stands before it.
        figure: value, ci_low and ci_high; any may be None.
        filled: Whether its dot is filled.
    """

    name: str
    figure: Row
    filled: bool = True


@dataclass(frozen=True, slots=True)
class Group:
    """Figures that belong together, under a heading (none if "") and a remark at its right."""

    heading: str
    lines: tuple[Line, ...]
    remark: str = ""


def forest(groups: Sequence[Group], label: str, limit: tuple[float, str] | None = None) -> Markup:
    """Draw groups of lifts under one another on one scale.

    Args:
        groups: The groups, at least one line among them.
        label: What a reader who does not see the drawing is told.
        limit: A value to draw a broken line at, and its word.
    """
    ends = [
        line.figure[end] for group in groups for line in group.lines for end in ("value", "ci_low", "ci_high")
    ]
    furthest = reach([*ends, limit[0] if limit else None])
    scale = Scale(-furthest, furthest)
    y = float(TOP + (HEAD if limit else 0))
    parts: list[Markup] = []
    for group in groups:
        if group.heading:
            parts.append(_words(4, y + 13, group.heading, "start", "row-word"))
            parts.append(_words(WIDTH - 4, y + 13, group.remark, "end", "tick"))
            y += HEAD
        for line in group.lines:
            parts += _line(scale, y + ROW / 2, line)
            y += ROW
        y += GAP
    height = round(y - GAP + BOTTOM)
    if limit:
        at = scale.x(limit[0])
        drawn = Markup('<line class="limit" x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}"/>')
        parts = [
            _words(at, TOP + 11, limit[1], "middle", "tick"),
            drawn.format(at, TOP + 15, height - BOTTOM),
            *parts,
        ]
    opened = Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">')
    body = Markup("").join([_grid(scale, furthest, height), *parts])
    return opened.format(WIDTH, height, label) + body + Markup("</svg>")


def interval_text(figure: Row) -> str:
    """Write a lift with its interval."""
    text = lift_text(figure["value"])
    if figure["ci_low"] is None or figure["ci_high"] is None:
        return text
    return f"{text} ({lift_text(figure['ci_low'])} … {lift_text(figure['ci_high'])})"


def _line(scale: Scale, y: float, line: Line) -> list[Markup]:
    words = _words(NAMES - 6, y + 3.5, shortened(line.name, int((NAMES - 8) / CHARACTER)), "end", "tick")
    value = line.figure["value"]
    if value is None:
        return [words]
    kind = "up" if value > 0 else "down"
    parts = [words]
    if line.figure["ci_low"] is not None and line.figure["ci_high"] is not None:
        whisker = Markup('<line class="whisker {}" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>')
        low, high = scale.x(line.figure["ci_low"]), scale.x(line.figure["ci_high"])
        parts.append(whisker.format(kind, low, high, y, y))
    dot = Markup('<circle class="weight {}" cx="{:.1f}" cy="{:.1f}" r="4"><title>{}</title></circle>')
    told = f"{line.name}: {interval_text(line.figure)}"
    parts.append(dot.format(kind if line.filled else f"{kind} hollow", scale.x(value), y, told))
    parts.append(_words(WIDTH - 2, y + 3.5, lift_text(value), "end", "tick"))
    return parts


def _grid(scale: Scale, furthest: float, height: int) -> Markup:
    line = Markup('<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"/>')
    drawn = []
    for value in sorted({sign * tick for tick in ticks(furthest) for sign in (-1, 1)}):
        at = scale.x(value)
        drawn.append(line.format("grid" if value else "zero", at, at, TOP, height - BOTTOM))
        drawn.append(_words(at, height - 7, lift_text(value) if value else "0", "middle", "tick"))
    return Markup("").join(drawn)


def _words(x: float, y: float, text: str, anchor: str, kind: str) -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(
        kind, x, y, anchor, text
    )

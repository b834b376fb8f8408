"""The drawings of the uses' evidence: dots with whiskers and limits, and rates by week."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Required

from judge_audit.core.formatting import fine_percent, lift_text, shortened
from judge_audit.core.messages import say
from judge_audit.report.charts import svg
from judge_audit.report.figures import Figure, with_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from markupsafe import Markup

    Row = Mapping[str, Any]

SHARE, LIFT = "share", "lift"
"""What a chart of a use draws."""


class EvidenceRow(Figure, total=False):
    """A figure that is drawn: its word, whether it is over all sources, and its limits."""

    word: Required[str]
    whole: Required[bool]
    limit_low: float | None
    limit_high: float | None


LEFT, RIGHT, TOP, BOTTOM = 10, 52, 6, 22
LINE, SMALL_LINE = 32, 24
WEEKS_TOP, WEEKS_HEIGHT, WEEKS_LEFT = 10, 110, 42


def evidence_figure(row: EvidenceRow, scale: str) -> str:
    """Write a figure with its interval."""
    return with_interval(row, _writer(scale))


def _writer(scale: str) -> Callable[[float], str]:
    return lift_text if scale == LIFT else fine_percent


def evidence_chart(part: Row) -> Markup:
    """Draw each figure of an entry of `use_evidence` (one at least) as a dot with its interval and its limit."""
    rows, write = part["rows"], _writer(part["scale"])
    low, high = _ends(rows, part["scale"])
    scale = svg.Scale(low, high, LEFT, svg.WIDTH - RIGHT)
    parts: list[Markup] = []
    y = float(TOP)
    for row in rows:
        parts += _row(row, y, scale, write)
        y += LINE if row["whole"] else SMALL_LINE
    height = round(y + BOTTOM)
    marks = [low, (low + high) / 2, high] if low >= 0 else [low, 0.0, high]
    written = [(value, write(value)) for value in marks]
    grid = svg.ticks(scale, written, TOP, height - BOTTOM + 2, height - 8, "start middle end")
    return svg.drawing(height, say(f"use_evidence.{part['check']}.aria", n=len(rows)), [*grid, *parts])


def _ends(rows: Sequence[Row], scale: str) -> tuple[float, float]:
    """Choose round ends that hold every interval and limit."""
    names = ("value", "ci_low", "ci_high", "limit_low", "limit_high")
    values = [row[name] for row in rows for name in names if row.get(name) is not None]
    steps = (0.1, 0.25, 0.5) if scale == LIFT else (0.05, 0.1, 0.25, 0.5, 1.0)
    high = next((step for step in steps if max(values) <= step), max(steps))
    low = -high if scale == LIFT else 0.0
    if min(values) < low:
        low = -next((step for step in (0.1, 0.25, 0.5, 1.0) if -min(values) <= step), 1.0)
    return low, high


def _row(row: EvidenceRow, y: float, scale: svg.Scale, write: Callable[[float], str]) -> list[Markup]:
    """Draw one figure: its word above the line, its interval and limit on it, its value behind."""
    middle = y + (22 if row["whole"] else 17)
    word_look = "row-word" if row["whole"] else "tick"
    parts = [svg.text(LEFT + 4, middle - 9, shortened(row["word"], 58), "start", word_look)]
    for limit in (row.get("limit_low"), row.get("limit_high")):
        if limit is not None:
            at = scale.x(limit)
            title = say("use_evidence.limit", value=write(limit))
            parts.append(svg.line("limit", at, at, middle - 7, middle + 7, title=title))
    look, radius = ("whole", 4.2) if row["whole"] else ("part", 3)
    value = row["value"] or 0.0
    title = f"{row['word']}: {write(value)}, n = {row['n']}"
    return [
        *parts,
        svg.whisker(scale, middle, row, f"reach {look}"),
        svg.circle(f"point {look}", scale.x(value), middle, radius, title=title),
        svg.text(svg.WIDTH - 2, middle + 3.5, write(value), "end", "row-word"),
    ]


def weeks_chart(series: Row) -> Markup:
    """Draw a rate by week with its intervals, of an entry of `weeks` with at least two points."""
    points = series["points"]
    top = max(point["ci_high"] for point in points)
    high = next((step for step in (0.05, 0.1, 0.25, 0.5, 1.0) if top <= step), 1.0)
    width = (svg.WIDTH - WEEKS_LEFT - 8) / max(1, len(points) - 1)

    def at(place: int, value: float) -> tuple[float, float]:
        return WEEKS_LEFT + place * width, WEEKS_TOP + WEEKS_HEIGHT * (1 - min(value, high) / high)

    height = WEEKS_TOP + WEEKS_HEIGHT + BOTTOM
    parts = []
    for value, kind in ((0.0, "zero"), (high / 2, "grid"), (high, "grid")):
        level = at(0, value)[1]
        parts.append(svg.line(kind, WEEKS_LEFT, svg.WIDTH - 8, level, level))
        parts.append(svg.text(WEEKS_LEFT - 5, level + 3.5, fine_percent(value), "end"))
    for place, point in enumerate(points):
        (x, below), (_, above) = at(place, point["ci_low"]), at(place, point["ci_high"])
        parts.append(svg.line("reach part", x, x, below, above))
    parts.append(svg.polyline("mean", (at(place, point["value"]) for place, point in enumerate(points))))
    for place, point in enumerate(points):
        title = f"{point['week']}: {fine_percent(point['value'])} (n = {point['n']})"
        parts.append(svg.circle("dot", *at(place, point["value"]), 2.6, title=title))
    first, last = points[0]["week"], points[-1]["week"]
    parts += [
        svg.text(WEEKS_LEFT, height - 7, first, "start"),
        svg.text(svg.WIDTH - 8, height - 7, last, "end"),
    ]
    return svg.drawing(height, say(f"use_evidence.{series['measure']}_aria", first=first, last=last), parts)

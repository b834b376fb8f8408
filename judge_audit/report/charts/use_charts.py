"""The drawings of the uses' evidence: dots with whiskers and limits, and rates by week."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from judge_audit.core.messages import say
from judge_audit.report.charts.charts import WIDTH, lift_text, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Row = Mapping[str, Any]


SHARE, LIFT = "share", "lift"
"""What a chart of a use draws."""

LEFT, RIGHT, TOP, BOTTOM = 10, 52, 6, 22
LINE, SMALL_LINE = 32, 24
WEEKS_TOP, WEEKS_HEIGHT, WEEKS_LEFT = 10, 110, 42


def share_text(value: float) -> str:
    """Write a share, which may be a difference of two."""
    text = f"{100 * value:.1f} %" if 0 < abs(value) < 0.0995 else f"{100 * value:.0f} %"
    return text.replace("-", "−")


def figure_text(row: Row, scale: str) -> str:
    """Write a figure with its interval and n."""
    write = lift_text if scale == LIFT else share_text
    told = write(row["value"])
    if row["ci_low"] is not None and row["ci_high"] is not None:
        told += f" ({write(row['ci_low'])} … {write(row['ci_high'])})"
    return told


def evidence_chart(part: Row) -> Markup:
    """Draw each figure as a dot with its interval, its limit as a mark beside it.

    Args:
        part: An entry of `use_evidence`, with at least one row.
    """
    rows, write = part["rows"], lift_text if part["scale"] == LIFT else share_text
    low, high = _ends(rows, part["scale"])

    def x(value: float) -> float:
        share = (min(max(value, low), high) - low) / (high - low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    parts: list[Markup] = []
    y = float(TOP)
    for row in rows:
        tall = LINE if row["whole"] else SMALL_LINE
        parts += _row(row, y, x, write)
        y += tall
    height = round(y + BOTTOM)
    marks = [low, (low + high) / 2, high] if low >= 0 else [low, 0.0, high]
    grid = Markup('<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"/>')
    ticks = []
    for mark, anchor in zip(marks, ("start", "middle", "end"), strict=True):
        kind = "zero" if mark == 0 else "grid"
        ticks.append(grid.format(kind, x(mark), x(mark), TOP, height - BOTTOM + 2))
        ticks.append(_text(x(mark), height - 8, write(mark), anchor))
    label = say(f"use_evidence.{part['check']}.aria", n=len(rows))
    return _drawing(height, label, [*ticks, *parts])


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


def _row(row: Row, y: float, x: Callable[[float], float], write: Callable[[float], str]) -> list[Markup]:
    """Draw one figure: its word above the line, its interval and limit on it, its value behind."""
    middle = y + (22 if row["whole"] else 17)
    told = f"{row['word']}: {write(row['value'])}, n = {row['n']}"
    word = shortened(row["word"], 58)
    parts = [_text(LEFT + 4, middle - 9, word, "start", "row-word" if row["whole"] else "tick")]
    for name in ("limit_low", "limit_high"):
        if row.get(name) is not None:
            at = x(row[name])
            mark = Markup(
                '<line class="limit" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"><title>{}</title></line>'
            )
            limit = say("use_evidence.limit", value=write(row[name]))
            parts.append(mark.format(at, at, middle - 7, middle + 7, limit))
    look = "whole" if row["whole"] else "part"
    if row["ci_low"] is not None and row["ci_high"] is not None:
        line = Markup('<line class="reach {}" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>')
        parts.append(line.format(look, x(row["ci_low"]), x(row["ci_high"]), middle, middle))
    dot = Markup('<circle class="point {}" cx="{:.1f}" cy="{:.1f}" r="{}"><title>{}</title></circle>')
    parts.append(dot.format(look, x(row["value"]), middle, 4.2 if row["whole"] else 3, told))
    parts.append(_text(WIDTH - 2, middle + 3.5, write(row["value"]), "end", "row-word"))
    return parts


def weeks_chart(series: Row) -> Markup:
    """Draw a rate by week with its intervals.

    Args:
        series: An entry of `weeks`, with at least two points.
    """
    points = series["points"]
    top = max(point["ci_high"] for point in points)
    high = next((step for step in (0.05, 0.1, 0.25, 0.5, 1.0) if top <= step), 1.0)
    width = (WIDTH - WEEKS_LEFT - 8) / max(1, len(points) - 1)

    def at(place: int, value: float) -> tuple[float, float]:
        return WEEKS_LEFT + place * width, WEEKS_TOP + WEEKS_HEIGHT * (1 - min(value, high) / high)

    height = WEEKS_TOP + WEEKS_HEIGHT + BOTTOM
    grid = Markup('<line class="{}" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>')
    parts = []
    for mark, kind in ((0.0, "zero"), (high / 2, "grid"), (high, "grid")):
        level = at(0, mark)[1]
        parts.append(grid.format(kind, WEEKS_LEFT, WIDTH - 8, level, level))
        parts.append(_text(WEEKS_LEFT - 5, level + 3.5, share_text(mark), "end"))
    line = Markup('<line class="reach part" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>')
    for place, point in enumerate(points):
        (x, below), (_, above) = at(place, point["ci_low"]), at(place, point["ci_high"])
        parts.append(line.format(x, x, below, above))
    path = " ".join(
        f"{x:.1f},{y:.1f}" for x, y in (at(place, point["value"]) for place, point in enumerate(points))
    )
    parts.append(Markup('<polyline class="mean" points="{}"/>').format(path))
    dot = Markup('<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="2.6"><title>{}</title></circle>')
    for place, point in enumerate(points):
        told = f"{point['week']}: {share_text(point['value'])} (n = {point['n']})"
        parts.append(dot.format(*at(place, point["value"]), told))
    parts += [
        _text(WEEKS_LEFT, height - 7, points[0]["week"], "start"),
        _text(WIDTH - 8, height - 7, points[-1]["week"], "end"),
    ]
    label = say(f"use_evidence.{series['measure']}_aria", first=points[0]["week"], last=points[-1]["week"])
    return _drawing(height, label, parts)


def _text(x: float, y: float, text: str, anchor: str, kind: str = "tick") -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(
        kind, x, y, anchor, text
    )


def _drawing(height: int, label: str, parts: Sequence[Markup]) -> Markup:
    opened = Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">')
    return opened.format(WIDTH, height, label) + Markup("").join(parts) + Markup("</svg>")

"""SVG by hand: a scale, texts, lines, bars and marks; classes give the colours, which follow the page.

A coordinate given as an int is written as it is, any other with one decimal; those of texts and circles always
with one decimal.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING

from markupsafe import Markup

from judge_audit.core.formatting import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judge_audit.report.figures import Interval

WIDTH = 360
CHARACTER = 5.6
"""About the width of a small letter, to know whether a label fits."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear scale: `low` is the value at the place `left`, `high` that at the place `right`."""

    low: float
    high: float
    left: float
    right: float

    def x(self, value: float) -> float:
        """Place a value; one beyond an end is placed at the end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.left + share * (self.right - self.left)


def drawing(height: int, label: str, parts: Iterable[Markup], width: int = WIDTH) -> Markup:
    """Put a drawing together; the label is for readers who do not see it."""
    opened = Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">')
    return opened.format(width, height, label) + Markup("").join(parts) + Markup("</svg>")


def text(x: float, y: float, content: str, anchor: str, kind: str = "tick", *, title: str = "") -> Markup:
    """Write a text; with a title where it is a shortened one."""
    whole = Markup("<title>{}</title>").format(title) if title and title != content else Markup()
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}{}</text>').format(
        kind, x, y, anchor, whole, content
    )


def line(kind: str, x1: float, x2: float, y1: float, y2: float, *, title: str = "") -> Markup:
    """Draw a straight line."""
    places = (_at(place) for place in (x1, x2, y1, y2))
    return _closed("line", Markup('class="{}" x1="{}" x2="{}" y1="{}" y2="{}"').format(kind, *places), title)


def rect(kind: str, x: float, y: float, width: float, height: float, *, title: str = "") -> Markup:
    """Draw a bar or an area."""
    sides = (_at(side) for side in (x, y, width, height))
    written = Markup('class="{}" x="{}" y="{}" width="{}" height="{}"').format(kind, *sides)
    return _closed("rect", written, title)


def circle(kind: str, x: float, y: float, radius: float, *, title: str) -> Markup:
    """Draw a dot."""
    written = Markup('class="{}" cx="{:.1f}" cy="{:.1f}" r="{}"').format(kind, x, y, radius)
    return _closed("circle", written, title)


def polyline(kind: str, points: Iterable[tuple[float, float]], *, title: str = "") -> Markup:
    """Draw a line through points."""
    return _closed("polyline", Markup('class="{}" points="{}"').format(kind, _path(points)), title)


def polygon(kind: str, points: Iterable[tuple[float, float]], *, title: str = "") -> Markup:
    """Draw an area with corners."""
    return _closed("polygon", Markup('class="{}" points="{}"').format(kind, _path(points)), title)


def whisker(scale: Scale, y: float, figure: Interval, kind: str) -> Markup:
    """Draw an interval; nothing where there is none."""
    if figure["ci_low"] is None or figure["ci_high"] is None:
        return Markup()
    return line(kind, scale.x(figure["ci_low"]), scale.x(figure["ci_high"]), y, y)


def mark(kind: str, x: float, y: float, title: str) -> Markup:
    """Mark a value of the judge by a square, one of people by a ring: apart without colour too."""
    if kind == "judge":
        return rect("mark judge", x - 4, y - 4, 8, 8, title=title)
    return circle(f"mark {kind}", x, y, 4.2, title=title)


def ticks(
    scale: Scale, marks: Iterable[tuple[float, str]], top: int, bottom: int, words: int, anchors: str = ""
) -> list[Markup]:
    """Draw lines at values from top to bottom, each with its word on the baseline `words`, the line of 0 apart.

    `anchors` are those of the words, separated by spaces; all are in the middle if "".
    """
    drawn = []
    for (value, word), anchor in zip(marks, anchors.split() or repeat("middle"), strict=False):
        at = scale.x(value)
        drawn += [line("grid" if value else "zero", at, at, top, bottom), text(at, words, word, anchor)]
    return drawn


def fitted(name: str, room: float) -> str:
    """Shorten a name to a width."""
    return shortened(name, int(room / CHARACTER))


def _closed(name: str, written: Markup, title: str) -> Markup:
    if not title:
        return Markup("<{} {}/>").format(name, written)
    return Markup("<{} {}><title>{}</title></{}>").format(name, written, title, name)


def _path(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{_at(x)},{_at(y)}" for x, y in points)


def _at(place: float) -> str:
    return str(place) if isinstance(place, int) else f"{place:.1f}"

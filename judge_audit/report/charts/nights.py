"""Drawing over nights: where nights and values lie, rules where the judge is another one, levels, limits, dots."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from judge_audit.core.messages import say
from judge_audit.report.charts.charts import CHARACTER, WIDTH, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Row = Mapping[str, Any]

LEFT, RIGHT, TOP, BOTTOM, HEIGHT = 44, 10, 30, 34, 150
NAMED = 9
"""Characters of a version's name that are shown at its rule."""


@dataclass(frozen=True, slots=True)
class Plane:
    """Where nights and values lie: time from left to right, values between two ends."""

    times: tuple[float, ...]
    low: float
    high: float
    left: int = LEFT

    def x(self, place: int) -> float:
        """Place a night."""
        first, last = self.times[0], self.times[-1]
        share = (self.times[place] - first) / (last - first) if last > first else 0.5
        return self.left + 5 + share * (WIDTH - RIGHT - 10 - self.left)

    def y(self, value: float) -> float:
        """Place a value; one beyond an end lies on it."""
        share = (self.high - min(max(value, self.low), self.high)) / (self.high - self.low)
        return TOP + share * HEIGHT


def rules(history: Row, plane: Plane) -> Markup:
    """Draw a rule where the judge is another one than the night before, with its name where there is room."""
    parts, free = [], float(plane.left)
    for change in history["changes"]:
        at = plane.x(change["place"])
        word = shortened(say(f"history.change.{change['word']['kind']}", name=change["word"]["name"]), NAMED)
        parts.append(line("change", at, at, TOP - 4, TOP + HEIGHT))
        wide = len(word) * CHARACTER / 2
        if at - wide >= free and at + wide <= WIDTH:
            parts.append(text(at, TOP - 9, word, "middle"))
            free = at + wide + 6
    return Markup("").join(parts)


def levels(
    plane: Plane, values: Sequence[float], limits: Sequence[float], write: Callable[[float], str]
) -> list[Markup]:
    """Write values at their levels, the first of those that would lie on another; lines but for the limits."""
    taken: list[float] = []
    parts = []
    for value in values:
        level = plane.y(value)
        if all(abs(level - other) > 12 for other in taken):
            taken.append(level)
            parts.append(text(plane.left - 4, level + 3.5, write(round(value, 2)), "end"))
            if value not in limits:
                parts.append(line("grid", plane.left, WIDTH - RIGHT, level, level))
    return parts


def limit_line(plane: Plane, limit: float) -> Markup:
    """Draw a margin."""
    level = plane.y(limit)
    return line("limit", plane.left, WIDTH - RIGHT, level, level)


def dot(plane: Plane, place: int, value: float, told: str, look: str = "") -> Markup:
    """Draw the dot of a night, with what it is for who points at it."""
    return Markup('<circle class="dot{}" cx="{:.1f}" cy="{:.1f}" r="2.6"><title>{}</title></circle>').format(
        look, plane.x(place), plane.y(value), told
    )


def drawing(history: Row, plane: Plane, parts: Sequence[Markup], label: str) -> Markup:
    """Put a drawing together: its parts, the foot with the first and last date, and marks of approvals."""
    nights = history["nights"]
    foot = TOP + HEIGHT
    whole = [
        *parts,
        line("zero", plane.left, WIDTH - RIGHT, foot, foot),
        *(mark(plane, place) for place in approvals(nights)),
        text(plane.left, foot + 24, date(nights[0]), "start"),
        text(WIDTH - RIGHT, foot + 24, date(nights[-1]), "end"),
    ]
    opened = Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">')
    return opened.format(WIDTH, foot + BOTTOM, label) + Markup("").join(whole) + Markup("</svg>")


def approvals(nights: Sequence[Row]) -> list[int]:
    """Give the nights from which on another audit is the approved one."""
    return [
        place for place in range(1, len(nights)) if nights[place]["approved"] != nights[place - 1]["approved"]
    ]


def mark(plane: Plane, place: int) -> Markup:
    """Mark a night from which on another audit was the approved one."""
    at, foot = plane.x(place), TOP + HEIGHT
    path = f"{at - 4:.1f},{foot + 10} {at + 4:.1f},{foot + 10} {at:.1f},{foot + 3}"
    return Markup('<polygon class="approval" points="{}"><title>{}</title></polygon>').format(
        path, say("history.approval")
    )


def times(nights: Sequence[Row]) -> tuple[float, ...]:
    """Give the times of nights, in seconds."""
    return tuple(datetime.fromisoformat(row["night"]).timestamp() for row in nights)


def date(row: Row) -> str:
    """Write the date of a night."""
    return f"{datetime.fromisoformat(row['night']):%Y-%m-%d}"


def line(kind: str, x1: float, x2: float, y1: float, y2: float) -> Markup:
    """Draw a straight line."""
    straight = Markup('<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>')
    return straight.format(kind, x1, x2, y1, y2)


def text(x: float, y: float, text: str, anchor: str) -> Markup:
    """Write a small text."""
    return Markup('<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(
        x, y, anchor, text
    )

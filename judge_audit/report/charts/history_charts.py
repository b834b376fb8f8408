"""The drawings of the history: figures over nights, with the margin, and rules where the judge is another one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from judge_audit.core.formatting import lift_text, number_text, percent, shortened
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import Position
from judge_audit.report.charts import svg
from judge_audit.report.figures import with_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from markupsafe import Markup

    from judge_audit.report.figures import Interval

    Row = Mapping[str, Any]

LEFT, RIGHT_END, TOP = 44.0, svg.WIDTH - 10.0, 30.0
FOOT, HEIGHT = 180, 214
"""Baseline of a drawing, and its height."""

WIDE_LEFT = 86.0
"""Room for the names of positions."""

NAMED = 9
"""Characters of a version's name that are shown at its rule."""

DOTTED = 60
"""With more nights than this there are lines and bands without a dot each."""

STEPS = [position.value for position in Position]


class Point(NamedTuple):
    """A figure of one night: its place among the nights, the figure, and what a reader who points at it reads."""

    place: int
    value: float
    low: float | None = None
    high: float | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class Plane:
    """Where nights and values are: time from left to right, values between two ends."""

    times: tuple[float, ...]
    low: float
    high: float
    left: float = LEFT

    def x(self, place: int) -> float:
        """Place a night."""
        first, last = self.times[0], self.times[-1]
        share = (self.times[place] - first) / (last - first) if last > first else 0.5
        return self.left + 5 + share * (RIGHT_END - 10 - self.left)

    def y(self, value: float) -> float:
        """Place a value; one beyond an end is placed at the end."""
        share = (self.high - min(max(value, self.low), self.high)) / (self.high - self.low)
        return TOP + share * (FOOT - TOP)

    def at(self, place: int, value: float) -> tuple[float, float]:
        """Place a value of a night."""
        return self.x(place), self.y(value)


def order_chart(history: Row) -> Markup:
    """Draw how much of the anchors' order was kept, against the approved judge and the night before."""
    limit = 1.0 - history["margins"]["order"]
    return _pair_chart(history, "order", (limit,), number_text, (limit - 0.05, 1.0, 1.0))


def move_chart(history: Row) -> Markup:
    """Draw the largest move of an axis in a source since the approved audit and since the night before."""
    margin = history["margins"]["move"]
    return _pair_chart(history, "move", (-margin, margin), lift_text, (-1.5 * margin, 0.0, 1.5 * margin))


def spread_chart(history: Row) -> Markup:
    """Draw how far apart the sources are on the axis on which they are furthest apart."""
    points = [
        Point(place, row["spread"]["value"], title=row["spread"]["axis"])
        for place, row in enumerate(history["nights"])
        if row["spread"] is not None
    ]
    top = max((point.value for point in points), default=0.2)
    high = next((step for step in (0.1, 0.2, 0.4, 0.6, 1.0) if top <= step), top)
    return _line_chart(history, "spread", points, (0.0, high), None, lift_text)


def pile_chart(history: Row) -> Markup:
    """Draw the share of scores in the pile, with the share from which a scale is called stacked."""
    points = [
        Point(place, row["pile"]) for place, row in enumerate(history["nights"]) if row["pile"] is not None
    ]
    return _line_chart(history, "pile", points, (0.0, 1.0), history["margins"]["pile"], percent)


def position_chart(history: Row) -> Markup:
    """Draw the position held night by night."""
    nights = history["nights"]
    plane = Plane(_times(nights), -0.5, len(STEPS) - 0.5, WIDE_LEFT)
    parts = _rules(history, plane)
    for step, name in enumerate(STEPS):
        level = plane.y(step)
        parts.append(svg.line("grid", WIDE_LEFT, RIGHT_END, level, level))
        parts.append(svg.text(WIDE_LEFT - 6, level + 3.5, shortened(name, 15), "end"))
    known = [
        (place, STEPS.index(row["position"])) for place, row in enumerate(nights) if row["position"] in STEPS
    ]
    corners: list[tuple[float, float]] = []
    for (place, step), (later, _) in zip(known, [*known[1:], known[-1]] if known else [], strict=True):
        corners += [plane.at(place, step), plane.at(later, step)]
    parts.append(svg.polyline("mean", corners))
    if len(nights) <= DOTTED:
        parts += [_dot(plane, place, step, f"{_date(nights[place])}: {STEPS[step]}") for place, step in known]
    last = STEPS[known[-1][1]] if known else say("history.unknown")
    return _drawing(history, plane, parts, say("history.aria.position", n=len(nights), last=last))


def _pair_chart(
    history: Row,
    figure: str,
    limits: Sequence[float],
    write: Callable[[float], str],
    ends: tuple[float, float, float],
) -> Markup:
    """Draw a figure against the approved judge (filled, with its interval) and the night before (hollow).

    `limits` are drawn as broken lines; `ends` are the lowest value reached at least, that of no change, the highest.
    """
    nights = history["nights"]
    series = {against: _points(nights, figure, against, write) for against in ("approved", "before")}
    known = [end for points in series.values() for point in points for end in point[1:4] if end is not None]
    floor, still, ceiling = ends
    plane = Plane(_times(nights), min([floor, *known]), max([ceiling, *known]))
    dotted = len(nights) <= DOTTED
    parts = _rules(history, plane)
    parts += _levels(plane, (*limits, still, plane.high, plane.low), limits, write)
    parts += [_limit(plane, limit) for limit in limits]
    for against, points in series.items():
        if not points:
            continue
        if against == "approved":
            parts += _intervals(plane, points, dotted=dotted)
        look = "mean" if against == "approved" else "source s2"
        parts.append(svg.polyline(look, (plane.at(point.place, point.value) for point in points)))
        if dotted:
            hollow = "" if against == "approved" else " hollow"
            parts += [_dot(plane, point.place, point.value, point.title, hollow) for point in points]
    label = _label(history, figure, series["approved"] or series["before"], write)
    return _drawing(history, plane, parts, label)


def _points(nights: Sequence[Row], figure: str, against: str, write: Callable[[float], str]) -> list[Point]:
    points = []
    for place, row in enumerate(nights):
        move = row[figure][against]
        if move is None:
            continue
        where = (
            f", {move['axis']} · {move['source']}" if "axis" in move else f", τ {number_text(move['tau'])}"
        )
        title = f"{_date(row)}, {say(f'history.{against}')}: {write(move['value'])}{where}"
        points.append(Point(place, move["value"], move["ci_low"], move["ci_high"], title))
    return points


def _line_chart(
    history: Row,
    figure: str,
    points: Sequence[Point],
    ends: tuple[float, float],
    limit: float | None,
    write: Callable[[float], str],
) -> Markup:
    nights = history["nights"]
    plane = Plane(_times(nights), *ends)
    middle = (plane.low + plane.high) / 2
    parts = _rules(history, plane) + _levels(plane, (plane.low, plane.high, middle), (), write)
    if limit is not None:
        parts.append(_limit(plane, limit))
    parts.append(svg.polyline("mean", (plane.at(point.place, point.value) for point in points)))
    if len(nights) <= DOTTED:
        for point in points:
            title = f"{_date(nights[point.place])}: {write(point.value)} {point.title}".strip()
            parts.append(_dot(plane, point.place, point.value, title))
    return _drawing(history, plane, parts, _label(history, figure, points, write))


def _intervals(plane: Plane, points: Sequence[Point], *, dotted: bool) -> list[Markup]:
    """Draw intervals: a whisker each where nights are few, one band where they are many."""
    bounded = [
        (point.place, point.low, point.high)
        for point in points
        if point.low is not None and point.high is not None
    ]
    if dotted:
        return [
            svg.line("whisker", plane.x(place), plane.x(place), plane.y(low), plane.y(high))
            for place, low, high in bounded
        ]
    outline = [plane.at(place, high) for place, _, high in bounded]
    outline += [plane.at(place, low) for place, low, _ in reversed(bounded)]
    return [svg.polygon("band", outline)]


def _rules(history: Row, plane: Plane) -> list[Markup]:
    """Draw a rule where the judge is another one than the night before, with its name where there is room."""
    parts, free = [], plane.left
    for change in history["changes"]:
        at = plane.x(change["place"])
        word = shortened(say(f"history.change.{change['word']['kind']}", name=change["word"]["name"]), NAMED)
        parts.append(svg.line("change", at, at, TOP - 4, float(FOOT)))
        wide = len(word) * svg.CHARACTER / 2
        if at - wide >= free and at + wide <= svg.WIDTH:
            parts.append(svg.text(at, TOP - 9, word, "middle"))
            free = at + wide + 6
    return parts


def _levels(
    plane: Plane, values: Sequence[float], limits: Sequence[float], write: Callable[[float], str]
) -> list[Markup]:
    """Write values at their levels, the first of those that would overlap; lines but for the limits."""
    taken: list[float] = []
    parts = []
    for value in values:
        level = plane.y(value)
        if all(abs(level - other) > 12 for other in taken):
            taken.append(level)
            parts.append(svg.text(plane.left - 4, level + 3.5, write(round(value, 2)), "end"))
            if value not in limits:
                parts.append(svg.line("grid", plane.left, RIGHT_END, level, level))
    return parts


def _limit(plane: Plane, limit: float) -> Markup:
    """Draw a margin."""
    return svg.line("limit", plane.left, RIGHT_END, plane.y(limit), plane.y(limit))


def _dot(plane: Plane, place: int, value: float, title: str, look: str = "") -> Markup:
    """Draw the dot of a night, with what it is for who points at it."""
    return svg.circle(f"dot{look}", *plane.at(place, value), 2.6, title=title)


def _drawing(history: Row, plane: Plane, parts: Sequence[Markup], label: str) -> Markup:
    """Put a drawing together: its parts, the foot with the first and last date, and marks of approvals."""
    nights = history["nights"]
    whole = [
        *parts,
        svg.line("zero", plane.left, RIGHT_END, float(FOOT), float(FOOT)),
        *(
            _approval(plane.x(place))
            for place in range(1, len(nights))
            if nights[place]["approved"] != nights[place - 1]["approved"]
        ),
        svg.text(plane.left, FOOT + 24, _date(nights[0]), "start"),
        svg.text(RIGHT_END, FOOT + 24, _date(nights[-1]), "end"),
    ]
    return svg.drawing(HEIGHT, label, whole)


def _approval(at: float) -> Markup:
    """Mark a night from which on another audit was the approved one."""
    corners = [(at - 4, FOOT + 10), (at + 4, FOOT + 10), (at, FOOT + 3)]
    return svg.polygon("approval", corners, title=say("history.approval"))


def _times(nights: Sequence[Row]) -> tuple[float, ...]:
    """Give the times of nights, in seconds."""
    return tuple(datetime.fromisoformat(row["night"]).timestamp() for row in nights)


def _date(row: Row) -> str:
    """Write the date of a night."""
    return f"{datetime.fromisoformat(row['night']):%Y-%m-%d}"


def _label(history: Row, figure: str, points: Sequence[Point], write: Callable[[float], str]) -> str:
    last = write(points[-1].value) if points else say("history.unknown")
    return say(f"history.aria.{figure}", n=len(history["nights"]), last=last)


def order_text(figure: Interval | None) -> str:
    """Write how much of an order was kept, with its interval."""
    return with_interval(figure, lambda value: number_text(round(value, 3)))


def knows(history: Row, figure: str) -> bool:
    """Tell whether any night has a figure to draw."""
    return any(
        row[figure] is not None
        and (not isinstance(row[figure], dict) or figure == "spread" or any(row[figure].values()))
        for row in history["nights"]
    )


CHARTS = {
    "order": order_chart,
    "move": move_chart,
    "spread": spread_chart,
    "position": position_chart,
    "pile": pile_chart,
}
"""The drawings by what they show, in the order of the page."""

SHOWN = 30
"""Nights in the table."""

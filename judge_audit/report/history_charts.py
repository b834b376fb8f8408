"""The drawings of the history: figures over nights, with the margin, and rules where the judge is another one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from judge_audit.messages import say
from judge_audit.report.charts import CHARACTER, WIDTH, lift_text, number_text, shortened
from judge_audit.vocabulary import Position

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Row = Mapping[str, Any]
    Point = tuple[int, float, float | None, float | None, str]

LEFT, RIGHT, TOP, BOTTOM, HEIGHT = 44, 10, 30, 34, 150
WIDE_LEFT = 86
"""Room for the names of positions."""

DOTTED = 60
"""With more nights than this there are lines and bands without a dot each."""

NAMED = 9
"""Characters of a version's name that are shown at its rule."""

STEPS = [position.value for position in Position]


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


def order_chart(history: Row) -> Markup:
    """Draw how much of the anchors' order was kept, against the approved judge and the night before."""
    limit = 1.0 - history["margins"]["order"]
    return _pair_chart(history, "order", (limit,), number_text, floor=limit - 0.05, ceiling=1.0)


def move_chart(history: Row) -> Markup:
    """Draw the largest move of an axis in a source since the approved audit and since the night before."""
    margin = history["margins"]["move"]
    return _pair_chart(
        history, "move", (-margin, margin), lift_text, floor=-1.5 * margin, ceiling=1.5 * margin
    )


def spread_chart(history: Row) -> Markup:
    """Draw how far apart the sources lie on the axis on which they lie furthest apart."""
    points = [
        (place, row["spread"]["value"], None, None, row["spread"]["axis"])
        for place, row in enumerate(history["nights"])
        if row["spread"] is not None
    ]
    high = _reach([point[1] for point in points])
    return _line_chart(history, "spread", points, (0.0, high), None, lift_text)


def pile_chart(history: Row) -> Markup:
    """Draw the share of scores in the pile, with the share from which a scale is called stacked."""
    points = [
        (place, row["pile"], None, None, "")
        for place, row in enumerate(history["nights"])
        if row["pile"] is not None
    ]
    return _line_chart(history, "pile", points, (0.0, 1.0), history["margins"]["pile"], percent)


def position_chart(history: Row) -> Markup:
    """Draw the position held night by night."""
    nights = history["nights"]
    plane = Plane(_times(nights), -0.5, len(STEPS) - 0.5, WIDE_LEFT)
    parts = [_rules(history, plane)]
    for step, name in enumerate(STEPS):
        level = plane.y(step)
        parts.append(_line("grid", WIDE_LEFT, WIDTH - RIGHT, level, level))
        parts.append(_text(WIDE_LEFT - 6, level + 3.5, shortened(name, 15), "end"))
    known = [
        (place, STEPS.index(row["position"])) for place, row in enumerate(nights) if row["position"] in STEPS
    ]
    corners: list[str] = []
    for (place, step), (later, _) in zip(known, [*known[1:], known[-1]] if known else [], strict=True):
        corners += [f"{plane.x(place):.1f},{plane.y(step):.1f}", f"{plane.x(later):.1f},{plane.y(step):.1f}"]
    parts.append(Markup('<polyline class="mean" points="{}"/>').format(" ".join(corners)))
    if len(nights) <= DOTTED:
        parts += [_dot(plane, place, step, f"{_date(nights[place])}: {STEPS[step]}") for place, step in known]
    last = STEPS[known[-1][1]] if known else say("history.unknown")
    return _drawing(history, plane, parts, say("history.aria.position", n=len(nights), last=last))


def percent(share: float) -> str:
    """Write a share."""
    return f"{100 * share:.0f} %"


def _pair_chart(
    history: Row,
    figure: str,
    limits: Sequence[float],
    write: Callable[[float], str],
    *,
    floor: float,
    ceiling: float,
) -> Markup:
    """Draw a figure against the approved judge (filled, with its interval) and the night before (hollow)."""
    nights = history["nights"]
    series = {against: _points(nights, figure, against, write) for against in ("approved", "before")}
    ends = [end for points in series.values() for point in points for end in point[1:4] if end is not None]
    plane = Plane(_times(nights), min([floor, *ends]) - 0.01, max([ceiling, *ends]) + 0.01)
    dotted = len(nights) <= DOTTED
    parts = [_rules(history, plane), *_levels(plane, limits, write)]
    parts += [_limit(plane, limit) for limit in limits]
    for against, points in series.items():
        if not points:
            continue
        if against == "approved":
            parts.append(_intervals(plane, points, dotted=dotted))
        path = " ".join(f"{plane.x(place):.1f},{plane.y(value):.1f}" for place, value, *_ in points)
        look = "mean" if against == "approved" else "source s2"
        parts.append(Markup('<polyline class="{}" points="{}"/>').format(look, path))
        if dotted:
            hollow = "" if against == "approved" else " hollow"
            parts += [_dot(plane, place, value, told, hollow) for place, value, _, _, told in points]
    return _drawing(
        history, plane, parts, _told(history, figure, series["approved"] or series["before"], write)
    )


def _points(nights: Sequence[Row], figure: str, against: str, write: Callable[[float], str]) -> list[Point]:
    found = []
    for place, row in enumerate(nights):
        held = row[figure][against]
        if held is not None:
            where = (
                f", {held['axis']} · {held['source']}"
                if "axis" in held
                else f", τ {number_text(held['tau'])}"
            )
            told = f"{_date(row)}, {say(f'history.{against}')}: {write(held['value'])}{where}"
            found.append((place, held["value"], held["ci_low"], held["ci_high"], told))
    return found


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
    parts = [_rules(history, plane), *_levels(plane, (), write)]
    if limit is not None:
        parts.append(_limit(plane, limit))
    path = " ".join(f"{plane.x(place):.1f},{plane.y(value):.1f}" for place, value, *_ in points)
    parts.append(Markup('<polyline class="mean" points="{}"/>').format(path))
    if len(nights) <= DOTTED:
        parts += [
            _dot(plane, place, value, f"{_date(nights[place])}: {write(value)} {told}".strip())
            for place, value, _, _, told in points
        ]
    return _drawing(history, plane, parts, _told(history, figure, points, write))


def _intervals(plane: Plane, points: Sequence[Point], *, dotted: bool) -> Markup:
    """Draw intervals: a whisker each where nights are few, one band where they are many."""
    bounded = [
        (place, low, high) for place, _, low, high, _ in points if low is not None and high is not None
    ]
    if dotted:
        return Markup("").join(
            _line("whisker", plane.x(place), plane.x(place), plane.y(low), plane.y(high))
            for place, low, high in bounded
        )
    outline = [(place, high) for place, _, high in bounded] + [
        (place, low) for place, low, _ in reversed(bounded)
    ]
    path = " ".join(f"{plane.x(place):.1f},{plane.y(value):.1f}" for place, value in outline)
    return Markup('<polygon class="band" points="{}"/>').format(path)


def _rules(history: Row, plane: Plane) -> Markup:
    """Draw a rule where the judge is another one than the night before, with its name where there is room."""
    parts, free = [], float(plane.left)
    for change in history["changes"]:
        at = plane.x(change["place"])
        word = shortened(say(f"history.change.{change['word']['kind']}", name=change["word"]["name"]), NAMED)
        parts.append(_line("change", at, at, TOP - 4, TOP + HEIGHT))
        wide = len(word) * CHARACTER / 2
        if at - wide >= free and at + wide <= WIDTH:
            parts.append(_text(at, TOP - 9, word, "middle"))
            free = at + wide + 6
    return Markup("").join(parts)


def _levels(plane: Plane, limits: Sequence[float], write: Callable[[float], str]) -> list[Markup]:
    """Draw the ends, the middle and the limits with their values, those that would lie on another left out."""
    taken: list[float] = []
    parts = []
    for value in (*limits, plane.high, plane.low, (plane.low + plane.high) / 2):
        level = plane.y(value)
        if all(abs(level - other) > 12 for other in taken):
            taken.append(level)
            parts.append(_text(plane.left - 4, level + 3.5, write(round(value, 2)), "end"))
            if value not in limits:
                parts.append(_line("grid", plane.left, WIDTH - RIGHT, level, level))
    return parts


def _limit(plane: Plane, limit: float) -> Markup:
    level = plane.y(limit)
    return _line("limit", plane.left, WIDTH - RIGHT, level, level)


def _dot(plane: Plane, place: int, value: float, told: str, look: str = "") -> Markup:
    return Markup('<circle class="dot{}" cx="{:.1f}" cy="{:.1f}" r="2.6"><title>{}</title></circle>').format(
        look, plane.x(place), plane.y(value), told
    )


def _drawing(history: Row, plane: Plane, parts: Sequence[Markup], label: str) -> Markup:
    nights = history["nights"]
    foot = TOP + HEIGHT
    whole = [
        *parts,
        _line("zero", plane.left, WIDTH - RIGHT, foot, foot),
        *(_mark(plane, place) for place in _approvals(nights)),
        _text(plane.left, foot + 24, _date(nights[0]), "start"),
        _text(WIDTH - RIGHT, foot + 24, _date(nights[-1]), "end"),
    ]
    opened = Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">')
    return opened.format(WIDTH, foot + BOTTOM, label) + Markup("").join(whole) + Markup("</svg>")


def _approvals(nights: Sequence[Row]) -> list[int]:
    """Give the nights from which on another audit is the approved one."""
    return [
        place for place in range(1, len(nights)) if nights[place]["approved"] != nights[place - 1]["approved"]
    ]


def _mark(plane: Plane, place: int) -> Markup:
    at, foot = plane.x(place), TOP + HEIGHT
    path = f"{at - 4:.1f},{foot + 10} {at + 4:.1f},{foot + 10} {at:.1f},{foot + 3}"
    return Markup('<polygon class="approval" points="{}"><title>{}</title></polygon>').format(
        path, say("history.approval")
    )


def _told(history: Row, figure: str, points: Sequence[Point], write: Callable[[float], str]) -> str:
    last = write(points[-1][1]) if points else say("history.unknown")
    return say(f"history.aria.{figure}", n=len(history["nights"]), last=last)


def _reach(values: Sequence[float]) -> float:
    top = max(values, default=0.25)
    return next((step for step in (0.1, 0.25, 0.5, 1.0) if top <= step), top)


def _times(nights: Sequence[Row]) -> tuple[float, ...]:
    return tuple(datetime.fromisoformat(row["night"]).timestamp() for row in nights)


def _date(row: Row) -> str:
    return f"{datetime.fromisoformat(row['night']):%Y-%m-%d}"


def _line(kind: str, x1: float, x2: float, y1: float, y2: float) -> Markup:
    drawn = Markup('<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>')
    return drawn.format(kind, x1, x2, y1, y2)


def _text(x: float, y: float, text: str, anchor: str) -> Markup:
    return Markup('<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(
        x, y, anchor, text
    )


def figure_text(figure: Row | None) -> str:
    """Write how much of an order was kept, with its interval."""
    if figure is None:
        return "–"
    text = number_text(round(figure["value"], 3))
    if figure["ci_low"] is None or figure["ci_high"] is None:
        return text
    low, high = (number_text(round(figure[end], 3)) for end in ("ci_low", "ci_high"))
    return f"{text} ({low} … {high})"


def knows(history: Row, figure: str) -> bool:
    """Tell whether any night has a figure to draw."""
    return any(
        row[figure] is not None
        and (not isinstance(row[figure], dict) or figure == "spread" or any(row[figure].values()))
        for row in history["nights"]
    )


WRITERS = {
    "history_charts": {
        "order": order_chart,
        "move": move_chart,
        "spread": spread_chart,
        "position": position_chart,
        "pile": pile_chart,
    },
    "history_knows": knows,
    "history_figure": figure_text,
    "history_shown": 30,
}

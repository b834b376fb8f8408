"""The drawings of the history: figures over nights, with the margin, and rules where the judge is another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from judge_audit.core.messages import say
from judge_audit.core.vocabulary import Position
from judge_audit.report.charts.charts import WIDTH, lift_text, number_text, shortened
from judge_audit.report.charts.nights import (
    RIGHT,
    Plane,
    date,
    dot,
    drawing,
    levels,
    limit_line,
    line,
    rules,
    text,
    times,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Row = Mapping[str, Any]
    Point = tuple[int, float, float | None, float | None, str]

WIDE_LEFT = 86
"""Room for the names of positions."""

DOTTED = 60
"""With more nights than this there are lines and bands without a dot each."""

STEPS = [position.value for position in Position]


def order_chart(history: Row) -> Markup:
    """Draw how much of the anchors' order was kept, against the approved judge and the night before."""
    limit = 1.0 - history["margins"]["order"]
    return _pair_chart(history, "order", (limit,), number_text, (limit - 0.05, 1.0, 1.0))


def move_chart(history: Row) -> Markup:
    """Draw the largest move of an axis in a source since the approved audit and since the night before."""
    margin = history["margins"]["move"]
    return _pair_chart(history, "move", (-margin, margin), lift_text, (-1.5 * margin, 0.0, 1.5 * margin))


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
    plane = Plane(times(nights), -0.5, len(STEPS) - 0.5, WIDE_LEFT)
    parts = [rules(history, plane)]
    for step, name in enumerate(STEPS):
        level = plane.y(step)
        parts.append(line("grid", WIDE_LEFT, WIDTH - RIGHT, level, level))
        parts.append(text(WIDE_LEFT - 6, level + 3.5, shortened(name, 15), "end"))
    known = [
        (place, STEPS.index(row["position"])) for place, row in enumerate(nights) if row["position"] in STEPS
    ]
    corners: list[str] = []
    for (place, step), (later, _) in zip(known, [*known[1:], known[-1]] if known else [], strict=True):
        corners += [f"{plane.x(place):.1f},{plane.y(step):.1f}", f"{plane.x(later):.1f},{plane.y(step):.1f}"]
    parts.append(Markup('<polyline class="mean" points="{}"/>').format(" ".join(corners)))
    if len(nights) <= DOTTED:
        parts += [dot(plane, place, step, f"{date(nights[place])}: {STEPS[step]}") for place, step in known]
    last = STEPS[known[-1][1]] if known else say("history.unknown")
    return drawing(history, plane, parts, say("history.aria.position", n=len(nights), last=last))


def percent(share: float) -> str:
    """Write a share."""
    return f"{100 * share:.0f} %"


def _pair_chart(
    history: Row,
    figure: str,
    limits: Sequence[float],
    write: Callable[[float], str],
    ends: tuple[float, float, float],
) -> Markup:
    """Draw a figure against the approved judge (filled, with its interval) and the night before (hollow).

    Args:
        history: The history.
        figure: order or move.
        limits: Values to draw a broken line at.
        write: Writes a value.
        ends: Lowest and highest value the drawing reaches at least, and between them the one of no change.
    """
    nights = history["nights"]
    series = {against: _points(nights, figure, against, write) for against in ("approved", "before")}
    known = [end for points in series.values() for point in points for end in point[1:4] if end is not None]
    floor, still, ceiling = ends
    plane = Plane(times(nights), min([floor, *known]), max([ceiling, *known]))
    dotted = len(nights) <= DOTTED
    parts = [rules(history, plane), *levels(plane, (*limits, still, plane.high, plane.low), limits, write)]
    parts += [limit_line(plane, limit) for limit in limits]
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
            parts += [dot(plane, place, value, told, hollow) for place, value, _, _, told in points]
    return drawing(
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
            told = f"{date(row)}, {say(f'history.{against}')}: {write(held['value'])}{where}"
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
    plane = Plane(times(nights), *ends)
    middle = (plane.low + plane.high) / 2
    parts = [rules(history, plane), *levels(plane, (plane.low, plane.high, middle), (), write)]
    if limit is not None:
        parts.append(limit_line(plane, limit))
    path = " ".join(f"{plane.x(place):.1f},{plane.y(value):.1f}" for place, value, *_ in points)
    parts.append(Markup('<polyline class="mean" points="{}"/>').format(path))
    if len(nights) <= DOTTED:
        parts += [
            dot(plane, place, value, f"{date(nights[place])}: {write(value)} {told}".strip())
            for place, value, _, _, told in points
        ]
    return drawing(history, plane, parts, _told(history, figure, points, write))


def _intervals(plane: Plane, points: Sequence[Point], *, dotted: bool) -> Markup:
    """Draw intervals: a whisker each where nights are few, one band where they are many."""
    bounded = [
        (place, low, high) for place, _, low, high, _ in points if low is not None and high is not None
    ]
    if dotted:
        return Markup("").join(
            line("whisker", plane.x(place), plane.x(place), plane.y(low), plane.y(high))
            for place, low, high in bounded
        )
    outline = [(place, high) for place, _, high in bounded] + [
        (place, low) for place, low, _ in reversed(bounded)
    ]
    path = " ".join(f"{plane.x(place):.1f},{plane.y(value):.1f}" for place, value in outline)
    return Markup('<polygon class="band" points="{}"/>').format(path)


def _told(history: Row, figure: str, points: Sequence[Point], write: Callable[[float], str]) -> str:
    last = write(points[-1][1]) if points else say("history.unknown")
    return say(f"history.aria.{figure}", n=len(history["nights"]), last=last)


def _reach(values: Sequence[float]) -> float:
    top = max(values, default=0.2)
    return next((step for step in (0.1, 0.2, 0.4, 0.6, 1.0) if top <= step), top)


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

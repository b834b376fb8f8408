"""The drawings of the report: hand-built SVG whose colours follow the page (light, dark, print)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from judge_audit.core.messages import say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = Mapping[str, Any]

WIDTH = 360
LEFT, RIGHT, TOP, BOTTOM = 38, 8, 22, 24
CURVE_HEIGHT = 216
STYLES = 5
"""Line styles for single sources; with more sources all are drawn alike."""

CHARACTER = 5.6
"""About the width of a small letter, to know whether a label fits."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Where values lie on a drawing: x on a log scale of strength, y linear."""

    first: float
    last: float
    reach: float
    height: int = CURVE_HEIGHT

    def x(self, strength: float) -> float:
        """Place a strength; half a step is left free at both ends."""
        span = math.log(self.last / self.first) or 1.0
        pad = 0.05
        share = (math.log(max(strength, 1e-12) / self.first) / span + pad) / (1 + 2 * pad)
        return LEFT + min(max(share, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Place a lift."""
        share = (self.reach - min(max(value, -self.reach), self.reach)) / (2 * self.reach)
        return TOP + share * (self.height - TOP - BOTTOM)


def reach_of(sections: Sequence[Row]) -> float:
    """Give the lift that all drawings reach up and down to, so that they can be compared."""
    sizes = [
        abs(number)
        for section in sections
        for point in section["points"]
        for number in (point["value"], point["ci_low"], point["ci_high"])
        if number is not None
    ]
    sizes += [
        abs(point["value"] or 0)
        for section in sections
        for line in section["sources"].values()
        for point in line
    ]
    largest = max(sizes, default=0.5)
    return next(limit for limit in (0.25, 0.5, 0.75, 1.0, math.inf) if largest <= limit or limit == 1.0)


def curve(section: Row, reach: float, styles: Mapping[str, int]) -> Markup:
    """Draw the mean lift along a ladder, its interval, single sources, and the zones.

    Args:
        section: An entry of `ladders` in the document, with at least one point.
        reach: Lift at the upper and lower edge.
        styles: Line style of each source, 0 … STYLES − 1.
    """
    points = [point for point in section["points"] if point["value"] is not None]
    frame = Frame(points[0]["strength"], points[-1]["strength"], reach)
    name = section["axis"]
    label = say(
        "report.ladders.aria",
        axis=name,
        first=lift_text(points[0]["value"]),
        last=lift_text(points[-1]["value"]),
    )
    parts = [_zones(section["zones"], frame), _grid(frame, points)]
    bounded = [point for point in points if point["ci_low"] is not None and point["ci_high"] is not None]
    if len(bounded) > 1:
        outline = [(point["strength"], point["ci_high"]) for point in bounded]
        outline += [(point["strength"], point["ci_low"]) for point in reversed(bounded)]
        parts.append(Markup('<polygon class="band" points="{}"/>').format(_path(frame, outline)))
    for source, line in section["sources"].items():
        kept = [(point["strength"], point["value"]) for point in line if point["value"] is not None]
        drawn = Markup('<polyline class="source s{}" points="{}"><title>{}</title></polyline>')
        parts.append(drawn.format(styles.get(source, 0), _path(frame, kept), source))
    whole = [(point["strength"], point["value"]) for point in points]
    parts.append(Markup('<polyline class="mean" points="{}"/>').format(_path(frame, whole)))
    parts += [_dot(frame, point) for point in points]
    return _svg(WIDTH, frame.height, label, parts)


def _svg(width: int, height: int, label: str, parts: Sequence[Markup]) -> Markup:
    opened = Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">')
    return opened.format(width, height, label) + Markup("").join(parts) + Markup("</svg>")


def _path(frame: Frame, points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{frame.x(strength):.1f},{frame.y(value):.1f}" for strength, value in points)


def _dot(frame: Frame, point: Row) -> Markup:
    told = f"{number_text(point['strength'])}: {lift_text(point['value'])}"
    if point["ci_low"] is not None and point["ci_high"] is not None:
        told += f" ({lift_text(point['ci_low'])} … {lift_text(point['ci_high'])})"
    return Markup('<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="2.6"><title>{}</title></circle>').format(
        frame.x(point["strength"]), frame.y(point["value"]), told
    )


def _grid(frame: Frame, points: Sequence[Row]) -> Markup:
    lines = []
    step = 0.5 if frame.reach >= 1 else 0.25
    count = round(frame.reach / step)
    for value in (at * step for at in range(-count, count + 1)):
        height = frame.y(value)
        kind = "zero" if value == 0 else "grid"
        lines.append(
            Markup('<line class="{}" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>').format(
                kind, LEFT, WIDTH - RIGHT, height, height
            )
        )
        text = "0" if value == 0 else lift_text(value)
        lines.append(_text(LEFT - 5, height + 3.5, text, "end"))
    middle = points[len(points) // 2]
    for point, anchor in ((points[0], "start"), (middle, "middle"), (points[-1], "end")):
        at = frame.x(point["strength"])
        lines.append(_text(at, frame.height - 8, number_text(point["strength"]), anchor))
    return Markup("").join(lines)


def _text(x: float, y: float, text: str, anchor: str, kind: str = "tick") -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(
        kind, x, y, anchor, text
    )


def _zones(zones: Row | None, frame: Frame) -> Markup:
    """Shade what nobody sees, what is unsure and what is overdone, each with its word where it fits."""
    low, high = LEFT, WIDTH - RIGHT
    if zones is None:
        return _text(high, TOP - 8, say("report.ladders.zone_unknown"), "end", "zone-word")
    edges = {
        name: high if zones[name] is None else frame.x(zones[name])
        for name in ("unseen_below", "seen_from", "overdone_from")
    }
    seen = max(edges["seen_from"], edges["unseen_below"])
    bad = max(edges["overdone_from"], seen)
    spans = (
        ("unseen", low, edges["unseen_below"]),
        ("unsure", edges["unseen_below"], seen),
        ("seen", seen, bad),
        ("bad", bad, high),
    )
    drawn = []
    room = high - len(say("report.ladders.zone_bad")) * CHARACTER - CHARACTER if bad < high - 1 else high
    for name, start, end in spans:
        if end - start < 1:
            continue
        area = Markup('<rect class="zone {}" x="{:.1f}" y="{}" width="{:.1f}" height="{}"/>')
        drawn.append(area.format(name, start, TOP, end - start, frame.height - TOP - BOTTOM))
        word = say(f"report.ladders.zone_{name}")
        half = len(word) * CHARACTER / 2
        if name == "bad" or (2 * half <= end - start and (start + end) / 2 + half <= room):
            at, anchor = (end, "end") if name == "bad" else ((start + end) / 2, "middle")
            drawn.append(_text(at, TOP - 8, word, anchor, "zone-word"))
    return Markup("").join(drawn)


HIST_TOP, HIST_HEIGHT = 8, 120


def histogram(content: Row) -> Markup:
    """Draw the untouched scores of all sources together, with the pile shaded."""
    edges, pile = content["edges"], content["pile"]
    height = HIST_TOP + HIST_HEIGHT + BOTTOM
    span = edges[-1] - edges[0]

    def x(value: float) -> float:
        share: float = (value - edges[0]) / span
        return LEFT + min(max(share, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)

    places = [x(edge) for edge in edges]
    told = [f"{number_text(low)} … {number_text(high)}" for low, high in pairwise(edges)]
    parts = []
    if pile is not None:
        start, end = x(pile["low"]), x(pile["high"])
        area = Markup('<rect class="pile" x="{:.1f}" y="{}" width="{:.1f}" height="{}"/>')
        parts.append(area.format(start, HIST_TOP, max(end - start, 1.5), height - HIST_TOP - BOTTOM))
    parts += _bars(content["counts"], places, told, HIST_TOP, HIST_HEIGHT, "all")
    parts.append(_text(LEFT - 5, HIST_TOP + 9, str(max(content["counts"])), "end"))
    parts.append(_text(LEFT - 5, HIST_TOP + HIST_HEIGHT, "0", "end"))
    for value, anchor in ((edges[0], "start"), ((edges[0] + edges[-1]) / 2, "middle"), (edges[-1], "end")):
        parts.append(_text(x(value), height - 8, number_text(value), anchor))
    label = say("report.scale.aria", n=content["n"], low=number_text(edges[0]), high=number_text(edges[-1]))
    return _svg(WIDTH, height, label, parts)


def _bars(
    counts: Sequence[int], places: Sequence[float], told: Sequence[str], top: float, height: float, kind: str
) -> list[Markup]:
    """Draw bars over a baseline; bar i stands between places i and i + 1."""
    largest = max(counts) or 1
    base = top + height
    drawn = [
        Markup('<line class="zero" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>').format(
            LEFT, WIDTH - RIGHT, base, base
        )
    ]
    bar = Markup(
        '<rect class="bar {}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>'
    )
    for count, start, end, range_ in zip(counts, places[:-1], places[1:], told, strict=True):
        tall = (height - 4) * count / largest
        if count:
            words = f"{range_}: {count}"
            drawn.append(bar.format(kind, start + 0.6, base - tall, max(end - start - 1.2, 0.8), tall, words))
    return drawn


def shortened(text: str, limit: int = 44) -> str:
    """Cut a long name, saying that it was cut."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def number_text(value: float | None) -> str:
    """Write a number for people: three digits, a true minus sign."""
    if value is None:
        return "–"
    text = f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    if "e" in text:
        text = f"{value:.6f}".rstrip("0") if abs(value) < 1 else f"{value:.0f}"
    return text.replace("-", "−")


def lift_text(value: float | None) -> str:
    """Write a lift for people: two decimals and its sign."""
    if value is None:
        return "–"
    text = f"{value:+.2f}"
    return "0.00" if text in {"-0.00", "+0.00"} else text.replace("-", "−")

"""The drawing of a ladder: the mean lift along it, its interval, single sources, and the zones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_audit.core.formatting import lift_text, number_text
from judge_audit.core.messages import say
from judge_audit.report.charts import svg
from judge_audit.report.figures import lift_with_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup

    Row = Mapping[str, Any]

LEFT, RIGHT, TOP, BOTTOM = 38, 8, 22, 24
HEIGHT = 216
STYLES = 5
"""Line styles for single sources; with more sources all are drawn alike."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Where values are on a drawing: x on a log scale of strength, y linear."""

    first: float
    last: float
    reach: float

    def x(self, strength: float) -> float:
        """Place a strength; half a step is left free at both ends."""
        span = math.log(self.last / self.first) or 1.0
        pad = 0.05
        share = (math.log(max(strength, 1e-12) / self.first) / span + pad) / (1 + 2 * pad)
        return LEFT + min(max(share, 0.0), 1.0) * (svg.WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Place a lift."""
        share = (self.reach - min(max(value, -self.reach), self.reach)) / (2 * self.reach)
        return TOP + share * (HEIGHT - TOP - BOTTOM)


def reach_of(sections: Sequence[Row]) -> float:
    """Give the lift that all drawings reach up and down to, so that they can be compared."""
    points = [point for section in sections for point in section["points"]]
    ends = [point[end] for point in points for end in ("value", "ci_low", "ci_high")]
    sizes = [abs(end) for end in ends if end is not None]
    by_source = [points for section in sections for points in section["sources"].values()]
    sizes += [abs(point["value"] or 0) for points in by_source for point in points]
    largest = max(sizes, default=0.5)
    return next(limit for limit in (0.25, 0.5, 0.75, 1.0, math.inf) if largest <= limit or limit == 1.0)


def curve(section: Row, reach: float, styles: Mapping[str, int]) -> Markup:
    """Draw the mean lift along a ladder with any points, its interval, single sources (by style), and the zones.

    `reach` is the lift at the upper and lower edge; styles go from 0 to STYLES − 1.
    """
    points = [point for point in section["points"] if point["value"] is not None]
    frame = Frame(points[0]["strength"], points[-1]["strength"], reach)
    label = say(
        "report.ladders.aria",
        axis=section["axis"],
        first=lift_text(points[0]["value"]),
        last=lift_text(points[-1]["value"]),
    )
    parts = [*_zones(section["zones"], frame), *_grid(frame, points)]
    bounded = [point for point in points if point["ci_low"] is not None and point["ci_high"] is not None]
    if len(bounded) > 1:
        outline = [*_places(frame, bounded, "ci_high"), *reversed(_places(frame, bounded, "ci_low"))]
        parts.append(svg.polygon("band", outline))
    for source, row in section["sources"].items():
        parts.append(svg.polyline(f"source s{styles.get(source, 0)}", _places(frame, row), title=source))
    parts.append(svg.polyline("mean", _places(frame, points)))
    for point in points:
        title = f"{number_text(point['strength'])}: {lift_with_interval(point)}"
        parts.append(svg.circle("dot", frame.x(point["strength"]), frame.y(point["value"]), 2.6, title=title))
    return svg.drawing(HEIGHT, label, parts)


def _places(frame: Frame, points: Sequence[Row], name: str = "value") -> list[tuple[float, float]]:
    """Place a column of points, those without a value left out."""
    return [(frame.x(point["strength"]), frame.y(point[name])) for point in points if point[name] is not None]


def _grid(frame: Frame, points: Sequence[Row]) -> list[Markup]:
    parts = []
    step = 0.5 if frame.reach >= 1 else 0.25
    count = round(frame.reach / step)
    for value in (at * step for at in range(-count, count + 1)):
        height = frame.y(value)
        parts.append(svg.line("grid" if value else "zero", LEFT, svg.WIDTH - RIGHT, height, height))
        parts.append(svg.text(LEFT - 5, height + 3.5, lift_text(value) if value else "0", "end"))
    middle = points[len(points) // 2]
    for point, anchor in ((points[0], "start"), (middle, "middle"), (points[-1], "end")):
        parts.append(svg.text(frame.x(point["strength"]), HEIGHT - 8, number_text(point["strength"]), anchor))
    return parts


def _zones(zones: Row | None, frame: Frame) -> list[Markup]:
    """Shade what nobody sees, what is unsure and what is overdone, each with its word where it fits."""
    low, high = LEFT, svg.WIDTH - RIGHT
    if zones is None:
        return [svg.text(high, TOP - 8, say("report.ladders.zone_unknown"), "end", "zone-word")]
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
    parts = []
    room = (
        high - len(say("report.ladders.zone_bad")) * svg.CHARACTER - svg.CHARACTER if bad < high - 1 else high
    )
    for name, start, end in spans:
        if end - start < 1:
            continue
        parts.append(svg.rect(f"zone {name}", float(start), TOP, float(end - start), HEIGHT - TOP - BOTTOM))
        word = say(f"report.ladders.zone_{name}")
        half = len(word) * svg.CHARACTER / 2
        if name == "bad" or (2 * half <= end - start and (start + end) / 2 + half <= room):
            at, anchor = (end, "end") if name == "bad" else ((start + end) / 2, "middle")
            parts.append(svg.text(at, TOP - 8, word, anchor, "zone-word"))
    return parts

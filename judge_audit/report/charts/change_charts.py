"""The drawings of a change of judge: places before and after, and τ next to what noise alone leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from judge_audit.core.messages import say
from judge_audit.report.charts import svg
from judge_audit.report.figures import bounded, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Row = Mapping[str, Any]

SIDE_ROOM = 104
TOP, BOTTOM = 22, 10
TALL_LEAST, TALL_MOST, EACH = 150, 420, 9
NAME = 13
"""Height of a name at the end of its line."""

DIRECTIONS = {"against_people": "against", "with_people": "along"}
LINES = {"tau_like_retest": "tau_line", "retest": "noise_line"}
NAMES, RIGHT, LINE = 138, 36, 22


def slope_chart(part: Row) -> Markup:
    """Draw each anchor's place by the old judge (left) and by the new one (right), the best on top.

    Anchors of the pairs shown are drawn strongly and named, as space allows: against people by a full line,
    with people by a dashed one. The part is an entry of `dimensions` with places.
    """
    rows, n = part["places"], max(part["n"], 2)
    tall = min(max(TALL_LEAST, EACH * len(rows)), TALL_MOST)

    def y(place: float) -> float:
        return float(TOP + (place - 1) / (n - 1) * tall)

    looks = _looks(part["pairs"])
    left, right = SIDE_ROOM, svg.WIDTH - SIDE_ROOM
    slope = Markup('<line class="slope {}" x1="{}" y1="{:.1f}" x2="{}" y2="{:.1f}"><title>{}</title></line>')
    parts = [
        svg.text(left, TOP - 9, say("change.report.before"), "middle", "row-word"),
        svg.text(right, TOP - 9, say("change.report.after"), "middle", "row-word"),
    ]
    for row in sorted(rows, key=lambda row: row["anchor"] in looks):
        places = {"old": f"{row['old']:g}", "new": f"{row['new']:g}"}
        title = say("change.report.moved", anchor=row["anchor"], n=n, **places)
        look = looks.get(row["anchor"], "quiet")
        parts.append(slope.format(look, left, y(row["old"]), right, y(row["new"]), title))
    named = [row for row in rows if row["anchor"] in looks]
    parts += _names(named, "old", left - 6, "end", y)
    parts += _names(named, "new", right + 6, "start", y)
    label = say("change.report.aria_slope", dimension=part["dimension"], n=len(rows), named=len(named))
    return svg.drawing(TOP + tall + BOTTOM, label, parts)


def _looks(pairs: Sequence[Row]) -> dict[str, str]:
    """Give each anchor of a pair the look of its gravest one."""
    looks: dict[str, str] = {}
    for row in pairs:
        for name in (row["anchor_first"], row["anchor_second"]):
            looks.setdefault(name, DIRECTIONS.get(row["direction"], "other"))
    return looks


def _names(
    rows: Sequence[Row], side: str, x: float, anchor: str, y: Callable[[float], float]
) -> list[Markup]:
    """Write names at the ends of their lines; one that would cover another is left out."""
    parts, last = [], -NAME * 1.0
    for row in sorted(rows, key=lambda row: (row[side], row["anchor"])):
        at = y(row[side])
        if at - last >= NAME - 2:
            name = svg.fitted(row["anchor"], SIDE_ROOM - 8)
            parts.append(svg.text(x, at + 3.5, name, anchor, title=row["anchor"]))
            last = at
    return parts


def tau_chart(part: Row) -> Markup:
    """Draw τ of the two judges (of an entry of `dimensions`) above what their noise alone would leave."""
    known = part["figures"]
    figures = {name: known[name] for name in LINES if name in known} or {"tau": known["tau"]}
    ends = [figure[end] for figure in figures.values() for end in ("value", "ci_low")]
    least = min(end for end in ends if end is not None)
    low = next((step for step in (0.5, 0.0) if least >= step), -1.0)
    scale = svg.Scale(low, 1.0, NAMES, svg.WIDTH - RIGHT)
    height = TOP // 2 + LINE * len(figures) + 22
    parts = svg.ticks(
        scale, [(value, plain(value)) for value in (low, (low + 1) / 2, 1.0)], 2, height - 18, height - 6
    )
    words = {name: say(f"change.report.{LINES.get(name, 'tau_line')}") for name in figures}
    for at, (name, figure) in enumerate(figures.items()):
        middle = TOP // 2 + LINE * (at + 0.5)
        look = "judge" if name != "retest" else "people"
        parts += [
            svg.text(NAMES - 8, middle + 3.5, words[name], "end", "row-word"),
            svg.whisker(scale, middle, figure, f"span {look}"),
            svg.mark(look, scale.x(figure["value"]), middle, f"{words[name]}: {bounded(figure)}"),
            svg.text(svg.WIDTH - 2, middle + 3.5, plain(figure["value"]), "end", f"value {look}"),
        ]
    listed = "; ".join(f"{words[name]} {plain(figure['value'])}" for name, figure in figures.items())
    return svg.drawing(height, say("change.report.aria_tau", dimension=part["dimension"], list=listed), parts)

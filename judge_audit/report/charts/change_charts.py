"""The drawings of a change of judge: places before and after, and τ beside what noise alone leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from judge_audit.core.messages import say
from judge_audit.report.charts.charts import CHARACTER, WIDTH, shortened
from judge_audit.report.figure_text import bounded, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = Mapping[str, Any]

SIDE_ROOM = 104
TOP, BOTTOM = 22, 10
TALL_LEAST, TALL_MOST, EACH = 150, 420, 9
NAME = 13
"""Height of a name beside the lines."""

DIRECTIONS = {"against_people": "against", "with_people": "along"}


def slope_chart(part: Row) -> Markup:
    """Draw each anchor's place by the old judge (left) and by the new one (right), the best on top.

    Anchors of the pairs shown are drawn strongly and named, as space allows: against people by a full line,
    with people by a dashed one.

    Args:
        part: An entry of `dimensions` with places.
    """
    rows, n = part["places"], max(part["n"], 2)
    tall = min(max(TALL_LEAST, EACH * len(rows)), TALL_MOST)
    height = TOP + tall + BOTTOM

    def y(place: float) -> float:
        return float(TOP + (place - 1) / (n - 1) * tall)

    looks = _looks(part["pairs"])
    left, right = SIDE_ROOM, WIDTH - SIDE_ROOM
    line = Markup('<line class="slope {}" x1="{}" y1="{:.1f}" x2="{}" y2="{:.1f}"><title>{}</title></line>')
    drawn = [
        _words(left, TOP - 9, say("change.report.before"), "middle", "row-word"),
        _words(right, TOP - 9, say("change.report.after"), "middle", "row-word"),
    ]
    for row in sorted(rows, key=lambda row: row["anchor"] in looks):
        told = say(
            "change.report.moved", anchor=row["anchor"], old=f"{row['old']:g}", new=f"{row['new']:g}", n=n
        )
        look = looks.get(row["anchor"], "quiet")
        drawn.append(line.format(look, left, y(row["old"]), right, y(row["new"]), told))
    named = [row for row in rows if row["anchor"] in looks]
    drawn += _names(named, "old", left - 6, "end", y)
    drawn += _names(named, "new", right + 6, "start", y)
    label = say("change.report.aria_slope", dimension=part["dimension"], n=len(rows), named=len(named))
    return _drawing(height, label, drawn)


def _looks(pairs: Sequence[Row]) -> dict[str, str]:
    """Give each anchor of a pair the look of its gravest one."""
    found: dict[str, str] = {}
    for row in pairs:
        for name in (row["anchor_first"], row["anchor_second"]):
            found.setdefault(name, DIRECTIONS.get(row["direction"], "other"))
    return found


def _names(rows: Sequence[Row], side: str, x: float, anchor: str, y: Any) -> list[Markup]:  # noqa: ANN401 - a function
    """Write names beside the ends of their lines; one that would cover another is left out."""
    found, last = [], -NAME * 1.0
    for row in sorted(rows, key=lambda row: (row[side], row["anchor"])):
        at = y(row[side])
        if at - last >= NAME - 2:
            name = shortened(row["anchor"], int((SIDE_ROOM - 8) / CHARACTER))
            found.append(_words(x, at + 3.5, name, anchor, "tick", title=row["anchor"]))
            last = at
    return found


LINES = {"tau_like_retest": "tau_line", "retest": "noise_line"}
NAMES, RIGHT, LINE = 138, 36, 22


def tau_chart(part: Row) -> Markup:
    """Draw τ of the two judges above what their noise alone would leave, each with its interval.

    Args:
        part: An entry of `dimensions`.
    """
    figures = part["figures"]
    held = {name: figures[name] for name in LINES if name in figures} or {"tau": figures["tau"]}
    ends = [figure[end] for figure in held.values() for end in ("value", "ci_low") if figure[end] is not None]
    low = 0.0 if min(ends) >= 0 else -1.0
    low = 0.5 if min(ends) >= 0.5 else low

    def x(value: float) -> float:
        return NAMES + (min(max(value, low), 1.0) - low) / (1.0 - low) * (WIDTH - NAMES - RIGHT)

    height = TOP // 2 + LINE * len(held) + 22
    drawn = []
    tick = Markup('<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="2" y2="{}"/>')
    for value in (low, (low + 1) / 2, 1.0):
        drawn += [
            tick.format("zero" if value == 0 else "grid", x(value), x(value), height - 18),
            _words(x(value), height - 6, plain(value), "middle", "tick"),
        ]
    for at, (name, figure) in enumerate(held.items()):
        middle = TOP // 2 + LINE * (at + 0.5)
        word = _word(name)
        look = "judge" if name != "retest" else "people"
        drawn.append(_words(NAMES - 8, middle + 3.5, word, "end", "row-word"))
        if figure["ci_low"] is not None and figure["ci_high"] is not None:
            line = Markup('<line class="span {}" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>')
            drawn.append(line.format(look, x(figure["ci_low"]), x(figure["ci_high"]), middle, middle))
        drawn.append(_mark(x(figure["value"]), middle, look, f"{word}: {bounded(dict(figure))}"))
        drawn.append(_words(WIDTH - 2, middle + 3.5, plain(figure["value"]), "end", f"value {look}"))
    told = "; ".join(f"{_word(name)} {plain(figure['value'])}" for name, figure in held.items())
    return _drawing(height, say("change.report.aria_tau", dimension=part["dimension"], list=told), drawn)


def _word(name: str) -> str:
    return say(f"change.report.{LINES.get(name, 'tau_line')}")


def _mark(x: float, y: float, look: str, told: str) -> Markup:
    """Draw τ as a square and noise as a ring: apart without colour too."""
    square = Markup(
        '<rect class="mark judge" x="{:.1f}" y="{:.1f}" width="8" height="8"><title>{}</title></rect>'
    )
    ring = Markup('<circle class="mark people" cx="{:.1f}" cy="{:.1f}" r="4.2"><title>{}</title></circle>')
    return square.format(x - 4, y - 4, told) if look == "judge" else ring.format(x, y, told)


def _words(x: float, y: float, text: str, anchor: str, kind: str, *, title: str = "") -> Markup:
    named = Markup("<title>{}</title>").format(title) if title and title != text else Markup()
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}{}</text>').format(
        kind, x, y, anchor, named, text
    )


def _drawing(height: int, label: str, parts: Sequence[Markup]) -> Markup:
    opened = Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">')
    return opened.format(WIDTH, height, label) + Markup("").join(parts) + Markup("</svg>")

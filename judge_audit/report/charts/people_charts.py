"""The drawings about people: people and judge beside one another, first choices, and scores source by source."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from judge_audit.core.messages import say
from judge_audit.core.vocabulary import POOLED
from judge_audit.report.charts.charts import CHARACTER, WIDTH, number_text, shortened
from judge_audit.report.figure_text import bounded, percent_bounds, place_name, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Row = Mapping[str, Any]

NAMES, RIGHT, TOP, BOTTOM = 112, 36, 8, 24
LINE, GAP = 15, 8
VALUE = 30
"""Room for a written figure."""

MANY = 7
"""With more places than this the marks of each share a line."""

STEP = 0.25

SERIES = {"people": "person", "without_copies": "person_alone", "judge": "judge"}
"""What stands in a row, from above, with its word."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things stand on a drawing of people and judge.

    Attributes:
        low: Value at the left end; 1 stands at the right one.
        left: Where the scale begins.
        right: Where it ends.
        head: Height of a name's own line; 0 if names stand before the scale.
        line: Height of a mark's line.
        compact: Whether all marks of a place share one line.
    """

    low: float
    left: float
    right: float
    head: float
    line: float
    compact: bool

    def x(self, value: float) -> float:
        """Place a value; one beyond an end stands at the end."""
        return _placed(value, self.low, 1.0, self.left, self.right)


def _placed(value: float, low: float, high: float, left: float, right: float) -> float:
    return left + (min(max(value, low), high) - low) / (high - low) * (right - left)


def _layout(places: Sequence[Row]) -> Layout:
    """Give names a line of their own if they are long, and marks one line if there are many places."""
    figures = [place[kind] for place in places for kind in SERIES if place[kind]]
    ends = [figure[end] for figure in figures for end in ("value", "ci_low") if figure[end] is not None]
    low = min(0.0, STEP * math.floor(max(min(ends), -1.0) / STEP + 1e-9))
    compact = len(places) > MANY
    long = any(len(place_name(place["source"])) * CHARACTER > NAMES - 8 for place in places)
    values = 1 + sum(any(place[kind] for place in places) for kind in SERIES) if compact else 1
    return Layout(
        low=low,
        left=18 if long else NAMES,
        right=WIDTH - (VALUE * (values - 1) + 8 if compact else RIGHT),
        head=14 if long else 0,
        line=19 if compact else LINE,
        compact=compact,
    )


def beside_chart(part: Row) -> Markup:
    """Draw people held against one another, and the judge held against the same people, source by source.

    Args:
        part: An entry of `dimensions`, with at least one place.
    """
    places = part["places"]
    layout = _layout(places)
    parts: list[Markup] = []
    y = float(TOP)
    gap = 4 if layout.compact else GAP
    for place in places:
        drawn, tall = _beside(layout, y, gap, place)
        parts += drawn
        y += tall + gap
    height = round(y - gap / 2 + BOTTOM)
    sources = sum(place["source"] != POOLED for place in places)
    label = say("people.aria_beside", dimension=part["dimension"], n=sources)
    marks = [layout.low + STEP * at for at in range(round((1.0 - layout.low) / STEP) + 1)]
    return _drawing(height, label, [_ticks(layout.x, marks, height, _tick), *parts])


def _tick(value: float) -> str:
    return f"{value:g}".replace("-", "−")


def _beside(layout: Layout, y: float, gap: float, place: Row) -> tuple[list[Markup], float]:
    """Draw one place: its name, and people's marks above or beside the judge's."""
    held = [kind for kind in SERIES if place[kind] and place[kind]["value"] is not None]
    tall = layout.head + (layout.line if layout.compact else layout.line * len(held))
    name = place_name(place["source"])
    whole = place["source"] == POOLED
    parts = []
    if whole:
        area = Markup('<rect class="whole" x="0" y="{:.1f}" width="{}" height="{:.1f}"/>')
        parts.append(area.format(y - gap / 2, WIDTH, tall + gap))
    look = "row-word" if whole else "tick"
    if layout.head:
        parts.append(_words(4, y + 10, shortened(name, 60), "start", look, title=name))
    else:
        word = shortened(name, int((NAMES - 8) / CHARACTER))
        parts.append(_words(NAMES - 6, y + tall / 2 + 3.5, word, "end", look, title=name))
    for at, kind in enumerate(held):
        middle = y + layout.head + layout.line * (at + 0.5)
        column = WIDTH - 2.0
        if layout.compact:
            middle = y + layout.head + layout.line * (at + 1) / (len(held) + 1)
            column -= VALUE * (len(held) - 1 - at)
        centre = y + layout.head + layout.line / 2 if layout.compact else middle
        parts += _figure(layout, middle, (column, centre), name, kind, place[kind])
    return parts, tall


def _figure(
    layout: Layout, y: float, written: tuple[float, float], name: str, kind: str, figure: Row
) -> list[Markup]:
    """Draw a figure with its interval, and write it behind."""
    told = f"{name}, {say(f'people.{SERIES[kind]}')}: {bounded(dict(figure))}"
    return [
        _whisker(layout.x, y, figure, kind),
        _dot(layout.x(figure["value"]), y, kind, told),
        _words(written[0], written[1] + 3.5, plain(figure["value"]), "end", f"value {kind}"),
    ]


def _dot(x: float, y: float, kind: str, told: str) -> Markup:
    """Draw people as a ring, the judge as a square: apart without colour too."""
    square = Markup(
        '<rect class="mark judge" x="{:.1f}" y="{:.1f}" width="8" height="8"><title>{}</title></rect>'
    )
    ring = Markup('<circle class="mark {}" cx="{:.1f}" cy="{:.1f}" r="4.2"><title>{}</title></circle>')
    return square.format(x - 4, y - 4, told) if kind == "judge" else ring.format(kind, x, y, told)


def _whisker(place_of: Callable[[float], float], y: float, figure: Row, kind: str) -> Markup:
    if figure["ci_low"] is None or figure["ci_high"] is None:
        return Markup()
    line = Markup('<line class="span {}" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>')
    return line.format(kind, place_of(figure["ci_low"]), place_of(figure["ci_high"]), y, y)


CHOICES = {"judge": "choice_judge", "people": "choice_people", "random": "choice_random"}


def choice_chart(part: Row) -> Markup:
    """Draw how often the first choice is right: the judge's, an annotator's, and a random one.

    Args:
        part: An entry of `choices` in which the judge's figure is known.
    """

    def place_of(value: float) -> float:
        return _placed(value, 0.0, 1.0, NAMES, WIDTH - RIGHT)

    parts, y = [], float(TOP)
    for kind, word in CHOICES.items():
        figure = part[kind]
        if figure is None or figure["value"] is None:
            continue
        middle = y + LINE / 2 + 2
        name = say(f"people.{word}")
        bar = Markup(
            '<rect class="choice {}" x="{}" y="{:.1f}" width="{:.1f}" height="11"><title>{}</title></rect>'
        )
        long = max(place_of(figure["value"]) - NAMES, 0.8)
        parts += [
            _words(NAMES - 6, middle + 3.5, name, "end", "row-word" if kind == "judge" else "tick"),
            bar.format(kind, NAMES, middle - 5.5, long, f"{name}: {percent_bounds(figure)}"),
            _whisker(place_of, middle, figure, "choice"),
            _words(WIDTH - 2, middle + 3.5, _percent(figure["value"]), "end", "tick"),
        ]
        y += LINE + 6
    height = round(y + BOTTOM)
    told = {kind: _percent(part[kind]["value"]) for kind in ("judge", "random")}
    label = say("people.aria_choice", dimension=part["dimension"], judge=told["judge"], chance=told["random"])
    marks = [0.0, 0.25, 0.5, 0.75, 1.0]
    return _drawing(height, label, [_ticks(place_of, marks, height, _percent), *parts])


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"


SMALL_WIDTH, SMALL_HEIGHT, EDGE = 170, 64, 4


def source_histogram(histogram: Row, source: str) -> Markup:
    """Draw the untouched scores of one source, its own pile shaded.

    Args:
        histogram: Entry `histogram` of the document's `scale`.
        source: One of its sources.
    """
    edges, counts = histogram["edges"], histogram["sources"][source]
    span = edges[-1] - edges[0]
    base = SMALL_HEIGHT - 15

    def x(value: float) -> float:
        share: float = (value - edges[0]) / span
        return EDGE + min(max(share, 0.0), 1.0) * (SMALL_WIDTH - 2 * EDGE)

    parts = []
    pile = histogram["piles"].get(source)
    if pile:
        area = Markup('<rect class="pile" x="{:.1f}" y="2" width="{:.1f}" height="{}"/>')
        start, end = x(pile["low"]), x(pile["high"])
        parts.append(area.format(start, max(end - start, 1.5), base - 2))
    line = Markup('<line class="zero" x1="{}" x2="{}" y1="{}" y2="{}"/>')
    parts.append(line.format(EDGE, SMALL_WIDTH - EDGE, base, base))
    bar = Markup(
        '<rect class="bar all" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>'
    )
    largest = max(counts) or 1
    for count, (start, end) in zip(counts, pairwise(edges), strict=True):
        if count:
            tall = (base - 6) * count / largest
            told = f"{number_text(start)} … {number_text(end)}: {count}"
            width = max(x(end) - x(start) - 1, 0.8)
            parts.append(bar.format(x(start) + 0.5, base - tall, width, tall, told))
    for value, anchor in ((edges[0], "start"), (edges[-1], "end")):
        parts.append(_words(x(value), SMALL_HEIGHT - 3, number_text(value), anchor, "tick"))
    label = say("people.aria_scale", n=sum(counts), source=place_name(source))
    return _drawing(SMALL_HEIGHT, label, parts, SMALL_WIDTH)


def _ticks(
    place_of: Callable[[float], float], marks: Sequence[float], height: int, write: Callable[[float], str]
) -> Markup:
    line = Markup('<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"/>')
    drawn = []
    for value in marks:
        at = place_of(value)
        drawn.append(line.format("zero" if value == 0 else "grid", at, at, 2, height - BOTTOM + 4))
        drawn.append(_words(at, height - 6, write(value), "middle", "tick"))
    return Markup("").join(drawn)


def _words(x: float, y: float, text: str, anchor: str, kind: str, *, title: str = "") -> Markup:
    named = Markup("<title>{}</title>").format(title) if title and title != text else Markup()
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}{}</text>').format(
        kind, x, y, anchor, named, text
    )


def _drawing(height: int, label: str, parts: Sequence[Markup], width: int = WIDTH) -> Markup:
    opened = Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">')
    return opened.format(width, height, label) + Markup("").join(parts) + Markup("</svg>")

"""The drawings about people: people and judge next to one another, and first choices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_audit.core.formatting import percent, shortened, true_minus
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import POOLED
from judge_audit.report.charts import svg
from judge_audit.report.figures import bounded, percent_bounds, place_name, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup

    from judge_audit.report.figures import Figure

    Row = Mapping[str, Any]

NAMES, RIGHT, TOP, BOTTOM = 112, 36, 8, 24
LINE, GAP = 15, 8
VALUE = 30
"""Room for a written figure."""

MANY = 7
"""With more places than this the marks of each share a line."""

STEP = 0.25

SERIES = {"people": "person", "without_copies": "person_alone", "judge": "judge"}
"""The marks of a row, from above, with their words."""

CHOICES = {"judge": "choice_judge", "people": "choice_people", "random": "choice_random"}


@dataclass(frozen=True, slots=True)
class Layout:
    """The scale, which ends at 1, the heights of a name's own line (0 if it has none) and of a mark's line.

    All marks of a place share one line where it is compact.
    """

    scale: svg.Scale
    head: float
    line: float
    compact: bool


def _layout(places: Sequence[Row]) -> Layout:
    """Give names a line of their own if they are long, and marks one line if there are many places."""
    figures = [place[kind] for place in places for kind in SERIES if place[kind]]
    ends = [figure[end] for figure in figures for end in ("value", "ci_low") if figure[end] is not None]
    low = min(0.0, STEP * math.floor(max(min(ends), -1.0) / STEP + 1e-9))
    compact = len(places) > MANY
    long = any(len(place_name(place["source"])) * svg.CHARACTER > NAMES - 8 for place in places)
    values = 1 + sum(any(place[kind] for place in places) for kind in SERIES) if compact else 1
    right = svg.WIDTH - (VALUE * (values - 1) + 8 if compact else RIGHT)
    scale = svg.Scale(low, 1.0, 18 if long else NAMES, right)
    return Layout(scale, head=14.0 if long else 0.0, line=19.0 if compact else LINE, compact=compact)


def agreement_chart(part: Row) -> Markup:
    """Draw how people, and the judge with them, agree at each place of an entry of `dimensions`, at least one."""
    places = part["places"]
    layout = _layout(places)
    low = layout.scale.low
    parts: list[Markup] = []
    y = float(TOP)
    gap = 4 if layout.compact else GAP
    for place in places:
        drawn, tall = _place(layout, y, gap, place)
        parts += drawn
        y += tall + gap
    height = round(y - gap / 2 + BOTTOM)
    sources = sum(place["source"] != POOLED for place in places)
    label = say("people.aria_beside", dimension=part["dimension"], n=sources)
    values = [low + STEP * at for at in range(round((1.0 - low) / STEP) + 1)]
    marks = [(value, true_minus(f"{value:g}")) for value in values]
    return svg.drawing(
        height, label, [*svg.ticks(layout.scale, marks, 2, height - BOTTOM + 4, height - 6), *parts]
    )


def _place(layout: Layout, y: float, gap: float, place: Row) -> tuple[list[Markup], float]:
    """Draw one place: its name, and people's marks above or next to the judge's."""
    known = [kind for kind in SERIES if place[kind] and place[kind]["value"] is not None]
    tall = layout.head + (layout.line if layout.compact else layout.line * len(known))
    name = place_name(place["source"])
    whole = place["source"] == POOLED
    parts = [svg.rect("whole", 0, y - gap / 2, svg.WIDTH, float(tall + gap))] if whole else []
    look = "row-word" if whole else "tick"
    if layout.head:
        parts.append(svg.text(4, y + 10, shortened(name, 60), "start", look, title=name))
    else:
        word = svg.fitted(name, NAMES - 8)
        parts.append(svg.text(NAMES - 6, y + tall / 2 + 3.5, word, "end", look, title=name))
    for at, kind in enumerate(known):
        middle = y + layout.head + layout.line * (at + 0.5)
        column = svg.WIDTH - 2.0
        if layout.compact:
            middle = y + layout.head + layout.line * (at + 1) / (len(known) + 1)
            column -= VALUE * (len(known) - 1 - at)
        centre = y + layout.head + layout.line / 2 if layout.compact else middle
        figure: Figure = place[kind]
        title = f"{name}, {say(f'people.{SERIES[kind]}')}: {bounded(figure)}"
        parts += [
            svg.whisker(layout.scale, middle, figure, f"span {kind}"),
            svg.mark(kind, layout.scale.x(place[kind]["value"]), middle, title),
            svg.text(column, centre + 3.5, plain(figure["value"]), "end", f"value {kind}"),
        ]
    return parts, tall


def choice_chart(part: Row) -> Markup:
    """Draw how often the first choice is right, of an entry of `choices` that knows the judge's figure."""
    scale = svg.Scale(0.0, 1.0, NAMES, svg.WIDTH - RIGHT)
    parts, y = [], float(TOP)
    for kind, word in CHOICES.items():
        figure = part[kind]
        if figure is None or figure["value"] is None:
            continue
        middle = y + LINE / 2 + 2
        name = say(f"people.{word}")
        long = max(scale.x(figure["value"]) - NAMES, 0.8)
        title = f"{name}: {percent_bounds(figure)}"
        parts += [
            svg.text(NAMES - 6, middle + 3.5, name, "end", "row-word" if kind == "judge" else "tick"),
            svg.rect(f"choice {kind}", NAMES, middle - 5.5, long, 11, title=title),
            svg.whisker(scale, middle, figure, "span choice"),
            svg.text(svg.WIDTH - 2, middle + 3.5, percent(figure["value"]), "end"),
        ]
        y += LINE + 6
    height = round(y + BOTTOM)
    judge, chance = (percent(part[kind]["value"]) for kind in ("judge", "random"))
    label = say("people.aria_choice", dimension=part["dimension"], judge=judge, chance=chance)
    marks = [(value, percent(value)) for value in (0.0, 0.25, 0.5, 0.75, 1.0)]
    return svg.drawing(height, label, [*svg.ticks(scale, marks, 2, height - BOTTOM + 4, height - 6), *parts])

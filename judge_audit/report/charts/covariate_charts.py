"""The drawings of the covariate part: shares as bars, weights as dots source by source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from judge_audit.checks.covariates.covariate_rows import SHARE
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import SMALL
from judge_audit.report.charts.charts import CHARACTER, WIDTH, lift_text, shortened
from judge_audit.report.figure_text import percent_text, turns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = Mapping[str, Any]

NAMES, RIGHT, TOP, BOTTOM = 124, 40, 6, 22
"""Room for names, for figures, above and below; all in the drawing's own units."""

ROW, GAP, HEAD = 19, 10, 19
MAX_SOURCES = 6
"""With more sources each is a tick on one line and not a line of its own."""

STEPS = {0.1: 0.05, 0.2: 0.1, 0.3: 0.1, 0.5: 0.25, 0.75: 0.25, 1.0: 0.5}
"""How far a drawing may reach, and how far apart its ticks then stand."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Where values lie from left to right."""

    low: float
    high: float
    left: float = NAMES
    right: float = WIDTH - RIGHT

    def x(self, value: float) -> float:
        """Place a value; one beyond an end stands at the end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.left + share * (self.right - self.left)


def reach(values: Sequence[float | None]) -> float:
    """Give a round number that no value exceeds, 1 at most."""
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    return next((limit for limit in STEPS if largest <= limit), max(STEPS))


def ticks(limit: float) -> list[float]:
    """List round values from 0 to a reach."""
    return [round(at * STEPS[limit], 9) for at in range(round(limit / STEPS[limit]) + 1)]


def share_chart(part: Row) -> Markup:
    """Draw the share of the variance that falls to each statistic, under that of all together.

    Args:
        part: An entry of `covariates` in the document, with something explained.
    """
    sources = part["sources"] if 1 < len(part["sources"]) <= MAX_SOURCES else []
    wholes = [(say("surface.together"), part["explained"], "all")]
    wholes += [(_source_name(row["source"]), row, "one") for row in sources]
    singles = [(row["name"], row["share"], "one") for row in part["statistics"] if row["share"]]
    figures = [figure for _, figure, _ in (*wholes, *singles)]
    scale = Scale(0.0, reach([figure[end] for figure in figures for end in ("value", "ci_high")]))
    y = float(TOP + HEAD)
    parts = _limit(scale, part["verdicts"].get(SHARE), y + ROW * len(wholes))
    for group in (wholes, singles):
        for name, figure, kind in group:
            parts += _bar(scale, y, name, figure, kind)
            y += ROW
        y += GAP
    height = round(y - GAP + BOTTOM)
    marks = [(value, percent_text(value)) for value in ticks(scale.high)]
    whole = percent_text(part["explained"]["value"])
    label = say("surface.aria_shares", share=whole, n=len(singles))
    return _drawing(height, label, [_ticks(scale, marks, height), *parts])


def _limit(scale: Scale, verdict: Row | None, end: float) -> list[Markup]:
    """Draw the limit that all together are held against."""
    limit = verdict["limit_high"] if verdict else None
    if limit is None or limit > scale.high:
        return []
    at = scale.x(limit)
    line = Markup('<line class="limit" x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2:.1f}"/>')
    words = _words(at, TOP + 11, say("surface.limit", limit=percent_text(limit)), "middle", "tick")
    return [words, line.format(at, TOP + HEAD - 3, end)]


def _bar(scale: Scale, y: float, name: str, figure: Row, kind: str) -> list[Markup]:
    """Draw a bar from 0, its interval, its name before it and its figure behind."""
    middle = y + ROW / 2
    value = figure["value"] or 0.0
    told = f"{name}: {_interval_text(figure, percent_text)}"
    bar = Markup(
        '<rect class="bar {}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{}"><title>{}</title></rect>'
    )
    start, end = scale.x(0.0), scale.x(value)
    return [
        _words(
            NAMES - 6, middle + 3.5, _fitted(name, NAMES - 8), "end", "row-word" if kind == "all" else "tick"
        ),
        bar.format(kind, start, y + 3.5, max(end - start, 0.8), ROW - 7, told),
        _whisker(scale, middle, figure, "whisker"),
        _words(WIDTH - 2, middle + 3.5, percent_text(value), "end", "row-word" if kind == "all" else "tick"),
    ]


def weight_chart(part: Row) -> Markup:
    """Draw what each statistic weighs in each source, so that a weight that turns round stands out.

    Args:
        part: An entry of `covariates` in the document, with weights of at least one statistic.
    """
    rows = [row for row in part["statistics"] if row["weights"]]
    single = max(len(row["weights"]) for row in rows) <= MAX_SOURCES
    ends = ("value", "ci_low", "ci_high") if single else ("value",)
    figures = [figure for row in rows for figure in row["weights"]]
    figures += [row["weight"] for row in rows if row["weight"] and not single]
    limit = reach([figure[end] for figure in figures for end in ends])
    scale = Scale(-limit, limit)
    parts: list[Markup] = [
        _words(scale.x(0) - 6, TOP + 9, say("surface.lower"), "end", "tick"),
        _words(scale.x(0) + 6, TOP + 9, say("surface.higher"), "start", "tick"),
    ]
    y = float(TOP + HEAD)
    for row in rows:
        drawn, tall = _statistic(scale, y, row, single=single)
        parts += drawn
        y += tall + GAP / 2
    height = round(y + BOTTOM)
    places = sorted({sign * value for value in ticks(limit) for sign in (-1, 1)})
    marks = [(value, lift_text(value) if value else "0") for value in places]
    label = say("surface.aria_weights", n=len(rows), turned=sum(turns(row) for row in rows))
    return _drawing(height, label, [_ticks(scale, marks, height), *parts])


def _statistic(scale: Scale, y: float, row: Row, *, single: bool) -> tuple[list[Markup], float]:
    """Draw one statistic: its name, then a line per source, or one line with a tick per source."""
    lines = len(row["weights"]) if single else 1
    tall = HEAD + lines * ROW - 2
    parts = []
    if turns(row):
        area = Markup('<rect class="turned" x="0" y="{:.1f}" width="{}" height="{:.1f}"/>')
        parts.append(area.format(y, WIDTH, tall))
        parts.append(_words(WIDTH - 4, y + 13, say("surface.turned"), "end", "turned-word"))
    parts.append(_words(4, y + 13, row["name"], "start", "row-word"))
    middle = y + HEAD + ROW / 2 - 3
    if single:
        for at, weight in enumerate(row["weights"]):
            parts += _dot(scale, middle + at * ROW, _source_name(weight["source"]), weight)
        return parts, tall
    tick = Markup(
        '<line class="whisker" x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}"><title>{3}</title></line>'
    )
    for weight in row["weights"]:
        if weight["value"] is not None:
            told = f"{_source_name(weight['source'])}: {_interval_text(weight, lift_text)}"
            parts.append(tick.format(scale.x(weight["value"]), middle - 6, middle + 6, told))
    parts += _dot(scale, middle, say("surface.mean"), row["weight"]) if row["weight"] else []
    return parts, tall


def _dot(scale: Scale, y: float, name: str, figure: Row) -> list[Markup]:
    """Draw a weight with its interval; hollow where the interval holds 0."""
    words = _words(NAMES - 6, y + 3.5, _fitted(name, NAMES - 8), "end", "tick")
    value = figure["value"]
    if value is None:
        return [words]
    side = "up" if value > 0 else "down"
    ends = (figure["ci_low"], figure["ci_high"])
    clear = all(end is not None and end * value > 0 for end in ends)
    kind = side if clear else f"{side} hollow"
    told = f"{name}: {_interval_text(figure, lift_text)}"
    dot = Markup('<circle class="weight {}" cx="{:.1f}" cy="{:.1f}" r="4"><title>{}</title></circle>')
    return [
        words,
        _whisker(scale, y, figure, f"whisker {side}"),
        dot.format(kind, scale.x(value), y, told),
        _words(WIDTH - 2, y + 3.5, lift_text(value), "end", "tick"),
    ]


def _whisker(scale: Scale, y: float, figure: Row, kind: str) -> Markup:
    if figure["ci_low"] is None or figure["ci_high"] is None:
        return Markup()
    line = Markup('<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>')
    return line.format(kind, scale.x(figure["ci_low"]), scale.x(figure["ci_high"]), y, y)


def _interval_text(figure: Row, write: Any) -> str:  # noqa: ANN401 - writes a number
    if figure["value"] is None:
        return "–"
    text = str(write(figure["value"]))
    if figure["ci_low"] is None or figure["ci_high"] is None:
        return text
    return f"{text} ({write(figure['ci_low'])} … {write(figure['ci_high'])})"


def _source_name(source: str) -> str:
    return say("report.small_sources") if source == SMALL else source


def _fitted(name: str, room: float) -> str:
    return shortened(name, int(room / CHARACTER))


def _ticks(scale: Scale, marks: Sequence[tuple[float, str]], height: int) -> Markup:
    line = Markup('<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"/>')
    drawn = []
    for value, text in marks:
        at = scale.x(value)
        kind = "zero" if value == 0 else "grid"
        drawn += [
            line.format(kind, at, at, TOP, height - BOTTOM),
            _words(at, height - 7, text, "middle", "tick"),
        ]
    return Markup("").join(drawn)


def _words(x: float, y: float, text: str, anchor: str, kind: str) -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(
        kind, x, y, anchor, text
    )


def _drawing(height: int, label: str, parts: Sequence[Markup]) -> Markup:
    opened = Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">')
    return opened.format(WIDTH, height, label) + Markup("").join(parts) + Markup("</svg>")

"""Histograms of untouched scores, with the pile shaded: of all sources together, and small ones source by source."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from judge_audit.core.formatting import number_text
from judge_audit.core.messages import say
from judge_audit.report.charts import svg
from judge_audit.report.figures import place_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup

    Row = Mapping[str, Any]

LEFT, RIGHT, TOP, TALL, BOTTOM = 38, 8, 8, 120, 24
SMALL_WIDTH, SMALL_HEIGHT, EDGE = 170, 64, 4


def histogram(content: Row) -> Markup:
    """Draw the untouched scores of all sources together, with the pile shaded."""
    edges = content["edges"]
    base, height = TOP + TALL, TOP + TALL + BOTTOM
    scale = svg.Scale(edges[0], edges[-1], LEFT, svg.WIDTH - RIGHT)
    parts = _pile(scale, content["pile"], TOP, base)
    parts.append(svg.line("zero", LEFT, svg.WIDTH - RIGHT, float(base), float(base)))
    parts += _bars(content["counts"], edges, scale, base, TALL - 4, 0.6)
    parts.append(svg.text(LEFT - 5, TOP + 9, str(max(content["counts"])), "end"))
    parts.append(svg.text(LEFT - 5, base, "0", "end"))
    for value, anchor in ((edges[0], "start"), ((edges[0] + edges[-1]) / 2, "middle"), (edges[-1], "end")):
        parts.append(svg.text(scale.x(value), height - 8, number_text(value), anchor))
    label = say("report.scale.aria", n=content["n"], low=number_text(edges[0]), high=number_text(edges[-1]))
    return svg.drawing(height, label, parts)


def source_histogram(content: Row, source: str) -> Markup:
    """Draw the untouched scores of one source of a `histogram` of the document's `scale`, its own pile shaded."""
    edges, counts = content["edges"], content["sources"][source]
    base = SMALL_HEIGHT - 15
    scale = svg.Scale(edges[0], edges[-1], EDGE, SMALL_WIDTH - EDGE)
    parts = _pile(scale, content["piles"].get(source), 2, base)
    parts.append(svg.line("zero", EDGE, SMALL_WIDTH - EDGE, base, base))
    parts += _bars(counts, edges, scale, base, base - 6, 0.5)
    for value, anchor in ((edges[0], "start"), (edges[-1], "end")):
        parts.append(svg.text(scale.x(value), SMALL_HEIGHT - 3, number_text(value), anchor))
    label = say("people.aria_scale", n=sum(counts), source=place_name(source))
    return svg.drawing(SMALL_HEIGHT, label, parts, SMALL_WIDTH)


def _pile(scale: svg.Scale, pile: Row | None, top: int, base: int) -> list[Markup]:
    if not pile:
        return []
    start, end = scale.x(pile["low"]), scale.x(pile["high"])
    return [svg.rect("pile", start, top, max(end - start, 1.5), base - top)]


def _bars(
    counts: Sequence[int], edges: Sequence[float], scale: svg.Scale, base: int, tallest: int, gap: float
) -> list[Markup]:
    """Draw a bar over the baseline for each bin that is not empty."""
    largest = max(counts) or 1
    parts = []
    for count, (low, high) in zip(counts, pairwise(edges), strict=True):
        if count:
            tall, start = tallest * count / largest, scale.x(low)
            title = f"{number_text(low)} … {number_text(high)}: {count}"
            width = max(scale.x(high) - start - 2 * gap, 0.8)
            parts.append(svg.rect("bar all", start + gap, base - tall, width, tall, title=title))
    return parts

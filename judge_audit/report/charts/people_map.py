"""How far people agree, and where they disagree more than elsewhere; shown, never judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.core.messages import say
from judge_audit.core.vocabulary import POOLED, WITHIN
from judge_audit.measures.agreement import LEVELS
from judge_audit.report.figure_text import figure_of, place_name, plain, shared, signed, signed_bounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Row = Mapping[str, Any]

SHARES = ("percent_agreement", "agreement_by_chance")
MEASURES = (*SHARES, "alpha", "fleiss_kappa")
NAMED = 6
"""Places a sentence names at most."""

SHOWN = 12
"""Places the map shows at once; the others are folded away."""


def agreement_of(rows: Iterable[Row], names: Sequence[str]) -> list[dict[str, Any]]:
    """Give agreement per dimension: equal answers beside their base rate, α at every level, Fleiss's κ.

    Args:
        rows: Rows about people.
        names: Dimensions in the order in which they are told.

    Returns:
        dimension and figures; each figure has measure, level ("*" if it has none), pooled (all sources as one),
        within (over sources) and sources.
    """
    held: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}
    for row in rows:
        if row["measure"] in MEASURES and row["topic"] == POOLED:
            figures = held.setdefault(row["dimension"], {})
            figures.setdefault((row["measure"], row["kind"]), {})[row["source"]] = figure_of(row)
    order = {
        (measure, level): (place, at)
        for place, measure in enumerate(MEASURES)
        for at, level in enumerate((POOLED, *LEVELS))
    }
    return [
        {
            "dimension": name,
            "figures": [
                {
                    "measure": key[0],
                    "level": key[1],
                    "pooled": figures[key].get(POOLED),
                    "within": figures[key].get(WITHIN),
                    "sources": {
                        source: figure
                        for source, figure in figures[key].items()
                        if source not in {POOLED, WITHIN}
                    },
                }
                for key in sorted(figures, key=lambda key: order.get(key, (len(MEASURES), 0)))
            ],
        }
        for name, figures in sorted(held.items(), key=lambda part: _place(part[0], names))
    ]


def agreement_value(figure: Row | None, measure: str) -> str:
    """Write a figure of agreement: a share as a percentage, all else with two decimals."""
    if figure is None or figure["value"] is None:
        return say("people.undefined")
    return shared(dict(figure)) if measure in SHARES else plain(figure["value"])


def agreement_bounds(figure: Row, measure: str) -> str:
    """Write the interval of a figure of agreement, both ends known."""
    low, high = figure["ci_low"], figure["ci_high"]
    if measure in SHARES:
        return f"{100 * low:.0f} … {100 * high:.0f} %"
    return f"{plain(low)} … {plain(high)}"


def disagreement_of(rows: Iterable[Row], names: Sequence[str]) -> dict[str, Any] | None:
    """Give where people disagree more than elsewhere, the clearest places first; None if nothing is known.

    Args:
        rows: Rows about people.
        names: Dimensions in the order in which they are told.

    Returns:
        dimensions (the columns), whole (per dimension beside the others), places (kind, name, and a figure per
        dimension) and sentence.
    """
    found = [row for row in rows if row["measure"] == "disagreement_excess" and row["value"] is not None]
    if not found:
        return None
    whole = {row["dimension"]: figure_of(row) for row in found if row["source"] == WITHIN}
    places: dict[tuple[str, str], dict[str, Any]] = {}
    for row in found:
        if row["source"] != WITHIN:
            key = ("topic", row["topic"]) if row["topic"] != POOLED else ("source", row["source"])
            places.setdefault(key, {})[row["dimension"]] = figure_of(row)
    ordered = sorted(places, key=lambda key: (min(map(_size, places[key].values())), key))
    listed = [{"kind": kind, "name": name, "cells": places[kind, name]} for kind, name in ordered]
    return {
        "dimensions": sorted({row["dimension"] for row in found}, key=lambda name: _place(name, names)),
        "whole": whole,
        "places": listed,
        "sentence": _sentence(whole, listed),
    }


def _place(name: str, names: Sequence[str]) -> tuple[int, str]:
    """Order dimensions as given, unknown ones last."""
    return (names.index(name) if name in names else len(names)), name


def _size(figure: Row) -> tuple[bool, float]:
    """Order what is clear before what is open, and the largest first."""
    return leaning(figure) == "", -abs(figure["value"])


def leaning(figure: Row | None) -> str:
    """Say whether people certainly disagree more or less than elsewhere; nothing if that is open."""
    if figure is None or figure["ci_low"] is None or figure["ci_high"] is None:
        return ""
    if figure["ci_low"] > 0:
        return "more"
    return "less" if figure["ci_high"] < 0 else ""


def _sentence(whole: Mapping[str, Row], places: Sequence[Row]) -> str:
    """Name where people clearly disagree more, the largest first."""
    more = [
        (figure["value"], say("people.map_dimension", dimension=name, value=told(figure)))
        for name, figure in whole.items()
        if leaning(figure) == "more"
    ]
    more += [
        (
            figure["value"],
            say("people.map_place", place=name_of(place), dimension=dimension, value=told(figure)),
        )
        for place in places
        for dimension, figure in place["cells"].items()
        if leaning(figure) == "more"
    ]
    named = [text for _, text in sorted(more, key=lambda part: (-part[0], part[1]))[:NAMED]]
    return say("people.map_most", list="; ".join(named)) if named else say("people.map_none")


def name_of(place: Row) -> str:
    """Give the name of a place for people; that of a dimension held against the others too."""
    if place["kind"] == "whole":
        return say("people.whole_dimension")
    return say("people.topic", name=place["name"]) if place["kind"] == "topic" else place_name(place["name"])


def told(figure: Row) -> str:
    """Write an excess with its interval."""
    bounds = signed_bounds(dict(figure))
    return f"{signed(figure['value'])}, {bounds}" if bounds else signed(figure["value"])

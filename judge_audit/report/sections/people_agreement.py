"""How far people agree, where they disagree more than elsewhere, and whether sub-scores say different things."""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING, Any

from judge_audit.core.messages import say
from judge_audit.core.vocabulary import OVERALL, POOLED, WITHIN
from judge_audit.measures.agreement import LEVELS
from judge_audit.report.facts import placed, where
from judge_audit.report.figures import (
    Figure,
    figure_of,
    finite,
    place_name,
    plain,
    shared,
    signed,
    signed_bounds,
)
from judge_audit.report.sections.ladders import verdict_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judge_audit_schemas.rows import MeasuresRow

    from judge_audit.report.facts import Facts

    Row = Mapping[str, Any]

NAME = "subscores"
BETWEEN = " / "
"""Separates the two dimensions of a correlation's kind."""

SHARES = ("percent_agreement", "agreement_by_chance")
MEASURES = (*SHARES, "alpha", "fleiss_kappa")
NAMED = 6
"""Places a sentence names at most."""

SHOWN = 12
"""Places the map shows at once; the others are folded away."""


def agreement_of(rows: Iterable[MeasuresRow], names: Sequence[str]) -> list[dict[str, Any]]:
    """Give agreement per dimension: equal answers next to their base rate, α at every level, Fleiss's κ.

    Rows are about people; names are the dimensions in the order in which they are listed.

    Returns:
        dimension and figures; each figure has measure, level ("*" if it has none), pooled (all sources as one),
        within (over sources) and sources.
    """
    by_dimension: dict[str, dict[tuple[str, str], dict[str, Figure]]] = {}
    for row in where(rows, topic=POOLED):
        if row["measure"] in MEASURES:
            figures = by_dimension.setdefault(row["dimension"], {})
            figures.setdefault((row["measure"], row["kind"]), {})[row["source"]] = figure_of(row)
    place = placed(names)
    order = list(product(MEASURES, (POOLED, *LEVELS)))
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
                for key in sorted(figures, key=lambda key: order.index(key) if key in order else len(order))
            ],
        }
        for name, figures in sorted(by_dimension.items(), key=lambda part: place(part[0]))
    ]


def agreement_value(figure: Figure | None, measure: str) -> str:
    """Write a figure of agreement: a share as a percentage, all else with two decimals."""
    if figure is None or figure["value"] is None:
        return say("people.undefined")
    return shared(figure) if measure in SHARES else plain(figure["value"])


def agreement_bounds(figure: Figure, measure: str) -> str:
    """Write the interval of a figure of agreement, both ends known."""
    low, high = figure["ci_low"] or 0.0, figure["ci_high"] or 0.0
    if measure in SHARES:
        return f"{100 * low:.0f} … {100 * high:.0f} %"
    return f"{plain(low)} … {plain(high)}"


def disagreement_of(rows: Iterable[MeasuresRow], names: Sequence[str]) -> dict[str, Any] | None:
    """Give where people disagree more than elsewhere, the clearest places first; None if nothing is known.

    Rows and names are as for `agreement_of`.

    Returns:
        dimensions (the columns), whole (per dimension compared with the others), places (kind, name, and a figure per
        dimension) and sentence.
    """
    excesses = [row for row in where(rows, measure="disagreement_excess") if row["value"] is not None]
    if not excesses:
        return None
    whole = {row["dimension"]: figure_of(row) for row in where(excesses, source=WITHIN)}
    places: dict[tuple[str, str], dict[str, Figure]] = {}
    for row in excesses:
        if row["source"] != WITHIN:
            key = ("topic", row["topic"]) if row["topic"] != POOLED else ("source", row["source"])
            places.setdefault(key, {})[row["dimension"]] = figure_of(row)
    ordered = sorted(places, key=lambda key: (min(map(_size, places[key].values())), key))
    listed = [{"kind": kind, "name": name, "cells": places[kind, name]} for kind, name in ordered]
    return {
        "dimensions": sorted({row["dimension"] for row in excesses}, key=placed(names)),
        "whole": whole,
        "places": listed,
        "sentence": _sentence(whole, listed),
    }


def _size(figure: Figure) -> tuple[bool, float]:
    """Order what is clear before what is open, and the largest first."""
    return leaning(figure) == "", -abs(figure["value"] or 0.0)


def leaning(figure: Figure | None) -> str:
    """Say whether people certainly disagree more or less than elsewhere; nothing if that is open."""
    if figure is None or figure["ci_low"] is None or figure["ci_high"] is None:
        return ""
    if figure["ci_low"] > 0:
        return "more"
    return "less" if figure["ci_high"] < 0 else ""


def _sentence(whole: Mapping[str, Figure], places: Sequence[Row]) -> str:
    """Name where people clearly disagree more, the largest first."""
    more: list[tuple[float, str]] = []
    for place in ({"kind": "whole", "cells": whole}, *places):
        for dimension, figure in place["cells"].items():
            if leaning(figure) == "more":
                key = "people.map_dimension" if place["kind"] == "whole" else "people.map_place"
                words = {"dimension": dimension, "value": excess_text(figure)}
                more.append((-(figure["value"] or 0.0), say(key, place=name_of(place), **words)))
    named = [text for _, text in sorted(more)[:NAMED]]
    return say("people.map_most", list="; ".join(named)) if named else say("people.map_none")


def name_of(place: Row) -> str:
    """Give the name of a place for people; that of a dimension compared with the others too."""
    if place["kind"] == "whole":
        return say("people.whole_dimension")
    return say("people.topic", name=place["name"]) if place["kind"] == "topic" else place_name(place["name"])


def excess_text(figure: Figure) -> str:
    """Write an excess with its interval."""
    bounds = signed_bounds(figure)
    return f"{signed(figure['value'])}, {bounds}" if bounds else signed(figure["value"])


class Cell(Figure):
    """The correlation of two dimensions in a source."""

    one: str
    other: str
    source: str


def matrices_of(facts: Facts) -> dict[str, Any] | None:
    """Give the correlations of the judge's sub-scores, and of people's dimensions; None without any.

    Returns:
        judge and people (names, cells of one, other, source and a figure, effective), verdict and sentences.
    """
    theirs = [row for row in facts.people_measures if row["baseline"] in {POOLED, facts.audit["judge_id"]}]
    declared = [name for name in facts.card.get("dimensions") or () if name != OVERALL]
    labelled = {row["dimension"] for row in where(theirs, measure="alpha")}
    judge = _matrix(facts.measures, declared)
    people = _matrix(theirs, sorted(labelled, key=placed(declared)))
    if judge is None:
        return None
    return {
        "judge": judge,
        "people": people,
        "verdict": next(map(verdict_of, where(facts.verdicts, check=NAME)), None),
        "sentences": _matrix_sentences(judge, people),
    }


def _matrix(rows: Iterable[MeasuresRow], names: Sequence[str]) -> dict[str, Any] | None:
    mine = where(rows, check=NAME)
    pairs = {f"{one}{BETWEEN}{other}": (one, other) for one, other in permutations(names, 2)}
    cells: list[Cell] = []
    for row in where(mine, measure="subscore_correlation"):
        if finite(row["value"]) is not None:
            one, _, other = row["kind"].partition(BETWEEN)
            one, other = pairs.get(row["kind"], (one, other))
            cells.append({"one": one, "other": other, "source": row["source"], **figure_of(row)})
    if not cells:
        return None
    known = {name for cell in cells for name in (cell["one"], cell["other"])}
    return {
        "names": sorted(known, key=placed(names)),
        "cells": cells,
        "effective": next(map(figure_of, where(mine, measure="effective_dimensions")), None),
    }


def _matrix_sentences(judge: Row, people: Row | None) -> list[str]:
    """Say how many things each says."""
    sentences = []
    if judge["effective"]:
        value = amount(judge["effective"])
        sentences.append(say("people.effective", n=len(judge["names"]), value=value))
    if people is None:
        sentences.append(say("people.no_people_matrix"))
    elif people["effective"]:
        value = amount(people["effective"])
        sentences.append(say("people.effective_people", n=len(people["names"]), value=value))
    return sentences


def amount(figure: Figure) -> str:
    """Write a number of dimensions with its interval."""
    value, low, high = (
        "" if number is None else f"{number:.1f}"
        for number in (figure["value"], figure["ci_low"], figure["ci_high"])
    )
    return say("people.effective_bounded", value=value, low=low, high=high) if low and high else value


def correlation_of(matrix: Row, one: str, other: str) -> Row | None:
    """Find the correlation of two dimensions over sources."""
    cells = where(matrix["cells"], source=POOLED)
    return next((cell for cell in cells if {cell["one"], cell["other"]} == {one, other}), None)

"""Whether the judge's sub-scores say different things, beside people's own labels on the same images."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

from judge_audit.core.messages import say
from judge_audit.core.vocabulary import OVERALL, POOLED
from judge_audit.report.figure_text import figure_of, finite
from judge_audit.report.sections.ladders import verdict_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judge_audit.report.facts import Facts

    Row = Mapping[str, Any]

NAME = "subscores"
BETWEEN = " / "
"""Stands between the two dimensions of a correlation's kind."""


def matrices_of(facts: Facts) -> dict[str, Any] | None:
    """Give the correlations of the judge's sub-scores, and of people's dimensions; None without any.

    Returns:
        judge and people (names, cells of one, other, source and a figure, effective), verdict and sentences.
    """
    theirs = [row for row in facts.people_measures if row["baseline"] in {POOLED, facts.audit["judge_id"]}]
    declared = [name for name in facts.card.get("dimensions") or () if name != OVERALL]
    labelled = {row["dimension"] for row in theirs if row["measure"] == "alpha"}
    alike = [name for name in declared if name in labelled]
    judge = _matrix(facts.measures, declared)
    people = _matrix(theirs, [*alike, *sorted(labelled - set(alike))])
    if judge is None:
        return None
    verdicts = [verdict_of(row) for row in facts.verdicts if row["check"] == NAME]
    return {
        "judge": judge,
        "people": people,
        "verdict": verdicts[0] if verdicts else None,
        "sentences": _sentences(judge, people),
    }


def _matrix(rows: Iterable[Row], names: Sequence[str]) -> dict[str, Any] | None:
    mine = [row for row in rows if row["check"] == NAME]
    pairs = {f"{one}{BETWEEN}{other}": (one, other) for one, other in permutations(names, 2)}
    cells = []
    for row in mine:
        if row["measure"] == "subscore_correlation" and finite(row["value"]) is not None:
            one, _, other = row["kind"].partition(BETWEEN)
            one, other = pairs.get(row["kind"], (one, other))
            cells.append({"one": one, "other": other, "source": row["source"], **figure_of(row)})
    if not cells:
        return None
    known = {cell[end] for cell in cells for end in ("one", "other")}
    ordered = [name for name in names if name in known]
    amounts = [figure_of(row) for row in mine if row["measure"] == "effective_dimensions"]
    return {
        "names": ordered + sorted(known - set(ordered)),
        "cells": cells,
        "effective": amounts[0] if amounts else None,
    }


def _sentences(judge: Row, people: Row | None) -> list[str]:
    """Say how many things each says."""
    found = []
    if judge["effective"]:
        value = amount(judge["effective"])
        found.append(say("people.effective", n=len(judge["names"]), value=value))
    if people is None:
        found.append(say("people.no_people_matrix"))
    elif people["effective"]:
        value = amount(people["effective"])
        found.append(say("people.effective_people", n=len(people["names"]), value=value))
    return found


def amount(figure: Row) -> str:
    """Write a number of dimensions with its interval."""
    value = f"{figure['value']:.1f}"
    if figure["ci_low"] is None or figure["ci_high"] is None:
        return value
    return say(
        "people.effective_bounded",
        value=value,
        low=f"{figure['ci_low']:.1f}",
        high=f"{figure['ci_high']:.1f}",
    )


def correlation_of(matrix: Row, one: str, other: str) -> Row | None:
    """Find the correlation of two dimensions over sources."""
    return next(
        (
            cell
            for cell in matrix["cells"]
            if cell["source"] == POOLED and {cell["one"], cell["other"]} == {one, other}
        ),
        None,
    )

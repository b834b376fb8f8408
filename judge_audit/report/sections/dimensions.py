"""The part of the report on deliberate mismatches: the response matrix, what it means, and pairs to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.checks.mismatches.mismatch_pairs import CONSTRUCTED, HAND_MADE
from judge_audit.checks.mismatches.mismatch_rows import CELL, EFFECTIVE, NAME, SELECTIVITY
from judge_audit.core.vocabulary import OVERALL, POOLED
from judge_audit.report.facts import placed, where
from judge_audit.report.figures import figure_of
from judge_audit.report.sections.ladders import verdict_of
from judge_audit.stimuli.mismatches.kind import DIMENSIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judge_audit_schemas.rows import MeasuresRow, UnsuitedRow, VerdictsRow

    from judge_audit.report.facts import Facts
    from judge_audit.report.figures import Figure
    from judge_audit.stimuli.mismatches.kind import Kind

    Row = Mapping[str, Any]

MEASURES = {"response_lift": "lift", "response_sd": "sd", "spill": "spill"}
"""Figures of a cell, and what they are called in the document."""

STRONGEST = 44
"""Percent of colour of a cell that moves by half of the untouched images, or more."""

DESCRIBED = (
    "pair_id", "kind", "variant", "intact", "damaged", "rung", "source", "constructed", "prompt", "pixel_digest",
    "difficulty", "told", "rule", "region_box", "frame", "honest_limits", "intact_prompt",
)  # fmt: skip


def dimensions_of(facts: Facts, kinds: Mapping[str, Kind]) -> dict[str, Any] | None:
    """Gather what the pairs of an audit showed; None if none were wanted.

    Returns:
        matrices (origin, kinds, dimensions, cells, effective, verdicts, people's cells and effective number),
        kinds (what each damage is and expects), shown (pairs with their scores), unsuited (kind, reason, items),
        own_names (the judge's names of dimensions, where they differ), total_only and untried.
    """
    if not facts.pairs and not facts.unsuited:
        return None
    means = facts.card.get("means") or {}
    verdicts = where(facts.verdicts, check=NAME)
    matrices = [
        matrix
        for origin in (HAND_MADE, CONSTRUCTED)
        if (matrix := _matrix(facts, origin, kinds, verdicts)) is not None
    ]
    return {
        "matrices": matrices,
        "kinds": [_kind(name, kinds.get(name), facts) for name in _names(facts, kinds)],
        "shown": _shown(facts, kinds, means),
        "unsuited": _unsuited(facts.unsuited),
        "own_names": {name: own for name, own in means.items() if name != own},
        "total_only": any(row["finding"] == "no_dimensions" for row in verdicts),
        "untried": [row["reason"] for row in verdicts if row["kind"] == POOLED and not facts.pairs],
    }


def _names(facts: Facts, kinds: Mapping[str, Kind]) -> list[str]:
    """Name the kinds there are pairs or refusals of, in the order of their definition."""
    known = {row["kind"] for row in facts.pairs} | {row["kind"] for row in facts.unsuited}
    return sorted(known, key=placed(kinds))


def _kind(name: str, kind: Kind | None, facts: Facts) -> dict[str, Any]:
    """Say what a kind is, and how many pairs of it there are."""
    mine = where(facts.pairs, kind=name)
    return {
        "kind": name,
        "description": kind.description if kind else "",
        "damages": kind.damages if kind else "",
        "expectations": dict(kind.expectations) if kind else {},
        "hand_made": sum(not row["constructed"] for row in mine),
        "constructed": sum(bool(row["constructed"]) for row in mine),
    }


def _matrix(
    facts: Facts, origin: str, kinds: Mapping[str, Kind], verdicts: Sequence[VerdictsRow]
) -> dict[str, Any] | None:
    """Give the response matrix of one origin, with people's."""
    cells = _cells(facts.measures, origin, kinds, verdicts)
    if not cells:
        return None
    damaged = [*DIMENSIONS, *(kind.damages for kind in kinds.values())]
    whole = CONSTRUCTED if origin == CONSTRUCTED else POOLED
    theirs = facts.people_measures
    mine = where(verdicts, kind=whole)
    return {
        "origin": origin,
        "kinds": list(dict.fromkeys(cell["kind"] for cell in cells)),
        "dimensions": sorted({cell["dimension"] for cell in cells}, key=placed(damaged)),
        "cells": cells,
        "effective": _figure(facts.measures, EFFECTIVE, whole),
        "selectivity": {
            row["dimension"]: figure_of(row)
            for row in where(facts.measures, check=NAME, measure=SELECTIVITY, kind=whole)
        },
        "verdicts": [verdict_of(row) for row in sorted(mine, key=lambda row: row["measure"] == SELECTIVITY)],
        "people": _cells(theirs, origin, kinds, ()),
        "people_effective": _figure(theirs, EFFECTIVE, whole),
    }


def _cells(
    rows: Iterable[MeasuresRow], origin: str, kinds: Mapping[str, Kind], verdicts: Sequence[VerdictsRow]
) -> list[dict[str, Any]]:
    """Give the cells of a matrix with what is expected of them and what became of it."""
    by_place: dict[tuple[str, str], dict[str, Any]] = {}
    for row in where(rows, check=NAME):
        kind, of = split_kind(row["kind"])
        if row["measure"] not in MEASURES or of != origin:
            continue
        if row["measure"] != "spill" or (kind, row["dimension"]) in by_place:
            cell = by_place.setdefault(
                (kind, row["dimension"]), {"kind": kind, "dimension": row["dimension"]}
            )
            cell[MEASURES[row["measure"]]] = figure_of(row)
    of_cells = where(verdicts, measure=CELL)
    answers = {(*split_kind(row["kind"]), row["dimension"]): row for row in of_cells}
    place = placed(kinds)
    cells = [cell for cell in by_place.values() if cell.get("lift", {}).get("n")]
    for cell in cells:
        expected = kinds[cell["kind"]].expectations if cell["kind"] in kinds else {}
        answer = answers.get((cell["kind"], origin, cell["dimension"]))
        cell["expected"] = expected.get(cell["dimension"], "")
        cell["verdict"] = answer["verdict"] if answer else None
    return sorted(cells, key=lambda cell: place(cell["kind"]))


def split_kind(written: str) -> tuple[str, str]:
    """Take a kind and the origin of its pairs out of a key column."""
    suffix = f" ({CONSTRUCTED})"
    return (written.removesuffix(suffix), CONSTRUCTED if written.endswith(suffix) else HAND_MADE)


def _figure(rows: Iterable[MeasuresRow], measure: str, kind: str) -> Figure | None:
    """Find one figure of the whole matrix."""
    return next(map(figure_of, where(rows, check=NAME, measure=measure, kind=kind)), None)


def _unsuited(rows: Sequence[UnsuitedRow]) -> list[dict[str, Any]]:
    """Count the items that did not suit, by kind and reason; a kind that was refused whole has no count."""
    items_of: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        items_of.setdefault((row["kind"], row["reason"]), []).append(row["item_id"])
    return [
        {"kind": kind, "reason": reason, "n": len(items) if items != [POOLED] else None, "items": items[:3]}
        for (kind, reason), items in sorted(items_of.items(), key=lambda entry: (entry[0][0], -len(entry[1])))
    ]


def _shown(facts: Facts, kinds: Mapping[str, Kind], means: Mapping[str, str]) -> list[dict[str, Any]]:
    """Choose pairs to look at: of each kind and origin the one that moved its own dimension least, and most."""
    sign = 1.0 if facts.card.get("higher_is_better", True) else -1.0
    declared = list(facts.card.get("dimensions") or (OVERALL,))
    called = {own: name for name, own in means.items()}
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for score in facts.pair_scores:
        before, after = score["before"], score["after"]
        if before is not None and after is not None:
            scores.setdefault(score["pair_id"], {})[score["dimension"]] = {"before": before, "after": after}
    shown = []
    for name in _names(facts, kinds):
        damages = kinds[name].damages if name in kinds else ""
        own = means.get(damages, damages)
        own = own if own in declared else declared[0]
        for constructed in (False, True):
            ranked: list[tuple[float, str, Row]] = []
            for row in facts.pairs:
                score_of = scores.get(row["pair_id"], {}).get(own)
                if score_of and row["kind"] == name and bool(row["constructed"]) == constructed:
                    fall = -sign * (score_of["after"] - score_of["before"])
                    ranked.append((fall, row["pair_id"], row))
            ranked.sort(key=lambda entry: entry[:2])
            # the first fell least, the last most
            for place, (_, pair_id, pair) in enumerate(ranked):
                if place in {0, len(ranked) - 1}:
                    parts = {called.get(d, d): scores[pair_id][d] for d in declared if d in scores[pair_id]}
                    described = {column: pair[column] for column in DESCRIBED}
                    shown.append({**described, "scores": parts, "least": place == 0})
    return shown


def cell_of(cells: Sequence[Row], kind: str, dimension: str) -> Row | None:
    """Find a cell of a matrix."""
    return next((cell for cell in cells if (cell["kind"], cell["dimension"]) == (kind, dimension)), None)


def cell_look(cell: Row) -> tuple[str, int]:
    """Give the class and the percent of colour of a cell: cool falls, warm rises."""
    value = cell["lift"]["value"]
    if value is None:
        return "", 0
    return ("cool" if value < 0 else "warm"), min(STRONGEST, round(abs(value) * 2 * STRONGEST))

"""Figures of agreement over the whole, every source and every topic, and combined within sources."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.core.formatting import finite
from judge_audit.core.vocabulary import PEOPLE, POOLED, WITHIN
from judge_audit.measures.agreement import LEVELS, NOMINAL, alpha, departing, excess, match
from judge_audit.measures.estimates import MIN_CLUSTERS, PASS_LEVEL
from judge_audit.measures.influence import Figure, combined, within_sources
from judge_audit.measures.source_comparisons import beyond, holm_levels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit_schemas.rows import KeyParts, ResultRow

    from judge_audit.checks.evidence import Evidence
    from judge_audit.checks.people.people_labels import Labelled
    from judge_audit.measures.agreement import Ratings
    from judge_audit.measures.estimates import Estimate

NAME = "agreement"


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure with what keeps its interval honest.

    Attributes:
        figure: The figure.
        unseen: Variance of what has not been seen yet.
        departing: Clusters in which anybody departs from the commonest value.
    """

    figure: Figure
    unseen: float
    departing: int

    def estimate(self) -> Estimate:
        """Give the estimate; without an interval where hardly anybody departs from the commonest value."""
        made = self.figure.estimate(self.unseen)
        return made if self.departing >= MIN_CLUSTERS else dataclasses.replace(made, df=0)


Figures = dict[tuple[str, str], Shown]


def people_key(evidence: Evidence, measure: str, **parts: Any) -> ResultRow:  # noqa: ANN401
    """Make the key columns of a row about people."""
    return {**evidence.key(NAME, measure, **parts), "subject": PEOPLE}


def people_row(
    evidence: Evidence,
    measure: str,
    estimate: Estimate,
    *,
    level: float = PASS_LEVEL,
    **parts: Any,  # noqa: ANN401
) -> ResultRow:
    """Make a row of `measures`; no agreement is above 1."""
    low, high = estimate.interval(level)
    return {
        **people_key(evidence, measure, **parts),
        "value": finite(estimate.value),
        "ci_low": finite(low),
        "ci_high": finite(min(high, 1.0) if math.isfinite(high) else high),
        "n": estimate.n,
        "n_clusters": estimate.n_clusters,
    }


def figures_of(ratings: Ratings, level: str) -> Figures:
    """Measure α at every level the values allow, percent agreement, its base rate and Fleiss's κ."""
    found: Figures = {}
    varied = departing(ratings)
    for kind in LEVELS if level != NOMINAL else (NOMINAL,):
        made = alpha(ratings, kind)
        found["alpha", kind] = Shown(made.alpha, made.unseen, varied)
    equal = match(ratings)
    found["fleiss_kappa", POOLED] = Shown(equal.kappa, equal.unseen, varied)
    # A pair that disagrees takes a whole unit from the share, but 1/(1 − base rate) from κ.
    unseen = equal.unseen * (1 - equal.chance.value) ** 2 if equal.chance.defined else 0.0
    found["percent_agreement", POOLED] = Shown(equal.share, unseen, max(varied, MIN_CLUSTERS))
    found["agreement_by_chance", POOLED] = Shown(equal.chance, 0.0, varied)
    return found


def inside(parts: Sequence[Shown]) -> Shown | None:
    """Combine one figure per source by items; None if none is defined."""
    known = [part for part in parts if part.figure.defined]
    whole = within_sources([part.figure for part in known])
    if whole is None:
        return None
    unseen = sum(part.unseen * (part.figure.n / whole.n) ** 2 for part in known)
    return Shown(whole, unseen, sum(part.departing for part in known))


def agreement_cells(labelled: Labelled) -> list[tuple[KeyParts, Figures]]:
    """Measure every cell, and inside sources the whole and every topic.

    Returns:
        The key columns of each cell (none for the pooled whole) and its figures, the whole first.
    """
    ratings, items = labelled.ratings, labelled.items
    found = []
    for place, chosen in labelled.cells():
        found.append((place, figures_of(ratings.of_items(chosen), labelled.level)))
        if "source" in place:
            continue
        held = [
            figures_of(ratings.of_items(chosen & (items.of_source == number)), labelled.level)
            for number in range(len(items.sources))
            if (chosen & (items.of_source == number)).any()
        ]
        whole = {name: inside([part[name] for part in held]) for name in held[0]} if held else {}
        known = {name: shown for name, shown in whole.items() if shown is not None}
        found.append(({**place, "source": WITHIN}, known))
    return found


def cell_rows(
    evidence: Evidence, dimension: str, cells: Sequence[tuple[KeyParts, Figures]]
) -> list[ResultRow]:
    """Give the rows of every cell; an undefined figure is a row without a value."""
    return [
        people_row(evidence, measure, shown.estimate(), dimension=dimension, kind=kind, **place)
        for place, figures in cells
        for (measure, kind), shown in figures.items()
    ]


def concentration_rows(evidence: Evidence, labelled: Labelled) -> list[ResultRow]:
    """Say in which sources and topics people disagree more than elsewhere, corrected for their number."""
    found = alpha(labelled.ratings, labelled.level)
    places, estimates = [], []
    for place, chosen in labelled.cells():
        more = excess(found, chosen) if place else None
        if more is None:
            continue
        estimate = Shown(more, 0.0, _clusters_in(labelled, chosen)).estimate()
        places.append(place)
        estimates.append(estimate)
    levels = holm_levels([beyond(estimate, 0.0)[1] for estimate in estimates])
    return [
        people_row(evidence, "disagreement_excess", estimate, level=level, **place)
        | {"dimension": labelled.dimension}
        for place, estimate, level in zip(places, estimates, levels, strict=True)
    ]


def _clusters_in(labelled: Labelled, chosen: np.ndarray[Any, np.dtype[np.bool_]]) -> int:
    """Count the clusters of the smaller side: what is chosen, or all else."""
    of_item = labelled.items.clusters.of_item
    return min(len(np.unique(of_item[chosen])), len(np.unique(of_item[~chosen])))


def dimension_rows(evidence: Evidence, wholes: dict[str, Shown]) -> list[ResultRow]:
    """Say in which dimensions people disagree more than in the others, by α within sources.

    Args:
        evidence: What is looked at.
        wholes: α within sources by dimension, at its declared level.
    """
    known = {name: shown for name, shown in wholes.items() if shown.figure.defined}
    if len(known) < 2:
        return []
    estimates = []
    least = min(shown.departing for shown in known.values())
    for name, own in known.items():
        others = [shown.figure for other, shown in known.items() if other != name]
        figure = combined([own.figure, *others], [-1.0, *([1 / len(others)] * len(others))])
        estimates.append(Shown(figure, 0.0, least).estimate())
    levels = holm_levels([beyond(estimate, 0.0)[1] for estimate in estimates])
    return [
        people_row(evidence, "disagreement_excess", estimate, level=level, dimension=name, source=WITHIN)
        for name, estimate, level in zip(known, estimates, levels, strict=True)
    ]

"""Agreement of people with people: the ceiling that any judge stands under.

Figures do not depend on the judge: they carry the subject `people`, and are left to the audited judge's own
run, so that controls do not repeat them. They are given over the whole, every source and every topic, and combined
within sources. Where disagreement concentrates is shown, never judged.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.checks.check import Check, Needs
from judge_audit.checks.evidence import Findings
from judge_audit.checks.people.people_faults import (
    beyond_verdicts,
    constant_verdicts,
    copy_verdicts,
    missing_rows,
    reversed_verdicts,
    undefined_verdicts,
    unnamed_verdict,
)
from judge_audit.checks.people.people_labels import NAME, gather
from judge_audit.checks.people.people_raters import (
    ceiling_rows,
    common_pairs,
    kappa_rows,
    likeness_rows,
    likenesses,
    others_figures,
    others_rows,
    sort_copies,
)
from judge_audit.core.vocabulary import POOLED, WITHIN
from judge_audit.measures.agreement import LEVELS, NOMINAL, alpha, departing, excess, match
from judge_audit.measures.estimates import MIN_CLUSTERS
from judge_audit.measures.influence import Figure, combined, within_sources
from judge_audit.measures.raters import PEARSON, SPEARMAN
from judge_audit.measures.source_comparisons import beyond, holm_levels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit_schemas.rows import KeyParts, MeasuresRow

    from judge_audit.checks.evidence import Evidence
    from judge_audit.checks.people.people_labels import Labelled
    from judge_audit.measures.agreement import Ratings
    from judge_audit.measures.estimates import Estimate

__all__ = ["NAME", "run"]


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
        parts = [
            figures_of(ratings.of_items(chosen & (items.of_source == number)), labelled.level)
            for number in range(len(items.sources))
            if (chosen & (items.of_source == number)).any()
        ]
        whole = {name: inside([part[name] for part in parts]) for name in parts[0]} if parts else {}
        known = {name: shown for name, shown in whole.items() if shown is not None}
        found.append(({**place, "source": WITHIN}, known))
    return found


def cell_rows(labelled: Labelled, cells: Sequence[tuple[KeyParts, Figures]]) -> list[MeasuresRow]:
    """Give the rows of every cell; an undefined figure is a row without a value."""
    rows: list[MeasuresRow] = []
    for place, figures in cells:
        for (measure, kind), shown in figures.items():
            parts: KeyParts = {**place, "kind": kind}
            rows.append(labelled.figure(measure, shown.estimate(), **parts))
    return rows


def concentration_rows(labelled: Labelled) -> list[MeasuresRow]:
    """Say in which sources and topics people disagree more than elsewhere, corrected for their number."""
    whole = alpha(labelled.ratings, labelled.level)
    places, estimates = [], []
    for place, chosen in labelled.cells():
        more = excess(whole, chosen) if place else None
        if more is not None:
            places.append(place)
            estimates.append(Shown(more, 0.0, _clusters_in(labelled, chosen)).estimate())
    return [
        labelled.figure("disagreement_excess", estimate, level, **place)
        for place, estimate, level in zip(places, estimates, _levels(estimates), strict=True)
    ]


def _levels(estimates: Sequence[Estimate]) -> list[float]:
    """Give the level of each interval, corrected for their number."""
    return holm_levels([beyond(estimate, 0.0)[1] for estimate in estimates])


def _clusters_in(labelled: Labelled, chosen: np.ndarray[Any, np.dtype[np.bool_]]) -> int:
    """Count the clusters of the smaller side: what is chosen, or all else."""
    of_item = labelled.items.clusters.of_item
    return min(len(np.unique(of_item[chosen])), len(np.unique(of_item[~chosen])))


def dimension_rows(wholes: Sequence[tuple[Labelled, Shown]]) -> list[MeasuresRow]:
    """Say in which dimensions people disagree more than in the others, by α within sources.

    Args:
        wholes: Dimensions, each with α within sources at its declared level.
    """
    known = [(labelled, shown) for labelled, shown in wholes if shown.figure.defined]
    if len(known) < 2:
        return []
    estimates = []
    least = min(shown.departing for _, shown in known)
    for _, own in known:
        others = [shown.figure for _, shown in known if shown is not own]
        figure = combined([own.figure, *others], [-1.0, *([1 / len(others)] * len(others))])
        estimates.append(Shown(figure, 0.0, least).estimate())
    return [
        labelled.figure("disagreement_excess", estimate, level, source=WITHIN)
        for (labelled, _), estimate, level in zip(known, estimates, _levels(estimates), strict=True)
    ]


def run(evidence: Evidence) -> Findings:
    """Measure how far people agree, dimension by dimension; nothing if nobody has labelled."""
    if evidence.is_control or evidence.labels is None or not evidence.labels.num_rows:
        return Findings()
    findings = Findings()
    wholes: list[tuple[Labelled, Shown]] = []
    for labelled in gather(evidence):
        cells = agreement_cells(labelled)
        for place, figures in cells:
            shown = figures.get(("alpha", labelled.level))
            if place == {"source": WITHIN} and shown is not None:
                wholes.append((labelled, shown))
        missing, unequal = missing_rows(labelled)
        findings += Findings(
            measures=(*cell_rows(labelled, cells), *concentration_rows(labelled), *missing),
            verdicts=(
                *undefined_verdicts(labelled, cells),
                unnamed_verdict(labelled),
                *beyond_verdicts(labelled),
                *constant_verdicts(labelled),
                *unequal,
            ),
        )
        findings += _raters(labelled)
    return findings + Findings(measures=tuple(dimension_rows(wholes)))


def _raters(labelled: Labelled) -> Findings:
    """Measure what needs to know who said what."""
    limits = labelled.limits
    pairs = common_pairs(labelled.named, int(limits["agreement.min_common"]))
    limit = limits["agreement.copy_lead"]
    many = common_pairs(labelled.named, int(limits["agreement.copy_common"]))
    alike = likenesses(labelled, many, limit)
    copies = sort_copies(alike, limit)
    measures = [*kappa_rows(labelled, pairs), *likeness_rows(labelled, alike)]
    verdicts = copy_verdicts(labelled, copies) if labelled.raters else []
    if labelled.ordered and len(labelled.raters) > 1:
        named = [part.pair for part in (*copies.named, *copies.suspected)]
        figures = {kind: others_figures(labelled, labelled.named, kind) for kind in (SPEARMAN, PEARSON)}
        measures += others_rows(labelled, figures)
        measures += ceiling_rows(labelled, figures, named)
        verdicts += reversed_verdicts(labelled, figures[SPEARMAN])
    return Findings(measures=tuple(measures), verdicts=tuple(verdicts))


CHECK = Check(NAME, run, needs=Needs.ANY)

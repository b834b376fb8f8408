"""Rater beside rater: rows of κ and correlations, the ceilings, and near-copies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.core.vocabulary import POOLED, WITHIN
from judge_audit.measures.estimates import PASS_LEVEL, corrected_level
from judge_audit.measures.influence import Figure, averaged, within_sources
from judge_audit.measures.raters import (
    LINEAR,
    QUADRATIC,
    UNWEIGHTED,
    common,
    correlation,
    opinions,
    others_mean,
    pair_likeness,
    rater_to_others,
    weighted_kappa,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit_schemas.rows import MeasuresRow

    from judge_audit.checks.people.people_labels import Labelled
    from judge_audit.measures.agreement import Ratings

    Others = dict[int, dict[str, Figure]]

NEARLY_AS_ALIKE = 0.05
"""Leading pairs about as alike as a pair they overlap with may be copies of the same rater."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """What speaks for and against a pair being near-copies.

    Attributes:
        pair: Numbers of the two raters.
        correlation: Of the two, inside sources, on items that others rated too.
        lead: How far it lies above that with single others.
        unexplained: How far it lies above what the common opinion explains.
        shared: How far it lies above the middle between that and 1.
        others: Correlation of two others.
    """

    pair: tuple[int, int]
    correlation: Figure
    lead: Figure
    unexplained: Figure
    shared: Figure
    others: Figure


def common_pairs(ratings: Ratings, least: int) -> list[tuple[int, int]]:
    """List the pairs of raters with so many items in common, by number."""
    order = np.lexsort((ratings.raters, ratings.items))
    items, raters = ratings.items[order], ratings.raters[order]
    width = int(raters.max(initial=0)) + 1
    found = []
    for step in range(1, int(ratings.counts().max(initial=0))):
        same = items[step:] == items[:-step]
        found.append((raters[:-step] * width + raters[step:])[same])
    pairs, counts = np.unique(np.concatenate([np.array([], np.intp), *found]), return_counts=True)
    return [divmod(int(pair), width) for pair in pairs[counts >= least]]


def kappa_rows(labelled: Labelled, pairs: Sequence[tuple[int, int]]) -> list[MeasuresRow]:
    """Give the weighted κ of every pair, pooled and within sources."""
    ratings = labelled.named
    rows: list[MeasuresRow] = []
    for pair in pairs:
        items, one, two = common(ratings, *pair)
        x, y = ratings.values[one], ratings.values[two]
        own = labelled.items.of_source[items]
        for kind in (LINEAR, QUADRATIC) if labelled.ordered else (UNWEIGHTED,):
            rater = labelled.pair_name(pair)
            whole = weighted_kappa(x, y, kind, items, ratings.clusters)
            rows.append(labelled.figure("weighted_kappa", whole.estimate(), kind=kind, rater=rater))
            split = [
                weighted_kappa(x[at], y[at], kind, items[at], ratings.clusters)
                for at in (own == number for number in np.unique(own))
            ]
            if (combined := within_sources(split)) is not None:
                within = combined.estimate()
                rows.append(labelled.figure("weighted_kappa", within, kind=kind, rater=rater, source=WITHIN))
    return rows


def others_figures(labelled: Labelled, ratings: Ratings, kind: str) -> Others:
    """Correlate each rater with the mean of the others: per source, within sources (`WITHIN`), pooled (`*`)."""
    others = others_mean(ratings)
    items = labelled.items
    masks = {name: items.of_source[ratings.items] == at for at, name in enumerate(items.sources)}
    split = {name: (ratings.where(mask), others[mask]) for name, mask in masks.items()}
    found: Others = {}
    for rater in np.unique(ratings.raters).tolist():
        own = {name: rater_to_others(part, rater, means, kind) for name, (part, means) in split.items()}
        combined = within_sources(list(own.values()))
        found[rater] = own | {POOLED: rater_to_others(ratings, rater, others, kind)}
        if combined is not None:
            found[rater][WITHIN] = combined
    return found


def others_rows(labelled: Labelled, figures: Mapping[str, Others]) -> list[MeasuresRow]:
    """Give each rater against the mean of the others."""
    return [
        labelled.figure(
            "rater_to_others", figure.estimate(), source=name, kind=kind, rater=labelled.raters[rater]
        )
        for kind, of_rater in figures.items()
        for rater, places in of_rater.items()
        for name, figure in places.items()
    ]


def ceiling_rows(
    labelled: Labelled, figures: Mapping[str, Others], copies: Sequence[tuple[int, int]]
) -> list[MeasuresRow]:
    """Give the ceilings with all raters, and with one of each pair of near-copies if there are any."""
    ratings = labelled.named
    rows = _ceilings(labelled, ratings, figures, "")
    if copies:
        dropped = sorted({second for _, second in copies})
        alone = ratings.where(~np.isin(ratings.raters, dropped))
        fewer = {kind: others_figures(labelled, alone, kind) for kind in figures}
        rows += _ceilings(labelled, alone, fewer, "_without_copies")
    return rows


def _ceilings(
    labelled: Labelled, ratings: Ratings, figures: Mapping[str, Others], suffix: str
) -> list[MeasuresRow]:
    rows: list[MeasuresRow] = []

    def add(measure: str, figure: Figure, kind: str, source: str = WITHIN) -> None:
        rows.append(labelled.figure(f"{measure}{suffix}", figure.estimate(), kind=kind, source=source))

    for kind, of_rater in figures.items():
        for name in (POOLED, WITHIN, *labelled.items.sources):
            ceiling = averaged([places[name] for places in of_rater.values() if name in places])
            if ceiling is not None:
                add("ceiling", ceiling, kind, name)
        single = mean_pair(labelled, ratings, kind)
        if single is None:
            continue
        add("rater_to_rater", single, kind)
        if single.value > 0:
            root = math.sqrt(single.value)
            add("ceiling_one_rater", single.scaled(1 / (2 * root), root), kind)
    return rows


def mean_pair(labelled: Labelled, ratings: Ratings, kind: str) -> Figure | None:
    """Average the correlations within sources over pairs of raters, plainly."""
    found = []
    for pair in common_pairs(ratings, int(labelled.limits["agreement.min_common"])):
        items, one, two = common(ratings, *pair)
        own = labelled.items.of_source[items]
        split = [
            correlation(ratings.values[one[at]], ratings.values[two[at]], kind, items[at], ratings.clusters)
            for at in (own == number for number in np.unique(own))
        ]
        if (combined := within_sources(split)) is not None:
            found.append(combined)
    return averaged(found)


def likenesses(labelled: Labelled, pairs: Sequence[tuple[int, int]], limit: float) -> list[Likeness]:
    """Compare every pair with the others; copies of one of the pair do not speak for the others."""
    ratings = labelled.named
    columns = opinions(ratings, labelled.level)
    found = [Likeness(pair, *pair_likeness(ratings, columns, *pair)) for pair in pairs]
    level = one_sided(len(found))
    leading = {part.pair: part.correlation.value for part in found if lowest(part.lead, level) > limit}
    for index, part in enumerate(found):
        also = {
            other
            for pair, value in leading.items()
            if part.pair in leading and len(set(pair) & set(part.pair)) == 1
            if value > leading[part.pair] - NEARLY_AS_ALIKE
            for other in set(pair) - set(part.pair)
        }
        if also:
            independent = ~np.isin(ratings.raters, sorted(also))
            alone = ratings.where(independent)
            made = Likeness(part.pair, *pair_likeness(alone, columns[independent], *part.pair))
            found[index] = made if made.lead.defined else part
    return found


def one_sided(claims: int) -> float:
    """Give the level of an interval whose one end is crossed by chance in 5 % of cases, among so many."""
    return 2 * corrected_level(claims) - 1


def likeness_rows(labelled: Labelled, pairs: Sequence[Likeness]) -> list[MeasuresRow]:
    """Give what was found of every pair."""
    return [
        labelled.figure(measure, figure.estimate(), rater=labelled.pair_name(part.pair), source=WITHIN)
        for part in pairs
        for measure, figure in (("pair_lead", part.lead), ("pair_unexplained", part.unexplained))
    ]


def lowest(figure: Figure, level: float) -> float:
    """Give the lower end of a figure's interval, −∞ where there is none."""
    return figure.estimate().interval(level)[0]


def highest(figure: Figure, level: float) -> float:
    """Give the upper end of a figure's interval, ∞ where there is none."""
    return figure.estimate().interval(level)[1]


@dataclass(frozen=True, slots=True)
class Copies:
    """Pairs by what is known of them.

    Attributes:
        named: Near-copies.
        suspected: Far above the others, but too few others to tell, or proved for this pair alone only.
        cleared: Certainly not near-copies.
        open: The others.
    """

    named: tuple[Likeness, ...]
    suspected: tuple[Likeness, ...]
    cleared: tuple[Likeness, ...]
    open: tuple[Likeness, ...]


def sort_copies(found: Sequence[Likeness], limit: float) -> Copies:
    """Sort pairs by their intervals: all of lead, unexplained and shared must lie beyond their limits.

    Convicted at the level corrected for the number of pairs, one-sided; cleared at 90 % two-sided.
    """
    level = one_sided(len(found))
    groups: dict[str, list[Likeness]] = {"named": [], "suspected": [], "cleared": [], "open": []}
    for part in found:
        claims = ((part.lead, limit), (part.unexplained, limit), (part.shared, 0.0))
        leads = lowest(part.lead, level) > limit
        agreed = lowest(part.others, PASS_LEVEL) > 0
        if leads and agreed and all(lowest(claim, level) > least for claim, least in claims):
            groups["named"].append(part)
        elif any(highest(claim, PASS_LEVEL) < least for claim, least in claims if claim.defined):
            groups["cleared"].append(part)
        else:
            alike = all(lowest(claim, PASS_LEVEL) > least for claim, least in claims)
            likely = alike or not part.shared.defined
            groups["suspected" if leads and likely else "open"].append(part)
    return Copies(*(tuple(group) for group in groups.values()))

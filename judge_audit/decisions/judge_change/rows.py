"""Rows of a change: pairs turned round, and every figure with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.checks.ladders.ladder_question import figure_columns
from judge_audit.core.vocabulary import WITHIN
from judge_audit.measures.estimates import PASS_LEVEL, wilson
from judge_audit.measures.resampling import combined

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from judge_audit.decisions.judge_change.compared_judges import AnchorSet
    from judge_audit.decisions.judge_change.dimension_change import OnDimension
    from judge_audit.measures.change import Compared
    from judge_audit.measures.resampling import Resampled

AGAINST, WITH, TIE, UNKNOWN = "against_people", "with_people", "tie", "unknown"
DIRECTIONS = {1.0: (AGAINST, "first"), -1.0: (WITH, "second"), 0.0: (TIE, "tie")}

MEASURES = {
    "tau": "tau",
    "tau_like_retest": "tau_like_retest",
    "retest": "retest_tau",
    "drop": "tau_drop",
    "against": "flips_against_people",
    "with_people": "flips_with_people",
    "net": "net_against_people",
    "top_churn": "top_churn",
    "retest_churn": "retest_churn",
}
SHARES = {"flips_against_people", "flips_with_people", "top_churn", "retest_churn"}
"""Measures between 0 and 1."""

OF_ONE = {"retest_old": "old judge", "retest_new": "new judge"}
"""Kinds of retest_tau that are one judge's own."""


def flip_rows(anchors: AnchorSet, part: OnDimension) -> Iterator[dict[str, Any]]:
    """Give the pairs turned round in a dimension; rows without judge, baseline, version and audit."""
    if part.whole is None:
        return
    turned, names = part.whole.turned, part.anchors
    known_of = {name: [text or None for text in anchors.column(names, name)] for name in ("tier", "kind")}
    across = anchors.across_tiers(names)
    ranks = {"old": part.whole.ranks_old.tolist(), "new": part.whole.ranks_new.tolist()}
    pairs = zip(turned.above.tolist(), turned.below.tolist(), turned.people.tolist(), strict=True)
    for first, second, people in pairs:
        known = not np.isnan(people)
        direction, order = DIRECTIONS[people] if known else (UNKNOWN, UNKNOWN)
        yield {
            "dimension": part.dimension,
            "anchor_first": names[first],
            "anchor_second": names[second],
            "tier_first": known_of["tier"][first],
            "tier_second": known_of["tier"][second],
            "kind_first": known_of["kind"][first],
            "kind_second": known_of["kind"][second],
            **{f"{side}_rank_first": ranks[side][first] for side in ranks},
            **{f"{side}_rank_second": ranks[side][second] for side in ranks},
            "people_order": order,
            "people_basis": ("labels" if part.by_label[first, second] else "tiers") if known else None,
            "direction": direction,
            "across_tiers": bool(across[first, second]),
            "firm": turned.firm,
        }


def measure_rows(anchors: AnchorSet, part: OnDimension) -> Iterator[dict[str, Any]]:
    """Give the figures of a dimension; rows without audit, subject, baseline and check."""
    lost, n = len(part.unscored), len(anchors.rows)
    yield {"dimension": part.dimension, "measure": "anchors_unscored", **_share(lost, n)}
    if part.whole is None:
        return
    told = {"dimension": part.dimension, "n_clusters": part.whole.figures["tau"].n_clusters}
    for row in _of_whole(part.whole):
        yield {**row, "dimension": part.dimension}
    counts = _counts(anchors, part, part.whole)
    for measure, (value, of) in counts.items():
        yield {**told, "measure": measure, "value": value, "n": of}
    if part.choices is not None:
        told = {"dimension": part.dimension, "measure": "first_choice_churn"}
        yield {**told, **_share(part.choices.changed, part.choices.groups)}
    for source, whole in part.sources.items():
        yield {**_figure("tau", whole.figures["tau"]), "dimension": part.dimension, "source": source}
    if part.sources:
        within = combined([whole.figures["tau"] for whole in part.sources.values()])
        yield {**_figure("tau", within), "dimension": part.dimension, "source": WITHIN}


def _of_whole(whole: Compared) -> Iterator[dict[str, Any]]:
    for name, figure in whole.figures.items():
        if not np.isfinite(figure.value):
            continue
        if name in OF_ONE:
            yield {**_figure("retest_tau", figure), "kind": OF_ONE[name]}
        else:
            yield _figure(MEASURES[name], figure)


def _figure(measure: str, figure: Resampled) -> dict[str, Any]:
    return {"measure": measure, **held(measure, figure)}


def held(measure: str, figure: Resampled) -> dict[str, Any]:
    """Write a figure into result columns; ends of an interval that no share or correlation can have are cut."""
    columns = figure_columns(figure)
    low, high = (0.0, 1.0) if measure in SHARES else (-2.0, 2.0) if measure == "tau_drop" else (-1.0, 1.0)
    for name in ("ci_low", "ci_high"):
        if columns[name] is not None:
            columns[name] = min(max(columns[name], low), high)
    return columns


def _counts(anchors: AnchorSet, part: OnDimension, whole: Compared) -> Mapping[str, tuple[float, int]]:
    """Give figures that are plain counts: value, and out of how many."""
    across = anchors.across_tiers(part.anchors)[whole.turned.above, whole.turned.below]
    return {
        "discordant_share": (whole.discordant / max(whole.pairs, 1), whole.pairs),
        "flips": (float(len(whole.turned.above)), whole.pairs),
        "flips_across_tiers": (float(across.sum()), whole.pairs),
        "largest_displacement": (float(np.abs(whole.displaced).max()), len(part.anchors)),
    }


def _share(hits: float, n: int) -> dict[str, Any]:
    """Write a share with Wilson's interval at the level at which all figures are shown."""
    low, high = wilson(hits, n, PASS_LEVEL)
    return {"value": hits / n if n else None, "ci_low": low, "ci_high": high, "n": n}

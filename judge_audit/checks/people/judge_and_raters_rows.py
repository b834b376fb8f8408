"""Rows of the judge beside people: measured per source, over sources, and pooled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.checks.ladders.ladder_question import figure_columns
from judge_audit.checks.people.labelled_scores import PEOPLE, always_the_same, samples
from judge_audit.core.digests import draw_seed
from judge_audit.core.formatting import finite
from judge_audit.core.vocabulary import POOLED, Verdict
from judge_audit.measures.correlation import correlation
from judge_audit.measures.judge_and_raters import measured, validity
from judge_audit.measures.resampling import UNDEFINED, Resampled, combined, derived, draws_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit.checks.evidence import Evidence
    from judge_audit.checks.people.labelled_scores import Answers, Ratings
    from judge_audit.measures.judge_and_raters import Sample

NAME = "beside_people"

POOLED_KIND = "pooled"
"""Kind of the value over all sources as if they were one; `*` is the value within sources, combined."""

MEASURES = {
    "beside": "judge_beside_people",
    "judge": "judge_agreement",
    "rater": "rater_agreement",
    "with_mean": "judge_on_mean",
    "with_rater": "judge_with_rater",
    "between_raters": "between_raters",
    "retest": "retest_on_labelled",
    "validity": "validity",
}


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """What was measured in one dimension.

    Attributes:
        figures: Over sources, by name (the keys of `MEASURES`).
        rows: Rows of `measures`.
        left_out: Sources with labels in which no rater could be compared.
        left_share: Their share of the items.
        lost: Share of the labelled items whose score is missing.
        retest_known: Whether the judge's own noise is known.
    """

    figures: Mapping[str, Resampled]
    rows: tuple[dict[str, Any], ...]
    left_out: tuple[str, ...]
    left_share: float
    lost: float
    retest_known: bool


def measure_row(
    evidence: Evidence,
    check: str,
    measure: str,
    dimension: str,
    figure: Resampled,
    **parts: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Make a row of `measures` with the 90 % interval."""
    return evidence.key(check, measure, dimension=dimension, **parts) | figure_columns(figure)


def verdict_row(
    evidence: Evidence,
    check: str,
    measure: str,
    dimension: str,
    figure: Resampled,
    *,
    verdict: Verdict,
    **parts: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Make a row of `verdicts` with the 90 % interval."""
    row = measure_row(evidence, check, measure, dimension, figure)
    del row["n_clusters"]
    return {**row, "verdict": verdict.value, "finding": "", "provisional": False, **parts}


def missing_row(
    evidence: Evidence,
    check: str,
    measure: str,
    dimension: str,
    reason: str,
    **parts: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Make a row of `verdicts` for evidence that is not there."""
    key = evidence.key(check, measure, dimension=dimension)
    told = {"verdict": Verdict.MISSING.value, "finding": "", "reason": reason, "provisional": False}
    return {**key, **told, **parts}


def compare(
    evidence: Evidence,
    dimension: str,
    given: Answers,
    people: Ratings,
    *,
    claims: int,
    filled: float | None = None,
) -> Comparison:
    """Measure a dimension of the judge beside people's, source by source, and over sources."""
    found = samples(given, people, deterministic=always_the_same(given), filled=filled)
    whole = found.pop(POOLED)
    draws = draws_for(claims)
    held = {
        source: measured(sample, draws, draw_seed(evidence.seed, NAME, dimension, source))
        for source, sample in found.items()
    }
    sizes = {source: int(np.isfinite(sample.judge).sum()) for source, sample in found.items()}
    left = tuple(source for source, parts in held.items() if "beside" not in parts)
    figures = _over_sources(held)
    rows = _rows(evidence, dimension, {**held, POOLED: figures})
    rows += _pooled_rows(evidence, dimension, whole)
    rows += _other_correlations(evidence, dimension, found, whole)
    lost = np.isnan(whole.judge)
    total = max(1, sum(sizes.values()))
    return Comparison(
        figures,
        tuple(rows),
        left,
        sum(sizes[source] for source in left) / total,
        float(lost.mean()) if len(lost) else 0.0,
        figures["retest_known"] is not UNDEFINED,
    )


def _over_sources(held: Mapping[str, Mapping[str, Resampled]]) -> dict[str, Resampled]:
    """Combine every figure over the sources; validity is the ratio of the combined parts."""
    parts = list(held.values())
    names = {name for part in parts for name in part} | set(MEASURES)
    found = {name: combined([part[name] for part in parts if name in part]) for name in names}
    both = [
        part
        for part in parts
        if all(np.isfinite(part[name].value) for name in ("with_rater", "between_raters") if name in part)
        and "with_rater" in part
    ]
    again = combined([part["retest"] for part in both])
    found["retest_known"] = again
    close = combined([part["with_rater"] for part in both])
    ceiling = combined([part["between_raters"] for part in both])
    if again is UNDEFINED and both:
        again = Resampled(1.0, np.ones_like(close.replicates), close.n, close.n_clusters, close.df)
    found["retest"], found["between_raters"] = again, ceiling
    if both:
        found["validity"] = derived(validity, close, ceiling, again)
    return found


def _rows(
    evidence: Evidence, dimension: str, held: Mapping[str, Mapping[str, Resampled]]
) -> list[dict[str, Any]]:
    rows = []
    for source, figures in held.items():
        for name, measure in MEASURES.items():
            figure = figures.get(name, UNDEFINED)
            if name == "retest" and source == POOLED and figures["retest_known"] is UNDEFINED:
                continue
            if np.isfinite(figure.value):
                parts = {"source": source, "baseline": PEOPLE}
                rows.append(measure_row(evidence, NAME, measure, dimension, figure, **parts))
    for name, figure in held[POOLED].items():
        if name.startswith("beside:"):
            parts = {"rater": name.removeprefix("beside:"), "baseline": PEOPLE}
            rows.append(measure_row(evidence, NAME, MEASURES["beside"], dimension, figure, **parts))
    return rows


def _pooled_rows(evidence: Evidence, dimension: str, whole: Sample) -> list[dict[str, Any]]:
    """Give the values over all sources as if they were one; no interval, as nothing is judged by them."""
    rows = []
    for name, figure in measured(whole, 0, 0).items():
        if name in MEASURES and np.isfinite(figure.value):
            parts = {"kind": POOLED_KIND, "baseline": PEOPLE}
            rows.append(measure_row(evidence, NAME, MEASURES[name], dimension, figure, **parts))
    return rows


def _other_correlations(
    evidence: Evidence, dimension: str, found: Mapping[str, Sample], whole: Sample
) -> list[dict[str, Any]]:
    """Give Pearson's and Kendall's correlation with the mean label too, for those who compare with a paper."""
    rows = []
    for method in ("pearson", "kendall"):
        values, sizes = [], []
        for source, sample in found.items():
            value = correlation(sample.judge, sample.mean, method)
            if not np.isfinite(value):
                continue
            values.append(value)
            sizes.append(int((np.isfinite(sample.judge) & np.isfinite(sample.mean)).sum()))
            key = {"source": source, "baseline": PEOPLE}
            made = evidence.key(NAME, f"judge_on_mean_{method}", dimension=dimension, **key)
            rows.append({**made, "value": value, "n": sizes[-1]})
        if not values:
            continue
        both = {"*": float(np.average(values, weights=sizes))}
        both[POOLED_KIND] = correlation(whole.judge, whole.mean, method)
        for kind, value in both.items():
            made = evidence.key(
                NAME, f"judge_on_mean_{method}", dimension=dimension, kind=kind, baseline=PEOPLE
            )
            rows.append({**made, "value": finite(value), "n": sum(sizes)})
    return rows

"""Rows of the covariate regression: shares, weights, and weights of two sources held together."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_audit.checks.ladders.ladder_question import figure_columns
from judge_audit.core.formatting import finite, number
from judge_audit.core.messages import knows, say
from judge_audit.measures.estimates import Estimate
from judge_audit.measures.source_comparisons import difference, heterogeneity, within_sources

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit.checks.evidence import Evidence
    from judge_audit.measures.regression import Fit

    Fits = Mapping[str, Fit]

NAME = "covariates"
SHARE = "explained_share"
DIFFERENCE = "weight_difference"
LEADING = 2
"""Statistics named in a sentence."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A weight held against the same weight in another source."""

    feature: str
    first: str
    second: str
    lift: Estimate
    raw: Estimate


def claims_of(fits: Fits) -> list[Claim]:
    """List every statistic × pair of sources."""
    found = []
    for first, second in itertools.combinations(fits, 2):
        one, other = fits[first], fits[second]
        for index, name in enumerate(one.names):
            lift = difference(one.weights[index], other.weights[index])
            raw = difference(one.raw_weights[index], other.raw_weights[index])
            found.append(Claim(name, first, second, lift, raw))
    return found


def row_of(
    evidence: Evidence,
    measure: str,
    dimension: str,
    estimate: Estimate,
    **parts: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Make a row of `measures` with the 90 % interval."""
    return evidence.key(NAME, measure, dimension=dimension, **parts) | figure_columns(estimate)


def explained_rows(evidence: Evidence, dimension: str, fits: Fits) -> list[dict[str, Any]]:
    """Give the share explained per source and inside sources, with R² as it stands in the sample."""
    rows = []
    for source, made in fits.items():
        rows.append(row_of(evidence, SHARE, dimension, made.explained, source=source))
        key = evidence.key(NAME, "explained_in_sample", dimension=dimension, source=source)
        rows.append({**key, "value": made.in_sample, "n": made.explained.n})
    whole = within_sources([made.explained for made in fits.values()])
    if fits:
        rows.append(row_of(evidence, SHARE, dimension, whole))
        plain = sum(made.in_sample * made.explained.n for made in fits.values()) / whole.n
        key = evidence.key(NAME, "explained_in_sample", dimension=dimension)
        rows.append({**key, "value": plain, "n": whole.n})
    return rows


def features_of(fits: Fits) -> list[str]:
    """List the statistics of all fits, in the order they first come."""
    return list(dict.fromkeys(name for made in fits.values() for name in made.names))


def shares_of(fits: Fits) -> dict[str, Estimate]:
    """Share of each statistic inside sources; where it does not vary it explains nothing."""
    found = {}
    for name in features_of(fits):
        parts = [
            made.shares[made.names.index(name)]
            if name in made.names
            else Estimate(0.0, 0.0, 0, made.explained.n, made.explained.n_clusters)
            for made in fits.values()
        ]
        found[name] = within_sources(parts)
    return found


def share_rows(evidence: Evidence, dimension: str, fits: Fits) -> list[dict[str, Any]]:
    """Give each statistic's share of the variance, per source and inside sources."""
    rows = [
        row_of(evidence, "covariate_share", dimension, share, source=source, kind=name)
        for source, made in fits.items()
        for name, share in zip(made.names, made.shares, strict=True)
    ]
    whole = shares_of(fits)
    return rows + [
        row_of(evidence, "covariate_share", dimension, share, kind=name) for name, share in whole.items()
    ]


def weight_rows(evidence: Evidence, dimension: str, fits: Fits) -> list[dict[str, Any]]:
    """Give the weights per source and inside sources, in lift and in raw units."""
    rows = []
    for measure, attribute in (("covariate_weight", "weights"), ("covariate_weight_raw", "raw_weights")):
        for name in features_of(fits):
            held = {
                source: getattr(made, attribute)[made.names.index(name)]
                for source, made in fits.items()
                if name in made.names
            }
            rows += [
                row_of(evidence, measure, dimension, weight, source=source, kind=name)
                for source, weight in held.items()
            ]
            rows.append(row_of(evidence, measure, dimension, within_sources(list(held.values())), kind=name))
    return rows


def comparison_rows(
    evidence: Evidence, dimension: str, fits: Fits, claims: Sequence[Claim]
) -> list[dict[str, Any]]:
    """Give differences of weights for every pair of sources, and Q and I² over all of them."""
    rows = []
    for claim in claims:
        parts = {"source": claim.first, "baseline": claim.second, "kind": claim.feature}
        rows.append(row_of(evidence, DIFFERENCE, dimension, claim.lift, **parts))
        rows.append(row_of(evidence, "weight_difference_raw", dimension, claim.raw, **parts))
    for name in features_of(fits):
        q, inconsistency = heterogeneity([made.weights[made.names.index(name)] for made in fits.values()])
        for measure, value in (("weight_q", q), ("weight_i2", inconsistency)):
            key = evidence.key(NAME, measure, dimension=dimension, kind=name)
            rows.append({**key, "value": finite(value), "n": len(fits)})
    return rows


def told(claims: Sequence[Claim]) -> str:
    """Name weights and the two sources they differ between."""
    return "; ".join(
        say(
            "covariates.pair",
            name=name_of(claim.feature),
            first=claim.first,
            second=claim.second,
            value=number(claim.lift.value),
        )
        for claim in sorted(claims, key=lambda entry: -abs(entry.lift.value))[:LEADING]
    )


def name_of(feature: str) -> str:
    """Name a statistic for people."""
    key = f"covariates.names.{feature}"
    return say(key) if knows(key) else feature

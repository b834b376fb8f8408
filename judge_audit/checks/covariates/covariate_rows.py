"""Rows of the covariate regression: shares, weights, and weights of two sources held together.

The untouched scores of every source beside the covariates of their pictures.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.checks.result_rows import figure_columns
from judge_audit.core.formatting import finite, number
from judge_audit.core.messages import knows, say
from judge_audit.core.vocabulary import POOLED, State
from judge_audit.measures.estimates import Estimate
from judge_audit.measures.regression import Sample
from judge_audit.measures.scale import distinct
from judge_audit.measures.source_comparisons import difference, heterogeneity, within_sources

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit_schemas.rows import ResultRow
    from numpy.typing import NDArray

    from judge_audit.checks.evidence import Evidence
    from judge_audit.measures.regression import Fit

    Fits = Mapping[str, Fit]
    Floats = NDArray[np.float64]


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
) -> ResultRow:
    """Make a row of `measures` with the 90 % interval."""
    return evidence.key(NAME, measure, dimension=dimension, **parts) | figure_columns(estimate)


def explained_rows(evidence: Evidence, dimension: str, fits: Fits) -> list[ResultRow]:
    """Give the share explained per source and inside sources, with R² as it stands in the sample."""
    rows: list[ResultRow] = []
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


def share_rows(evidence: Evidence, dimension: str, fits: Fits) -> list[ResultRow]:
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


def weight_rows(evidence: Evidence, dimension: str, fits: Fits) -> list[ResultRow]:
    """Give the weights per source and inside sources, in lift and in raw units."""
    rows: list[ResultRow] = []
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
) -> list[ResultRow]:
    """Give differences of weights for every pair of sources, and Q and I² over all of them."""
    rows: list[ResultRow] = []
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


MIN_DISTINCT = 3


@dataclass(frozen=True, slots=True)
class Source:
    """The items of one source that were asked for and whose covariates are known, sorted by id.

    Attributes:
        scores: Oriented first scores, NaN where the answer is missing, shape (n,).
        features: Covariates, NaN where unknown, shape (n, p).
        clusters: Names of clusters.
    """

    scores: Floats
    features: Floats
    clusters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gathered:
    """All sources of one dimension.

    Attributes:
        sources: By name.
        names: Statistics known for enough items of some source.
        unknown: Statistics that are not.
        unresolved: Sources whose scores hardly differ.
        lost: Share of the scores asked for that are missing.
        known_share: Share of items for which a statistic must be known.
        score_unit: Pooled robust standard deviation of the scores within sources.
        feature_units: Pooled standard deviation of each statistic within sources.
    """

    sources: Mapping[str, Source]
    names: tuple[str, ...]
    unknown: tuple[str, ...]
    unresolved: frozenset[str]
    lost: float
    known_share: float
    score_unit: float
    feature_units: Floats

    def sample(
        self, name: str, *, only: frozenset[str] | None = None, filled: float | None = None
    ) -> Sample | None:
        """Give the sample of a source, or None if its scores cannot rank anything.

        Args:
            name: The source.
            only: Statistics to use, None for all that are known.
            filled: What stands for missing scores (±infinity), None to leave their items out.
        """
        if name in self.unresolved:
            return None
        source = self.sources[name]
        known = np.isfinite(source.features)
        use = known.mean(axis=0) >= self.known_share
        use &= np.array([only is None or feature in only for feature in self.names], bool)
        scores = source.scores if filled is None else np.where(np.isnan(source.scores), filled, source.scores)
        rows = known[:, use].all(axis=1) & ~np.isnan(scores)
        if not use.any() or not rows.any():
            return None
        held = [cluster for cluster, kept in zip(source.clusters, rows, strict=True) if kept]
        return Sample(
            scores[rows],
            source.features[rows][:, use],
            tuple(feature for feature, kept in zip(self.names, use, strict=True) if kept),
            np.unique(held, return_inverse=True)[1].astype(np.intp),
            self.score_unit,
            self.feature_units[use],
        )


def gather(evidence: Evidence, dimension: str) -> Gathered:
    """Put the untouched first scores of a dimension beside the covariates, source by source."""
    table = evidence.covariates
    if table is None:
        raise ValueError("the covariates were not measured.")
    features = tuple(name for name in table.column_names if name != "item_id")
    of_item = {
        row["item_id"]: [math.nan if row[name] is None else row[name] for name in features]
        for row in table.to_pylist()
    }
    asked: dict[str, dict[str, tuple[float, str]]] = {}
    for row in evidence.originals:
        if row["repeat"] == 0 and row["dimension"] in (dimension, POOLED) and row["item_id"] in of_item:
            scored = row["state"] == State.OK and row["value"] is not None
            value = evidence.sign * (row["value"] or 0.0) if scored else math.nan
            asked.setdefault(row["source"], {})[row["item_id"]] = (value, row["cluster"])
    sources = {name: _source(asked[name], of_item, len(features)) for name in sorted(asked)}
    share = 1 - evidence.limits["ladder.missing_share"]
    known = [
        any(np.isfinite(source.features[:, at]).mean() >= share for source in sources.values())
        for at in range(len(features))
    ]
    one_value = evidence.limits["ladder.one_value_share"]
    scores = np.concatenate([source.scores for source in sources.values()]) if sources else np.array([])
    return Gathered(
        {name: Source(s.scores, s.features[:, known], s.clusters) for name, s in sources.items()},
        tuple(name for name, kept in zip(features, known, strict=True) if kept),
        tuple(name for name, kept in zip(features, known, strict=True) if not kept),
        frozenset(name for name, source in sources.items() if not _resolved(source.scores, one_value)),
        float(np.isnan(scores).mean()) if len(scores) else 0.0,
        share,
        _pooled([_robust(source.scores) for source in sources.values()], list(sources.values())),
        np.array([_feature_unit(list(sources.values()), at) for at in range(len(features)) if known[at]]),
    )


def _source(
    rows: Mapping[str, tuple[float, str]], of_item: Mapping[str, Sequence[float]], width: int
) -> Source:
    items = sorted(rows)
    return Source(
        np.array([rows[item][0] for item in items]),
        np.array([of_item[item] for item in items], float).reshape(len(items), width),
        tuple(rows[item][1] for item in items),
    )


def _resolved(scores: Floats, one_value: float) -> bool:
    """Whether the scores differ enough to rank anything."""
    known = scores[np.isfinite(scores)]
    if not len(known):
        return False
    count, top = distinct(known)
    return count >= MIN_DISTINCT and top <= one_value


def _robust(scores: Floats) -> float:
    """Robust standard deviation of the scores that are there."""
    known = scores[np.isfinite(scores)]
    if not len(known):
        return 0.0
    return float(1.4826 * np.median(np.abs(known - np.median(known)))) or float(known.std())


def _pooled(spreads: Sequence[float], sources: Sequence[Source]) -> float:
    """Pool standard deviations over sources by their items."""
    sizes = [len(source.scores) for source in sources]
    total = sum(size * spread**2 for size, spread in zip(sizes, spreads, strict=True))
    return math.sqrt(total / sum(sizes)) if sum(sizes) else 0.0


def _feature_unit(sources: Sequence[Source], at: int) -> float:
    """Pool the standard deviation of a statistic over the sources."""
    columns = [source.features[:, at] for source in sources]
    return _pooled([float(np.nanstd(c)) if np.isfinite(c).any() else 0.0 for c in columns], sources)

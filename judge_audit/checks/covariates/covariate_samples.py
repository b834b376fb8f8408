"""The untouched scores of every source beside the covariates of their pictures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.evidence import ranks_anything, robust_spread
from judge_audit.core.vocabulary import POOLED, State
from judge_audit.measures.regression import Sample

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit.checks.evidence import Evidence, Floats


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
        return Sample(
            scores[rows],
            source.features[rows][:, use],
            tuple(compress(self.names, use)),
            np.unique(list(compress(source.clusters, rows)), return_inverse=True)[1].astype(np.intp),
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
    sources = {}
    for name, rows in sorted(asked.items()):
        own, clusters = zip(*(rows[item] for item in sorted(rows)), strict=True)
        known = np.array([of_item[item] for item in sorted(rows)], float).reshape(len(rows), len(features))
        sources[name] = Source(np.array(own), known, clusters)
    share = 1 - evidence.limits["ladder.missing_share"]
    usable = [
        any(np.isfinite(source.features[:, at]).mean() >= share for source in sources.values())
        for at in range(len(features))
    ]
    one_value = evidence.limits["ladder.one_value_share"]
    every = list(sources.values())
    scores = np.concatenate([source.scores for source in every]) if sources else np.array([])
    return Gathered(
        {name: Source(s.scores, s.features[:, usable], s.clusters) for name, s in sources.items()},
        tuple(compress(features, usable)),
        tuple(name for name in features if name not in set(compress(features, usable))),
        frozenset(name for name, source in sources.items() if not ranks_anything(source.scores, one_value)),
        float(np.isnan(scores).mean()) if len(scores) else 0.0,
        share,
        _pooled([robust_spread(source.scores) for source in every], every),
        np.array([_feature_unit(every, at) for at in compress(range(len(features)), usable)]),
    )


def _pooled(spreads: Sequence[float], sources: Sequence[Source]) -> float:
    """Pool standard deviations over sources by their items."""
    sizes = [len(source.scores) for source in sources]
    total = sum(size * spread**2 for size, spread in zip(sizes, spreads, strict=True))
    return math.sqrt(total / sum(sizes)) if sum(sizes) else 0.0


def _feature_unit(sources: Sequence[Source], at: int) -> float:
    """Pool the standard deviation of a statistic over the sources."""
    columns = [source.features[:, at] for source in sources]
    return _pooled([float(np.nanstd(c)) if np.isfinite(c).any() else 0.0 for c in columns], sources)

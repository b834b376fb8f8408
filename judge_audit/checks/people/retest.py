"""The judge with itself: how often are two answers about the same untouched item equal, and how far apart?

Figures only: how steady is steady enough depends on what is asked, and the ladders and validity use them.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.check import Check
from judge_audit.checks.evidence import Findings, robust_spread
from judge_audit.checks.people.labelled_scores import answers
from judge_audit.core.digests import draw_seed
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.correlation import column, spearman
from judge_audit.measures.resampling import Resampled, alike, combined, draws_for, resample

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge_audit.checks.evidence import Evidence, Floats, Ints

NAME = "retest"
MEASURES = ("retest_exact", "retest_difference", "retest_spearman")


def run(evidence: Evidence) -> Findings:
    """Measure the judge with itself in every dimension, per source and over sources."""
    return sum((_dimension(evidence, dimension) for dimension in evidence.card.dimensions), Findings())


def _dimension(evidence: Evidence, dimension: str) -> Findings:
    scores, writer = answers(evidence, dimension), evidence.writer(NAME, dimension=dimension)
    twice = np.isfinite(scores.values).sum(axis=1) > 1
    if not twice.any():
        reason = say("retest.never")
        row = writer.verdict("retest_spearman", Verdict.MISSING, reason, "never_repeated")
        return Findings(verdicts=(row,))
    per_source: dict[str, dict[str, Resampled]] = {}
    for source in sorted(set(scores.sources[twice].tolist())):
        mine = scores.sources == source
        spread = robust_spread(scores.values[mine, 0])
        seed = draw_seed(evidence.seed, NAME, dimension, source)
        use = twice & mine
        per_source[source] = _source(scores.values[use], spread, scores.clusters[use], seed)
    parts = list(per_source.values())
    per_source["*"] = {name: combined([part[name] for part in parts if name in part]) for name in MEASURES}
    rows = [
        writer.figure(name, figure, source=source)
        for source, figures in per_source.items()
        for name, figure in figures.items()
        if np.isfinite(figure.value)
    ]
    return Findings(measures=tuple(rows))


def _source(values: Floats, spread: float, clusters: Ints, seed: int) -> dict[str, Resampled]:
    """Measure one source: over items, then over pairs of answers of an item."""
    first, kinds = alike(values)
    table = values[first]
    pairs = list(itertools.combinations(range(table.shape[1]), 2))
    gaps = np.stack([np.abs(table[:, a] - table[:, b]) for a, b in pairs], axis=1)
    known = np.isfinite(gaps)
    count = known.sum(axis=1)
    exact = (known & (np.nan_to_num(gaps) < 1e-9)).sum(axis=1) / count
    apart = np.nansum(gaps, axis=1) / count / spread if spread > 0 else np.full(len(table), np.nan)
    ranks = [_rank_pair(table, pair) for pair in pairs]
    stable = [made for made in ranks if made is not None]

    def measure(weights: Floats) -> dict[str, Floats]:
        total = weights.sum(axis=0)
        figures = {"retest_exact": exact @ weights / total, "retest_difference": apart @ weights / total}
        if stable:
            figures["retest_spearman"] = np.mean([made(weights) for made in stable], axis=0)
        return figures

    return resample(measure, clusters, kinds, draws_for(1), seed)


def _rank_pair(table: Floats, pair: tuple[int, int]) -> Callable[[Floats], Floats] | None:
    x, y = table[:, pair[0]], table[:, pair[1]]
    rows = np.isfinite(x) & np.isfinite(y)
    if rows.sum() < 2 or np.ptp(x[rows]) < 1e-9 or np.ptp(y[rows]) < 1e-9:
        return None
    one, other = column(x[rows]), column(y[rows])
    return lambda weights: np.nan_to_num(spearman(weights[rows], one, other))


CHECK = Check(NAME, run, judges=("retest_spearman",))

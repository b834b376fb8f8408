"""The judge with itself: how often are two answers about the same untouched item equal, and how far apart?

Figures only: how steady is steady enough depends on what is asked, and the ladders and validity use them.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.check import Check
from judge_audit.checks.evidence import Findings
from judge_audit.checks.people.judge_and_raters import measure_row, missing_row
from judge_audit.checks.people.labelled_scores import answers
from judge_audit.core.digests import draw_seed
from judge_audit.core.messages import say
from judge_audit.measures.correlation import column, spearman
from judge_audit.measures.resampling import Resampled, alike, combined, draws_for, resample

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from judge_audit.checks.evidence import Evidence

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]

NAME = "retest"
MEASURES = ("retest_exact", "retest_difference", "retest_spearman")


def run(evidence: Evidence) -> Findings:
    """Measure the judge with itself in every dimension, per source and over sources."""
    findings = Findings()
    for dimension in evidence.card.dimensions:
        findings += _dimension(evidence, dimension)
    return findings


def _dimension(evidence: Evidence, dimension: str) -> Findings:
    given = answers(evidence, dimension)
    twice = np.isfinite(given.values).sum(axis=1) > 1
    if not twice.any():
        reason = say("retest.never")
        return Findings(
            verdicts=(
                missing_row(evidence, NAME, "retest_spearman", dimension, reason, finding="never_repeated"),
            )
        )
    held: dict[str, dict[str, Resampled]] = {}
    for source in sorted(set(given.sources[twice].tolist())):
        mine = given.sources == source
        values = given.values[twice & mine]
        spread = _spread(given.values[mine, 0])
        seed = draw_seed(evidence.seed, NAME, dimension, source)
        held[source] = _source(values, spread, given.clusters[twice & mine], seed)
    held["*"] = {name: combined([part[name] for part in held.values() if name in part]) for name in MEASURES}
    rows = [
        measure_row(evidence, NAME, name, dimension, figure, source=source)
        for source, figures in held.items()
        for name, figure in figures.items()
        if np.isfinite(figure.value)
    ]
    return Findings(measures=tuple(rows))


def _spread(scores: Floats) -> float:
    """Robust standard deviation of the first scores that are there; the plain one if most are equal."""
    known = scores[np.isfinite(scores)]
    if not len(known):
        return 0.0
    return float(1.4826 * np.median(np.abs(known - np.median(known)))) or float(known.std())


def _source(values: Floats, spread: float, clusters: Ints, seed: int) -> dict[str, Resampled]:
    """Measure one source: over items, then over pairs of answers of an item."""
    first, kinds = alike(values)
    table = values[first]
    gaps = np.stack([np.abs(table[:, a] - table[:, b]) for a, b in _pairs(table)], axis=1)
    known = np.isfinite(gaps)
    count = known.sum(axis=1)
    exact = (known & (np.nan_to_num(gaps) < 1e-9)).sum(axis=1) / count
    apart = np.nansum(gaps, axis=1) / count / spread if spread > 0 else np.full(len(table), np.nan)
    ranks = [_rank_pair(table, pair) for pair in _pairs(table)]
    stable = [made for made in ranks if made is not None]

    def figures(weights: Floats) -> dict[str, Floats]:
        total = weights.sum(axis=0)
        found = {"retest_exact": exact @ weights / total, "retest_difference": apart @ weights / total}
        if stable:
            found["retest_spearman"] = np.mean([made(weights) for made in stable], axis=0)
        return found

    return resample(figures, clusters, kinds, draws_for(1), seed)


def _pairs(table: Floats) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(table.shape[1]), 2))


def _rank_pair(table: Floats, pair: tuple[int, int]) -> Callable[[Floats], Floats] | None:
    x, y = table[:, pair[0]], table[:, pair[1]]
    rows = np.isfinite(x) & np.isfinite(y)
    if rows.sum() < 2 or np.ptp(x[rows]) < 1e-9 or np.ptp(y[rows]) < 1e-9:
        return None
    one, other = column(x[rows]), column(y[rows])
    return lambda weights: np.nan_to_num(spearman(weights[rows], one, other))


CHECK = Check(NAME, run, judges=("retest_spearman",))

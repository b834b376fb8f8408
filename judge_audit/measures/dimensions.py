"""Are sub-scores several, or one score several times? Responses to deliberate mismatches, kind by dimension.

Δ are pairs × dimensions: damaged minus intact, oriented, averaged over repeats. In lifts they saturate, in
robust standard deviations they do not: a sub-score is only said to follow another's damage if it does in both
(lifts alone convict a mild halo where damage is severe).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.estimates import MIN_CLUSTERS, MIN_DF, PASS_LEVEL, Answer, Estimate, corrected_level
from judge_audit.measures.lifts import Lifts, combined_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]

DRAWS = 2_000
TINY = 1e-18


@dataclass(frozen=True, slots=True)
class Resampled:
    """A figure with bootstrap draws.

    Attributes:
        value: The figure; NaN if there is nothing to estimate it from.
        draws: The same in resamples of clusters within sources; NaN where a resample could not give it.
        n: Pairs behind it.
        n_clusters: Independent clusters behind it.
        df: Clusters minus sources.
    """

    value: float
    draws: Floats
    n: int
    n_clusters: int
    df: int

    @property
    def usable(self) -> bool:
        """Whether there are enough clusters for an interval to be honest."""
        enough = self.n_clusters >= MIN_CLUSTERS and self.df >= MIN_DF
        return enough and math.isfinite(self.value) and bool(np.isfinite(self.draws).mean() > 0.99)

    def interval(self, level: float) -> tuple[float, float]:
        """Percentile interval, its half-widths times √(n/(n−1))·t/z; infinite if not usable."""
        if not self.usable:
            return -math.inf, math.inf
        known = self.draws[np.isfinite(self.draws)]
        low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
        t, z = special.stdtrit(self.df, (1 + level) / 2), special.ndtri((1 + level) / 2)
        wider = math.sqrt(self.n_clusters / (self.n_clusters - 1)) * t / z
        return self.value - wider * (self.value - low), self.value + wider * (high - self.value)


def combined(first: Lifts, second: Lifts, *, times: float, plus: float) -> Lifts:
    """Give times · first + plus · second for lifts of the same pairs."""
    return Lifts(
        times * first.values + plus * second.values,
        times * first.without + plus * second.without,
        first.clusters,
    )


def drops(response: Estimate, fall: float, claims: int) -> Answer:
    """Ask whether a sub-score falls on its own damage.

    Pass: the 90 % interval lies below −fall. Fail: the corrected interval lies wholly above it.
    """
    if response.interval(PASS_LEVEL)[1] < -fall:
        return Answer(Verdict.PASS)
    if response.interval(corrected_level(claims))[0] > -fall:
        return Answer(Verdict.FAIL, 1)
    return Answer(Verdict.INCONCLUSIVE)


@dataclass(frozen=True, slots=True)
class Cell:
    """What two sub-scores do on one kind of damage, per source: the damaged one and the one looked at.

    Attributes:
        own: Lifts of the damaged one.
        own_raw: The same in standard deviations.
        other: Lifts of the other.
        other_raw: The same in standard deviations.
        scales: Per source, how far the two standard deviations are known: shape (B, 2), of own and other, the
            factor by which a resample of the untouched scores would change the responses; none: exactly.
    """

    own: tuple[Lifts, ...]
    own_raw: tuple[Lifts, ...]
    other: tuple[Lifts, ...]
    other_raw: tuple[Lifts, ...]
    scales: tuple[Floats, ...] = ()

    def excess(self, side: int, share: float) -> tuple[Estimate, Estimate]:
        """Estimate ±R_ij + share · R_ii in lift and in standard deviations."""
        lift, raw = (
            combined_mean([combined(b, a, times=side, plus=share) for a, b in zip(owns, others, strict=True)])
            for owns, others in ((self.own, self.other), (self.own_raw, self.other_raw))
        )
        return lift, replace(raw, variance=raw.variance + self._unknown_scale(side, share))

    def _unknown_scale(self, side: int, share: float) -> float:
        """Variance of the second for not knowing the standard deviations exactly."""
        counts = [int(np.isfinite(b.values).sum()) for b in self.other_raw]
        found = 0.0
        for index, scale in enumerate(self.scales):
            means = [
                float(np.nanmean(p[index].values)) if counts[index] else 0.0
                for p in (self.own_raw, self.other_raw)
            ]
            moved = side * means[1] * scale[:, 1] + share * means[0] * scale[:, 0]
            found += (counts[index] / max(1, sum(counts))) ** 2 * float(moved.var())
        return found


def holds(cell: Cell, share: float, claims: int) -> Answer:
    """Ask whether a sub-score holds while another's damage is done.

    It follows if |R_ij| exceeds `share` · |R_ii| at the corrected level in lift and, in the same direction,
    in standard deviations; it holds if the 90 % interval in standard deviations lies within. R_ii is
    negative (the diagonal passed), so |R_ij| − share · |R_ii| = ±R_ij + share · R_ii is a mean of pairs.
    """
    level = corrected_level(claims)
    within = True
    for side in (1, -1):
        excess = cell.excess(side, share)
        if all(part.interval(level)[0] > 0 for part in excess):
            return Answer(Verdict.FAIL, side)
        within = within and excess[1].interval(PASS_LEVEL)[1] < 0
    return Answer(Verdict.PASS) if within else Answer(Verdict.INCONCLUSIVE)


def effective(moments: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Count effective dimensions: n_eff = D² / Σ C_ij², C_ij = M_ij / √(M_ii · M_jj).

    Args:
        moments: Uncentred second moments M, shape (..., D, D).

    Returns:
        n_eff, shape (...), NaN where every dimension is silent; and where M_jj = 0, shape (..., D): such
        dimensions are left out of D.
    """
    diagonal = np.diagonal(moments, axis1=-2, axis2=-1)
    silent = ~(diagonal > TINY)
    scale = np.where(silent, 1.0, np.sqrt(np.where(silent, 1.0, diagonal)))
    alike = moments / scale[..., :, None] / scale[..., None, :]
    live = ~silent[..., :, None] & ~silent[..., None, :]
    total = np.where(live, alike, 0.0)
    count = (~silent).sum(axis=-1).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return count**2 / (total**2).sum(axis=(-2, -1)), silent


@dataclass(frozen=True, slots=True)
class Responses:
    """Δ of pairs in robust standard deviations, complete in every dimension.

    Attributes:
        deltas: Shape (P, D), finite.
        kinds: Number of each pair's kind, 0 … K−1, shape (P,).
        sources: Number of its source, shape (P,).
        clusters: Number of its cluster inside the source, shape (P,).
        scales: How far the standard deviations are known: see `Draws`, shape (B', D).
    """

    deltas: Floats
    kinds: Ints
    sources: Ints
    clusters: Ints
    scales: Floats | None = None

    def drawn(self, *, seed: int, draws: int = DRAWS) -> Draws:
        """Resample clusters within sources.

        Args:
            seed: Of the draws.
            draws: How many.
        """
        sums, source_of = self._sums()
        rng = np.random.default_rng(seed)
        weights = np.ones((1 + draws, len(sums)))
        for source in np.unique(source_of):
            at = np.flatnonzero(source_of == source)
            weights[1:, at] = rng.multinomial(len(at), np.full(len(at), 1 / len(at)), size=draws)
        d = self.deltas.shape[1]
        told = (weights @ sums.reshape(len(sums), -1)).reshape(len(weights), *sums.shape[1:])
        with np.errstate(invalid="ignore", divide="ignore"):
            means = told[..., 1:] / told[..., :1]
        moments = means[..., d:].reshape(*means.shape[:-1], d, d)
        held = len(sums)
        scales = None
        if self.scales is not None:
            picked = self.scales[rng.integers(len(self.scales), size=draws)]
            scales = np.concatenate([np.ones((1, d)), picked])
        df = held - len(np.unique(source_of))
        return Draws(means[..., :d], moments, len(self.deltas), held, df, scales)

    def _sums(self) -> tuple[Floats, Ints]:
        """Sum counts, Δ and ΔΔᵀ of each cluster and kind: shape (C, K, 1 + D + D²); sources of clusters."""
        names, of = np.unique(np.stack([self.sources, self.clusters]), axis=1, return_inverse=True)
        p, d = self.deltas.shape
        outer = (self.deltas[:, :, None] * self.deltas[:, None, :]).reshape(p, d * d)
        rows = np.concatenate([np.ones((p, 1)), self.deltas, outer], axis=1)
        sums = np.zeros((names.shape[1], int(self.kinds.max()) + 1, rows.shape[1]))
        np.add.at(sums, (of.ravel(), self.kinds), rows)
        return sums, names[0].astype(np.intp)


@dataclass(frozen=True, slots=True)
class Draws:
    """Mean responses and uncentred second moments of each kind: as observed, then in every resample.

    Attributes:
        means: Shape (1 + B, K, D); NaN for a kind that a resample left without pairs.
        moments: (1/n_k)·ΔᵀΔ, shape (1 + B, K, D, D).
        n: Pairs.
        n_clusters: Clusters.
        df: Clusters minus sources.
        scales: Factors by which resampled standard deviations change the responses, shape (1 + B, D), the
            first row 1; None if they are known exactly.
    """

    means: Floats
    moments: Floats
    n: int
    n_clusters: int
    df: int
    scales: Floats | None = None

    def of(self, told: Floats) -> Resampled:
        """Make a figure of what a statistic gave for each, shape (1 + B,)."""
        return Resampled(float(told[0]), told[1:], self.n, self.n_clusters, self.df)

    def spills(self, kind: int, own: int) -> Floats:
        """|R_ij| / |R_ii| in standard deviations for every dimension j, shape (1 + B, D)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.abs(self.means[:, kind, :]) / np.abs(self.means[:, kind, own, None])
        if self.scales is not None:
            found = found * self.scales / self.scales[:, own, None]
        return np.where(np.isfinite(found), found, np.nan)


def effective_dimensions(drawn: Draws) -> Resampled:
    """Estimate n_eff from M = mean over kinds of (1/n_k)·ΔᵀΔ, not centred.

    About the mean the correlation would rise with halo and miss noisy copies.
    """
    return drawn.of(effective(drawn.moments.mean(axis=1))[0])


def silent_dimensions(drawn: Draws) -> NDArray[np.bool_]:
    """Say which dimensions never moved, shape (D,)."""
    return effective(drawn.moments[0].mean(axis=0))[1]


def spill(drawn: Draws, kind: int, own: int, other: int) -> Resampled:
    """Estimate |R_ij| / |R_ii|: how much of a damage's response another dimension shows too."""
    return drawn.of(drawn.spills(kind, own)[:, other])


def selectivity(drawn: Draws, rows: Sequence[tuple[int, int]], other: int) -> Resampled:
    """Estimate 1 − the largest spill into a dimension.

    Args:
        drawn: The responses.
        rows: The kinds on which it must hold, each with the dimension it damages.
        other: The dimension.
    """
    found = np.stack([drawn.spills(kind, own)[:, other] for kind, own in rows])
    return drawn.of(1 - found.max(axis=0))

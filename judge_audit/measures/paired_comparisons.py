"""Pictures compared in pairs: Bradley–Terry strengths within a prompt, contradictions, and position bias.

P(i beats j) = 1/(1 + exp(θ_j − θ_i)) (Bradley & Terry 1952), fitted by choix. A pair counts as one observation
however often it was asked: the share of its askings, over both orders and all repeats, that each member won, a tie
half to each. Answers of one judge about one pair are far from independent, so more of them narrow no interval.

Position bias is what a judge that compares owes to the places of the pictures: both orders of every pair, compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from judge_audit.measures.estimates import NOTHING, Estimate
from judge_audit.measures.lifts import FEW_MOVED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]

PRIOR = 0.1
"""Of a drawn observation, added to each compared pair: a candidate that wins always has a finite strength."""

SAME = 6
"""Decimals by which two strengths are the same: the fit stops at 1e-8."""


@dataclass(frozen=True, slots=True, eq=False)
class Strengths:
    """Strengths of the candidates of one prompt.

    Attributes:
        values: θ, mean 0, shape (k,).
        errors: Standard error of each, shape (k,).
        places: Rank, 1 = strongest, ties share the mean, shape (k,).
    """

    values: Floats
    errors: Floats
    places: Floats


def won_shares(names: Sequence[str], answers: Iterable[tuple[str, str, bool, float]]) -> Floats:
    """Give the share of its askings in which each candidate won against each other.

    An order that was asked more often than the other weighs no more: a judge's preference for a place falls out.
    A pair of which one order has no answer was not compared.

    Args:
        names: The candidates.
        answers: First and second member, whether the second was shown first, and what the second won (1, ½, 0).

    Returns:
        See `bradley_terry`.
    """
    place = {name: at for at, name in enumerate(names)}
    total = np.zeros((2, len(names), len(names)))
    count = np.zeros_like(total)
    for first, second, flipped, won in answers:
        one, other, order = place[first], place[second], int(flipped)
        total[order, other, one] += won
        total[order, one, other] += 1 - won
        count[order, other, one] += 1
        count[order, one, other] += 1
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((total / count).mean(axis=0), float)


def bradley_terry(shares: Floats) -> Strengths | None:
    """Fit the strengths of some candidates.

    Args:
        shares: Share of the pair's askings that the row's candidate won against the column's, ties half; NaN where
            the pair was not compared, shape (k, k); shares[i, j] + shares[j, i] = 1.

    Returns:
        The strengths; None if the comparisons do not join all candidates, so that there is no common order.
    """
    compared = np.isfinite(shares)
    np.fill_diagonal(compared, val=False)
    if len(shares) < 2 or not connected(compared):
        return None
    import choix  # noqa: PLC0415 - brings scipy.optimize, which nobody else needs

    wins = np.where(compared, np.nan_to_num(shares) + PRIOR / 2, 0.0)
    fitted = np.asarray(choix.ilsr_pairwise_dense(wins, max_iter=10_000), float)
    values = np.round(fitted - fitted.mean(), SAME)
    return Strengths(values, _errors(values, compared), rankdata(-values))


def _errors(values: Floats, compared: NDArray[np.bool_]) -> Floats:
    """Give standard errors by the information at the fit, one observation (and the prior's) per pair."""
    chance = 1 / (1 + np.exp(values[None, :] - values[:, None]))
    each = np.where(compared, (1 + PRIOR) * chance * (1 - chance), 0.0)
    information = np.diag(each.sum(axis=1)) - each
    return np.asarray(np.round(np.sqrt(np.clip(np.diag(np.linalg.pinv(information)), 0, None)), SAME), float)


def connected(compared: NDArray[np.bool_]) -> bool:
    """Tell whether comparisons join all candidates: compared is symmetric, shape (k, k)."""
    reached = np.zeros(len(compared), bool)
    reached[0] = True
    for _ in range(len(compared)):
        reached |= compared[reached].any(axis=0)
    return bool(reached.all())


def cyclic_triads(shares: Floats) -> tuple[int, int]:
    """Count triples whose choices go round in a circle (Kendall & Babington Smith 1940).

    A pair's winner is whoever won more of its askings. Of choices by chance a quarter are circles.

    Args:
        shares: As for `bradley_terry`.

    Returns:
        Circles, and triples whose three pairs were all compared and decided.
    """
    beats = np.nan_to_num(shares, nan=0.5) > 0.5
    decided = beats | beats.T
    circles = triads = 0
    for one, two, three in combinations(range(len(shares)), 3):
        if decided[one, two] and decided[two, three] and decided[one, three]:
            triads += 1
            circles += bool(beats[one, two] == beats[two, three] == beats[three, one])
    return circles, triads


@dataclass(frozen=True, slots=True, eq=False)
class Orders:
    """Pairs that were answered in both orders.

    Attributes:
        plain: What the left picture won with the first member left: 1, ½ (a tie) or 0, shape (n,).
        flipped: The same with the second member left, shape (n,).
        pairs: Number of the pair; repeats of one pair share it, shape (n,).
        clusters: Pairs that are not independent share a cluster, shape (n,).
    """

    plain: Floats
    flipped: Floats
    pairs: Ints
    clusters: Ints

    @property
    def answers(self) -> Floats:
        """What the left picture won, all answers, shape (2n,)."""
        return np.concatenate([self.plain, self.flipped])

    @property
    def left_wins(self) -> int:
        """Answers that name the left picture."""
        return int((self.answers == 1).sum())

    @property
    def decided(self) -> int:
        """Answers that are no tie."""
        return int((self.answers != 0.5).sum())

    def left_lean(self) -> Estimate:
        """Share of the left picture beyond a half, a tie half; which picture is better falls out of it.

        The place is the judge's own, so pairs are independent of one another in it.
        """
        return clustered_mean((self.plain + self.flipped) / 2 - 0.5, self.pairs)

    def agreement(self) -> Estimate:
        """Mean of +1 where the same picture won in both orders, −1 where the same place did, 0 after a tie."""
        first = 2 * self.plain - 1
        again = 1 - 2 * self.flipped
        return clustered_mean(first * again, self.clusters)

    def same_winner(self) -> tuple[int, int]:
        """Count pairs decided in both orders in which the same picture won, and all such pairs."""
        both = (self.plain != 0.5) & (self.flipped != 0.5)
        return int((both & (self.plain != self.flipped)).sum()), int(both.sum())


def clustered_mean(values: Floats, clusters: Ints) -> Estimate:
    """Mean with a delete-one-cluster jackknife: V = (C−1)/C · Σ (θ(−c) − mean)², df = C − 1.

    Where fewer than five clusters differ from 0, two pseudo-clusters of ±½ stand for those not yet seen, as for
    lifts: what never happened in few pairs may yet happen.

    Args:
        values: Shape (n,).
        clusters: Cluster of each, shape (n,).
    """
    names, own = np.unique(clusters, return_inverse=True)
    count = len(names)
    if not len(values):
        return NOTHING
    mean = float(values.mean())
    if count < 2:
        return Estimate(mean, 0.0, 0, len(values), count)
    sums, sizes = np.bincount(own, values), np.bincount(own)
    dropped = (values.sum() - sums) / (len(values) - sizes)
    variance = (count - 1) / count * float(((dropped - dropped.mean()) ** 2).sum())
    moved = int((np.bincount(own, np.abs(values)) > 0).sum())
    if moved < FEW_MOVED:
        variance += 0.5 / ((count + 1) * (count + 2))
    return Estimate(mean, variance, count - 1, len(values), count)

"""What a judge that compares owes to the places of the pictures: both orders of every pair, held side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.measures.estimates import NOTHING, Estimate
from judge_audit.measures.lifts import FEW_MOVED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]


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

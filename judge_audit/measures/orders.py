"""Orders of items as matrices of signs: rank correlation, pairs turned round, shares of a top, under weights.

A matrix holds, for items i and j, +1 if i stands above j, −1 if below and 0 if they are tied. Under weights w
(n, B) a sum over pairs is the quadratic form wᵀMw, so a figure and all its resamples are a few products of
matrices; copies of one item are tied with one another and enter nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.measures.lifts import rounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Signs = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """An order of n items.

    Attributes:
        signs: +1, −1 or 0 for each pair, shape (n, n).
        untied: Whether any two different items are never tied: their sum is then known without a product.
    """

    signs: Signs
    untied: bool


def order_of(values: Floats) -> Order:
    """Order finite values, higher above lower; rounded to 1e-9 before they are compared.

    Args:
        values: Shape (n,).
    """
    held = rounded(values)
    signs = np.sign(held[:, None] - held[None, :])
    return Order(signs, len(np.unique(held)) == len(held))


def pair_sum(matrix: Floats, weights: Floats) -> Floats:
    """Sum a symmetric matrix over ordered pairs under weights (n, B): wᵀMw, shape (B,)."""
    return np.asarray(np.einsum("ib,ib->b", weights, matrix @ weights))


def untied_pairs(order: Order, weights: Floats) -> Floats:
    """Count the ordered pairs that an order does not tie, under weights (n, B): shape (B,)."""
    if order.untied:
        return np.asarray(weights.sum(axis=0) ** 2 - (weights**2).sum(axis=0))
    return pair_sum(np.abs(order.signs), weights)


def tau_b(weights: Floats, first: Order, second: Order) -> Floats:
    """Kendall's rank correlation with ties, τ_b (Kendall 1945), under weights (n, B): shape (B,).

    Concordant minus discordant pairs over the root of the pairs untied in either order; NaN if one ties all.
    """
    sizes = untied_pairs(first, weights) * untied_pairs(second, weights)
    same = first is second
    agree = untied_pairs(first, weights) if same else pair_sum(first.signs * second.signs, weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(sizes > 0, np.clip(agree / np.sqrt(sizes), -1.0, 1.0), np.nan)


def settled(values: Floats, share: float) -> Signs:
    """Order pairs only where more than a share of the repeats order them so.

    Args:
        values: Scores of each item in each repeat, NaN where missing, shape (n, R).
        share: Share of the repeats that must be exceeded; repeats in which a member is missing do not count.

    Returns:
        Signs, shape (n, n).
    """
    n, repeats = values.shape
    held = rounded(values)
    above, known = np.zeros((n, n)), np.zeros((n, n))
    for repeat in range(repeats):
        column = held[:, repeat]
        fine = np.isfinite(column)
        known += fine[:, None] & fine[None, :]
        with np.errstate(invalid="ignore"):
            above += column[:, None] > column[None, :]
    wanted = share * known + 1e-9
    return np.asarray((above > wanted).astype(float) - (wanted < above.T).astype(float))


def middle_ranks(values: Floats) -> Floats:
    """Rank finite values, the highest first at 1; ties share their middle rank."""
    signs = order_of(values).signs
    return np.asarray((signs < 0).sum(axis=1) + ((signs == 0).sum(axis=1) + 1) / 2)


@dataclass(frozen=True, slots=True, eq=False)
class Descent:
    """Items from the highest level down, to find a top under any weights.

    Attributes:
        level: Level of each item, 0 the highest, shape (n,).
        sorter: Items by level.
        starts: Where each level begins in that order, shape (K,).
    """

    level: NDArray[np.intp]
    sorter: NDArray[np.intp]
    starts: NDArray[np.intp]


def descent(values: Floats) -> Descent:
    """Prepare finite values, shape (n,)."""
    _, level = np.unique(-rounded(values), return_inverse=True)
    sorter = np.argsort(level, kind="stable")
    starts = np.searchsorted(level[sorter], np.arange(int(level.max()) + 1))
    return Descent(level.astype(np.intp), sorter.astype(np.intp), starts.astype(np.intp))


def membership(weights: Floats, held: Descent, size: Floats) -> Floats:
    """Say how far each item belongs to a top of a given weight; ties at its edge share what is left.

    Args:
        weights: Shape (n, B).
        held: The items by level.
        size: Weight of the top, shape (B,).

    Returns:
        Between 0 and 1, shape (n, B).
    """
    totals = np.add.reduceat(weights[held.sorter], held.starts, axis=0)
    above = totals.cumsum(axis=0) - totals
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.clip((size - above) / totals, 0.0, 1.0)
    return np.asarray(np.where(totals > 0, part, 0.0)[held.level])


def churn(weights: Floats, first: Descent, second: Descent, share: float) -> Floats:
    """Give the share of a top that is no longer in it, under weights (n, B): shape (B,).

    Args:
        weights: Shape (n, B).
        first: One order of the items.
        second: The other.
        share: Share of the items that makes the top; at least one item.
    """
    size = np.maximum(share * weights.sum(axis=0), 1.0)
    both = np.minimum(membership(weights, first, size), membership(weights, second, size))
    return np.asarray(1.0 - np.minimum((weights * both).sum(axis=0) / size, 1.0))

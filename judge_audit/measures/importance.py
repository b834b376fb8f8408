"""What each of several correlated variables adds to R², for many correlation matrices at once.

The share of a variable is its mean gain in R² over all orders in which the variables could enter (Lindeman,
Merenda & Gold 1980; Grömping 2006, *Relative importance for linear regression in R*): the Shapley value of
R². Two copies of a variable share equally, and shares add up to R².
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SINGULAR = 1e-9
"""Variance left below this is rounding: the variable is a copy of those before it."""


def correlations(columns: Floats, kept: Floats) -> Floats:
    """Correlate columns over the items kept.

    Args:
        columns: Shape (B, n, q).
        kept: 1 where an item counts, else 0, shape (B, n).

    Returns:
        Shape (B, q, q); rows and columns of constants are 0.
    """
    weights = kept[:, :, None]
    means = (columns * weights).sum(axis=1, keepdims=True) / weights.sum(axis=1, keepdims=True)
    centred = (columns - means) * weights
    products = np.matmul(centred.transpose(0, 2, 1), centred)
    spread = np.sqrt(np.einsum("bii->bi", products))
    size = np.sqrt(kept.sum(axis=1, keepdims=True))
    inverse = np.where(spread > SINGULAR * size, 1 / np.maximum(spread, SINGULAR * size), 0.0)
    return np.asarray(products * inverse[:, :, None] * inverse[:, None, :])


def explained_by_subsets(matrices: Floats) -> Floats:
    """R² of every subset of the statistics, by the tree of Schur complements.

    At each step the first statistic left is either dropped or swept out of all that is left; at the end what
    is left of the last variable's variance is 1 − R². All subsets together cost as much as a few fits.

    Args:
        matrices: Correlations of p statistics and, last, the scores, shape (B, p + 1, p + 1).

    Returns:
        Shape (B, 2^p); bit k of the position counted from the highest is statistic k.
    """
    left = matrices[:, None]
    while left.shape[-1] > 1:
        pivot = left[:, :, 0, 0]
        sound = pivot > SINGULAR
        inverse = np.where(sound, 1 / np.where(sound, pivot, 1.0), 0.0)
        row = left[:, :, 0, 1:]
        rest = left[:, :, 1:, 1:]
        swept = rest - (row * inverse[..., None])[..., :, None] * row[..., None, :]
        left = np.stack([rest, swept], axis=2).reshape(len(rest), -1, *rest.shape[2:])
    return np.asarray(matrices[:, None, -1, -1] - left[:, :, 0, 0])


def mean_gains(explained: Floats) -> Floats:
    """Average each statistic's gain in R² over all orders of entry.

    Args:
        explained: R² of every subset, shape (B, 2^p), as `explained_by_subsets` gives it.

    Returns:
        Shape (B, p).
    """
    count = explained.shape[1].bit_length() - 1
    subsets = np.arange(explained.shape[1])
    sizes = np.array([int(subset).bit_count() for subset in subsets])
    gains = []
    for feature in range(count):
        bit = 1 << (count - 1 - feature)
        without = subsets[(subsets & bit) == 0]
        size = sizes[without]
        orders = special.factorial(size) * special.factorial(count - 1 - size) / special.factorial(count)
        gains.append((explained[:, without | bit] - explained[:, without]) @ orders)
    return np.stack(gains, axis=1)


def least_squares(matrices: Floats) -> Floats:
    """Weights of the last variable on the others; of copies, the smallest ones.

    Args:
        matrices: Correlations, or products about the means, shape (B, p + 1, p + 1).

    Returns:
        Shape (B, p).
    """
    inverse = np.linalg.pinv(matrices[:, :-1, :-1], rcond=SINGULAR, hermitian=True)
    return np.asarray(np.einsum("bij,bj->bi", inverse, matrices[:, :-1, -1]))

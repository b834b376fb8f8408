"""Ranks from comparisons: Bradley–Terry strengths within a prompt, and whether choices contradict one another.

P(i beats j) = 1/(1 + exp(θ_j − θ_i)) (Bradley & Terry 1952), fitted by choix. A pair counts as one observation
however often it was asked: the share of its askings, over both orders and all repeats, that each member won, a tie
half to each. Answers of one judge about one pair are far from independent, so more of them narrow no interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

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

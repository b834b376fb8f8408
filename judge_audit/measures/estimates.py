"""Estimates with intervals, and verdicts that compare a whole interval with a margin."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import special

from judge_audit.core.vocabulary import Verdict

PASS_LEVEL = 0.90
"""Two one-sided tests at 5 %: the 90 % interval must satisfy the requirement."""

FAULT_ERROR = 0.05
"""Chance of convicting a sound judge of anything, shared among the m claims tested together."""

MIN_CLUSTERS = 8
MIN_DF = 6


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with what its interval needs.

    Attributes:
        value: The figure; NaN if there is nothing to estimate it from.
        variance: Its sampling variance.
        df: Degrees of freedom of the variance.
        n: Items behind it.
        n_clusters: Independent clusters behind it.
    """

    value: float
    variance: float
    df: int
    n: int
    n_clusters: int

    @property
    def usable(self) -> bool:
        """Whether there are enough clusters for an interval to be honest."""
        return math.isfinite(self.value) and self.n_clusters >= MIN_CLUSTERS and self.df >= MIN_DF

    def interval(self, level: float) -> tuple[float, float]:
        """Give the interval value ± t·√variance at a level in (0, 1); infinite if not usable."""
        if not self.usable:
            return -math.inf, math.inf
        half = float(special.stdtrit(self.df, (1 + level) / 2)) * math.sqrt(self.variance)
        return self.value - half, self.value + half


NOTHING = Estimate(math.nan, math.nan, 0, 0, 0)


def corrected_level(claims: int) -> float:
    """Give the level at which a fault is convicted when `claims` are tested together."""
    return 1 - FAULT_ERROR / max(claims, 1)


def wilson(hits: float, n: float, level: float = PASS_LEVEL) -> tuple[float, float]:
    """Give Wilson's score interval of a share (Wilson 1927); (0, 1) when n is 0; hits and n may be fractions."""
    if n <= 0:
        return 0.0, 1.0
    z = float(special.ndtri((1 + level) / 2))
    share = hits / n
    middle = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an interval says of a margin: the verdict, and on which side a fault lies (-1, 0, 1)."""

    verdict: Verdict
    side: int = 0


def within(estimate: Estimate, margin: float, claims: int) -> Answer:
    """Ask whether a figure stays within ±margin.

    Pass: the 90 % interval lies inside. Fail: the corrected interval lies wholly beyond one side.
    """
    low, high = estimate.interval(PASS_LEVEL)
    if -margin < low and high < margin:
        return Answer(Verdict.PASS)
    low, high = estimate.interval(corrected_level(claims))
    if low > margin:
        return Answer(Verdict.FAIL, 1)
    if high < -margin:
        return Answer(Verdict.FAIL, -1)
    return Answer(Verdict.INCONCLUSIVE)


def below(estimate: Estimate, margin: float, claims: int) -> Answer:
    """Ask whether a figure stays below a margin: pass wholly below at 90 %, fail wholly above, corrected."""
    if estimate.interval(PASS_LEVEL)[1] < margin:
        return Answer(Verdict.PASS)
    if estimate.interval(corrected_level(claims))[0] > margin:
        return Answer(Verdict.FAIL, 1)
    return Answer(Verdict.INCONCLUSIVE)


def items_needed(
    estimate: Estimate, margin: float, claims: int, *, low: float | None = None, high: float | None = None
) -> int | None:
    """Say how many items would settle on which side of a margin a figure lies.

    n_pass = ((1.645 + 1.28)·sd/(margin − |θ|))², n_fail = ((z + 0.84)·sd/(|θ| − margin))² with z the
    two-sided normal quantile of the corrected level; the one on whose side θ lies.

    Args:
        estimate: The figure, θ.
        margin: Size of the margin.
        claims: Claims tested together.
        low: Lower end of what is sound, None if open; both ends None: sound is within ±margin.
        high: Upper end of what is sound.

    Returns:
        The number of items, or None when θ lies within 20 % of the margin (too close to settle) or there
        is nothing to go by.
    """
    if not estimate.usable or estimate.variance <= 0:
        return None
    deviation = math.sqrt(estimate.variance * estimate.n)
    if low is None and high is None:
        low, high = -margin, margin
    one_sided = low is None and high is not None and high > 0
    distance = (estimate.value if one_sided else abs(estimate.value)) - margin
    if abs(distance) < 0.2 * margin:
        return None
    sound = (low is None or estimate.value > low) and (high is None or estimate.value < high)
    z = 1.645 + 1.28 if sound else float(special.ndtri((1 + corrected_level(claims)) / 2)) + 0.84
    return math.ceil((z * deviation / distance) ** 2)


def newcombe(
    first: tuple[int, int], second: tuple[int, int], level: float = PASS_LEVEL
) -> tuple[float, float]:
    """Give the interval of a difference of two shares from Wilson's limits (Newcombe 1998, method 10).

    Args:
        first: Hits and number of the share that is taken from.
        second: Hits and number of the share taken off.
        level: Level in (0, 1).
    """
    (low_1, high_1), (low_2, high_2) = (wilson(*part, level) for part in (first, second))
    p_1, p_2 = (hits / n if n else math.nan for hits, n in (first, second))
    down = math.hypot(p_1 - low_1, high_2 - p_2)
    up = math.hypot(high_1 - p_1, p_2 - low_2)
    return p_1 - p_2 - down, p_1 - p_2 + up

"""How much evidence does a verdict need, before any money is spent?

The power of a design is the share of rehearsed audits that reach the wanted verdict. The size that gives a
wanted power is read off a curve through rehearsals at several sizes: probit of the power over √n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from judge_audit.core.digests import draw_seed
from judge_audit.core.vocabulary import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit.measures.pilot import Design, Noise
    from judge_audit.measures.power_simulation import Rehearsed

DRAWS = 400
SMALLEST = {
    "items": 8,
    "pairs": 8,
    "labelled": 8,
    "untouched": 10,
    "sources": 1,
    "repeats": 1,
    "annotators": 2,
}
LARGEST = {"repeats": 32, "annotators": 12, "sources": 12}
MOST = 4_000


@dataclass(frozen=True, slots=True)
class Needed:
    """What a verdict needs.

    Attributes:
        vary: What was varied: items, pairs, labelled, untouched, sources, repeats or annotators.
        n: How many, None if even the most tried is not enough.
        power: Power rehearsed at n (at the most tried if n is None).
        tried: Power at every size rehearsed.
    """

    vary: str
    n: int | None
    power: float
    tried: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Prices:
    """What evidence costs: a score of the judge, and a label or reading by one person."""

    score: float = 0.0
    label: float = 0.0

    def of(self, design: Design, *, axes: int = 1, rungs: int = 1, kinds: int = 4) -> float:
        """Price a design.

        Args:
            design: The design.
            axes: Axes on each ladder item.
            rungs: Rungs of each; two people read every ladder.
            kinds: Kinds of pairs.
        """
        scores = design.untouched * design.sources + design.items * axes * rungs + design.pairs * kinds
        labels = 2 * design.items * axes + design.labelled * design.annotators
        return self.score * scores * design.repeats + self.label * labels


def power(
    question: Rehearsed,
    noise: Noise,
    design: Design,
    *,
    verdict: Verdict = Verdict.PASS,
    draws: int = DRAWS,
    seed: int = 0,
) -> float:
    """Give the share of rehearsed audits that end in a verdict."""
    rng = np.random.default_rng(draw_seed(seed, "planning", repr(question), repr(design)))
    return sum(question.verdict(noise, design, rng) == verdict for _ in range(draws)) / draws


def needed(  # noqa: PLR0913 - the same, and how far to go
    question: Rehearsed,
    noise: Noise,
    design: Design,
    *,
    vary: str,
    wanted: float = 0.8,
    verdict: Verdict = Verdict.PASS,
    draws: int = DRAWS,
    most: int | None = None,
    seed: int = 0,
) -> Needed:
    """Find how many of something a verdict needs for a wanted power, all else as in the design.

    Args:
        question: The question.
        noise: How the judge's scores spread.
        design: Everything else.
        vary: The field of the design to vary.
        wanted: Power.
        verdict: The verdict that is to be reached.
        draws: Rehearsals at each size.
        most: The most to try.
        seed: Of the draws.
    """
    most = LARGEST.get(vary, MOST) if most is None else most
    tried: dict[int, float] = {}

    def at(n: int) -> float:
        if n not in tried:
            sized = replace(design, **{vary: n})
            tried[n] = power(question, noise, sized, verdict=verdict, draws=draws, seed=seed)
        return tried[n]

    n = min(SMALLEST[vary], most)
    while at(n) < wanted and n < most:
        n = min(most, max(n + 1, math.ceil(1.4 * n)))
    if at(n) < wanted:
        return Needed(vary, None, at(n), dict(sorted(tried.items())))
    for _ in range(2):
        read = _read_off(tried, wanted, draws)
        n = min(most, max(SMALLEST[vary], read)) if read else n
        at(n)
    return Needed(vary, n, at(n), dict(sorted(tried.items())))


def _read_off(tried: Mapping[int, float], wanted: float, draws: int) -> int | None:
    """Read the size for a wanted power off a line: probit of the power over √n, weighted; None if flat."""
    sizes = np.array([n for n, share in tried.items() if 0.05 < share < 0.99], float)
    shares = np.array([share for share in tried.values() if 0.05 < share < 0.99])
    if len(sizes) < 2:
        return None
    held = (shares * draws + 0.5) / (draws + 1)
    probits = special.ndtri(held)
    density = np.exp(-(probits**2) / 2) / math.sqrt(2 * math.pi)
    # Near the wanted power the line is straight; further off it need not be.
    weights = density / np.sqrt(held * (1 - held)) * np.exp(-((probits - special.ndtri(wanted)) ** 2) / 2)
    slope, start = np.polyfit(np.sqrt(sizes), probits, 1, w=weights)
    if slope <= 0:
        return None
    root = (special.ndtri(wanted) - start) / slope
    return max(1, math.ceil(root**2)) if root > 0 else None


def bought(  # noqa: PLR0913 - the same, and what it may cost
    question: Rehearsed,
    noise: Noise,
    design: Design,
    *,
    vary: str,
    prices: Prices,
    budget: float,
    verdict: Verdict = Verdict.PASS,
    axes: int = 1,
    rungs: int = 1,
    draws: int = DRAWS,
    most: int | None = None,
    seed: int = 0,
) -> Needed:
    """Say what a budget buys: the largest size it pays for, and its power.

    Returns:
        n, None if the budget does not pay for the smallest size that can be judged at all.
    """

    def price(n: int) -> float:
        return prices.of(replace(design, **{vary: n}), axes=axes, rungs=rungs)

    low, high = SMALLEST[vary], LARGEST.get(vary, MOST) if most is None else most
    if price(low) > budget:
        return Needed(vary, None, 0.0, {})
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if price(middle) <= budget else (low, middle - 1)
    sized = replace(design, **{vary: low})
    share = power(question, noise, sized, verdict=verdict, draws=draws, seed=seed)
    return Needed(vary, low, share, {low: share})

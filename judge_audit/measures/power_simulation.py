"""Verdicts rehearsed: one made-up audit after another, judged as the real one would be.

Scores are made from the judge's own untouched scores, ties and retest noise, of a pilot or as stated; every
made-up audit is judged by the same functions as a real one. Units are standard deviations of the untouched
scores of a source.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy import special, stats

from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.dimensions import Cell, drops, holds
from judge_audit.measures.estimates import PASS_LEVEL, Estimate, corrected_level, wilson, within
from judge_audit.measures.lifts import Lifts, Reference, averaged, combined_mean, lifts
from judge_audit.measures.stability import Effect, compare, contrasts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from judge_audit.measures.pilot import Design, Noise

    Floats = NDArray[np.float64]

POPULATION = 20_000

UNIT_ERROR = 0.8
"""How well a robust standard deviation is known: this over √n of itself."""


class Rehearsed(Protocol):
    """A question whose verdict can be rehearsed."""

    def verdict(self, noise: Noise, design: Design, rng: np.random.Generator) -> Verdict:
        """Make up one audit and judge it."""
        ...


@dataclass(frozen=True, slots=True)
class Lift:
    """A mean lift against its margin: an edge lift within ±margin, or (falling) one below −margin.

    Attributes:
        shift: Mean change of the score; see `shift_of`.
        margin: The margin.
        claims: Claims tested together.
        falling: Whether the lift must lie below −margin, as at the top of a ladder or on a sub-score's own
            damage; then `pairs` counts instead of `items` if `paired`.
        paired: Whether it is asked of pairs.
    """

    shift: float
    margin: float
    claims: int
    falling: bool = False
    paired: bool = False

    def verdict(self, noise: Noise, design: Design, rng: np.random.Generator) -> Verdict:
        """Make up one audit and judge it."""
        n = design.pairs if self.paired else design.items
        parts = [_moved(noise, self.shift, own, design, rng)[0] for own in shared_out(n, design.sources)]
        estimate = combined_mean(parts)
        if self.falling:
            return drops(estimate, self.margin, self.claims).verdict
        return within(estimate, self.margin, self.claims).verdict


@dataclass(frozen=True, slots=True)
class Drift:
    """An effect that differs between two sources by a shift of the score.

    Attributes:
        shift: What one source answers and the other does not.
        margin: In lift.
        raw_margin: In standard deviations.
        claims: Pairs of sources × axes tested together.
    """

    shift: float
    margin: float
    raw_margin: float
    claims: int

    def verdict(self, noise: Noise, design: Design, rng: np.random.Generator) -> Verdict:
        """Make up one audit of two sources and judge it."""
        lift, raw = {}, {}
        for name, shift in (("one", self.shift), ("other", 0.0)):
            n = shared_out(design.items, max(2, design.sources))[0]
            part, plain = _moved(noise, shift, n, design, rng)
            lift[name], raw[name] = combined_mean([part]), combined_mean([plain])
        effect = Effect("axis", lift, raw)
        return compare(contrasts([effect]), self.margin, self.raw_margin, self.claims).verdict


@dataclass(frozen=True, slots=True)
class Spill:
    """A sub-score that shows a share of the response to another's damage.

    Attributes:
        halo: The share.
        limit: The largest share that is still called holding.
        severity: Mean fall of the damaged sub-score, in its standard deviations.
        claims: Hold cells tested together.
    """

    halo: float
    limit: float
    severity: float
    claims: int

    def verdict(self, noise: Noise, design: Design, rng: np.random.Generator) -> Verdict:
        """Make up pairs of one kind and judge one cell."""
        own, other, scales = [], [], []
        error = UNIT_ERROR / math.sqrt(design.untouched)
        for n in shared_out(design.pairs, design.sources):
            # The same damage reaches both: its severity is shared, retest noise is not.
            damage = -self.severity * np.exp(0.25 * rng.normal(size=n) - 0.03)
            own.append(_scaled(_moved(noise, damage, n, design, rng), error, rng))
            other.append(_scaled(_moved(noise, self.halo * damage, n, design, rng), error, rng))
            scales.append(1 + error * rng.normal(size=(200, 2)))
        cells = [_aligned(tuple(part[at] for part in side), own) for side in (own, other) for at in (0, 1)]
        cell = Cell(cells[0], cells[1], cells[2], cells[3], tuple(scales))
        return holds(cell, self.limit, self.claims).verdict


@dataclass(frozen=True, slots=True)
class Share:
    """A share of reviewed decisions against a limit it must not exceed (one stratum).

    Attributes:
        share: The true share.
        limit: The limit.
        claims: Claims tested together.
    """

    share: float
    limit: float
    claims: int = 1

    def verdict(self, noise: Noise, design: Design, rng: np.random.Generator) -> Verdict:
        """Review so many decisions and judge the share."""
        del noise
        hits = int(rng.binomial(design.labelled, self.share))
        if wilson(hits, design.labelled, PASS_LEVEL)[1] < self.limit:
            return Verdict.PASS
        if wilson(hits, design.labelled, corrected_level(self.claims))[0] > self.limit:
            return Verdict.FAIL
        return Verdict.INCONCLUSIVE


@dataclass(frozen=True, slots=True)
class Beside:
    """A judge held beside annotators: is it as close to the others as each of them is?

    The statistic is Spearman's correlation with the mean of the other annotators, the judge's minus the
    annotator's own, averaged over annotators; its variance from the influence of each item on the correlation
    of ranks.

    Attributes:
        reliability: Correlation of one annotator with another.
        judge: Correlation of the judge with one annotator; an equal judge has the same as another annotator.
        margin: How much less is still called equal.
        levels: Levels of the annotators' scale, 0 for a continuous one; the judge is cut to the same shares.
    """

    reliability: float
    judge: float
    margin: float = 0.05
    levels: int = 5

    def verdict(self, noise: Noise, design: Design, rng: np.random.Generator) -> Verdict:
        """Have so many annotators label so many items, and judge the judge beside them."""
        del noise
        n, k = design.labelled, max(2, design.annotators)
        truth = rng.normal(size=n)
        share = self.reliability
        raters = math.sqrt(share) * truth + math.sqrt(1 - share) * rng.normal(size=(k, n))
        own = min(1.0, self.judge / math.sqrt(share))
        judge = own * truth + math.sqrt(1 - own**2) * rng.normal(size=n)
        if self.levels:
            cuts = special.ndtri(np.arange(1, self.levels) / self.levels)
            raters = np.digitize(raters, cuts).astype(float)
            judge = np.digitize(judge, cuts).astype(float)
        influence, value = np.zeros(n), 0.0
        for at in range(k):
            others = np.delete(raters, at, axis=0).mean(axis=0)
            for side, scores in ((1, judge), (-1, raters[at])):
                found, weight = _correlation(scores, others)
                value += side * found / k
                influence += side * weight / k
        estimate = Estimate(value, float((influence**2).mean() / n), n - 1, n, n)
        low, high = estimate.interval(PASS_LEVEL)
        if low > -self.margin:
            return Verdict.PASS
        return Verdict.FAIL if high < -self.margin else Verdict.INCONCLUSIVE


def shared_out(n: int, sources: int) -> list[int]:
    """Share items out evenly over sources."""
    return [n // sources + (at < n % sources) for at in range(sources) if n // sources + (at < n % sources)]


def shift_of(lift: float, noise: Noise, seed: int = 0) -> float:
    """Find the mean change of the score that gives a mean lift, in a large population.

    Raises:
        ValueError: If no change gives it: a lift lies between −½ and ½ for items drawn at random.
    """
    if lift == 0:
        return 0.0
    low, high = (0.0, 50.0) if lift > 0 else (-50.0, 0.0)
    rng = np.random.default_rng(seed)
    latent = noise.latents(POPULATION, rng)
    before = noise.scores(latent, 1, rng)[:, 0]
    ordered = np.sort(np.round(before, 9))
    departures, state = noise.changes(0.0, POPULATION, rng), rng.bit_generator.state

    def mean(shift: float) -> float:
        rng.bit_generator.state = state
        after = noise.scores(latent + departures + shift, 1, rng)[:, 0]
        return _placed(after, ordered) - 0.5

    ends = mean(low), mean(high)
    if not min(ends) <= lift <= max(ends):
        raise ValueError(f"no change of the score gives a mean lift of {lift}.")
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) < lift else (low, middle)
    return (low + high) / 2


def _placed(values: Floats, ordered: Floats) -> float:
    """Mean mid-distribution place among ordered scores."""
    told = np.round(values, 9)
    sides = np.searchsorted(ordered, told, "left") + np.searchsorted(ordered, told, "right")
    return float(sides.mean() / 2 / len(ordered))


def _moved(
    noise: Noise, shift: float | Floats, n: int, design: Design, rng: np.random.Generator
) -> tuple[Lifts, Lifts]:
    """Make up one source: its untouched items, n of them changed; lifts, and raw changes shaped like them."""
    held = max(design.untouched, n)
    latent = noise.latents(held, rng)
    before = noise.scores(latent, design.repeats, rng)
    moved = latent[:n] + noise.changes(0.0, n, rng) + shift
    after = noise.scores(moved, design.repeats, rng)
    reference, clusters = Reference(before[:, 0], np.arange(held), held), np.arange(n)
    parts = [lifts(after[:, r], before[:n, r], clusters, reference) for r in range(design.repeats)]
    raw = (after - before[:n]).mean(axis=1)
    return averaged(parts), Lifts(raw, np.broadcast_to(raw[:, None], (n, held)), clusters)


def _scaled(part: tuple[Lifts, Lifts], error: float, rng: np.random.Generator) -> tuple[Lifts, Lifts]:
    """Divide raw changes by a standard deviation that is known with an error."""
    raw, scale = part[1], 1 / max(0.2, 1 + error * float(rng.normal()))
    return part[0], Lifts(scale * raw.values, scale * raw.without, raw.clusters)


def _aligned(cell: tuple[Lifts, ...], like: list[tuple[Lifts, Lifts]]) -> tuple[Lifts, ...]:
    """Number clusters of every part as those of the first sub-score: they are the same pairs."""
    return tuple(
        Lifts(part.values, part.without, first.clusters) for part, (first, _) in zip(cell, like, strict=True)
    )


def _correlation(first: Floats, second: Floats) -> tuple[float, Floats]:
    """Spearman's correlation, and the influence of each item on it."""
    ranks = [stats.rankdata(np.round(side, 9)) for side in (first, second)]
    spreads = [float(side.std()) for side in ranks]
    if min(spreads) == 0:
        return 0.0, np.zeros(len(first))
    a, b = ((side - side.mean()) / spread for side, spread in zip(ranks, spreads, strict=True))
    value = float((a * b).mean())
    return value, a * b - value * (a**2 + b**2) / 2

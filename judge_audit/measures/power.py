"""How much evidence does a verdict need, before any money is spent?

The power of a design is the share of rehearsed audits that reach the wanted verdict. The size that gives a
wanted power is read off a curve through rehearsals at several sizes: probit of the power over √n.

Rehearsals. Verdicts rehearsed: one made-up audit after another, judged as the real one would be.

Scores are made from the judge's own untouched scores, ties and retest noise, of a pilot or as stated; every
made-up audit is judged by the same functions as a real one. Units are standard deviations of the untouched
scores of a source.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy import special, stats

from judge_audit.core.digests import draw_seed
from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.dimensions import Cell, drops, holds
from judge_audit.measures.estimates import PASS_LEVEL, Estimate, corrected_level, wilson, within
from judge_audit.measures.lifts import Lifts, Reference, averaged, combined_mean, lifts
from judge_audit.measures.source_comparisons import Effect, compare, contrasts

if TYPE_CHECKING:
    from collections.abc import Mapping

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

"""How far can a score be pushed with changes nobody sees?

What counts is what transfers: a recipe chosen on half of the images, its lift on the other half, swapped and
averaged. The best recipe of each single image rises with the number of looks even for a judge that only shakes;
it stands beside, with the number of looks.

Which changes that nobody sees would an optimiser combine?

A model of second order foretells the lift of any combination from lifts that were seen: those of single axes
and, on few images, of pairs. At equal shares 1/√k of k axes

    lift(S) = Σ aᵢ/√k + (2/k)·Σ dᵢⱼ,    dᵢⱼ = lift of the pair − (aᵢ + aⱼ)/√2,

which is exact for single axes and pairs. What a pair adds is shrunk by its own uncertainty
(d·max(0, 1 − (error/d)²), as James and Stein do), so that noise chooses little. The forecast only chooses; what
was chosen is scored, and judged on images that it was not chosen on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.core.digests import draw_seed
from judge_audit.measures.estimates import NOTHING, Estimate
from judge_audit.measures.lifts import Lifts, averaged, combined_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]


COMBO = "combo:"
JOINT = "&"
CHOSEN = "@"

SINGLE, PAIR, GREEDY = "single axes", "pairs of axes", "greedy combination"
"""Families of recipes, and the kinds of their rows."""

SCORED_SHARE = 0.5
"""A recipe scored on a smaller share of the images is not considered."""


@dataclass(frozen=True, slots=True)
class Named:
    """What the axis of a combined probe says of its recipe.

    Attributes:
        axes: The axes combined, in the order they are applied.
        chosen_on: The half of the clusters whose scores the combination was chosen by, None if by no score.
    """

    axes: tuple[str, ...]
    chosen_on: int | None = None

    @property
    def family(self) -> str:
        """Which family the recipe belongs to."""
        if len(self.axes) > 2:
            return GREEDY
        return PAIR if len(self.axes) == 2 else SINGLE

    @property
    def share(self) -> float:
        """Share of its own last imperceptible rung at which each axis stands: visibilities add in quadrature."""
        return 1 / float(np.sqrt(len(self.axes)))


def combo_axis(recipe: Named) -> str:
    """Name the axis of a combined probe: `combo:<axis>&<axis>…`, with `@0` or `@1` if chosen on a half."""
    half = "" if recipe.chosen_on is None else f"{CHOSEN}{recipe.chosen_on}"
    return COMBO + JOINT.join(recipe.axes) + half


def is_combined(axis: str) -> bool:
    """Tell whether an axis is that of a combined probe."""
    return axis.startswith(COMBO)


def read_combo(axis: str) -> Named:
    """Read the name of a combined probe's axis; any other axis is a recipe of its own."""
    if not axis.startswith(COMBO):
        return Named((axis,))
    body, _, half = axis.removeprefix(COMBO).partition(CHOSEN)
    return Named(tuple(body.split(JOINT)), int(half) if half else None)


def half_of(cluster: str, seed: int) -> int:
    """Give the half (0 or 1) a cluster belongs to; whoever plans a greedy combination must split alike."""
    return draw_seed(seed, "headroom", cluster) & 1


@dataclass(frozen=True, slots=True)
class Candidate:
    """A recipe with the lifts it gave.

    Attributes:
        axis: Its axis: a ladder's own, or that of a combined probe.
        repeats: Per repeat, lifts per source; in each source every candidate has the same items in the same
            order, NaN where it was not scored.
    """

    axis: str
    repeats: tuple[tuple[Lifts, ...], ...]

    @property
    def lifts(self) -> tuple[Lifts, ...]:
        """Lifts per source, over repeats."""
        return tuple(averaged(parts) for parts in zip(*self.repeats, strict=True))


@dataclass(frozen=True, slots=True)
class Forecast:
    """The headroom of a set of recipes.

    Attributes:
        transferable: Mean lift on the half that did not choose.
        chosen: The recipe chosen on half 0 and the one chosen on half 1.
        ridden: For each of the two, its lift on the other half.
    """

    transferable: Estimate
    chosen: tuple[str, ...]
    ridden: tuple[Estimate, ...]


def cross_fitted(candidates: Sequence[Candidate], halves: Sequence[Ints]) -> Forecast | None:
    """Choose the recipe with the largest mean lift on each half, and take its lift on the other.

    The interval holds for the recipes that were chosen. A recipe that was itself chosen on one half counts
    on the other only. Recipes scored on less than half of the images of the choosing half are not considered.

    Args:
        candidates: The recipes.
        halves: Half of each item, per source.

    Returns:
        The forecast; None if a half has nothing to choose from.
    """
    chosen, tested = [], []
    held = {candidate.axis: candidate.lifts for candidate in candidates}
    for half in (0, 1):
        allowed = [axis for axis in held if read_combo(axis).chosen_on in {None, half}]
        means = {axis: _mean(held[axis], [at == half for at in halves]) for axis in allowed}
        known = {axis: mean for axis, mean in means.items() if np.isfinite(mean)}
        if not known:
            return None
        best = max(sorted(known), key=lambda axis: known[axis])
        chosen.append(best)
        tested.append([_kept(part, at != half) for part, at in zip(held[best], halves, strict=True)])
    both = [
        Lifts(
            np.where(np.isnan(first.values), second.values, first.values),
            np.where(np.isnan(first.values)[:, None], second.without, first.without),
            first.clusters,
        )
        for first, second in zip(*tested, strict=True)
    ]
    whole = combined_mean(both)
    if whole is NOTHING:
        return None
    return Forecast(whole, tuple(chosen), tuple(combined_mean(part) for part in tested))


def image_maximum(candidates: Sequence[Candidate], *, fresh: bool) -> Estimate:
    """Mean over images of the best lift any recipe gave.

    Args:
        candidates: The recipes.
        fresh: Whether the best is found by the first repeat and its lift taken from the others, so that a
            judge's own noise is not counted as a gain; else both from the mean over repeats.
    """
    if not candidates:
        return NOTHING
    looks = [candidate.repeats[0] if fresh else candidate.lifts for candidate in candidates]
    gains = [
        tuple(averaged(parts) for parts in zip(*candidate.repeats[1:], strict=True))
        if fresh
        else candidate.lifts
        for candidate in candidates
    ]
    found = []
    for at in range(len(looks[0])):
        seen = np.stack([part[at].values for part in looks])
        known = np.isfinite(seen)
        best = np.where(known, seen, -np.inf).argmax(axis=0)
        rows = np.arange(seen.shape[1])
        values = np.stack([part[at].values for part in gains])[best, rows]
        without = np.stack([part[at].without for part in gains])[best, rows]
        values = np.where(known.any(axis=0), values, np.nan)
        found.append(Lifts(values, without, looks[0][at].clusters))
    return combined_mean(found)


def _mean(parts: Sequence[Lifts], which: Sequence[NDArray[np.bool_]]) -> float:
    """Mean lift over the images of a half; NaN if fewer than half of them were scored."""
    values = np.concatenate([part.values[kept] for part, kept in zip(parts, which, strict=True)])
    known = np.isfinite(values)
    if not known.any() or known.mean() < SCORED_SHARE:
        return float("nan")
    return float(values[known].mean())


def _kept(part: Lifts, which: NDArray[np.bool_]) -> Lifts:
    return Lifts(
        np.where(which, part.values, np.nan), np.where(which[:, None], part.without, np.nan), part.clusters
    )


MIN_GAIN = 1e-9


@dataclass(frozen=True, slots=True)
class Seen:
    """A mean lift that was seen, and its standard error."""

    value: float
    error: float = 0.0


@dataclass(frozen=True, slots=True)
class Foretold:
    """The model.

    Attributes:
        alone: Mean lift of each axis at its last imperceptible rung.
        joint: Lift of pairs of axes, by their names in the order of `alone`.
    """

    alone: Mapping[str, float]
    joint: Mapping[tuple[str, str], Seen]

    def lift(self, axes: Iterable[str]) -> float:
        """Foretell the lift of a combination at equal shares."""
        named = [axis for axis in self.alone if axis in set(axes)]
        k = len(named)
        plain = sum(self.alone[axis] for axis in named) / math.sqrt(k)
        return plain + 2 / k * sum(self.added(pair) for pair in combinations(named, 2))

    def added(self, pair: tuple[str, str]) -> float:
        """Give what a pair adds to its axes alone, shrunk by its error; 0 where it was not seen."""
        seen = self.joint.get(pair)
        if seen is None:
            return 0.0
        more = seen.value - sum(self.alone[axis] for axis in pair) / math.sqrt(2)
        return more * max(0.0, 1 - (seen.error / more) ** 2) if more else 0.0


def best_pair(model: Foretold, allowed: Callable[[Iterable[str]], bool]) -> tuple[str, ...] | None:
    """Give the pair with the largest lift foretold; None if there is none.

    Args:
        model: The model.
        allowed: Tells whether axes may stand together.
    """
    pairs = [pair for pair in combinations(model.alone, 2) if allowed(pair)]
    return max(pairs, key=model.lift, default=None)


def greedy(
    model: Foretold, start: tuple[str, ...], allowed: Callable[[Iterable[str]], bool]
) -> tuple[str, ...]:
    """Add one axis after another to a pair as long as the lift foretold grows, at least one.

    Returns:
        The axes in the order of the model; `start` itself if no further axis may stand beside it.
    """
    held = start
    while True:
        free = [axis for axis in model.alone if axis not in held and allowed((*held, axis))]
        if not free:
            break
        best = max(free, key=lambda axis: model.lift((*held, axis)))
        if len(held) > len(start) and model.lift((*held, best)) <= model.lift(held) + MIN_GAIN:
            break
        held = (*held, best)
    return tuple(axis for axis in model.alone if axis in held)

"""Which changes that nobody sees would an optimiser combine?

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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

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

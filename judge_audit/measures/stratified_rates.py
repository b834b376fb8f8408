"""Rates of a population from samples drawn with recorded probabilities, stratum by stratum.

A rate is Σ W_s·p_s with W_s the share of the population that stratum s holds. Its interval is MOVER's (Zou & Donner
2008): p ± √ΣW_s²(limit_s − p_s)² with Wilson's limits in each stratum, which stays honest where a stratum holds few
bad items or none; a bootstrap of such samples covers 72 % at 95 %. What is estimated is the rate of the process that
made the population, so no finite-population correction shortens an interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from judge_audit.measures.estimates import wilson

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

STEPS = 60
"""Halvings by which the end of an interval is found."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """What was drawn from one stratum and seen.

    Attributes:
        name: Its name.
        size: How much of the population it holds: a count, or the sum of 1/inclusion over what was seen.
        hits: Items seen that have the property; parts of one where people disagree about it.
        n: Independent items seen.
        unseen: Items drawn that nobody has looked at.
    """

    name: str
    size: float
    hits: float
    n: float
    unseen: float = 0.0

    @property
    def share(self) -> float:
        """Share of the items seen that have the property; NaN if none was seen."""
        return self.hits / self.n if self.n > 0 else math.nan

    def filled(self, *, hit: bool) -> Stratum:
        """Count the items that nobody has looked at as having the property, or as not having it."""
        return Stratum(self.name, self.size, self.hits + hit * self.unseen, self.n + self.unseen)


def weighted_stratum(name: str, hits: Sequence[float], inclusions: Sequence[float]) -> Stratum:
    """Make a stratum of items drawn with probabilities of their own: p = Σ(y/π)/Σ(1/π), n = (Σ1/π)²/Σ1/π².

    With equal probabilities p and n are the plain ones; else n is Kish's effective number.

    Args:
        name: Its name.
        hits: 1 where an item has the property, 0 where not, or a part, shape (n,).
        inclusions: Recorded probability of each, in (0, 1], shape (n,).
    """
    weights = [1 / inclusion for inclusion in inclusions]
    total = sum(weights)
    if not total:
        return Stratum(name, 0.0, 0.0, 0.0)
    share = sum(weight * hit for weight, hit in zip(weights, hits, strict=True)) / total
    n = total**2 / sum(weight**2 for weight in weights)
    return Stratum(name, total, share * n, n)


class Bounded(Protocol):
    """A figure that gives its interval."""

    @property
    def value(self) -> float:
        """The figure."""
        ...

    def interval(self, level: float) -> tuple[float, float]:
        """Give its interval at a level in (0, 1)."""
        ...


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of a population, over its strata.

    Attributes:
        strata: Every stratum of the population.
    """

    strata: tuple[Stratum, ...]

    @property
    def size(self) -> float:
        """How large the population is."""
        return sum(part.size for part in self.strata)

    @property
    def n(self) -> int:
        """Items seen."""
        return math.floor(sum(part.n for part in self.strata) + 1e-9)

    @property
    def n_clusters(self) -> int:
        """Independent items seen: the same."""
        return self.n

    @property
    def unseen_share(self) -> float:
        """Share of the items drawn that nobody has looked at."""
        drawn = sum(part.n + part.unseen for part in self.strata)
        return sum(part.unseen for part in self.strata) / drawn if drawn else 0.0

    @property
    def value(self) -> float:
        """Σ W_s·p_s; NaN if there is no population, or a stratum of it that nobody has looked into."""
        if not self.size:
            return math.nan
        return sum(part.size * part.share for part in self.strata if part.size) / self.size

    @property
    def mass(self) -> float:
        """How many of the population have the property."""
        return self.value * self.size

    def interval(self, level: float) -> tuple[float, float]:
        """Give MOVER's interval; (0, 1) where the rate is not known."""
        value = self.value
        if math.isnan(value):
            return 0.0, 1.0
        down = up = 0.0
        for part in self.strata:
            weight = part.size / self.size
            low, high = wilson(part.hits, part.n, level)
            down += (weight * (part.share - low)) ** 2
            up += (weight * (high - part.share)) ** 2
        return max(0.0, value - math.sqrt(down)), min(1.0, value + math.sqrt(up))

    def filled(self, *, hit: bool) -> Rate:
        """Count all that nobody has looked at as having the property, or as not having it."""
        return Rate(tuple(part.filled(hit=hit) for part in self.strata))


@dataclass(frozen=True, slots=True)
class Part:
    """Which share of those with a property lie in one part of the population: A/(A + B), A and B masses.

    P(accepted | bad) is the bad mass among the accepted over that among all. θ is in the interval as long as 0 is
    in MOVER's interval of (1 − θ)A − θB: the same as MOVER's interval of the ratio A/B (Donner & Zou 2012), but
    without division by what may be 0.

    Attributes:
        inside: The rate in that part.
        outside: The rate in the rest.
    """

    inside: Rate
    outside: Rate

    @property
    def n(self) -> int:
        """Items seen."""
        return self.inside.n + self.outside.n

    @property
    def n_clusters(self) -> int:
        """Independent items seen: the same."""
        return self.n

    @property
    def value(self) -> float:
        """The share; NaN if nothing in the population was seen to have the property."""
        a, b = self.inside.mass, self.outside.mass
        return a / (a + b) if a + b > 0 else math.nan

    def interval(self, level: float) -> tuple[float, float]:
        """Give the interval; (0, 1) where the share is not known."""
        a, b = self.inside.mass, self.outside.mass
        if math.isnan(self.value):
            return 0.0, 1.0
        (low_a, high_a), (low_b, high_b) = (
            tuple(rate.size * end for end in rate.interval(level)) for rate in (self.inside, self.outside)
        )

        def lower(theta: float) -> float:
            return (1 - theta) * a - theta * b - math.hypot((1 - theta) * (a - low_a), theta * (high_b - b))

        def upper(theta: float) -> float:
            return (1 - theta) * a - theta * b + math.hypot((1 - theta) * (high_a - a), theta * (b - low_b))

        return _crossing(lower), _crossing(upper)


def _crossing(function: Callable[[float], float]) -> float:
    """Find where a function on [0, 1] that begins at or above 0 and ends at or below it crosses 0."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return (low + high) / 2


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure minus another, independent one (MOVER, Zou & Donner 2008).

    Attributes:
        first: What is taken from.
        second: What is taken off.
        n: Items behind both.
    """

    first: Bounded
    second: Bounded
    n: int

    @property
    def n_clusters(self) -> int:
        """Independent items behind both."""
        return self.n

    @property
    def value(self) -> float:
        """The difference."""
        return self.first.value - self.second.value

    def interval(self, level: float) -> tuple[float, float]:
        """Give MOVER's interval; (−1, 1) where the difference is not known."""
        value = self.value
        if math.isnan(value):
            return -1.0, 1.0
        (low_1, high_1), (low_2, high_2) = self.first.interval(level), self.second.interval(level)
        down = math.hypot(self.first.value - low_1, high_2 - self.second.value)
        up = math.hypot(high_1 - self.first.value, self.second.value - low_2)
        return value - down, value + up

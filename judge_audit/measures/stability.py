"""Does an effect stay the same from source to source?

Two sources differ if the difference exceeds its margins by interval in lift and, in the same direction, in raw
units of the pooled robust standard deviation. In lift alone the scores may only spread differently: the same
raw response moves an image past more of its neighbours where these lie closer together.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.comparisons import beyond, difference, holm, within_sources
from judge_audit.measures.estimates import PASS_LEVEL, Estimate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect in every source, in lift and in raw units of the pooled robust standard deviation."""

    name: str
    lift: Mapping[str, Estimate]
    raw: Mapping[str, Estimate]

    @property
    def whole(self) -> Estimate:
        """All sources together, by their items."""
        return within_sources(list(self.lift.values()))

    def without(self, source: str) -> Estimate:
        """All sources but one."""
        return within_sources([part for name, part in self.lift.items() if name != source])

    def drift(self, source: str) -> Estimate:
        """A source minus all others together."""
        return difference(self.lift[source], self.without(source))


@dataclass(frozen=True, slots=True)
class Contrast:
    """An effect in one source minus the same in another."""

    effect: str
    first: str
    second: str
    lift: Estimate
    raw: Estimate


@dataclass(frozen=True, slots=True)
class Stability:
    """What the contrasts say together.

    Attributes:
        verdict: Pass if every one lies inside the margin by its 90 % interval.
        apart: Contrasts that differ in lift and raw.
        spread: Contrasts that differ in lift alone: shown, no fault.
    """

    verdict: Verdict
    apart: tuple[Contrast, ...]
    spread: tuple[Contrast, ...]


def contrasts(effects: Sequence[Effect]) -> list[Contrast]:
    """List every effect × pair of sources that have it."""
    found = []
    for effect in effects:
        for first, second in itertools.combinations(effect.lift, 2):
            lift = difference(effect.lift[first], effect.lift[second])
            raw = difference(effect.raw[first], effect.raw[second])
            if math.isfinite(lift.value):
                found.append(Contrast(effect.name, first, second, lift, raw))
    return found


def compare(given: Sequence[Contrast], margin: float, raw_margin: float, families: int = 1) -> Stability:
    """Hold contrasts against the margins, corrected for their number (Holm).

    Args:
        given: The contrasts.
        margin: In lift.
        raw_margin: In robust standard deviations.
        families: How many such families are tested together.
    """
    lifts = [beyond(entry.lift, margin) for entry in given]
    raws = [beyond(entry.raw, raw_margin) for entry in given]
    both = [max(a[1], b[1]) if a[0] == b[0] else 1.0 for a, b in zip(lifts, raws, strict=True)]
    apart, in_lift = (
        tuple(
            entry
            for entry, stands in zip(given, holm([families * p for p in chances]), strict=True)
            if stands
        )
        for chances in (both, [p for _, p in lifts])
    )
    spread = tuple(entry for entry in in_lift if entry not in apart)
    ends = [entry.lift.interval(PASS_LEVEL) for entry in given]
    if apart:
        return Stability(Verdict.FAIL, apart, spread)
    calm = bool(given) and all(-margin < low and high < margin for low, high in ends)
    return Stability(Verdict.PASS if calm else Verdict.INCONCLUSIVE, (), spread)


def drifting(effect: Effect, apart: Sequence[Contrast]) -> tuple[str, ...]:
    """Name the sources that drift in an effect: those of which the contrasts that differ cannot do without.

    The source in most of them comes first; once it is left out the rest is asked again. Of two sources
    that differ from one another alone, both are named.
    """
    left = [entry for entry in apart if entry.effect == effect.name]
    named: list[str] = []
    while left:
        count = {
            source: sum(source in {entry.first, entry.second} for entry in left)
            for source in effect.lift
            if source not in named
        }
        most = max(count.values())
        leading = [source for source, times in count.items() if times == most]
        if len(leading) > 1 and len(effect.lift) > 2:
            leading = [max(leading, key=lambda source: abs(effect.drift(source).value))]
        named += leading
        left = [entry for entry in left if not {entry.first, entry.second} & set(leading)]
    return tuple(sorted(named))

"""A judge's answers to the sight probes, its own unsteadiness, and whether an equal score means anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.core.vocabulary import ORIGINAL, POOLED, State
from judge_audit.measures.scale import tied_share
from judge_audit.stimuli.sight_probes import SIGHT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from judge_audit.checks.evidence import Evidence

    Floats = NDArray[np.float64]

Asking = tuple[str, int]
"""An axis or sight probe, and a repeat."""

UNTOUCHED: Asking = (ORIGINAL, 0)


@dataclass(frozen=True, slots=True)
class Changes:
    """How far each item's score lies from its reference: a sight probe's from the original's.

    Attributes:
        points: Oriented differences, shape (n,).
        spreads: Robust SD of the item's source, shape (n,).
        lost: Pairs that were asked for and are not both there.
    """

    points: Floats
    spreads: Floats
    lost: int = 0

    @property
    def n(self) -> int:
        """Pairs compared."""
        return len(self.points)

    @property
    def deviations(self) -> Floats:
        """The differences in robust SDs of the source."""
        return self.points / np.where(self.spreads > 0, self.spreads, np.nan)

    def moved(self, share_of_spread: float, noise: float = 0.0) -> int:
        """Count differences beyond a share of the source's spread and beyond `noise` points."""
        return int((np.abs(self.points) > np.maximum(share_of_spread * self.spreads, noise)).sum())


@dataclass(frozen=True, slots=True)
class Steadiness:
    """What the same request asked twice says.

    Attributes:
        repeats: Differences between two identical requests.
        steady: Whether every pair was the same, as far as it was asked.
        noise: Largest difference, in points; 0 for a steady judge.
        resolved: Whether scores of different pictures seldom tie, so that equal ones mean something.
    """

    repeats: Changes
    steady: bool
    noise: float
    resolved: bool


def _scores(evidence: Evidence, dimension: str) -> dict[tuple[str, int], dict[str, float | None]]:
    """Oriented scores off the ladders by (axis, repeat) and item, None where none came back."""
    found: dict[tuple[str, int], dict[str, float | None]] = {}
    for axis in (ORIGINAL, *SIGHT):
        for row in evidence.of_axis(axis):
            if row["dimension"] in (dimension, POOLED) and row["state"] != State.INERT:
                value = evidence.sign * row["value"] if row["state"] == State.OK else None
                found.setdefault((axis, row["repeat"]), {})[row["item_id"]] = value
    return found


def changes(evidence: Evidence, dimension: str, asking: Asking, before: Asking) -> Changes:
    """Compare one asking (axis and repeat) with another on every item that was asked both ways."""
    scores = evidence.once(f"sight\0{dimension}", lambda: _scores(evidence, dimension))
    spread_of = {item: stratum.spread for stratum in evidence.strata(dimension) for item in stratum.items}
    new, old = scores.get(asking, {}), scores.get(before, {})
    asked = sorted(new.keys() & old.keys())
    whole = [
        (spread, after - prior)
        for spread, after, prior in ((spread_of.get(item), new[item], old[item]) for item in asked)
        if spread is not None and after is not None and prior is not None
    ]
    spreads, points = (np.array([pair[at] for pair in whole], np.float64) for at in (0, 1))
    return Changes(points, spreads, len(asked) - len(whole))


def steadiness(evidence: Evidence, dimension: str) -> Steadiness:
    """Say how far the judge repeats itself, by requests of one picture if there are any.

    Two untouched askings within batches need not have had the same company; they serve where a judge does not
    repeat itself anyway, and where nothing was asked alone.
    """
    return evidence.once(f"steadiness\0{dimension}", lambda: _steadiness(evidence, dimension))


def _steadiness(evidence: Evidence, dimension: str) -> Steadiness:
    limits = evidence.limits
    alone = changes(evidence, dimension, ("alone", 1), ("alone", 0))
    within = changes(evidence, dimension, (ORIGINAL, 1), UNTOUCHED)
    repeats = alone if alone.n else within
    steady = repeats.n >= limits["sight.min_items"] and not repeats.moved(limits["sight.rounding"])
    sizes = np.abs(repeats.points if steady else np.concatenate([alone.points, within.points]))
    untouched = [stratum.reference.values for stratum in evidence.strata(dimension)]
    ties = tied_share(np.concatenate(untouched)) if untouched else 1.0
    noise = float(sizes.max()) if len(sizes) else 0.0
    return Steadiness(repeats, steady, noise, resolved=ties <= limits["sight.ties"])


def unrest(evidence: Evidence, dimension: str) -> float:
    """Give the largest difference that the same picture may make: asked again, alone, or elsewhere in the order."""
    sizes = [steadiness(evidence, dimension).noise]
    for name in ("alone", "copy"):
        found = changes(evidence, dimension, (name, 0), UNTOUCHED)
        sizes += [float(np.abs(found.points).max())] if found.n else []
    return max(sizes)


@dataclass(frozen=True, slots=True)
class Ladder:
    """What came of a ladder, whatever people see of it.

    Attributes:
        items: Items that carry it.
        same: Scores that equal the original's exactly although pixels differ.
        n: Scores of rungs whose pixels differ.
        moved: Share of items moved per rung, NaN where no pixel differs, shape (K,).
    """

    items: int
    same: int
    n: int
    moved: Floats


def ladder(evidence: Evidence, axis: str, dimension: str) -> Ladder:
    """Compare every rung of an axis with its original."""
    noise, rounding = unrest(evidence, dimension), evidence.limits["sight.rounding"]
    climbs = evidence.climbs(axis, dimension)
    rungs = len(evidence.axes[axis].strengths)
    hits, asked = np.zeros(rungs), np.zeros(rungs)
    same = n = 0
    for climb in climbs:
        change = climb.scores[:, :, 0] - climb.originals[:, :1]
        known = np.isfinite(change)
        floor = max(rounding * climb.stratum.spread, noise)
        hits += (known & (np.abs(np.where(known, change, 0.0)) > floor)).sum(axis=0)
        asked += known.sum(axis=0)
        same += int((change[known] == 0).sum())
        n += int(known.sum())
    moved = np.where(asked > 0, hits / np.maximum(asked, 1), np.nan)
    return Ladder(sum(len(climb.items) for climb in climbs), same, n, moved)


def unseen(evidence: Evidence, axis: str, dimension: str) -> bool:
    """Say whether a ladder provably lies outside what the judge looks at.

    It must leave part of every picture as it is: a change of the whole picture reaches any view of it, and a
    judge that ties even where it is overdone has answered. The judge must repeat itself, tie seldom, and give
    (nearly) every rung exactly the original's score although pixels differ.
    """
    if not evidence.axes[axis].local:
        return False
    steady, found = steadiness(evidence, dimension), ladder(evidence, axis, dimension)
    return (
        steady.steady
        and steady.resolved
        and found.items >= evidence.limits["sight.min_items"]
        and found.n > 0
        and found.same >= evidence.limits["sight.unseen"] * found.n
    )

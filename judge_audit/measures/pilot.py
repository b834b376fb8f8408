"""What is known before an audit: how a judge's scores spread, from a pilot or as stated, and what would be asked.

Units are standard deviations of the untouched scores of a source.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

GRID = 401


@dataclass(frozen=True, slots=True)
class Noise:
    """How a judge's scores spread.

    Attributes:
        untouched: What untouched scores are drawn from, in their own standard deviations, centred.
        change: What an item's own departure from the mean change is drawn from, centred.
        retest: What the departure of one repeat from an item's mean is drawn from, centred.
        step: Attainable step, 0 for a continuous scale.
    """

    untouched: Floats
    change: Floats
    retest: Floats
    step: float = 0.0

    def scores(self, latent: Floats, repeats: int, rng: np.random.Generator) -> Floats:
        """Score items with these latent values, shape (n,), so many times: shape (n, repeats)."""
        shape = (len(latent), repeats)
        found: Floats = latent[:, None] + rng.choice(self.retest, shape)
        return np.round(found / self.step) * self.step if self.step else found

    def latents(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw latent values of untouched items; inside a step they are spread evenly."""
        found: Floats = rng.choice(self.untouched, n)
        return found + self.step * (rng.random(n) - 0.5) if self.step else found

    def changes(self, mean: float, n: int, rng: np.random.Generator) -> Floats:
        """Draw the changes of items."""
        found: Floats = mean + rng.choice(self.change, n)
        return found


def stated(*, change: float = 0.3, retest: float = 0.0, step: float = 0.0) -> Noise:
    """Take normal distributions of these standard deviations, in those of untouched scores."""
    normal = special.ndtri((np.arange(GRID) + 0.5) / GRID)
    return Noise(normal, change * normal, retest * normal, step)


def of_pilot(untouched: Floats, changed: Floats | None = None, step: float = 0.0) -> Noise:
    """Take what a pilot shows.

    Args:
        untouched: Oriented scores of one source, shape (n, R); NaN where missing.
        changed: Scores of the same items changed, shape (n, R'), to learn how differently items answer; None
            if none were scored (0.3 is then taken).
        step: Attainable step in the judge's own units, 0 if continuous.
    """
    means = np.nanmean(untouched, axis=1)
    spread = float(np.nanstd(means)) or 1.0
    centred = (means - np.nanmean(means)) / spread
    repeats = np.isfinite(untouched).sum(axis=1)
    again = untouched[repeats > 1]
    residuals = (again - np.nanmean(again, axis=1, keepdims=True)) / spread
    residuals = residuals * np.sqrt(repeats[repeats > 1] / (repeats[repeats > 1] - 1))[:, None]
    retest = residuals[np.isfinite(residuals)] if residuals.size else np.zeros(1)
    # Means of few repeats spread more than what they are means of, and rounded differences more than true ones.
    noise = float(retest.var()) / float(np.median(repeats))
    centred = centred[np.isfinite(centred)] * math.sqrt(max(0.1, 1 - noise))
    if changed is None:
        departures = stated().change
    else:
        moved = (np.nanmean(changed, axis=1) - means) / spread
        moved = moved[np.isfinite(moved)] - np.nanmean(moved)
        noise += float(retest.var()) / changed.shape[1] + (0 if retest.any() else (step / spread) ** 2 / 6)
        true = max(0.0, 1 - noise / float(moved.var())) if moved.var() > 0 else 0.0
        # A rounded difference keeps the spread of the true one, not its shape.
        shape = stated(change=float(moved.std())).change if step else moved
        departures = shape * math.sqrt(true)
    return Noise(centred, departures, retest, step / spread)


@dataclass(frozen=True, slots=True)
class Design:
    """What an audit would ask.

    Attributes:
        items: Items with ladders, all sources together.
        sources: Sources.
        untouched: Untouched items of each source.
        repeats: How often each probe is asked.
        pairs: Pairs of one kind, all sources together.
        annotators: Annotators.
        labelled: Items that every annotator labels, or decisions that are reviewed.
    """

    items: int = 48
    sources: int = 3
    untouched: int = 100
    repeats: int = 1
    pairs: int = 15
    annotators: int = 2
    labelled: int = 100

"""Where on a ladder an item stands: its last imperceptible rung, its strongest, and the way between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Edge:
    """The last strength of an item's ladder that nobody can see.

    Attributes:
        rung: Index into the strengths, −1 where even the weakest rung that changes a pixel is visible.
        reach: t = x/g: that strength as a share of the visible point, g the geometric mean of the last
            unnoticed and the first noticed strength (the strongest rung if never noticed).
    """

    rung: int
    reach: float


def edge(strengths: Sequence[float], inert: Sequence[bool], perceptible: float) -> Edge:
    """Find the last imperceptible rung of one item.

    Args:
        strengths: Rungs 1 … K, rising.
        inert: Whether a rung's pixels equal the original's; such rungs enter nothing.
        perceptible: The smaller of the two points at which a change is first noticed; infinite if never.
    """
    unseen = [index for index, strength in enumerate(strengths) if strength < perceptible]
    usable = [index for index in unseen if not inert[index]]
    if not usable:
        return Edge(-1, float("nan"))
    last = usable[-1]
    seen = [strength for strength in strengths if strength >= perceptible]
    point = float(np.sqrt(strengths[unseen[-1]] * seen[0])) if seen else strengths[-1]
    return Edge(last, strengths[last] / point)


def falls_steadily(scores: Floats) -> bool | None:
    """Ask whether scores along the objectionable rungs fall at least once and never rise.

    Args:
        scores: The oriented scores, the last rung before the objectionable ones first.

    Returns:
        True or False; None where the scores never change (flat) or there are fewer than two.
    """
    known = scores[np.isfinite(scores)]
    steps = np.diff(np.round(known, 9))
    if len(steps) == 0 or not steps.any():
        return None
    return bool((steps <= 0).all())

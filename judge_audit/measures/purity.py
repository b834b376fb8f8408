"""Purity: did each rung move what it was meant to move, and what else did it move?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Shift:
    """Mean change of one statistic at one rung, in SDs of that statistic over the untouched items.

    Attributes:
        value: The change.
        half: Half-width of its 90 % interval (normal; the items are many or the interval is wide).
        n: Items.
    """

    value: float
    half: float
    n: int


def shift(changed: Floats, originals: Floats, spread: float) -> Shift:
    """Measure the change of a statistic at a rung.

    Args:
        changed: The statistic of each rung picture, shape (n,), NaN where inert.
        originals: The statistic of the same items untouched, shape (n,).
        spread: SD of the statistic over all untouched items; 0 gives no figure.
    """
    change = changed - originals
    change = change[np.isfinite(change)]
    n = len(change)
    if n == 0 or spread <= 0:
        return Shift(float("nan"), float("nan"), n)
    error = float(change.std(ddof=1)) / spread / np.sqrt(n) if n > 1 else float("nan")
    return Shift(float(change.mean()) / spread, 1.645 * error, n)


def leakage(shifts: Mapping[str, float], own: str) -> dict[str, float]:
    """Give each other statistic's change as a share of the axis's own: |off-axis| / |own-axis|.

    Args:
        shifts: Change per statistic, in SDs.
        own: The statistic that the axis is meant to move.

    Returns:
        Share per other statistic; NaN where the axis did not move its own.
    """
    base = abs(shifts[own])
    return {
        name: abs(value) / base if base > 0 else float("nan") for name, value in shifts.items() if name != own
    }

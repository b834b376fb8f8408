"""Brightness: exposure in linear light, in stops (EV)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from judge_audit.axes.axis import Axis
from judge_audit.axes.saturation import LINEAR
from judge_audit.axes.scratch import ladder

if TYPE_CHECKING:
    from judge_audit.axes.axis import Pixels
    from judge_audit.axes.scratch import Scratch

THRESHOLD = 0.12
"""About 5 % of encoded brightness (Song & Luo 2001)."""


def _expose(image: Pixels, stops: float) -> Pixels:
    """Multiply linear light by 2 ** stops; clipped at white."""
    light = np.clip(LINEAR.astype(np.float64) * 2.0**stops, 0.0, 1.0)
    value = np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
    return cv2.LUT(image, np.rint(value * 255).astype(np.uint8))  # type: ignore[return-value]


def _raise(image: Pixels, strength: float, scratch: Scratch) -> Pixels:
    del scratch
    return _expose(image, strength)


def _lower(image: Pixels, strength: float, scratch: Scratch) -> Pixels:
    del scratch
    return _expose(image, -strength)


AXES = (
    Axis(
        name="brightness+",
        unit="EV",
        description="More exposure, in linear light.",
        strengths=ladder(THRESHOLD, 10, top=2.0),
        overdone=1.4,
        visibility="tone",
        statistic="luma",
        rises=True,
        recipe_version=1,
        draw=_raise,
    ),
    Axis(
        name="brightness-",
        unit="EV taken away",
        description="Less exposure, in linear light.",
        strengths=ladder(THRESHOLD, 10, top=3.0),
        overdone=2.0,
        visibility="tone",
        statistic="luma",
        rises=False,
        recipe_version=1,
        draw=_lower,
    ),
)

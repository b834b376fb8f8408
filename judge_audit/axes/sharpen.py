"""Unsharp mask of fixed amount; strength is the radius (sigma) in percent of the short side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2

from judge_audit.axes.axis import Axis
from judge_audit.axes.blur import THRESHOLD, sigma_in_pixels
from judge_audit.axes.scratch import ladder

if TYPE_CHECKING:
    from judge_audit.axes.axis import Pixels
    from judge_audit.axes.scratch import Scratch

AMOUNT = 1.0


def _draw(image: Pixels, strength: float, scratch: Scratch) -> Pixels:
    softened = scratch.blurred(image, sigma_in_pixels(image, strength))
    # Saturating arithmetic, rounded to nearest: image + AMOUNT * (image - softened).
    return cv2.addWeighted(image, 1.0 + AMOUNT, softened, -AMOUNT, 0.0)  # type: ignore[return-value]


AXES = (
    Axis(
        name="sharpen",
        unit="% of the short side (sigma of the mask)",
        description="Unsharp mask of amount 1; the radius grows.",
        strengths=ladder(THRESHOLD, 11, top=2.4),
        overdone=1.0,
        visibility="blur",
        statistic="sharpness",
        rises=True,
        recipe_version=1,
        draw=_draw,
    ),
)

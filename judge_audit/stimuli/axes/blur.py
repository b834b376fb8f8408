"""Gaussian blur; strength is the radius (sigma) in percent of the short side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.stimuli.axes.axis import Axis
from judge_audit.stimuli.axes.image_buffers import ladder

if TYPE_CHECKING:
    from judge_audit.stimuli.axes.axis import Pixels
    from judge_audit.stimuli.axes.image_buffers import Scratch

THRESHOLD = 0.18
"""Sigma of about 0.9 px at 512 px, between the visual-difference models' 0.5 and 1.7 px."""


def sigma_in_pixels(image: Pixels, strength: float) -> float:
    """Turn percent of the short side into pixels."""
    return strength / 100.0 * float(min(image.shape[:2]))


def _draw(image: Pixels, strength: float, scratch: Scratch) -> Pixels:
    drawn = scratch.fresh(image.shape)
    np.copyto(drawn, scratch.blurred(image, sigma_in_pixels(image, strength)))
    return drawn


AXES = (
    Axis(
        name="blur",
        unit="radius (sigma), % of the short side",
        description="Gaussian blur of the whole image.",
        strengths=ladder(THRESHOLD, 11, top=2.4),
        overdone=1.0,
        visibility="blur",
        statistic="sharpness",
        rises=False,
        recipe_version=2,
        draw=_draw,
    ),
)

"""Contrast: gain about the image's own mean lightness."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.stimuli.axes.axis import Axis
from judge_audit.stimuli.axes.image_buffers import ladder, looked_up

if TYPE_CHECKING:
    from judge_audit.stimuli.axes.axis import Pixels
    from judge_audit.stimuli.axes.image_buffers import Scratch

THRESHOLD = 0.07
"""About 7 % of contrast (Song & Luo 2001)."""


def _stretch(image: Pixels, gain: float, scratch: Scratch) -> Pixels:
    """Move every value away from (or towards) the mean luma by a table, rounded and clipped."""
    middle = scratch.mean_lightness(image)
    value = middle + (np.arange(256) - middle) * gain
    table = np.clip(np.rint(value), 0, 255).astype(np.uint8)
    return looked_up(image, table, scratch.fresh(image.shape))


def _raise(image: Pixels, strength: float, scratch: Scratch) -> Pixels:
    return _stretch(image, 1.0 + strength, scratch)


def _lower(image: Pixels, strength: float, scratch: Scratch) -> Pixels:
    return _stretch(image, 1.0 - strength, scratch)


AXES = (
    Axis(
        name="contrast+",
        unit="share of contrast added",
        description="More contrast about the image's own mean lightness.",
        strengths=ladder(THRESHOLD, 10, top=1.5),
        overdone=0.8,
        visibility="tone",
        statistic="contrast",
        rises=True,
        recipe_version=1,
        draw=_raise,
    ),
    Axis(
        name="contrast-",
        unit="share of contrast removed",
        description="Less contrast about the image's own mean lightness.",
        strengths=ladder(THRESHOLD, 10, top=0.9),
        overdone=0.6,
        visibility="tone",
        statistic="contrast",
        rises=False,
        recipe_version=1,
        draw=_lower,
    ),
)

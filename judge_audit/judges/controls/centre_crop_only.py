"""Looks at the square in the middle only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.judges.controls.pixel_control import SeeingControl, sees_all

if TYPE_CHECKING:
    from judge_audit.judges.protocol import Stimulus

KEPT = 7 / 8
"""Of the short side: resize to 256 and crop to 224."""


def _cropped(stimulus: Stimulus) -> Stimulus:
    height, width = stimulus.image.shape[:2]
    side = max(2, round(min(height, width) * KEPT))
    top, left = (height - side) // 2, (width - side) // 2
    return replace(stimulus, image=np.ascontiguousarray(stimulus.image[top : top + side, left : left + side]))


CONTROL = SeeingControl(
    name="centre-crop-only",
    description="Looks at the square in the middle only, as many preprocessing steps do.",
    convictions=frozenset({("sight", "border")}),
    scores=lambda stimuli: [sees_all(_cropped(stimulus)) for stimulus in stimuli],
)

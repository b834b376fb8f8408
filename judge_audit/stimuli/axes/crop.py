"""Local crop: a cut from the right side, nothing resampled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.stimuli.axes.axis import Axis
from judge_audit.stimuli.axes.image_buffers import ladder

if TYPE_CHECKING:
    from judge_audit.stimuli.axes.axis import Pixels
    from judge_audit.stimuli.axes.image_buffers import Scratch

THRESHOLD = 0.05


def _draw(image: Pixels, strength: float, scratch: Scratch) -> Pixels:
    width = image.shape[1]
    kept = max(1, width - round(width * strength))
    drawn = scratch.fresh((image.shape[0], kept, image.shape[2]))
    np.copyto(drawn, image[:, :kept])
    return drawn


AXES = (
    Axis(
        name="crop",
        unit="share of the width cut from the right",
        description="The right side is cut away; what is left is untouched.",
        strengths=ladder(THRESHOLD, 10, top=0.5),
        overdone=0.4,
        visibility=None,
        statistic=None,
        rises=False,
        recipe_version=1,
        draw=_draw,
        partial=True,
    ),
)

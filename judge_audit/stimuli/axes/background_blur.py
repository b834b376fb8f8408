"""Background blur: a Gaussian blur of everything but the subject; strength is sigma in % of the short side.

The subject is the item's own mask, else the salient region; the probe names which. The blur is that of the
whole picture, laid over the background only: within three sigma of the subject its colours spread outwards, as
they do behind a quick cut-out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from judge_audit.stimuli.axes.axis import Axis
from judge_audit.stimuli.axes.blur import sigma_in_pixels
from judge_audit.stimuli.axes.image_buffers import ladder
from judge_audit.stimuli.axes.regions import subject

if TYPE_CHECKING:
    from judge_audit.stimuli.axes.axis import Pixels
    from judge_audit.stimuli.axes.image_buffers import Scratch

WEAKEST = 0.06
"""Below it a Gaussian moves no pixel of a picture of some hundred pixels."""


def _draw(image: Pixels, strength: float, scratch: Scratch) -> Pixels:
    kept = subject(image, scratch)
    changed = scratch.blurred(image, sigma_in_pixels(image, strength)).copy()
    return cv2.copyTo(image, kept.view(np.uint8), changed)  # type: ignore[return-value]


AXES = (
    Axis(
        name="background_blur",
        unit="radius (sigma), % of the short side",
        description="Gaussian blur of the background; the subject stays as it is.",
        strengths=ladder(10 * WEAKEST, 10, top=4.0),
        overdone=2.0,
        visibility=None,
        statistic="sharpness",
        rises=False,
        recipe_version=1,
        draw=_draw,
        default=False,
        region="background",
    ),
)

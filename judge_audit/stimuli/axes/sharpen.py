"""Unsharp mask of fixed amount; strength is the radius (sigma) in percent of the short side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from judge_audit.stimuli.axes.axis import Axis
from judge_audit.stimuli.axes.blur import THRESHOLD, sigma_in_pixels
from judge_audit.stimuli.axes.image_buffers import ladder

if TYPE_CHECKING:
    from judge_audit.stimuli.axes.axis import Pixels
    from judge_audit.stimuli.axes.image_buffers import Scratch

BLOCK = 2**17
"""Bytes worked on at a time: both pictures and what is made of them fit the processor's cache."""


def _draw(image: Pixels, strength: float, scratch: Scratch) -> Pixels:
    """Add what the blur takes away, once: image + (image - softened)."""
    softened = scratch.blurred(image, sigma_in_pixels(image, strength))
    sharper = scratch.fresh(image.shape)
    if softened is image:
        np.copyto(sharper, image)
        return sharper
    darker = scratch.plane("darker", (1, BLOCK), np.uint8)
    flat = [plane.reshape(1, -1) for plane in (np.ascontiguousarray(image), softened, sharper)]
    for start in range(0, image.size, BLOCK):
        before, soft, after = (plane[:, start : start + BLOCK] for plane in flat)
        less = darker[:, : before.size]
        # Differences stop at 0 and sums at 255, so brighter and darker are added one by one: exact.
        cv2.subtract(before, soft, dst=after)
        cv2.add(before, after, dst=after)
        cv2.subtract(soft, before, dst=less)
        cv2.subtract(after, less, dst=after)
    return sharper


AXES = (
    Axis(
        name="sharpen",
        unit="radius (sigma), % of the short side",
        description="Edges made crisper (unsharp mask of amount 1) over an ever larger radius.",
        strengths=ladder(THRESHOLD, 11, top=2.4),
        overdone=1.0,
        visibility="blur",
        statistic="sharpness",
        rises=True,
        recipe_version=2,
        draw=_draw,
    ),
)

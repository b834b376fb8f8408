"""JPEG: the picture stored and read again at falling quality; strength is 100 minus the quality.

Chroma is not subsampled (4:4:4), whatever the encoder's habit: the knob is the quantisation alone. Subsampling
would be a second change, as large at quality 98 as at 20, and each decoder interpolates it in its own way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from judge_audit.core.errors import MachineryError
from judge_audit.stimuli.axes.axis import Axis

if TYPE_CHECKING:
    from judge_audit.stimuli.axes.axis import Pixels
    from judge_audit.stimuli.axes.image_buffers import Scratch

STRENGTHS = (2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0, 45.0, 65.0, 80.0, 90.0, 96.0)
"""Whole numbers, as qualities are; geometric until the scale of qualities ends."""


def _draw(image: Pixels, strength: float, scratch: Scratch) -> Pixels:
    del scratch
    options = [
        (cv2.IMWRITE_JPEG_QUALITY, 100 - round(strength)),
        (cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444),
        (cv2.IMWRITE_JPEG_PROGRESSIVE, 0),
        (cv2.IMWRITE_JPEG_OPTIMIZE, 0),
        (cv2.IMWRITE_JPEG_RST_INTERVAL, 0),
    ]
    flat = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
    stored, content = cv2.imencode(".jpg", flat, [value for option in options for value in option])
    read = cv2.imdecode(content, cv2.IMREAD_COLOR) if stored else None
    if read is None:
        raise MachineryError(f"JPEG cannot hold a picture of {image.shape[1]} × {image.shape[0]} pixels.")
    return np.asarray(cv2.cvtColor(read, cv2.COLOR_BGR2RGB), np.uint8)


AXES = (
    Axis(
        name="jpeg",
        unit="100 minus JPEG quality",
        description="Stored as JPEG (4:4:4) and read again; the quality falls.",
        strengths=STRENGTHS,
        overdone=85.0,
        visibility="jpeg",
        statistic=None,
        rises=False,
        recipe_version=1,
        draw=_draw,
        default=False,
    ),
)

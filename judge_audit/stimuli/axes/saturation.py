"""Saturation: chroma gain at constant lightness and hue, in OKLab (Ottosson 2020)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from judge_audit.stimuli.axes.axis import Axis
from judge_audit.stimuli.axes.image_buffers import ladder, looked_up_wide

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from judge_audit.stimuli.axes.axis import Pixels
    from judge_audit.stimuli.axes.image_buffers import Scratch

THRESHOLD = 0.12
"""Song & Luo (2001): a mean colour difference of 2.5 is reached near 12 % of chroma."""

TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
FROM_LAB = np.linalg.inv(TO_LAB)
FULL = 65535
"""Linear light and its square root are held in this many steps: at most 0.03 level of the darkest values."""

LANES = 64
BLOCK = 2**15
"""Pixels worked on at a time, so that every plane of a block fits the processor's cache."""


def _linear_table() -> NDArray[np.float32]:
    """Give linear light for each 8-bit sRGB value (IEC 61966-2-1)."""
    value = np.arange(256) / 255.0
    return np.asarray(np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4), np.float32)


def _encoded_table() -> NDArray[np.uint8]:
    """Give the 8-bit sRGB value of linear light, rounded to nearest."""
    light = np.arange(FULL + 1) / FULL
    value = np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.asarray(np.rint(value * 255), np.uint8)


def _root_table() -> NDArray[np.float32]:
    """Give the cube root of a cone response from its square root.

    A table, because cube roots differ in the last digit between processors.
    """
    return np.asarray(np.cbrt((np.arange(FULL + 1) / FULL) ** 2), np.float32)


LINEAR = _linear_table()
ENCODED = _encoded_table()
ROOTS = _root_table()
TO_CONES = TO_LMS.astype(np.float32)
FROM_CONES = (np.linalg.inv(TO_LMS) * FULL).astype(np.float32)


def _scale_chroma(image: Pixels, gain: float, scratch: Scratch) -> Pixels:
    """Multiply OKLab chroma by `gain`; out-of-gamut channels are clipped."""
    roots = scratch.kept(image, "lms roots", lambda pixels: _cone_roots(pixels, scratch))
    # In cone roots a chroma gain is one 3x3 matrix: to Lab, scale a and b, and back.
    mix = (FROM_LAB @ np.diag([1.0, gain, gain]) @ TO_LAB).astype(np.float32)
    cones, light = scratch.plane("cones", (1, BLOCK, 3)), scratch.plane("light", (1, BLOCK, 3))
    steps = scratch.plane("steps", (1, BLOCK, 3), np.uint16)
    drawn = scratch.fresh((1, image.size // 3, 3))
    for start in range(0, roots.shape[1], BLOCK):
        block = roots[:, start : start + BLOCK]
        size = block.shape[1]
        changed, mixed, whole = cones[:, :size], light[:, :size], steps[:, :size]
        cv2.transform(block, mix, dst=changed)
        cv2.pow(changed, 3, dst=changed)
        cv2.transform(changed, FROM_CONES, dst=mixed)
        _whole_steps(mixed, 1.0, whole)
        out = drawn[:, start : start + BLOCK]
        looked_up_wide(whole[:, : out.shape[1]], ENCODED, out)
    return drawn.reshape(image.shape)


def _cone_roots(image: Pixels, scratch: Scratch) -> NDArray[np.float32]:
    """Give the cube roots of cone responses, from which OKLab is a matrix away.

    Returns:
        One row of pixels, shape (1, number of pixels rounded up, 3); what stands beyond the image is nought.
        Full registers throughout, so that no pixel is worked out by another rule than its neighbours.
    """
    count = image.size // 3
    roots = scratch.room((1, -(-count // LANES) * LANES, 3), np.float32)
    roots[:, count:] = 0
    cv2.LUT(image.reshape(1, -1, 3), LINEAR.reshape(1, 256), dst=roots[:, :count])
    cones, steps = scratch.plane("cones", (1, BLOCK, 3)), scratch.plane("steps", (1, BLOCK, 3), np.uint16)
    for start in range(0, roots.shape[1], BLOCK):
        block = roots[:, start : start + BLOCK]
        found, whole = cones[:, : block.shape[1]], steps[:, : block.shape[1]]
        cv2.transform(block, TO_CONES, dst=found)
        np.sqrt(found, out=found)
        _whole_steps(found, FULL, whole)
        looked_up_wide(whole, ROOTS, block)
    return roots


def _whole_steps(values: NDArray[np.float32], scale: float, out: NDArray[np.uint16]) -> None:
    """Multiply, round to nearest and clip to 0 to 65,535."""
    cv2.addWeighted(values, scale, values, 0.0, 0.0, dst=out, dtype=cv2.CV_16U)


def _raise(image: Pixels, strength: float, scratch: Scratch) -> Pixels:
    return _scale_chroma(image, 1.0 + strength, scratch)


def _lower(image: Pixels, strength: float, scratch: Scratch) -> Pixels:
    return _scale_chroma(image, 1.0 - strength, scratch)


AXES = (
    Axis(
        name="saturation+",
        unit="share of colour added",
        description="Colours more vivid, lightness and hue kept.",
        strengths=ladder(THRESHOLD, 10, top=1.2),
        overdone=1.0,
        visibility="tone",
        statistic="chroma",
        rises=True,
        recipe_version=2,
        draw=_raise,
    ),
    Axis(
        name="saturation-",
        unit="share of colour removed",
        description="Colours paler, down to grey.",
        strengths=ladder(THRESHOLD, 10, top=1.0),
        overdone=0.7,
        visibility="tone",
        statistic="chroma",
        rises=False,
        recipe_version=2,
        draw=_lower,
    ),
)

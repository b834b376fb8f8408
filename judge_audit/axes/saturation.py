"""Saturation: chroma gain at constant lightness and hue, in OKLab (Ottosson 2020)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from judge_audit.axes.axis import Axis
from judge_audit.axes.scratch import ladder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from judge_audit.axes.axis import Pixels
    from judge_audit.axes.scratch import Scratch

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
ENCODED_STEPS = 16384


def _linear_table() -> NDArray[np.float32]:
    """Give linear light for each 8-bit sRGB value (IEC 61966-2-1)."""
    value = np.arange(256) / 255.0
    return np.asarray(np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4), np.float32)


def _encoded_table() -> NDArray[np.uint8]:
    """Give the 8-bit sRGB value of linear light in steps of the square root, rounded to nearest."""
    light = (np.arange(ENCODED_STEPS + 1) / ENCODED_STEPS) ** 2
    value = np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.asarray(np.rint(value * 255), np.uint8)


LINEAR = _linear_table()
ENCODED = _encoded_table()


def _scale_chroma(image: Pixels, gain: float, scratch: Scratch) -> Pixels:
    """Multiply OKLab chroma by `gain`; out-of-gamut channels are clipped."""
    roots = scratch.kept(image, "lms roots", _cone_roots)
    changed = scratch.plane("a", image.shape)
    light = scratch.plane("b", image.shape)
    # In cone roots a chroma gain is one 3x3 matrix: to Lab, scale a and b, and back.
    mix = np.linalg.inv(TO_LAB) @ np.diag([1.0, gain, gain]) @ TO_LAB
    cv2.transform(roots, mix.astype(np.float32), dst=changed)
    cv2.pow(changed, 3, dst=changed)
    cv2.transform(changed, np.linalg.inv(TO_LMS).astype(np.float32), dst=light)
    np.clip(light, 0.0, 1.0, out=light)
    cv2.sqrt(light, dst=light)
    np.multiply(light, ENCODED_STEPS, out=light)
    np.rint(light, out=light)
    return np.take(ENCODED, light.astype(np.uint16))


def _cone_roots(image: Pixels) -> NDArray[np.float32]:
    """Give the cube roots of cone responses, from which OKLab is a matrix away."""
    linear = cv2.LUT(image, LINEAR.reshape(1, 256))
    return np.cbrt(cv2.transform(linear, TO_LMS.astype(np.float32)))


def _raise(image: Pixels, strength: float, scratch: Scratch) -> Pixels:
    return _scale_chroma(image, 1.0 + strength, scratch)


def _lower(image: Pixels, strength: float, scratch: Scratch) -> Pixels:
    return _scale_chroma(image, 1.0 - strength, scratch)


AXES = (
    Axis(
        name="saturation+",
        unit="chroma gain above 1",
        description="Colours more vivid, lightness and hue kept.",
        strengths=ladder(THRESHOLD, 10, top=1.2),
        overdone=1.0,
        visibility="tone",
        statistic="chroma",
        rises=True,
        recipe_version=1,
        draw=_raise,
    ),
    Axis(
        name="saturation-",
        unit="share of chroma removed",
        description="Colours paler, down to grey.",
        strengths=ladder(THRESHOLD, 10, top=1.0),
        overdone=0.7,
        visibility="tone",
        statistic="chroma",
        rises=False,
        recipe_version=1,
        draw=_lower,
    ),
)

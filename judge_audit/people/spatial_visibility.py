"""Two models for changes as fine as the pixels (noise, JPEG): both look through the eye's spatial filters.

- *contrast*: the standard observer of spatial contrast (Watson & Ahumada 2005), fitted to the thresholds of the
  43 ModelFest patterns: the difference in light as a contrast, weighted by contrast sensitivity with its oblique
  effect, summed over what is looked at; 1 is threshold. What counts is the middle (median) of all places that
  could be looked at;
- *opponent*: S-CIELAB (Zhang & Wandell 1997), the mean colour difference after light, red-green and
  blue-yellow were each blurred as the eye blurs them, noticed from one unit.

The first knows no masking and no colour and is the more alert; the second compares finished pictures, colour
included. They disagree by a factor of two to five, which is why both are asked. Pictures are taken to be shown
pixel for pixel, one minute of arc a pixel.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import cv2
import numpy as np

from judge_audit.stimuli.axes.saturation import LINEAR

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]
    Plane = NDArray[np.float32]
    Wide = NDArray[np.float64]
    Model = Callable[[Pixels], float]

PIXELS_PER_DEGREE = 60.0

SURROUND = 0.2
"""Light, as a share of white, of the surround that sRGB is defined for (IEC 61966-2-1): an eye that looks at a
darker picture is adapted to the surround."""

OPPONENT_NOTICED = 1.0
"""Mean S-CIELAB difference taken as noticed: one unit (Zhang & Wandell 1997)."""

GAIN, HIGH, LOW, LOW_SHARE, POWER = 373.08, 4.1726, 1.3625, 0.8493, 0.7786
"""Contrast sensitivity: GAIN · (sech((f / HIGH) ^ POWER) − LOW_SHARE · sech(f / LOW)), f in cycles per degree."""

OBLIQUE_FROM, OBLIQUE_FALL = 3.48, 13.57
"""Frequency in cycles per degree from which oblique patterns are seen worse, and how quickly so."""

SUMMATION, APERTURE = 2.4081, 0.6273
"""Exponent of summation over space, and the spread (degrees) of the Gaussian place that is looked at."""

XYZ_OF_LINEAR = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
OPPONENT_OF_XYZ = np.array([[0.279, 0.720, -0.107], [-0.449, 0.290, -0.077], [0.086, -0.590, 0.501]])
WHITE = XYZ_OF_LINEAR.sum(axis=1)

BLURS: tuple[tuple[tuple[float, float], ...], ...] = (
    ((0.921, 0.0283), (0.105, 0.133), (-0.108, 4.336)),
    ((0.531, 0.0392), (0.330, 0.494)),
    ((0.488, 0.0536), (0.371, 0.386)),
)
"""Weight and spread in degrees of the Gaussians that blur light, red-green and blue-yellow; each set of weights
is brought to a sum of one (Zhang & Wandell 1997)."""

_SIDE = 384
_COARSE = 4.0


def spatial_models(image: Pixels) -> tuple[Model, Model]:
    """Make the two models for noise and JPEG around an original.

    Args:
        image: The original, 8-bit sRGB, shape (height, width, 3); the middle of it is looked at.

    Returns:
        Two functions of the changed picture; 1 is just noticed.
    """
    shown = _middle(image)
    before = light(shown)
    adapted = max(float(before.mean()), SURROUND)
    lab = spatial_lab(shown)

    def contrast(changed: Pixels) -> float:
        return standard_observer((light(_middle(changed)) - before) / adapted)

    def opponent(changed: Pixels) -> float:
        apart = spatial_lab(_middle(changed)) - lab
        return float(np.sqrt((apart**2).sum(axis=-1)).mean()) / OPPONENT_NOTICED

    return contrast, opponent


def light(image: Pixels) -> Plane:
    """Give luminance as a share of white."""
    linear = cv2.LUT(image, LINEAR.reshape(1, 256))
    return np.asarray(cv2.transform(linear, XYZ_OF_LINEAR[1:2].astype(np.float32)), np.float32)


def sensitivity(across: Wide, down: Wide) -> Wide:
    """Give contrast sensitivity (Watson & Ahumada 2005).

    Args:
        across: Horizontal frequency in cycles per degree.
        down: Vertical frequency, broadcast against it.

    Returns:
        One over the contrast of the faintest visible pattern, before summation.
    """
    frequency = np.hypot(across, down)
    high = 1 / np.cosh((frequency / HIGH) ** POWER)
    low = 1 / np.cosh(np.minimum(frequency / LOW, 300.0))
    oblique = np.sin(2 * np.arctan2(down, across)) ** 2
    beyond = np.maximum(frequency - OBLIQUE_FROM, 0.0)
    fall = 1 - (1 - np.exp(-beyond / OBLIQUE_FALL)) * oblique
    return np.asarray(GAIN * (high - LOW_SHARE * low) * fall, np.float64)


@lru_cache(maxsize=4)
def _weights(height: int, width: int) -> Plane:
    """Give the sensitivity at each frequency of a picture's half transform."""
    down = np.fft.fftfreq(height)[:, None] * PIXELS_PER_DEGREE
    across = np.fft.rfftfreq(width)[None, :] * PIXELS_PER_DEGREE
    return sensitivity(np.asarray(across, np.float64), np.asarray(down, np.float64)).astype(np.float32)


def standard_observer(contrast: Plane) -> float:
    """Tell how visible a pattern of contrast is at the middle of all places that could be looked at.

    Args:
        contrast: Difference of light over the light adapted to, shape (height, width).

    Returns:
        In units of threshold.
    """
    seen = np.fft.irfft2(np.fft.rfft2(contrast) * _weights(*contrast.shape), s=contrast.shape)
    energy = (np.abs(seen) ** SUMMATION / PIXELS_PER_DEGREE**2).astype(np.float32)
    spread = APERTURE * PIXELS_PER_DEGREE / np.sqrt(SUMMATION)
    looked_at = 2 * np.pi * spread**2 * _gaussian(energy, spread)
    return float(np.median(looked_at) ** (1 / SUMMATION))


def spatial_lab(image: Pixels) -> Plane:
    """Convert 8-bit sRGB to CIELAB (D65) as the eye resolves it (S-CIELAB, Zhang & Wandell 1997).

    Args:
        image: Shape (height, width, 3).

    Returns:
        L*, a*, b*, same shape.
    """
    linear = cv2.LUT(image, LINEAR.reshape(1, 256))
    opponent = cv2.transform(linear, (OPPONENT_OF_XYZ @ XYZ_OF_LINEAR).astype(np.float32))
    for channel, blurs in enumerate(BLURS):
        plane = np.array(opponent[..., channel], np.float32)
        weight = sum(share for share, _ in blurs)
        seen = [
            share / weight * _gaussian(plane, spread * PIXELS_PER_DEGREE / np.sqrt(2))
            for share, spread in blurs
        ]
        opponent[..., channel] = np.sum(seen, axis=0)
    back = np.linalg.inv(OPPONENT_OF_XYZ) / WHITE[:, None]
    relative = np.maximum(cv2.transform(opponent, back.astype(np.float32)), 0)
    bent = np.where(relative > 216 / 24389, np.cbrt(relative), (24389 / 27 * relative + 16) / 116)
    x, y, z = np.moveaxis(bent, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1).astype(np.float32)


def _gaussian(plane: Plane, sigma: float) -> Plane:
    """Blur by a Gaussian; wide ones are made on a coarser grid."""
    step = max(1, min(int(sigma / _COARSE), *plane.shape))
    if step == 1:
        return np.asarray(cv2.GaussianBlur(plane, (0, 0), sigma, borderType=cv2.BORDER_REFLECT), np.float32)
    height, width = plane.shape
    small = cv2.resize(plane, (-(-width // step), -(-height // step)), interpolation=cv2.INTER_AREA)
    small = cv2.GaussianBlur(small, (0, 0), sigma / step, borderType=cv2.BORDER_REFLECT)
    return np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)


def _middle(image: Pixels) -> Pixels:
    top, left = (max(0, (side - _SIDE) // 2) for side in image.shape[:2])
    return np.ascontiguousarray(image[top : top + _SIDE, left : left + _SIDE])

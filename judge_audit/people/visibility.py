"""What two visual-difference models see of a ladder, until people have read it.

Two models take the place of two readers. They are for changes of the whole image only:

- *tone* (saturation, brightness, contrast): the mean CIELAB difference ΔE*ab over 2.5 (Song & Luo 2001), and
  the mean CIEDE2000 difference with the lightness parameter that fits images, kL = 2.3 (Liu et al. 2013),
  over one unit of that formula;
- *blur* (blur, sharpen): the slope of the strongest edges seen through the eye's own blur, noticed when it
  changes by the Weber fraction of blur discrimination (Watson & Ahumada 2011), and structural similarity,
  noticed below 0.95 (Flynn et al. 2013). Pictures are taken to be shown pixel for pixel, one minute of arc a
  pixel;
- *noise* and *jpeg*, changes as fine as the pixels, both through the eye's spatial filters: the standard observer of
  spatial contrast (Watson & Ahumada 2005), fitted to the thresholds of the 43 ModelFest patterns: the difference in
  light as a contrast, weighted by contrast sensitivity with its oblique effect, summed over what is looked at, 1 is
  threshold; what counts is the middle (median) of all places that could be looked at. And S-CIELAB (Zhang & Wandell
  1997), the mean colour difference after light, red-green and blue-yellow were each blurred as the eye blurs them,
  noticed from one unit. The first knows no masking and no colour and is the more alert; the second compares
  finished pictures, colour included. They disagree by a factor of two to five.

The pairs disagree by a factor of two and more; that is why both are asked and the span between them is left
undecided. No model is trusted for crops, overlays or a blurred background.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import cv2
import numpy as np

from judge_audit.stimuli.axes.image_buffers import Scratch
from judge_audit.stimuli.axes.saturation import LINEAR

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from judge_audit.stimuli.axes.axis import Axis

    Pixels = NDArray[np.uint8]
    Plane = NDArray[np.float32]
    Model = Callable[[Pixels], float]
    Wide = NDArray[np.float64]

LAB_THRESHOLD = 2.5
"""Mean ΔE*ab at which a change of a whole image is noticed (Song & Luo 2001)."""

CIEDE2000_LIGHTNESS = 2.3
"""kL that fits differences of images (Liu et al. 2013, CIEDE2000(2.3:1))."""

CIEDE2000_THRESHOLD = 1.0
"""Mean CIEDE2000 difference taken as noticed: one unit of the formula."""

EYE_BLUR = 1.0
"""Blur of the eye itself, sigma in minutes of arc, here pixels (Watson & Ahumada 2011)."""

BLUR_WEBER = 1.15
"""Ratio of two blurs that is just told apart (Watson & Ahumada 2011)."""

SSIM_NOTICED = 0.95
"""Structural similarity at which half of the observers see a difference (Flynn et al. 2013)."""

_EDGE_SHARE = 0.10
_TONE_SIDE = 48


class Points(NamedTuple):
    """Where two readers (or models) first notice a change, in the axis's unit; infinite if never."""

    low: float
    high: float


def provisional_points(axis: Axis, image: Pixels, scratch: Scratch | None = None) -> Points | None:
    """Ask two models where on an axis's ladder a change of one image is first noticed.

    Between two rungs the point is interpolated on the logarithm of strength.

    Args:
        axis: The axis.
        image: 8-bit sRGB pixels, shape (height, width, 3).
        scratch: Working memory of this thread.

    Returns:
        The smaller and the larger point; None where no model is trusted for the axis.
    """
    if axis.visibility is None:
        return None
    shown = _sparse(image) if axis.visibility == "tone" else image
    models = _models(axis.visibility, shown)
    scratch = scratch or Scratch()
    scratch.begin(shown)
    points = [math.inf, math.inf]
    before = [0.0, 0.0]
    last = 0.0
    for strength in axis.strengths:
        changed = axis.draw(shown, strength, scratch)
        for index, model in enumerate(models):
            if math.isfinite(points[index]):
                continue
            visible = model(changed)
            if visible >= 1:
                points[index] = _between(last, strength, before[index], visible)
            before[index] = visible
        if all(map(math.isfinite, points)):
            break
        last = strength
    return Points(min(points), max(points))


def _models(visibility: str, shown: Pixels) -> tuple[Model, Model]:
    """Choose the two models for a kind of change."""
    if visibility == "tone":
        return _tone_models(shown)
    return _blur_models(shown) if visibility == "blur" else spatial_models(shown)


def _between(low: float, high: float, seen_low: float, seen_high: float) -> float:
    """Interpolate where visibility reaches 1."""
    share = (1 - seen_low) / (seen_high - seen_low)
    point = high * share if low == 0 else low * (high / low) ** share
    return float(f"{point:.6g}")


def _sparse(image: Pixels) -> Pixels:
    """Take an even grid of pixels: tone changes every pixel by itself, so a sample of them tells the mean."""
    rows, columns = (
        np.linspace(0, side - 1, min(side, _TONE_SIDE)).round().astype(int) for side in image.shape[:2]
    )
    return np.ascontiguousarray(image[np.ix_(rows, columns)])


def lab(image: Pixels) -> Plane:
    """Convert 8-bit sRGB to CIELAB (D65)."""
    converted = cv2.cvtColor(image.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    return np.asarray(converted, np.float32)


def _tone_models(image: Pixels) -> tuple[Model, Model]:
    """Make the two models for tone and colour around an original."""
    original = lab(image)

    def plain(changed: Pixels) -> float:
        apart = lab(changed) - original
        return float(np.sqrt((apart**2).sum(axis=-1)).mean()) / LAB_THRESHOLD

    def weighted(changed: Pixels) -> float:
        return float(ciede2000(original, lab(changed), CIEDE2000_LIGHTNESS).mean()) / CIEDE2000_THRESHOLD

    return plain, weighted


def ciede2000(first: Plane, second: Plane, k_lightness: float = 1.0) -> NDArray[np.float64]:
    """Give the CIEDE2000 colour difference (CIE 142-2001; names follow the standard).

    Args:
        first: CIELAB colours, shape (..., 3).
        second: As many others.
        k_lightness: Parametric factor kL; kC = kH = 1.

    Returns:
        Differences, shape (...).
    """
    l1, a1, b1 = np.moveaxis(first.astype(np.float64), -1, 0)
    l2, a2, b2 = np.moveaxis(second.astype(np.float64), -1, 0)
    c7 = ((np.hypot(a1, b1) + np.hypot(a2, b2)) / 2) ** 7
    stretch = 1.5 - 0.5 * np.sqrt(c7 / (c7 + 25.0**7))
    c1, c2 = np.hypot(a1 * stretch, b1), np.hypot(a2 * stretch, b2)
    h1, h2 = np.arctan2(b1, a1 * stretch) % (2 * np.pi), np.arctan2(b2, a2 * stretch) % (2 * np.pi)
    grey = c1 * c2 == 0
    turn = np.where(grey, 0.0, (h2 - h1 + np.pi) % (2 * np.pi) - np.pi)
    hue = np.where(grey, h1 + h2, h1 + turn / 2) % (2 * np.pi)
    d_hue = 2 * np.sqrt(c1 * c2) * np.sin(turn / 2)
    chroma = (c1 + c2) / 2
    off_middle = ((l1 + l2) / 2 - 50) ** 2
    t = (
        1 - 0.17 * np.cos(hue - np.pi / 6) + 0.24 * np.cos(2 * hue)
        + 0.32 * np.cos(3 * hue + np.radians(6)) - 0.20 * np.cos(4 * hue - np.radians(63))
    )  # fmt: skip
    s_l = k_lightness * (1 + 0.015 * off_middle / np.sqrt(20 + off_middle))
    s_c, s_h = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    rotation = (
        -2
        * np.sqrt(chroma**7 / (chroma**7 + 25.0**7))
        * np.sin(np.radians(60) * np.exp(-(((np.degrees(hue) - 275) / 25) ** 2)))
    )
    parts = (l2 - l1) / s_l, (c2 - c1) / s_c, d_hue / s_h
    squared = parts[0] ** 2 + parts[1] ** 2 + parts[2] ** 2 + rotation * parts[1] * parts[2]
    return np.asarray(np.sqrt(np.maximum(squared, 0)), np.float64)


def _luma(image: Pixels) -> Plane:
    """Take the grey levels of the middle of an image."""
    return np.asarray(cv2.cvtColor(_middle(image), cv2.COLOR_RGB2GRAY), np.float32)


def _slopes(luma: Plane) -> Plane:
    """Give how steep the picture is at each pixel as the eye sees it."""
    blurred = cv2.GaussianBlur(luma, (0, 0), EYE_BLUR)
    across, down = cv2.Sobel(blurred, cv2.CV_32F, 1, 0), cv2.Sobel(blurred, cv2.CV_32F, 0, 1)
    return np.asarray(cv2.magnitude(across, down), np.float32)


def _blur_models(image: Pixels) -> tuple[Model, Model]:
    """Make the two models for blur and sharpening around an original."""
    original = _luma(image)
    steep = _slopes(original)
    edges = steep >= max(float(np.quantile(steep, 1 - _EDGE_SHARE)), 1e-3)
    slope = float(steep[edges].mean()) if edges.any() else 0.0

    def edge(changed: Pixels) -> float:
        now = float(_slopes(_luma(changed))[edges].mean()) if slope else 0.0
        return abs(math.log(now / slope)) / math.log(BLUR_WEBER) if slope and now else 0.0

    def structure(changed: Pixels) -> float:
        return (1 - ssim(original, _luma(changed))) / (1 - SSIM_NOTICED)

    return edge, structure


def ssim(first: Plane, second: Plane) -> float:
    """Give the mean structural similarity (Wang et al. 2004: Gaussian window 1.5, levels 0 to 255)."""

    def smooth(plane: Plane) -> Plane:
        return np.asarray(cv2.GaussianBlur(plane, (11, 11), 1.5), np.float32)

    mean1, mean2 = smooth(first), smooth(second)
    var1, var2 = smooth(first * first) - mean1**2, smooth(second * second) - mean2**2
    joint = smooth(first * second) - mean1 * mean2
    c1, c2 = 6.5025, 58.5225
    ratio = ((2 * mean1 * mean2 + c1) * (2 * joint + c2)) / ((mean1**2 + mean2**2 + c1) * (var1 + var2 + c2))
    return float(ratio.mean())


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
    filtered = np.fft.irfft2(np.fft.rfft2(contrast) * _weights(*contrast.shape), s=contrast.shape)
    energy = (np.abs(filtered) ** SUMMATION / PIXELS_PER_DEGREE**2).astype(np.float32)
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
        blurred = [
            share / weight * _gaussian(plane, spread * PIXELS_PER_DEGREE / np.sqrt(2))
            for share, spread in blurs
        ]
        opponent[..., channel] = np.sum(blurred, axis=0)
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

"""Surface statistics of a picture: what a rung is measured by, and what a judge may only be echoing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from judge_audit.stimuli.axes.image_buffers import wide_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

VERSION = "3"
"""Raised whenever the same pixels would give other statistics."""

STATISTICS = ("luma", "contrast", "chroma", "sharpness", "noise", "clipped")
"""luma: mean luma (0-255). contrast: standard deviation of luma. chroma: mean distance from grey in the
opponent plane of YCrCb (0-255). sharpness: log10 of the mean absolute Laplacian plus 1/100. noise: noise
standard deviation by Immerkaer (1996). clipped: share of channel values at 0 or 255."""

ROOT_UNIT = 2**16
SECOND_DIFFERENCE = np.array([1, -2, 1], np.float32)
"""Along both sides this is Immerkaer's mask."""


def _distances() -> NDArray[np.int32]:
    """Give the distance from grey in whole units, by red and blue difference: red * 256 + blue, or reversed."""
    squares = (np.arange(256) - 128) ** 2
    roots = np.rint(np.sqrt(squares[:, None] + squares[None, :]) * ROOT_UNIT)
    return np.asarray(roots.reshape(-1), np.int32)


DISTANCES = _distances()


def measure_surface(pixels: NDArray[np.uint8]) -> dict[str, float]:
    """Measure a picture.

    Args:
        pixels: 8-bit sRGB, shape (height, width, 3), at least 3 x 3.

    Returns:
        One number per name in `STATISTICS`.
    """
    luma, *differences = cv2.split(cv2.cvtColor(pixels, cv2.COLOR_RGB2YCrCb))
    mean, deviation = cv2.meanStdDev(luma)
    # Counted in whole numbers: a sum of floats depends on where in memory a picture happens to lie.
    edges = cv2.Laplacian(luma, cv2.CV_16S)
    residue = cv2.sepFilter2D(luma, cv2.CV_16S, SECOND_DIFFERENCE, SECOND_DIFFERENCE)[1:-1, 1:-1]
    values = np.ascontiguousarray(pixels).reshape(1, -1)
    inside = cv2.countNonZero(values) + cv2.countNonZero(cv2.bitwise_not(values)) - values.size
    area = max(residue.size, 1)
    return {
        "luma": float(mean[0, 0]),
        "contrast": float(deviation[0, 0]),
        "chroma": _summed_distance(differences) / ROOT_UNIT / luma.size,
        "sharpness": math.log10(cv2.norm(edges, cv2.NORM_L1) / edges.size + 0.01),
        "noise": float(np.sqrt(np.pi / 2) * cv2.norm(residue, cv2.NORM_L1) / (6 * area)),
        "clipped": (values.size - inside) / values.size,
    }


def _summed_distance(differences: Sequence[Any]) -> int:
    """Sum the pixels' distances from grey: red and blue difference are looked up as one 16-bit value."""
    both = cv2.merge(differences).reshape(1, -1).view(np.uint16)
    if wide_tables():
        return int(cv2.sumElems(cv2.LUT(both, DISTANCES))[0])
    return int(np.take(DISTANCES, both).sum(dtype=np.int64))

"""Surface statistics of a picture: what a rung is measured by, and what a judge may only be echoing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSION = "2"
"""Raised whenever the same pixels would give other statistics."""

STATISTICS = ("luma", "contrast", "chroma", "sharpness", "noise", "clipped")
"""luma: mean luma (0-255). contrast: standard deviation of luma. chroma: mean distance from grey in the
opponent plane of YCrCb (0-255). sharpness: log10 of the mean absolute Laplacian plus 1/100. noise: noise
standard deviation by Immerkaer (1996). clipped: share of channel values at 0 or 255."""

ROOT_UNIT = 2**16
ROOTS = np.rint(np.sqrt(np.arange(2 * 128**2 + 1)) * ROOT_UNIT).astype(np.int64)
"""Distance from grey by its square, in whole units."""

IMMERKAER = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)


def measure_surface(pixels: NDArray[np.uint8]) -> dict[str, float]:
    """Measure a picture.

    Args:
        pixels: 8-bit sRGB, shape (height, width, 3), at least 3 x 3.

    Returns:
        One number per name in `STATISTICS`.
    """
    opponent = cv2.cvtColor(pixels, cv2.COLOR_RGB2YCrCb)
    luma = np.ascontiguousarray(opponent[..., 0])
    mean, deviation = cv2.meanStdDev(luma)
    red, blue = (opponent[..., channel].astype(np.int32) - 128 for channel in (1, 2))
    # Counted in whole numbers: a sum of floats depends on where in memory a picture happens to lie.
    distances = np.bincount((red * red + blue * blue).ravel(), minlength=len(ROOTS))
    chroma = float(int((distances * ROOTS).sum()) / ROOT_UNIT / luma.size)
    edges = cv2.Laplacian(luma, cv2.CV_16S)
    residue = cv2.filter2D(luma, cv2.CV_16S, IMMERKAER)[1:-1, 1:-1]
    counts = cv2.calcHist([pixels.reshape(-1)], [0], None, [256], [0, 256]).ravel()
    area = max(residue.size, 1)
    return {
        "luma": float(mean[0, 0]),
        "contrast": float(deviation[0, 0]),
        "chroma": chroma,
        "sharpness": float(np.log10(cv2.norm(edges, cv2.NORM_L1) / edges.size + 0.01)),
        "noise": float(np.sqrt(np.pi / 2) * cv2.norm(residue, cv2.NORM_L1) / (6 * area)),
        "clipped": float((counts[0] + counts[255]) / pixels.size),
    }

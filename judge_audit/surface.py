"""Surface statistics of a picture: what a rung is measured by, and what a judge may only be echoing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSION = "1"
"""Raised whenever the same pixels would give other statistics."""

STATISTICS = ("luma", "contrast", "chroma", "sharpness", "noise", "clipped")
"""luma: mean luma (0-255). contrast: standard deviation of luma. chroma: mean distance from grey in the
opponent plane of YCrCb (0-255). sharpness: log10 of the mean absolute Laplacian plus 1/100. noise: noise
standard deviation by Immerkaer (1996). clipped: share of channel values at 0 or 255."""

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
    offset = cv2.subtract(opponent[..., 1:].astype(np.int16), np.full(4, 128.0))
    chroma = cv2.magnitude(offset[..., 0].astype(np.float32), offset[..., 1].astype(np.float32))
    edges = cv2.Laplacian(luma, cv2.CV_16S)
    residue = cv2.filter2D(luma, cv2.CV_16S, IMMERKAER)[1:-1, 1:-1]
    counts = cv2.calcHist([pixels.reshape(-1)], [0], None, [256], [0, 256]).ravel()
    area = max(residue.size, 1)
    return {
        "luma": float(mean[0, 0]),
        "contrast": float(deviation[0, 0]),
        "chroma": float(cv2.mean(chroma)[0]),
        "sharpness": float(np.log10(cv2.norm(edges, cv2.NORM_L1) / edges.size + 0.01)),
        "noise": float(np.sqrt(np.pi / 2) * cv2.norm(residue, cv2.NORM_L1) / (6 * area)),
        "clipped": float((counts[0] + counts[255]) / pixels.size),
    }

"""Watermark: a line of text laid over the lower right corner; strength is its opacity."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.stimuli.axes.axis import Axis
from judge_audit.stimuli.axes.image_buffers import ladder
from judge_audit.stimuli.axes.regions import corner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from judge_audit.stimuli.axes.axis import Pixels
    from judge_audit.stimuli.axes.image_buffers import Scratch

THRESHOLD = 0.1
TALL = 6.0
LETTERS: tuple[tuple[float, tuple[tuple[tuple[float, float], ...], ...]], ...] = (
    (4, (((0, 6), (0, 0), (3, 0), (4, 1), (4, 2), (3, 3), (0, 3)),)),
    (4, (((0, 6), (0, 0), (3, 0), (4, 1), (4, 2), (3, 3), (0, 3)), ((2, 3), (4, 6)))),
    (4, (((4, 0), (0, 0), (0, 6), (4, 6)), ((0, 3), (3, 3)))),
    (4, (((0, 0), (2, 6), (4, 0)),)),
    (0, (((0, 0), (0, 6)),)),
    (4, (((4, 0), (0, 0), (0, 6), (4, 6)), ((0, 3), (3, 3)))),
    (6, (((0, 0), (1.5, 6), (3, 1.5), (4.5, 6), (6, 0)),)),
)
"""The word PREVIEW: width and strokes of each letter, x to the right and y down, letters `TALL` high. Drawn here,
because the fonts of a drawing library change from version to version."""

GAP = 2.0
STROKE, OUTLINE = 0.5, 0.95
"""Half widths of the white stroke and of the dark one under it, in the letters' unit."""


def overlay(height: int, width: int) -> NDArray[np.float32]:
    """Draw the text, white with a dark outline, as large as it fits.

    Args:
        height: Of the corner, in pixels.
        width: Of the corner.

    Returns:
        How much of each pixel the text covers, and how much of each is white, shape (2, height, width, 1); whole
        parts of 255.
    """
    long = sum(wide for wide, _ in LETTERS) + GAP * (len(LETTERS) - 1)
    unit = min(height / (TALL + 2 * OUTLINE), width / (long + 2 * OUTLINE))
    left, top = width - unit * (long + OUTLINE), height - unit * (TALL + OUTLINE)
    across, down = np.arange(width)[None, :] + 0.5, np.arange(height)[:, None] + 0.5
    apart = np.full((height, width), np.inf)
    for wide, strokes in LETTERS:
        for stroke in strokes:
            corners = [(left + unit * x, top + unit * y) for x, y in stroke]
            for start, end in pairwise(corners):
                apart = np.minimum(apart, _distance(across, down, start, end))
        left += unit * (wide + GAP)
    shares = [np.clip(0.5 + unit * half - apart, 0, 1) for half in (OUTLINE, STROKE)]
    return (np.rint(np.stack(shares)[..., None] * 255) / 255).astype(np.float32)


def _distance(
    across: NDArray[Any], down: NDArray[Any], start: tuple[float, float], end: tuple[float, float]
) -> NDArray[np.float64]:
    """Give the distance of points from a line between two points."""
    run, fall = end[0] - start[0], end[1] - start[1]
    along = ((across - start[0]) * run + (down - start[1]) * fall) / (run * run + fall * fall)
    along = np.clip(along, 0, 1)
    near = (across - start[0] - along * run) ** 2 + (down - start[1] - along * fall) ** 2
    return np.asarray(np.sqrt(near), np.float64)


def _layers(image: Pixels) -> NDArray[np.float32]:
    rows, columns = corner(image.shape)
    return overlay(rows.stop - rows.start, columns.stop - columns.start)


def _draw(image: Pixels, strength: float, scratch: Scratch) -> Pixels:
    cover, white = scratch.kept(image, "watermark", _layers)
    place = corner(image.shape)
    changed = image.copy()
    laid = image[place] * (1 - np.float32(strength) * cover) + np.float32(strength * 255) * white
    changed[place] = np.rint(laid).astype(np.uint8)
    return changed


AXES = (
    Axis(
        name="watermark",
        unit="opacity",
        description="A line of text over the lower right corner, from a trace to nearly opaque.",
        strengths=ladder(THRESHOLD, 10, top=0.9),
        overdone=0.5,
        visibility=None,
        statistic=None,
        rises=False,
        recipe_version=1,
        draw=_draw,
        default=False,
        region="corner",
    ),
)

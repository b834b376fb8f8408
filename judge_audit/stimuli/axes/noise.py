"""Noise: additive Gaussian noise, independent in each channel; strength is its standard deviation in levels.

A picture has one field of noise, drawn from its own digest and scaled by the strength: every rung shows the
same grain, only stronger. The field is made of whole numbers (Philox's raw stream, which NumPy keeps, through
a table of normal quantiles), so every machine draws the same.
"""

from __future__ import annotations

from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.core.digests import pixel_digest
from judge_audit.stimuli.axes.axis import Axis
from judge_audit.stimuli.axes.image_buffers import ladder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from judge_audit.stimuli.axes.axis import Pixels
    from judge_audit.stimuli.axes.image_buffers import Scratch

THRESHOLD = 3.0
"""Levels; between the visual-difference models' 1.5 and 6 at one minute of arc a pixel."""

STEPS = 2**16
UNIT = 2**12
"""Parts of one standard deviation: quantiles are rounded to them, beyond the last digit of any library."""


@cache
def quantiles() -> NDArray[np.float32]:
    """Give the normal quantiles at the middle of each of 65,536 equal steps, unit standard deviation."""
    normal = NormalDist()
    upper = np.array([normal.inv_cdf((step + 0.5) / STEPS) for step in range(STEPS // 2, STEPS)])
    upper = np.rint(upper / np.sqrt((upper**2).mean()) * UNIT) / UNIT
    return np.concatenate([-upper[::-1], upper]).astype(np.float32)


def field(image: Pixels) -> NDArray[np.float32]:
    """Give a picture's own noise at strength 1, of the picture's shape."""
    stream = np.random.Philox(key=int(pixel_digest(image), 16))
    raw = np.asarray(stream.random_raw(-(-image.size // 4)), np.uint64)
    steps = raw.astype("<u8").view("<u2")[: image.size]
    return np.take(quantiles(), steps).reshape(image.shape)


def _draw(image: Pixels, strength: float, scratch: Scratch) -> Pixels:
    changed = scratch.plane("a", image.shape)
    # One product, one sum, one rounding: each is exact to the last bit on every machine.
    np.multiply(scratch.kept(image, "noise", field), np.float32(strength), out=changed)
    np.add(changed, image, out=changed)
    np.rint(changed, out=changed)
    np.clip(changed, 0, 255, out=changed)
    return changed.astype(np.uint8)


AXES = (
    Axis(
        name="noise",
        unit="levels of 255 (standard deviation)",
        description="Gaussian noise added to each channel; the same grain at every rung, only stronger.",
        strengths=ladder(THRESHOLD, 11, top=50.0),
        overdone=20.0,
        visibility="noise",
        statistic="noise",
        rises=True,
        recipe_version=1,
        draw=_draw,
        default=False,
    ),
)

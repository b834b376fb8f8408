"""Brightness: exposure in linear light, in stops (EV)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.stimuli.axes.axis import Axis
from judge_audit.stimuli.axes.image_buffers import ladder, looked_up
from judge_audit.stimuli.axes.saturation import LINEAR

if TYPE_CHECKING:
    from judge_audit.stimuli.axes.axis import Pixels
    from judge_audit.stimuli.axes.image_buffers import Scratch

THRESHOLD = 0.12
"""About 5 % of encoded brightness (Song & Luo 2001)."""


@lru_cache(maxsize=256)
def _table(stops: float) -> Pixels:
    """Give each value's after linear light was multiplied by 2 ** stops; clipped at white."""
    light = np.clip(LINEAR.astype(np.float64) * 2.0**stops, 0.0, 1.0)
    value = np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.asarray(np.rint(value * 255), np.uint8)


def _raise(image: Pixels, strength: float, scratch: Scratch) -> Pixels:
    return looked_up(image, _table(strength), scratch.fresh(image.shape))


def _lower(image: Pixels, strength: float, scratch: Scratch) -> Pixels:
    return looked_up(image, _table(-strength), scratch.fresh(image.shape))


AXES = (
    Axis(
        name="brightness+",
        unit="stops (EV)",
        description="More exposure, in linear light.",
        strengths=ladder(THRESHOLD, 10, top=2.0),
        overdone=1.4,
        visibility="tone",
        statistic="luma",
        rises=True,
        recipe_version=1,
        draw=_raise,
    ),
    Axis(
        name="brightness-",
        unit="stops (EV) taken away",
        description="Less exposure, in linear light.",
        strengths=ladder(THRESHOLD, 10, top=3.0),
        overdone=2.0,
        visibility="tone",
        statistic="luma",
        rises=False,
        recipe_version=1,
        draw=_lower,
    ),
)

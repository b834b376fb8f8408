"""Poor quality: the right content, blurred and noisy at the strengths the axes declare overdone; prompt kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.stimuli.axes.blur import AXES as BLUR
from judge_audit.stimuli.axes.image_buffers import Scratch
from judge_audit.stimuli.axes.noise import AXES as NOISE
from judge_audit.stimuli.mismatches.kind import Built, Kind, Unsuited, Variant, picture_difficulty, too_small

if TYPE_CHECKING:
    from judge_audit.stimuli.mismatches.kind import Material

DETAIL = 1.0
"""Mean levels the blur must move; a picture that loses less was soft, or empty, before."""


def _blur_and_noise(material: Material) -> Built | Unsuited:
    """Blur, then add noise, each at its declared overdone strength."""
    refused = too_small(material)
    if refused:
        return refused
    blur, noise = BLUR[0], NOISE[0]
    scratch = Scratch()
    scratch.begin(material.pixels)
    soft = blur.draw(material.pixels, blur.overdone, scratch)
    lost = float(np.abs(soft.astype(np.int16) - material.pixels).mean())
    if lost < DETAIL:
        return Unsuited(
            f"blurring moves its pixels by {lost:.1f} levels on average: it is soft, or has no detail, already."
        )
    scratch.begin(soft)
    damaged = noise.draw(soft, noise.overdone, scratch).copy()
    return Built(
        variant="blur_and_noise",
        pixels=damaged,
        prompt=None,
        region=np.ones(material.pixels.shape[:2], np.bool_),
        difficulty=picture_difficulty(material.pixels, damaged),
        told=f"Blurred with a sigma of {blur.overdone:g} {blur.unit.partition(' (')[0]} and overlaid with noise of "
        f"{noise.overdone:g} {noise.unit.partition(' (')[0]}, the strengths the axes declare overdone.",
        honest_limits=(
            "Fine detail that the prompt names (lettering, small things) may be lost with the quality.",
            "A picture meant to be soft or grainy is damaged less than one meant to be sharp.",
        ),
    )


KIND = Kind(
    name="poor_quality",
    description="Right content, poor quality: blur and noise over the whole picture.",
    damages="aesthetic",
    expectations={"semantic": "hold", "structure": "free", "aesthetic": "drops", "compliance": "hold"},
    variants=(Variant("blur_and_noise", "Blur and noise at declared overdone strength.", _blur_and_noise),),
    recipe_version=1,
)

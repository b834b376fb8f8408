"""Crops of the bundled photographs: a source of real pictures, several to a photograph."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

import cv2
import numpy as np

from judge_audit.core.errors import MachineryError

if TYPE_CHECKING:
    from numpy.typing import NDArray

PHOTOGRAPHS: dict[str, str] = {
    "astronaut": "Photograph of an astronaut in an orange suit before a flag.",
    "chelsea": "Photograph of a ginger cat's face.",
    "china": "Photograph of a palace with golden roofs.",
    "coffee": "Photograph of a cup of coffee on a wooden table.",
    "flower": "Photograph of an orange flower among leaves.",
    "grace_hopper": "Photograph of a naval officer in uniform.",
    "hubble": "Photograph of galaxies in deep space.",
    "retina": "Photograph of the back of an eye.",
    "rocket": "Photograph of a rocket on its launch pad at night.",
}
"""What each bundled photograph shows; authors and licences stand in photos/ATTRIBUTION.md."""

_SMALLEST_SHARE = 0.5
"""A crop's side is at least this share of the photograph's short side."""


@dataclass(frozen=True, slots=True)
class Crop:
    """A square cut from a photograph.

    Attributes:
        photograph: A name in `PHOTOGRAPHS`.
        number: Which crop of it.
        pixels: 8-bit sRGB, shape (size, size, 3).
    """

    photograph: str
    number: int
    pixels: NDArray[np.uint8]


def read_photograph(name: str) -> NDArray[np.uint8]:
    """Decode a bundled photograph to 8-bit sRGB.

    Raises:
        MachineryError: If the file is not in the package.
    """
    content = files("judge_audit.demo").joinpath("photos", f"{name}.jpg").read_bytes()
    decoded = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
    if decoded is None:
        raise MachineryError(
            f"The bundled photograph {name}.jpg cannot be decoded; install judge-audit anew."
        )
    return np.ascontiguousarray(decoded[..., ::-1]).astype(np.uint8, copy=False)


def cut_crops(count: int, size: int, seed: int) -> list[Crop]:
    """Cut crops from every photograph in turn.

    Crops are as large as they come and scaled to `size`: where the window is smaller than `size` the crop
    is a little soft, as enlarged pictures are.

    Args:
        count: How many crops in all.
        size: Side of each crop in pixels.
        seed: Settles the windows.

    Returns:
        The crops, spread evenly over the photographs.
    """
    held = {name: read_photograph(name) for name in PHOTOGRAPHS}
    crops = []
    for index in range(count):
        name, number = tuple(held)[index % len(held)], index // len(held)
        picture = held[name]
        rng = np.random.default_rng([13, seed, index])
        short = min(picture.shape[:2])
        side = int(rng.integers(int(short * _SMALLEST_SHARE), short + 1))
        top = int(rng.integers(picture.shape[0] - side + 1))
        left = int(rng.integers(picture.shape[1] - side + 1))
        window = picture[top : top + side, left : left + side]
        how = cv2.INTER_AREA if side > size else cv2.INTER_CUBIC
        pixels = cv2.resize(window, (size, size), interpolation=how).astype(np.uint8, copy=False)
        crops.append(Crop(name, number, pixels))
    return crops

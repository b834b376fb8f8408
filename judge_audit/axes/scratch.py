"""Buffers and blurred planes that the rungs of one image share; one scratch per thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]

# Rendering runs in threads of its own; OpenCV's inner threads would only fight with them.
cv2.setNumThreads(1)


class Scratch:
    """Working memory for drawing one image's ladders.

    Fresh arrays cost page faults (nearly half of the time of a rung), so float planes are kept from rung to
    rung, and a blurred copy is made once for all axes that need it.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._image: Pixels | None = None
        self._mask: NDArray[np.bool_] | None = None
        self._planes: dict[str, NDArray[np.float32]] = {}
        self._kept: dict[str, NDArray[Any]] = {}

    def begin(self, image: Pixels, mask: NDArray[np.bool_] | None = None) -> None:
        """Turn to another image: what was kept of the one before is dropped.

        Args:
            image: The image that is drawn next.
            mask: True where its subject is, if the item came with a mask; an image keeps the one it began with.
        """
        if self._image is not image:
            self._image, self._mask = image, mask
            self._kept.clear()
        elif mask is not None:
            self._mask = mask

    @property
    def mask(self) -> NDArray[np.bool_] | None:
        """The mask of the image begun with, if it has one."""
        return self._mask

    def plane(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """Give a float buffer of a shape; its content is whatever was there."""
        held = self._planes.get(name)
        if held is None or held.shape != shape:
            held = np.empty(shape, np.float32)
            self._planes[name] = held
        return held

    def kept(self, image: Pixels, name: str, make: Callable[[Pixels], NDArray[Any]]) -> NDArray[Any]:
        """Give what `make` makes of an image, made once for all rungs that ask under that name."""
        self.begin(image)
        if name not in self._kept:
            self._kept[name] = make(image)
        return self._kept[name]

    def blurred(self, image: Pixels, sigma: float) -> Pixels:
        """Blur an image with a Gaussian of `sigma` pixels, once for all who ask."""
        return self.kept(
            image,
            f"blur {sigma:.6g}",
            lambda pixels: cv2.GaussianBlur(pixels, (0, 0), sigma, borderType=cv2.BORDER_REFLECT_101),
        )

    def mean_lightness(self, image: Pixels) -> float:
        """Give the mean luma of an image (0 to 255), once for all who ask."""
        luma = self.kept(
            image, "luma", lambda pixels: np.array(cv2.mean(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY))[0])
        )
        return float(luma)


def ladder(threshold: float, rungs: int = 10, *, top: float) -> tuple[float, ...]:
    """Make a geometric ladder from a tenth of the usual threshold to the strongest rung.

    Args:
        threshold: The usual visibility threshold in the axis's unit.
        rungs: How many rungs.
        top: Strength of the last rung.

    Returns:
        Strengths, rising, cut to three significant digits so that their text is short.
    """
    return tuple(float(f"{value:.3g}") for value in np.geomspace(threshold / 10, top, rungs))

"""Buffers and blurred planes that the rungs of one image share; one scratch per thread."""

from __future__ import annotations

import math
from collections import deque
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import DTypeLike, NDArray

    Pixels = NDArray[np.uint8]

# Rendering runs in threads of its own; OpenCV's inner threads would only fight with them.
cv2.setNumThreads(1)

COARSE = (2.5, 8.0)
"""Sigma in pixels from which a blur is made at half and at quarter size: at most 2.4 levels from the exact
Gaussian on photographs (1.1 at full size) and 2.6 on black and white noise (2.5), 0.3 on average (0.25)."""

SPARE_BYTES = 2**26
SPARE_STEP = 2**16
"""Memory of drawn pictures is kept by size in steps of 64 KiB, at most 64 MiB of a size."""

REACH_STEP = 32
"""Blurs whose reach is the same multiple of this many pixels share their halved images."""

HALVING_VARIANCE = (0.0, 1.5, 6.5)
"""What halving with taps 1 3 3 1, once or twice, and enlarging by lines add to a blur, in pixels squared."""

RISE = (0.0, 44 / 256, 72 / 256)
"""By how much of a level halving and enlarging, which round halves up, brighten pictures on average; taken off again
before the blur is rounded."""

BORDER = cv2.BORDER_REFLECT
WIDE_TABLE = 2**16
PAIRS_PAY_FROM = 2**17
"""Bytes from which a table of pairs is worth making."""


class _Lease:
    """Owns the memory of one drawn picture; when nobody holds the picture any more, gives it back."""

    def __init__(self, memory: NDArray[np.uint8], spare: deque[NDArray[np.uint8]]) -> None:
        """Take the memory; `spare` is where it goes afterwards."""
        self._memory = memory
        self._spare = spare
        self.__array_interface__ = memory.__array_interface__

    def __del__(self) -> None:
        """Give the memory back. The oldest spare one falls out when there are too many."""
        self._spare.append(self._memory)


class Scratch:
    """Working memory for drawing one image's ladders.

    Fresh arrays cost page faults (nearly half of the time of a rung), so planes are kept from rung to rung and
    from image to image, and a blurred copy is made once for all axes that need it.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._image: Pixels | None = None
        self._mask: NDArray[np.bool_] | None = None
        self._planes: dict[str, NDArray[Any]] = {}
        self._kept: dict[str, NDArray[Any]] = {}
        self._lent: list[NDArray[Any]] = []
        self._spare: list[NDArray[Any]] = []
        self._returned: dict[int, deque[NDArray[np.uint8]]] = {}

    def begin(self, image: Pixels, mask: NDArray[np.bool_] | None = None) -> None:
        """Turn to another image: what was kept of the one before is dropped, its rooms are used again.

        Args:
            image: The image that is drawn next.
            mask: True where its subject is, if the item came with a mask; an image keeps the one it began with.
        """
        if self._image is not image:
            if self._image is not None and self._image.shape != image.shape:
                self._returned = {}
            self._image, self._mask = image, mask
            self._kept.clear()
            self._spare, self._lent = self._lent, []
        elif mask is not None:
            self._mask = mask

    @property
    def mask(self) -> NDArray[np.bool_] | None:
        """The mask of the image begun with, if it has one."""
        return self._mask

    def plane(self, name: str, shape: tuple[int, ...], kind: DTypeLike = np.float32) -> NDArray[Any]:
        """Give a buffer of a shape, of floats unless told; its content is whatever was there."""
        held = self._planes.get(name)
        if held is None or held.shape != shape or held.dtype != kind:
            held = np.empty(shape, kind)
            self._planes[name] = held
        return held

    def room(self, shape: tuple[int, ...], kind: DTypeLike) -> NDArray[Any]:
        """Give a buffer for something to keep until the scratch turns to another image."""
        for place, held in enumerate(self._spare):
            if held.shape == shape and held.dtype == kind:
                self._lent.append(self._spare.pop(place))
                break
        else:
            self._lent.append(np.empty(shape, kind))
        return self._lent[-1]

    def fresh(self, shape: tuple[int, ...]) -> Pixels:
        """Give 8-bit pixels to draw into and hand out.

        They belong to whoever holds them or a view of them; only when the last holder has let go is their memory
        used for another picture, which spares the page faults of new memory. Their content is whatever was there.
        """
        size = math.prod(shape)
        steps = -(-size // SPARE_STEP)
        spare = self._returned.setdefault(
            steps, deque(maxlen=max(4, SPARE_BYTES // (max(steps, 1) * SPARE_STEP)))
        )
        try:
            memory = spare.pop()
        except IndexError:
            memory = np.empty(steps * SPARE_STEP, np.uint8)
        leased: Pixels = np.asarray(_Lease(memory, spare))
        return leased[:size].reshape(shape)

    def kept(self, image: Pixels, name: str, make: Callable[[Pixels], NDArray[Any]]) -> NDArray[Any]:
        """Give what `make` makes of an image, made once for all rungs that ask under that name."""
        self.begin(image)
        if name not in self._kept:
            self._kept[name] = make(image)
        return self._kept[name]

    def blurred(self, image: Pixels, sigma: float) -> Pixels:
        """Blur an image with a Gaussian of `sigma` pixels, once for all who ask.

        The image goes on beyond its border as its mirror image. Whole numbers throughout, so the pixels do not
        depend on the processor. A sigma too small to move any value gives the image itself.
        """
        if len(taps(sigma)) == 1:
            return image
        return self.kept(image, f"blur {sigma:.6g}", lambda pixels: self._blur(pixels, sigma))

    def _blur(self, image: Pixels, sigma: float) -> Pixels:
        """Blur at the size that suits sigma: full, half or quarter."""
        level = sum(sigma >= limit for limit in COARSE)
        room = self.room(image.shape, np.uint8)
        if not level:
            return self._convolved(image, taps(sigma), room)
        coarse = self._coarse(image, level, REACH_STEP * int(np.ceil((3 * sigma + 8) / REACH_STEP)))
        small = self.plane(f"blur at {level}", coarse.shape, np.uint8)
        rest = (sigma**2 - HALVING_VARIANCE[level]) ** 0.5 / 2**level
        self._convolved(coarse, taps(rest), small, rise=RISE[level])
        high, wide = (side << level for side in coarse.shape[:2])
        whole = (high, wide) == image.shape[:2]
        target = room if whole else self.plane("enlarged", (high, wide, coarse.shape[2]), np.uint8)
        cv2.resize(small, (wide, high), dst=target, interpolation=cv2.INTER_LINEAR_EXACT)
        if not whole:
            np.copyto(room, target[: image.shape[0], : image.shape[1]])
        return room

    def _convolved(
        self, image: Pixels, weights: NDArray[np.int64], out: Pixels, *, rise: float = 0.0
    ) -> Pixels:
        """Convolve with weights in 256ths along both sides, less a `rise` of whole 256ths; rounded to nearest.

        Sums of whole 65,536ths below 256 are exact in single precision, in any order and on any processor;
        OpenCV's own 8-bit sums round halves up or to even by where in a row they stand.
        """
        kernel = (weights / 256).astype(np.float32)
        sums = self.plane("sums", image.shape)
        cv2.sepFilter2D(image, cv2.CV_32F, kernel, kernel, dst=sums, borderType=BORDER)
        cv2.convertScaleAbs(sums, out, 1.0, -rise)
        return out

    def _coarse(self, image: Pixels, level: int, reach: int) -> Pixels:
        """Halve an image `level` times, once for all blurs that ask.

        A side that is no multiple of 4 is first continued by `reach` mirrored pixels or a few more: the mirror
        stands between two pixels at every size, as it does at full size.
        """

        def halve(pixels: Pixels) -> Pixels:
            source = self._coarse(pixels, level - 1, reach) if level > 1 else pixels
            more = [0 if side % 4 == 0 else reach + -(side + reach) % 4 for side in image.shape[:2]]
            if level == 1 and any(more):
                source = np.asarray(cv2.copyMakeBorder(source, 0, more[0], 0, more[1], BORDER), np.uint8)
            high, wide, channels = source.shape
            smooth = self.plane(f"smooth at {level}", source.shape, np.uint8)
            self._convolved(source, np.array([64, 128, 64]), smooth)
            half = self.room((high // 2, wide // 2, channels), np.uint8)
            cv2.resize(smooth, (wide // 2, high // 2), dst=half, interpolation=cv2.INTER_AREA)
            return half

        return self.kept(image, f"coarse {level} {reach}", halve)

    def mean_lightness(self, image: Pixels) -> float:
        """Give the mean luma of an image (0 to 255), once for all who ask."""
        luma = self.kept(
            image, "luma", lambda pixels: np.array(cv2.mean(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY))[0])
        )
        return float(luma)


@lru_cache(maxsize=256)
def taps(sigma: float) -> NDArray[np.int64]:
    """Give the weights of a Gaussian in 256ths, from the first to the last that is not nought.

    They sum to 256 exactly, each side's rounding carried on towards the middle, so that no blur darkens.
    """
    reach = int(np.ceil(3 * sigma))
    steps = np.arange(-reach, reach + 1)
    exact = np.exp(-(steps**2) / (2 * max(sigma, 1e-6) ** 2))
    exact *= 256 / exact.sum()
    side: list[int] = []
    carried = 0.0
    for weight in exact[:reach]:
        side.append(round(weight + carried))
        carried += weight - side[-1]
    while side and side[0] == 0:
        side.pop(0)
    found = np.array([*side, 256 - 2 * sum(side), *reversed(side)], np.int64)
    found.flags.writeable = False
    return found


@cache
def wide_tables() -> bool:
    """Tell whether this OpenCV looks up 16-bit values (older ones refuse them)."""
    try:
        cv2.LUT(np.zeros((1, 1), np.uint16), np.zeros(WIDE_TABLE, np.uint8))
    except cv2.error:
        return False
    return True


def looked_up(image: Pixels, table: Pixels, out: Pixels) -> Pixels:
    """Send every value of an image through a table of 256 into `out`.

    Two neighbouring values are looked up in one step where that pays.
    """
    pays = image.size >= PAIRS_PAY_FROM and image.size % 2 == 0 and image.flags.c_contiguous
    if not pays or not wide_tables():
        cv2.LUT(image, table, dst=out)
        return out
    wide = table.astype(np.uint16)
    pairs = (wide[:, None] << 8 | wide).reshape(-1)
    cv2.LUT(image.reshape(1, -1).view(np.uint16), pairs, dst=out.reshape(1, -1).view(np.uint16))
    return out


def looked_up_wide(values: NDArray[np.uint16], table: NDArray[Any], out: NDArray[Any]) -> NDArray[Any]:
    """Send 16-bit values through a table of 65,536 into `out`."""
    if wide_tables():
        cv2.LUT(values, table, dst=out)
    else:
        np.take(table, values, out=out, mode="clip")
    return out


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

"""The pictures that readers see: the very pixels of the plan, or nothing; written so that size tells nothing."""

from __future__ import annotations

import io
import secrets
import threading
from collections import OrderedDict
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from judge_audit.core.digests import pixel_digest
from judge_audit.core.errors import UsageError
from judge_audit.people.readings import draw_ladder
from judge_audit.stimuli.axes.image_buffers import Scratch
from judge_audit.stimuli.images import load_image, load_mask, mask_digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from judge_audit.people.study.plan import Ladder
    from judge_audit.stimuli.axes.axis import Axis

    Pixels = NDArray[np.uint8]

SURROUND = 119
"""Grey level around pictures, of middle lightness (L* 50); it fills what a cut took away, so that every rung of a
ladder has one size."""

CACHE_BYTES = 2**28


class StaleLadderError(UsageError):
    """A ladder whose pixels are not those of the plan any more."""


@dataclass(eq=False, slots=True)
class PictureProvider:
    """Draws ladders for readers, and keeps the latest ones.

    Attributes:
        axes: The axes by name.
        limit: Bytes of pictures that are kept.
    """

    axes: Mapping[str, Axis]
    limit: int = CACHE_BYTES
    _cached: OrderedDict[tuple[str, str, bool], tuple[Pixels, ...]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _drawing: dict[tuple[str, str, bool], threading.Lock] = field(default_factory=dict)

    def rungs(self, ladder: Ladder) -> tuple[Pixels, ...]:
        """Give the original and every rung, all of one size.

        Raises:
            StaleLadderError: If picture, mask or axis draw other pixels than planned.
        """
        with self._lock:
            if ladder.key in self._cached:
                self._cached.move_to_end(ladder.key)
                return self._cached[ladder.key]
            turn = self._drawing.setdefault(ladder.key, threading.Lock())
        with turn:
            with self._lock:
                if ladder.key in self._cached:
                    return self._cached[ladder.key]
            drawn = self._draw(ladder)
            with self._lock:
                self._cached[ladder.key] = drawn
                self._drawing.pop(ladder.key, None)
                self._shrink()
        return drawn

    def _shrink(self) -> None:
        """Drop what was asked for longest ago until the rest fits."""
        size = sum(rung.nbytes for rungs in self._cached.values() for rung in rungs)
        while size > self.limit and len(self._cached) > 1:
            _, dropped = self._cached.popitem(last=False)
            size -= sum(rung.nbytes for rung in dropped)

    def _draw(self, ladder: Ladder) -> tuple[Pixels, ...]:
        original = load_image(ladder.uri).pixels
        if pixel_digest(original) != ladder.pixel_digest:
            raise _stale(ladder, "its picture was changed")
        if ladder.catch:
            return (original,) * (1 + len(ladder.strengths))
        axis = self.axes.get(ladder.axis)
        if axis is None or axis.strengths != ladder.strengths:
            raise _stale(ladder, "the axis has other strengths, or is gone")
        mask = load_mask(ladder.mask_uri, (ladder.height, ladder.width)) if ladder.mask_uri else None
        if mask is not None and mask_digest(mask) != ladder.mask_digest:
            raise _stale(ladder, "its mask was changed")
        rungs = draw_ladder(axis, asdict(ladder), original, mask, Scratch())
        if tuple(map(pixel_digest, rungs)) != ladder.rung_digests:
            raise _stale(ladder, "the axis, or the libraries that draw it, were changed")
        return (original, *(_framed(rung, original.shape) for rung in rungs))


def _framed(rung: Pixels, shape: tuple[int, ...]) -> Pixels:
    """Put a rung that a cut made smaller into the surround, where it was."""
    if rung.shape == shape:
        return rung
    whole = np.full(shape, SURROUND, np.uint8)
    height, width = (min(a, b) for a, b in zip(rung.shape[:2], shape[:2], strict=True))
    whole[:height, :width] = rung[:height, :width]
    return whole


def _stale(ladder: Ladder, why: str) -> StaleLadderError:
    return StaleLadderError(
        f"the ladder of {ladder.axis} on “{ladder.item_id}” is not the planned one: {why}. Plan the study again; "
        "what was read of the old pictures is stale."
    )


RANDOM = b"rnDm"
"""A private chunk that every reader of PNG skips; it makes two files of one picture differ."""


def stored_png(pixels: NDArray[np.uint8]) -> bytes:
    """Write pixels as a PNG whose length depends on their size alone.

    A compressed file would be shorter for a blurred or a darker copy, and the same for the same picture: it would
    tell the reader what is changed.

    Args:
        pixels: 8-bit sRGB, shape (height, width, 3).
    """
    chunks, stream = PngInfo(), io.BytesIO()
    chunks.add(RANDOM, secrets.token_bytes(16))
    Image.fromarray(pixels).save(stream, "PNG", compress_level=0, pnginfo=chunks)
    return stream.getvalue()

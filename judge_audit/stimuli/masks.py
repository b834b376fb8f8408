"""Masks that come with items: which part of a picture is its subject."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.core.digests import pixel_digest
from judge_audit.stimuli.images import ImageError, ImageLimits, load_image

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from judge_audit.stimuli.images import ImageLimits

SUBJECT_FROM = 128
"""Grey level from which a mask's pixel marks the subject."""


def load_mask(uri: str, size: tuple[int, int], limits: ImageLimits | None = None) -> NDArray[np.bool_]:
    """Read a mask: white marks the subject, which background axes leave alone.

    Args:
        uri: A path or a URL of a filesystem that fsspec knows.
        size: Height and width of the item's picture.
        limits: What is still decoded.

    Returns:
        True where the subject is, shape `size`.

    Raises:
        ImageError: If it cannot be read as a picture, has another size, or marks nothing.
    """
    pixels = load_image(uri, limits).pixels
    if pixels.shape[:2] != size:
        raise ImageError(
            f"the mask has {pixels.shape[1]} × {pixels.shape[0]} pixels, its picture "
            f"{size[1]} × {size[0]}; they must be the same (after any EXIF rotation)."
        )
    mask = np.asarray(pixels.min(axis=-1) >= SUBJECT_FROM, np.bool_)
    if not mask.any():
        raise ImageError(f"the mask marks nothing: {SUBJECT_FROM} to 255 (white) is the subject that stays.")
    return mask


def mask_digest(mask: NDArray[np.bool_]) -> str:
    """Digest a mask and its size."""
    return pixel_digest(mask.astype(np.uint8))


def part_box_of(written: str) -> tuple[float, float, float, float] | None:
    """Read a part: left, top, right, bottom as shares of width and height; None where nothing is written.

    Raises:
        ValueError: If it is something else.
    """
    shares = written.replace(",", " ").split()
    if not shares:
        return None
    left, top, right, bottom = (float(share) for share in shares)
    if not (0 <= left < right <= 1 and 0 <= top < bottom <= 1):
        raise ValueError(written)
    return left, top, right, bottom


def is_part_box(written: str) -> bool:
    """Say whether a part, or nothing, is written."""
    try:
        part_box_of(written)
    except ValueError:
        return False
    return True

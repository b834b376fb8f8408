"""The pictures of the report: an original beside its changed copy, both stored in the same way."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from judge_audit.stimuli.axes.image_buffers import Scratch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from judge_audit.stimuli.axes.axis import Axis

    Pixels = NDArray[np.uint8]

SIDE = 320
QUALITY = 90
FULL_COLOUR = 95


@dataclass(frozen=True, slots=True)
class Pair:
    """An original and its changed copy as data URIs.

    Attributes:
        original: The original.
        changed: Its changed copy.
        width: Width of the copy in percent of the original's; below 100 for a crop.
    """

    original: str
    changed: str
    width: float


def pictures_of(
    movers: Sequence[Mapping[str, Any]],
    pixels: Callable[[str], Pixels] | None,
    axes: Mapping[str, Axis],
    masks: Callable[[str], NDArray[np.bool_] | None] | None = None,
) -> dict[tuple[str, str, float], Pair]:
    """Draw the movers again.

    A picture that can no longer be read, or whose axis is gone, is left out; the page says so.

    Args:
        movers: Rows with item_id, axis and strength.
        pixels: Gives the pixels of an item by its id; None draws nothing.
        axes: The axes by name.
        masks: Gives the mask of an item by its id, None if it has none.

    Returns:
        Pairs by item, axis and strength.
    """
    found: dict[tuple[str, str, float], Pair] = {}
    if pixels is None:
        return found
    scratch = Scratch()
    for row in movers:
        axis = axes.get(row["axis"])
        if axis is None:
            continue
        try:
            original = pixels(row["item_id"])
            scratch.begin(original, masks(row["item_id"]) if masks else None)
        except Exception:  # noqa: BLE001, S112 - a report is worth having without one of its pictures
            continue
        changed = axis.draw(original, row["strength"], scratch)
        factor = min(1.0, SIDE / max(original.shape[:2]))
        width = 100 * changed.shape[1] / original.shape[1]
        pair = Pair(data_uri(original, factor), data_uri(changed, factor), width)
        found[row["item_id"], row["axis"], row["strength"]] = pair
    return found


def data_uri(pixels: Pixels, factor: float) -> str:
    """Store a picture as a JPEG data URI, scaled by a factor of at most 1.

    Args:
        pixels: 8-bit sRGB, shape (height, width, 3).
        factor: What to multiply its sides by.
    """
    shown = pixels
    if factor < 1:
        size = (max(1, round(pixels.shape[1] * factor)), max(1, round(pixels.shape[0] * factor)))
        shown = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
    return jpeg_uri(shown, QUALITY)


def jpeg_uri(pixels: Pixels, quality: int) -> str:
    """Store a picture as a JPEG data URI.

    Args:
        pixels: 8-bit sRGB, shape (height, width, 3).
        quality: JPEG quality; from 95 on colour keeps its full resolution.
    """
    flat = cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR)
    how = [cv2.IMWRITE_JPEG_QUALITY, quality]
    if quality >= FULL_COLOUR:
        how += [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444]
    _, stored = cv2.imencode(".jpg", flat, how)
    return "data:image/jpeg;base64," + base64.b64encode(stored.tobytes()).decode("ascii")

"""Elements that brand rules ban, and the copy that fills a space meant to stay empty; drawn here, no fonts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FINE = 4
_RED, _YELLOW, _WHITE, _INK = (214, 32, 44), (255, 214, 40), (255, 255, 255), (34, 32, 40)


def badge(side: int) -> NDArray[np.uint8]:
    """Draw a sale badge: a star with a percent sign; shape (side, side, 4), the last channel opacity."""
    full = side * _FINE
    turn = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    reach = np.where(np.arange(48) % 2 == 0, 0.495, 0.425)
    star = np.stack([0.5 + reach * np.cos(turn), 0.5 + reach * np.sin(turn)], axis=1)
    shape = _canvas(full, full)
    _polygon(shape, star * full, _RED)
    ring = round(0.02 * full)
    cv2.circle(shape, (full // 2, full // 2), round(0.37 * full), (*_WHITE, 255), ring)
    for x, y in ((0.36, 0.38), (0.64, 0.62)):
        cv2.circle(
            shape, (round(x * full), round(y * full)), round(0.075 * full), (*_WHITE, 255), round(0.05 * full)
        )
    slash = [(0.63, 0.27), (0.69, 0.30), (0.37, 0.73), (0.31, 0.70)]
    _polygon(shape, np.array(slash) * full, _WHITE)
    return _shrunk(shape, side, side)


def ribbon(side: int) -> NDArray[np.uint8]:
    """Draw a ribbon across a corner (upper right); shape (side, side, 4)."""
    full = side * _FINE
    shape = _canvas(full, full)
    for near, far, colour in ((0.10, 0.58, _RED), (0.17, 0.21, _YELLOW), (0.47, 0.51, _YELLOW)):
        band = [(near, 0.0), (far, 0.0), (1.0, 1 - far), (1.0, 1 - near)]
        _polygon(shape, np.array(band) * full, colour)
    return _shrunk(shape, side, side)


def copy_block(height: int, width: int) -> NDArray[np.uint8]:
    """Draw what fills a space: a headline and lines of copy on a panel; shape (height, width, 4)."""
    tall, wide = height * _FINE, width * _FINE
    shape = _canvas(tall, wide)
    shape[:] = (*_YELLOW, 255)
    edge = min(tall, wide) * 0.10
    line = max(1.0, (tall - 2 * edge) / 7)
    lengths = ((0.0, 2.0, 0.82, _RED), (2.7, 3.5, 0.96, _INK), (4.2, 5.0, 0.90, _INK), (5.7, 6.5, 0.55, _INK))
    for top, bottom, long, colour in lengths:
        start, x = edge, edge
        end = start + (wide - 2 * edge) * long
        word = 0
        while x < end:
            run = min(end - x, line * (2.4, 3.6, 1.6, 4.4)[word % 4])
            corners = [(x, edge + top * line), (x + run, edge + top * line), (x + run, edge + bottom * line),
                       (x, edge + bottom * line)]  # fmt: skip
            _polygon(shape, np.array(corners), colour)
            x, word = x + run + line * 0.6, word + 1
    return _shrunk(shape, height, width)


ELEMENTS = {"badge": badge, "ribbon": ribbon}
"""What a rule may ban by name; anything else comes as a picture of the team's own."""


def fitted(picture: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """Scale a picture with opacity so that its longer side fits."""
    factor = side / max(picture.shape[:2])
    size = (max(1, round(picture.shape[1] * factor)), max(1, round(picture.shape[0] * factor)))
    how = cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(picture, size, interpolation=how), np.uint8)


def overlaid(pixels: NDArray[np.uint8], element: NDArray[np.uint8], top: int, left: int) -> NDArray[np.uint8]:
    """Lay an element over a picture by its opacity; where it is clear, pixels stay what they were."""
    changed = pixels.copy()
    place = changed[top : top + element.shape[0], left : left + element.shape[1]]
    share = element[..., 3:].astype(np.float32) / 255
    mixed = np.rint(place * (1 - share) + element[..., :3] * share)
    place[:] = np.where(element[..., 3:] > 0, mixed, place).astype(np.uint8)
    return changed


def _canvas(height: int, width: int) -> NDArray[np.uint8]:
    """Give clear paper."""
    return np.zeros((height, width, 4), np.uint8)


def _polygon(shape: NDArray[np.uint8], corners: NDArray[Any], colour: tuple[int, int, int]) -> None:
    """Paint a polygon, opaque."""
    cv2.fillPoly(shape, [np.rint(corners).astype(np.int32)], (*colour, 255))


def _shrunk(shape: NDArray[np.uint8], height: int, width: int) -> NDArray[np.uint8]:
    """Scale a finely drawn shape down; colours are those of its opaque parts."""
    opaque = shape[..., 3:].astype(np.float32) / 255
    weighed = np.concatenate([shape[..., :3] * opaque, opaque * 255], axis=2)
    small = cv2.resize(weighed.astype(np.float32), (width, height), interpolation=cv2.INTER_AREA)
    cover = np.maximum(small[..., 3:] / 255, 1e-6)
    drawn = np.concatenate([np.minimum(small[..., :3] / cover, 255), small[..., 3:]], axis=2)
    return np.asarray(np.rint(drawn), np.uint8)

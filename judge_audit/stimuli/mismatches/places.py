"""Where a picture can be damaged: a disc inside the item's named part, its mask, or its salient region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from judge_audit.stimuli.axes.regions import salient
from judge_audit.stimuli.images import part_box_of
from judge_audit.stimuli.mismatches.kind import Unsuited, box_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from judge_audit.stimuli.mismatches.kind import Mask, Material, Pixels

INSIDE = 0.6
"""Share of a disc that must lie in the allowed part."""

BEST = 0.1
"""Share of possible places, those with most detail, among which one is drawn."""

RIM = 0.12
"""Depth over which a change fades in from the edge of its region, as a share of the radius."""


@dataclass(frozen=True, slots=True)
class Place:
    """A disc.

    Attributes:
        row: Of its centre, pixels.
        column: Of its centre, pixels.
        radius: Pixels.
        region: True where pixels may change: the disc, cut to the item's part or mask if it has one.
        allowed: True where any damage may lie: the item's part or mask, else the whole picture.
        chosen_by: What named the part: “part_box”, “mask” or “saliency”.
    """

    row: int
    column: int
    radius: int
    region: Mask
    allowed: Mask
    chosen_by: str


def _allowed(material: Material) -> tuple[Mask, str] | Unsuited:
    """Give where the damage may lie, and what said so."""
    height, width = material.pixels.shape[:2]
    try:
        box = part_box_of(str(material.item.get("part_box") or ""))
    except ValueError:
        return Unsuited(
            f"part_box is “{material.item['part_box']}”; write left, top, right, bottom as shares from 0 to 1, "
            "such as “0.4 0.2 0.6 0.5”."
        )
    if box is not None:
        allowed = np.zeros((height, width), np.bool_)
        columns, rows = (slice(round(box[at] * side), round(box[at + 2] * side))
                         for at, side in ((0, width), (1, height)))  # fmt: skip
        allowed[rows, columns] = True
        return allowed, "part_box"
    if material.mask is not None:
        return material.mask, "mask"
    return salient(material.pixels), "saliency"


def detail(pixels: Pixels) -> NDArray[np.float32]:
    """Give how much happens around each pixel: the size of the lightness gradient."""
    grey = cv2.GaussianBlur(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), (0, 0), 1.0).astype(np.float32)
    across, down = (cv2.Sobel(grey, cv2.CV_32F, *order) for order in ((1, 0), (0, 1)))
    return np.asarray(np.hypot(across, down), np.float32)


def disc(shape: tuple[int, ...], row: float, column: float, radius: float) -> Mask:
    """Mark the pixels nearer to a centre than a radius."""
    down, across = np.ogrid[: shape[0], : shape[1]]
    return np.asarray((down - row) ** 2 + (across - column) ** 2 < radius**2, np.bool_)


def find_places(material: Material, share: float, rng: np.random.Generator) -> list[Place] | Unsuited:
    """Find discs with detail to damage, the first to be tried first.

    Args:
        material: The item.
        share: Diameter wanted, as a share of the short side; smaller where the part itself is.
        rng: Orders the best of them.
    """
    found = _allowed(material)
    if isinstance(found, Unsuited):
        return found
    allowed, chosen_by = found
    height, width = allowed.shape
    radius = round(min(height, width) * share / 2)
    if chosen_by == "part_box":
        rows, columns = np.flatnonzero(allowed.any(axis=1)), np.flatnonzero(allowed.any(axis=0))
        if not len(rows) or not len(columns):
            return Unsuited("part_box holds no whole pixel.")
        radius = min(radius, min(rows[-1] - rows[0] + 1, columns[-1] - columns[0] + 1) // 2)
    if radius < 6:
        return Unsuited(f"its part leaves room for a disc of {2 * radius} pixels only; 12 are needed.")
    side = 2 * radius + 1
    inside, busy = (
        cv2.boxFilter(plane.astype(np.float32), -1, (side, side), borderType=cv2.BORDER_CONSTANT)
        for plane in (allowed, detail(material.pixels))
    )
    step = max(1, radius // 4)
    centres = [
        (row, column)
        for row in range(radius, height - radius, step)
        for column in range(radius, width - radius, step)
        if allowed[row, column] and inside[row, column] >= INSIDE * (1.0 if chosen_by != "saliency" else 0.5)
    ]
    if not centres:
        return Unsuited(f"its {chosen_by} has no place for a disc of {2 * radius} pixels inside the picture.")
    centres.sort(key=lambda centre: (-round(float(busy[centre]), 3), centre))
    best = centres[: max(3, round(BEST * len(centres)))]
    order = [best[int(number)] for number in rng.permutation(len(best))]
    cut = allowed if chosen_by != "saliency" else np.ones_like(allowed)
    return [
        Place(row, column, radius, disc(allowed.shape, row, column, radius) & cut, cut, chosen_by)
        for row, column in order
    ]


def laid(pixels: Pixels, changed: NDArray[Any], region: Mask, radius: int) -> Pixels:
    """Fade a changed picture in over a region; every pixel outside stays what it was."""
    left, top, right, bottom = box_of(region)
    window = np.s_[top:bottom, left:right]
    inside = region[window]
    depth = cv2.distanceTransform(np.pad(inside, 1).astype(np.uint8), cv2.DIST_L2, 5)[1:-1, 1:-1]
    share = np.clip(depth / max(1.0, RIM * radius), 0, 1)[..., None]
    under = pixels[window].astype(np.float32)
    mixed = np.rint(under + (changed[window] - under) * share)
    damaged = pixels.copy()
    damaged[window] = np.where(inside[..., None], mixed, under).astype(np.uint8)
    return damaged

"""Brushes: polygons with light on them, grounds with texture, and what a camera adds.

Everything is NumPy and OpenCV drawing on float32 canvases of shape (height, width, 3), levels 0 to 255.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from judge_audit.demo.shapes import Colour, Shade

    Canvas = NDArray[np.float32]

_SUBPIXEL = 4
"""Bits of fraction OpenCV is given for corner positions."""


@dataclass(frozen=True, slots=True)
class Light:
    """Where light comes from and what colour it has.

    Attributes:
        direction: Unit vector towards the light: x right, y up, z towards the viewer.
        colour: Factor on red, green, blue.
        ambient: Share of light that comes from everywhere.
        gloss: Strength of the highlight on round things, in levels.
    """

    direction: tuple[float, float, float]
    colour: tuple[float, float, float]
    ambient: float
    gloss: float


def noise(rng: np.random.Generator, height: int, width: int, grain: tuple[int, int]) -> Canvas:
    """Draw smooth noise in about ±1 with features of `grain` pixels (vertical, horizontal)."""
    rows, columns = max(2, height // grain[0] + 2), max(2, width // grain[1] + 2)
    coarse = rng.integers(0, 256, (rows, columns), dtype=np.uint8)
    grown = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR)
    return (grown.astype(np.float32) - 127.5) / 127.5


def sweep(height: int, width: int, top: Colour, bottom: Colour) -> Canvas:
    """Paint a vertical gradient."""
    down = np.linspace(0, 1, height, dtype=np.float32)[:, None, None]
    ends = np.array([top, bottom], dtype=np.float32)
    return np.repeat(ends[0] * (1 - down) + ends[1] * down, width, axis=1)


def cover(points: NDArray[np.float64], height: int, width: int) -> tuple[tuple[slice, slice], Canvas] | None:
    """Find which pixels a polygon covers.

    Args:
        points: Corners in pixels, shape (n, 2), x right and y down.
        height: Of the canvas.
        width: Of the canvas.

    Returns:
        The rectangle of the canvas and the covered share of each of its pixels; None when out of sight.
    """
    low = np.floor(points.min(axis=0)).astype(int) - 1
    high = np.ceil(points.max(axis=0)).astype(int) + 2
    left, top = max(0, int(low[0])), max(0, int(low[1]))
    right, bottom = min(width, int(high[0])), min(height, int(high[1]))
    if right <= left or bottom <= top:
        return None
    mask = np.zeros((bottom - top, right - left), np.uint8)
    corners = np.round((points - (left, top)) * (1 << _SUBPIXEL)).astype(np.int32)
    cv2.fillPoly(mask, [corners], 255, cv2.LINE_AA, _SUBPIXEL)
    return (slice(top, bottom), slice(left, right)), mask * np.float32(1 / 255)


def lay(canvas: Canvas, points: NDArray[np.float64], paint: Canvas | Colour, strength: float = 1.0) -> None:
    """Lay paint over the pixels a polygon covers."""
    found = cover(points, *canvas.shape[:2])
    if found is None:
        return
    place, share = found
    veil = (share * strength)[..., None]
    under = canvas[place]
    colour = np.asarray(paint, np.float32) if isinstance(paint, tuple) else paint[place]
    under += (colour - under) * veil


def _normals(points: NDArray[np.float64], place: tuple[slice, slice], *, tube: bool) -> Canvas:
    """Bend a polygon's pixels like a ball or a standing tube; shape (height, width, 3), y up."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, reach = (low + high) / 2, np.maximum((high - low) / 2, 1)
    rows, columns = place
    across = ((np.arange(columns.start, columns.stop) + 0.5 - middle[0]) / reach[0]).astype(np.float32)
    down = ((np.arange(rows.start, rows.stop) + 0.5 - middle[1]) / reach[1]).astype(np.float32)
    bend = np.zeros((len(down), len(across), 3), np.float32)
    bend[..., 0] = across * 0.97
    if not tube:
        bend[..., 1] = -down[:, None] * 0.97
    bend[..., 2] = np.sqrt(np.maximum(0.02, 1 - bend[..., 0] ** 2 - bend[..., 1] ** 2))
    return bend


def shade(
    canvas: Canvas,
    points: NDArray[np.float64],
    colour: NDArray[np.float32],
    how: Shade,
    light: Light,
    grit: Canvas,
) -> None:
    """Paint a polygon as a lit solid.

    Args:
        canvas: Changed in place.
        points: Corners in pixels.
        colour: Its own colour, levels.
        how: How it takes light.
        light: The light.
        grit: Surface noise of the canvas's size (height, width), about ±1.
    """
    found = cover(points, *canvas.shape[:2])
    if found is None:
        return
    place, share = found
    if how == "glow":
        lit = np.broadcast_to(colour * 1.02, (*share.shape, 3))
    elif how == "plain":
        rows = np.linspace(1.06, 0.88, share.shape[0], dtype=np.float32)[:, None, None]
        lit = colour * np.array(light.colour, np.float32) * (0.42 + 0.58 * light.ambient + 0.25) * rows
        lit = lit * (1 + 0.07 * grit[place])[..., None]
    else:
        bend = _normals(points, place, tube=how == "tube")
        towards = np.array(light.direction, np.float32)
        facing = np.clip(bend @ towards, 0, None)
        halfway = towards + np.array((0, 0, 1), np.float32)
        halfway /= np.sqrt((halfway**2).sum())
        glint = light.gloss * np.clip(bend @ halfway, 0, 1) ** 40
        strength = (light.ambient + (1.18 - light.ambient) * facing) * (1 + 0.05 * grit[place])
        lit = colour * np.array(light.colour, np.float32) * strength[..., None] + glint[..., None]
    under = canvas[place]
    under += (np.minimum(lit, 262) - under) * share[..., None]


def fill(
    canvas: Canvas, points: NDArray[np.float64], colour: NDArray[np.float32], how: Shade, side: float
) -> None:
    """Paint a polygon in one colour, round things with a crescent of shade on the side away from light.

    Args:
        canvas: Changed in place.
        points: Corners in pixels.
        colour: Its colour, levels.
        how: How it takes light.
        side: -1 when light comes from the right, +1 from the left.
    """
    found = cover(points, *canvas.shape[:2])
    if found is None:
        return
    place, share = found
    under = canvas[place]
    under += (
        (colour * 0.80 - under) * share[..., None]
        if how in ("round", "tube")
        else (colour - under) * share[..., None]
    )
    if how not in ("round", "tube"):
        return
    reach = np.ptp(points, axis=0)
    moved = cover(
        points - (side * reach[0] * 0.13, reach[1] * 0.09 if how == "round" else 0), *canvas.shape[:2]
    )
    if moved is None:
        return
    rows = slice(max(place[0].start, moved[0][0].start), min(place[0].stop, moved[0][0].stop))
    columns = slice(max(place[1].start, moved[0][1].start), min(place[1].stop, moved[0][1].stop))
    both = [
        found_share[
            rows.start - where[0].start : rows.stop - where[0].start,
            columns.start - where[1].start : columns.stop - where[1].start,
        ]
        for where, found_share in (found, moved)
    ]
    lit = canvas[rows, columns]
    lit += (colour - lit) * np.minimum(both[0], both[1])[..., None]


def expose(
    canvas: Canvas, rng: np.random.Generator, *, softness: float, grain: float, contrast: float, gain: float
) -> NDArray[np.uint8]:
    """Photograph a canvas.

    Args:
        canvas: The scene, levels.
        rng: Source of grain.
        softness: Blur, sigma in pixels; none below 0.3.
        grain: Noise, standard deviation in levels.
        contrast: Factor about middle grey.
        gain: Factor on all levels.

    Returns:
        8-bit sRGB pixels.
    """
    seen = cv2.GaussianBlur(canvas, (0, 0), softness) if softness >= 0.3 else canvas
    seen = seen * np.float32(gain * contrast) + np.float32(118 * (1 - contrast))
    if grain > 0:
        dots = np.empty((*seen.shape[:2], 1), np.float32)
        dots[..., 0] = rng.standard_normal(seen.shape[:2], dtype=np.float32)
        seen = seen + dots * np.float32(grain)
    return np.clip(np.rint(seen), 0, 255).astype(np.uint8)

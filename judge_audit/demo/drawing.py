"""Draws scenes in two styles: a flat illustration, and lit solids as a camera would see them.

Brushes: polygons with light on them, grounds with texture, and what a camera adds.

Everything is NumPy and OpenCV drawing on float32 canvases of shape (height, width, 3), levels 0 to 255.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np

from judge_audit.demo.scenes import STYLES
from judge_audit.demo.shapes import COLOURS, MARKS, THINGS, Figure, figure_parts, oval

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from judge_audit.demo.scenes import Placed, Scene, Style
    from judge_audit.demo.shapes import Colour, Part, Shade

    Canvas = NDArray[np.float32]
    Painter = Callable[[Canvas, Placed | Figure], None]

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
    covered = cover(points, *canvas.shape[:2])
    if covered is None:
        return
    place, share = covered
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
    covered = cover(points, *canvas.shape[:2])
    if covered is None:
        return
    place, share = covered
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
    covered = cover(points, *canvas.shape[:2])
    if covered is None:
        return
    place, share = covered
    is_bent, under = how in ("round", "tube"), canvas[place]
    under += ((colour * 0.80 if is_bent else colour) - under) * share[..., None]
    if not is_bent:
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
        part[
            rows.start - where[0].start : rows.stop - where[0].start,
            columns.start - where[1].start : columns.stop - where[1].start,
        ]
        for where, part in (covered, moved)
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
    photograph = cv2.GaussianBlur(canvas, (0, 0), softness) if softness >= 0.3 else canvas
    photograph = photograph * np.float32(gain * contrast) + np.float32(118 * (1 - contrast))
    if grain > 0:
        dots = rng.standard_normal((*photograph.shape[:2], 1), dtype=np.float32)
        photograph = photograph + dots * np.float32(grain)
    return np.clip(np.rint(photograph), 0, 255).astype(np.uint8)


SHORE = 0.88
"""Where a lake ends before the viewer, as a share of the height."""

_SKY: dict[str, tuple[Colour, Colour]] = {
    "noon": ((86, 150, 220), (196, 224, 242)),
    "evening": ((92, 80, 138), (250, 168, 104)),
    "night": ((14, 20, 46), (44, 58, 98)),
    "fog": ((190, 196, 200), (214, 216, 216)),
}
_WALL: tuple[Colour, ...] = (
    (214, 200, 176),
    (150, 172, 180),
    (188, 130, 110),
    (108, 126, 110),
    (226, 222, 214),
)
_WOOD: tuple[Colour, ...] = ((158, 108, 66), (120, 76, 50), (196, 156, 108), (88, 66, 58))
_GROUND: dict[str, Colour] = {"meadow": (106, 150, 70), "beach": (226, 202, 150), "lake": (106, 150, 70)}
_SEA: dict[str, Colour] = {
    "noon": (40, 124, 160),
    "evening": (120, 96, 130),
    "night": (20, 34, 66),
    "fog": (150, 164, 170),
}
_DISC: dict[str, Colour] = {"noon": (255, 246, 206), "evening": (255, 214, 140), "night": (234, 234, 222)}
_HOUR_LIGHT: dict[str, tuple[tuple[float, float, float], float]] = {
    "noon": ((1.0, 1.0, 0.98), 0.42),
    "evening": ((1.06, 0.84, 0.66), 0.34),
    "night": ((0.42, 0.47, 0.64), 0.40),
    "fog": ((0.86, 0.88, 0.90), 0.78),
}


def draw_scene(scene: Scene, style: Style, size: int) -> NDArray[np.uint8]:
    """Draw a scene.

    Args:
        scene: What to show.
        style: In which style.
        size: Side of the square picture in pixels.

    Returns:
        8-bit sRGB pixels, shape (size, size, 3).
    """
    key = [11, scene.seed, STYLES.index(style)]
    rng = np.random.default_rng(key)
    # In a staged scene another hour, with its stars, leaves ground and camera what they were.
    sky = np.random.default_rng([*key, 1]) if scene.staged else rng
    draw = _draw_flat if style == "flat" else _draw_shaded
    return draw(scene, size, rng, sky)


def _parts(thing: Placed | Figure) -> tuple[Part, ...]:
    """Give the parts of what stands in a scene."""
    if isinstance(thing, Figure):
        return figure_parts(thing.look, thing.arms, thing.fingers)
    return MARKS[thing.thing] if thing.thing in MARKS else THINGS[thing.thing]


def _casts_shadow(thing: Placed | Figure) -> bool:
    """Say whether it stands on the ground."""
    return isinstance(thing, Figure) or (thing.thing != "balloon" and thing.thing not in MARKS)


def _populate(canvas: Canvas, scene: Scene, horizon: int, paint: Painter) -> None:
    """Paint everything that stands in a scene, the lake's mirror image first, the brand's marks last."""
    if scene.setting == "lake":
        mirror = canvas.copy()
        for thing in scene.placed if scene.mirrored is None else scene.mirrored:
            paint(mirror, thing)
        _reflect(canvas, mirror, scene, horizon)
    figure = scene.figure
    if figure is not None and scene.setting == "table":
        table = canvas[horizon:].copy()
        paint(canvas, figure)
        canvas[horizon:] = table
    for thing in scene.placed:
        paint(canvas, thing)
    if figure is not None and scene.setting != "table":
        paint(canvas, figure)
    for mark in scene.marks:
        paint(canvas, mark)


def _reflect(canvas: Canvas, mirror: Canvas, scene: Scene, horizon: int) -> None:
    """Lay what stands above the horizon upside down over the water, darker and rippled."""
    size = canvas.shape[0]
    shore = int(size * SHORE)
    rows = min(shore - horizon, horizon)
    water = mirror[horizon - rows : horizon][::-1] * 0.74
    water += np.array(_SEA[scene.hour], np.float32) * 0.20
    across = np.arange(size)
    for row in range(rows):
        shift = round(size / 320 * (0.5 + 2 * row / rows) * np.sin(row * 320 / size * 0.8))
        water[row] = water[row, np.clip(across + shift, 0, size - 1)]
    canvas[horizon : horizon + rows] = water


def _points(thing: Placed | Figure, outline: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Place an outline on the canvas; pixels, y down."""
    placed = np.array((thing.x * size, thing.y * size)) + outline * (thing.size * size, -thing.size * size)
    return np.asarray(placed, np.float64)


def _stage(scene: Scene, rng: np.random.Generator, size: int) -> tuple[Canvas, int, Colour]:
    """Paint sky or wall over the whole canvas; give it, the horizon's row and the ground's colour."""
    if scene.setting == "table":
        wall = _WALL[int(rng.integers(len(_WALL)))]
        canvas = sweep(size, size, wall, (int(wall[0] * 0.82), int(wall[1] * 0.82), int(wall[2] * 0.84)))
        canvas *= np.array(_HOUR_LIGHT[scene.hour][0], np.float32)
        return canvas, int(size * rng.uniform(0.52, 0.66)), _WOOD[int(rng.integers(len(_WOOD)))]
    horizon = int(size * (0.56 if scene.setting in ("beach", "lake") else rng.uniform(0.50, 0.66)))
    canvas = sweep(size, size, *_SKY[scene.hour])
    canvas[:horizon] = sweep(horizon, size, *_SKY[scene.hour])
    return canvas, horizon, _GROUND[scene.setting]


def _scenery(canvas: Canvas, scene: Scene, rng: np.random.Generator, horizon: int) -> None:
    """Paint what lies behind the things outdoors: sun or moon, clouds, stars, hills."""
    size = canvas.shape[0]
    x, y = float(rng.uniform(0.12, 0.88)) * size, float(rng.uniform(0.12, 0.30)) * size
    if scene.hour in _DISC:
        radius = size * float(rng.uniform(0.08, 0.13))
        lay(canvas, oval(x, y, radius * 1.8, radius * 1.8), _DISC[scene.hour], 0.25)
        lay(canvas, oval(x, y, radius, radius), _DISC[scene.hour])
    if scene.hour in ("noon", "evening"):
        for _ in range(int(rng.integers(0, 4))):
            x, y = rng.uniform(0, size), rng.uniform(0.08, 0.36) * size
            for step in (-0.07, 0.0, 0.08):
                puff = oval(x + step * size, y - abs(0.03 - step) * 20, 0.17 * size, 0.07 * size)
                lay(canvas, puff, (250, 248, 246), 0.7)
    if scene.hour == "night":
        for star in rng.uniform(0, 1, (int(rng.integers(12, 40)), 2)):
            lay(canvas, oval(star[0] * size, star[1] * horizon, 2.2, 2.2), (236, 238, 250), 0.8)
    if scene.setting in ("meadow", "lake"):
        _hills(canvas, scene, rng, horizon)


def _hills(canvas: Canvas, scene: Scene, rng: np.random.Generator, horizon: int) -> None:
    """Paint two rows of hills on the horizon."""
    size = canvas.shape[0]
    for height, tone in ((0.16, 0.72), (0.08, 0.86)):
        tint = np.array(_GROUND["meadow"]) * tone * _HOUR_LIGHT[scene.hour][0] * (0.9, 0.95, 1.25)
        for x in rng.uniform(-0.1, 1.1, 3):
            wide, high = rng.uniform(0.6, 1.1) * size, 2 * height * rng.uniform(0.6, 1) * size
            lay(canvas, oval(x * size, horizon + 4, wide, high), (int(tint[0]), int(tint[1]), int(tint[2])))


def _draw_flat(
    scene: Scene, size: int, rng: np.random.Generator, sky: np.random.Generator
) -> NDArray[np.uint8]:
    """Draw in few plain colours with hard edges."""
    canvas, horizon, ground = _stage(scene, rng, size)
    bands = int(rng.integers(3, 7))
    for band in range(bands):
        rows = slice(band * horizon // bands, (band + 1) * horizon // bands)
        canvas[rows] = canvas[rows].mean(axis=(0, 1))
    if scene.setting != "table":
        _scenery(canvas, scene, sky, horizon)
    tint = np.array(_HOUR_LIGHT[scene.hour][0], np.float32)
    canvas[horizon:] = np.array(ground, np.float32) * tint
    if scene.setting == "beach":
        canvas[horizon : int(size * 0.68)] = np.array(_SEA[scene.hour], np.float32)
    elif rng.uniform() < 0.5:
        canvas[horizon::12] *= 0.93
    side = 1.0 if rng.uniform() < 0.5 else -1.0

    def paint(canvas: Canvas, thing: Placed | Figure) -> None:
        if _casts_shadow(thing):
            shadow = oval(thing.x * size + side * 0.1 * thing.size * size, thing.y * size,
                          thing.size * size * 0.95, thing.size * size * 0.16)  # fmt: skip
            lay(canvas, shadow, (24, 26, 40), 0.28)
        for part in _parts(thing):
            colour = np.array(part.colour or COLOURS[thing.colour], np.float32) * part.tone
            if part.shade != "glow":
                colour = colour * tint
            fill(canvas, _points(thing, part.points, size), np.minimum(colour, 255), part.shade, side)

    _populate(canvas, scene, horizon, paint)
    mute = float(rng.uniform(0.35, 1.0))
    if scene.staged:
        mute = 0.8 + 0.2 * mute
    grey = canvas.mean(axis=2, keepdims=True)
    canvas = grey + (canvas - grey) * np.float32(mute)
    softness, grain = float(rng.uniform(0, 1.3)), 0.8 + 4.5 * float(rng.uniform()) ** 2
    contrast, gain = float(rng.uniform(0.7, 1.12)), float(rng.uniform(0.88, 1.12))
    return _exposed(canvas, scene, rng, (softness, grain, contrast, gain))


def _exposed(
    canvas: Canvas, scene: Scene, rng: np.random.Generator, drawn: tuple[float, float, float, float]
) -> NDArray[np.uint8]:
    """Photograph a canvas with softness, grain, contrast and gain as drawn, or as a staged scene has them."""
    softness, grain, contrast, gain = drawn
    if scene.camera is not None:
        softness, grain = scene.camera.softness * canvas.shape[0], scene.camera.grain
        contrast, gain = 0.92 + 0.2 * (contrast - 0.7), 1.0 + 0.3 * (gain - 1.0)
    return expose(canvas, rng, softness=softness, grain=grain, contrast=contrast, gain=gain)


def _ground_texture(
    canvas: Canvas, scene: Scene, rng: np.random.Generator, horizon: int, ground: Colour
) -> None:
    """Paint wood, grass, or sea and sand below the horizon."""
    size = canvas.shape[0]
    tint = np.array(_HOUR_LIGHT[scene.hour][0], np.float32)
    rows = size - horizon
    grain = {"table": (3, 70), "meadow": (5, 2), "beach": (2, 2), "lake": (5, 2)}[scene.setting]
    depth = np.linspace(0.82, 1.08, rows, dtype=np.float32)[:, None]
    texture = depth * (1 + 0.14 * noise(rng, rows, size, grain) + 0.08 * noise(rng, rows, size, (30, 40)))
    canvas[horizon:] = np.array(ground, np.float32) * tint * texture[..., None]
    if scene.setting == "beach":
        shore = int(size * 0.68)
        waves = 1 + 0.16 * noise(rng, shore - horizon, size, (2, 18))
        canvas[horizon:shore] = np.array(_SEA[scene.hour], np.float32) * waves[..., None]
        canvas[shore : shore + 3] = canvas[shore : shore + 3] * 0.4 + 140 * tint


def _draw_shaded(
    scene: Scene, size: int, rng: np.random.Generator, sky: np.random.Generator
) -> NDArray[np.uint8]:
    """Draw lit solids with texture and shadows, then photograph them."""
    canvas, horizon, ground = _stage(scene, rng, size)
    canvas *= (1 + 0.035 * noise(rng, size, size, (4, 4) if scene.setting == "table" else (40, 60)))[
        ..., None
    ]
    if scene.setting != "table":
        _scenery(canvas, scene, sky, horizon)
    _ground_texture(canvas, scene, rng, horizon, ground)
    tint, ambient = _HOUR_LIGHT[scene.hour]
    side = float(rng.uniform(0.35, 0.75)) * (1 if rng.uniform() < 0.5 else -1)
    direction = np.array((side, 0.6, 0.55)) / np.sqrt(side**2 + 0.6**2 + 0.55**2)
    light = Light(
        (float(direction[0]), float(direction[1]), float(direction[2])), tint, ambient,
        0.0 if scene.hour == "fog" else float(rng.uniform(30, 150)),
    )  # fmt: skip
    grit = noise(rng, size, size, (3, 3))

    def paint(canvas: Canvas, thing: Placed | Figure) -> None:
        tall = thing.size * size
        for spread, strength in ((1.25, 0.10), (1.0, 0.16), (0.75, 0.22)) if _casts_shadow(thing) else ():
            left = thing.x * size - np.sign(side) * 0.18 * tall
            shadow = oval(left, thing.y * size, tall * spread, tall * spread * 0.2)
            lay(canvas, shadow, (12, 10, 20), strength)
        for part in _parts(thing):
            colour = np.array(part.colour or COLOURS[thing.colour], np.float32) * np.float32(part.tone)
            shade(canvas, _points(thing, part.points, size), colour, part.shade, light, grit)

    _populate(canvas, scene, horizon, paint)
    haze = 0.45 if scene.hour == "fog" else float(rng.uniform(0, 0.12))
    canvas += (np.float32(205) * np.array(tint, np.float32) - canvas) * np.float32(haze)
    softness, grain = float(rng.choice((0, 0.4, 0.6, 0.9, 1.6))), float(rng.uniform(0.3, 7))
    contrast, gain = float(rng.uniform(0.78, 1.2)), float(rng.uniform(0.8, 1.25))
    return _exposed(canvas, scene, rng, (softness, grain, contrast, gain))

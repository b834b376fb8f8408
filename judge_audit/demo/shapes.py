"""Outlines of the things and of the person that scenes show, each in its own unit square.

A thing is on y = 0, grows to about y = 1 and is centred on x = 0. It is a list of parts painted in
order; a part is a polygon with a colour and a way of taking light. The person waves with both hands, so that arms
and fingers can be counted, and miscounted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Colour = tuple[int, int, int]
Shade = Literal["round", "tube", "plain", "glow"]

COLOURS: dict[str, Colour] = {
    "red": (206, 48, 44),
    "orange": (232, 128, 36),
    "yellow": (240, 200, 60),
    "green": (70, 150, 66),
    "blue": (48, 98, 190),
    "purple": (132, 72, 160),
    "pink": (232, 140, 168),
    "white": (238, 236, 230),
    "brown": (136, 90, 56),
}
"""Colours a scene may name, 8-bit sRGB."""

_BARK: Colour = (104, 72, 48)
_LEAF: Colour = (84, 140, 58)
_DARK: Colour = (52, 48, 54)
_PALE: Colour = (244, 238, 222)
_GLASS: Colour = (250, 216, 130)


@dataclass(frozen=True, slots=True)
class Part:
    """One polygon of a thing.

    Attributes:
        points: Corners, shape (n, 2), x to the right and y up.
        colour: Its own colour, None for the colour the scene names.
        shade: How it takes light: like a ball, like a standing tube, like a board, or glowing itself.
        tone: Factor on the colour.
    """

    points: NDArray[np.float64]
    colour: Colour | None
    shade: Shade
    tone: float = 1.0


def oval(x: float, y: float, width: float, height: float) -> NDArray[np.float64]:
    """Give the outline of an ellipse around (x, y)."""
    turn = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    return np.stack([x + width / 2 * np.cos(turn), y + height / 2 * np.sin(turn)], axis=1)


def block(left: float, bottom: float, right: float, top: float) -> NDArray[np.float64]:
    """Give the outline of an upright rectangle."""
    return np.array([[left, bottom], [right, bottom], [right, top], [left, top]])


def outline(*corners: tuple[float, float]) -> NDArray[np.float64]:
    """Give the outline through some corners."""
    return np.array(corners, dtype=np.float64)


def mirrored(*right: tuple[float, float]) -> NDArray[np.float64]:
    """Give an outline symmetric about x = 0 from its right half, bottom to top."""
    return np.array([*right, *[(-x, y) for x, y in reversed(right)]], dtype=np.float64)


def half_disc(width: float, bottom: float, height: float) -> NDArray[np.float64]:
    """Give the upper half of an ellipse standing on `bottom`."""
    turn = np.linspace(0, np.pi, 24)
    return np.stack([width / 2 * np.cos(turn), bottom + height * np.sin(turn)], axis=1)


def _apple() -> NDArray[np.float64]:
    """Give the outline of an apple: a round body, a little narrower below, with a dent at its stalk."""
    turn = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    across = np.sign(np.sin(turn)) * np.abs(np.sin(turn)) ** 0.85 * (0.43 + 0.03 * np.cos(turn))
    dent = 0.055 * np.exp(-((np.sin(turn) / 0.3) ** 2)) * np.cos(turn)
    return np.stack(
        [across, 0.40 + 0.385 * np.cos(turn) - np.where(np.cos(turn) > 0, dent, dent * 0.5)], axis=1
    )


THINGS: dict[str, tuple[Part, ...]] = {
    "apple": (
        Part(_apple(), None, "round"),
        Part(outline((-0.025, 0.66), (0.03, 0.66), (0.09, 0.94), (0.04, 0.96)), _BARK, "plain"),
        Part(outline((0.05, 0.80), (0.16, 0.94), (0.36, 0.95), (0.24, 0.80)), _LEAF, "plain"),
    ),
    "mug": (
        Part(oval(0.42, 0.38, 0.42, 0.48), None, "tube", 0.86),
        Part(oval(0.42, 0.38, 0.24, 0.30), _DARK, "plain", 1.5),
        Part(mirrored((0.24, 0.0), (0.32, 0.03), (0.36, 0.12), (0.36, 0.74)), None, "tube"),
        Part(oval(0, 0.74, 0.72, 0.16), None, "plain", 1.12),
        Part(oval(0, 0.73, 0.62, 0.11), (78, 46, 28), "plain"),
    ),
    "ball": (
        Part(oval(0, 0.42, 0.84, 0.84), None, "round"),
        Part(
            outline(
                (-0.415, 0.36),
                (-0.2, 0.30),
                (0.2, 0.30),
                (0.415, 0.36),
                (0.415, 0.48),
                (0.2, 0.42),
                (-0.2, 0.42),
                (-0.415, 0.48),
            ),
            _PALE,
            "tube",
        ),
    ),
    "box": (
        Part(outline((-0.42, 0.0), (0.16, 0.0), (0.16, 0.62), (-0.42, 0.62)), None, "plain"),
        Part(outline((0.16, 0.0), (0.44, 0.14), (0.44, 0.76), (0.16, 0.62)), None, "plain", 0.68),
        Part(outline((-0.42, 0.62), (0.16, 0.62), (0.44, 0.76), (-0.14, 0.76)), None, "plain", 1.2),
        Part(block(-0.18, 0.0, -0.08, 0.62), _PALE, "plain"),
        Part(outline((-0.18, 0.62), (-0.08, 0.62), (0.20, 0.76), (0.10, 0.76)), _PALE, "plain"),
    ),
    "bottle": (
        Part(
            mirrored((0.19, 0.0), (0.21, 0.03), (0.21, 0.56), (0.16, 0.68), (0.075, 0.78), (0.075, 0.96)),
            None,
            "tube",
        ),
        Part(block(-0.085, 0.93, 0.085, 1.02), _BARK, "tube", 1.4),
        Part(block(-0.21, 0.20, 0.21, 0.46), _PALE, "tube"),
    ),
    "lamp": (
        Part(oval(0, 0.03, 0.46, 0.09), _DARK, "tube", 1.3),
        Part(block(-0.025, 0.03, 0.025, 0.55), _DARK, "tube", 1.5),
        Part(mirrored((0.36, 0.50), (0.20, 0.98)), None, "tube", 1.1),
        Part(oval(0, 0.50, 0.72, 0.10), _GLASS, "glow"),
    ),
    "house": (
        Part(block(-0.42, 0.0, 0.42, 0.52), _PALE, "plain", 0.96),
        Part(block(0.22, 0.66, 0.34, 1.0), (150, 90, 76), "plain"),
        Part(mirrored((0.52, 0.50), (0.0, 0.94)), None, "plain"),
        Part(block(-0.09, 0.0, 0.09, 0.30), _BARK, "plain"),
        Part(block(-0.34, 0.18, -0.17, 0.38), _GLASS, "glow"),
        Part(block(0.17, 0.18, 0.34, 0.38), _GLASS, "glow"),
    ),
    "tree": (
        Part(mirrored((0.08, 0.0), (0.045, 0.45)), _BARK, "tube"),
        Part(oval(-0.17, 0.52, 0.46, 0.40), None, "round", 0.92),
        Part(oval(0.17, 0.54, 0.46, 0.42), None, "round", 0.96),
        Part(oval(0.0, 0.74, 0.54, 0.50), None, "round"),
    ),
    "balloon": (
        Part(outline((-0.09, 0.0), (0.09, 0.0), (0.11, 0.13), (-0.11, 0.13)), _BARK, "plain", 1.3),
        Part(outline((-0.10, 0.13), (-0.085, 0.13), (-0.16, 0.42), (-0.19, 0.42)), _DARK, "plain"),
        Part(outline((0.10, 0.13), (0.085, 0.13), (0.16, 0.42), (0.19, 0.42)), _DARK, "plain"),
        Part(
            np.concatenate(
                [
                    half_disc(0.76, 0.64, 0.38),
                    outline((-0.36, 0.54), (-0.19, 0.36), (0.19, 0.36), (0.36, 0.54)),
                ]
            ),
            None,
            "round",
        ),
        Part(
            outline((-0.07, 0.36), (0.07, 0.36), (0.13, 0.64), (0.07, 1.0), (-0.07, 1.0), (-0.13, 0.64)),
            _PALE,
            "round",
        ),
    ),
    "boat": (
        Part(outline((-0.50, 0.24), (-0.36, 0.0), (0.34, 0.0), (0.50, 0.24)), None, "plain"),
        Part(block(-0.03, 0.22, 0.02, 1.0), _BARK, "plain"),
        Part(outline((0.05, 0.30), (0.44, 0.30), (0.05, 0.96)), _PALE, "plain"),
        Part(outline((-0.06, 0.32), (-0.36, 0.32), (-0.06, 0.86)), _PALE, "plain", 0.9),
    ),
    "umbrella": (
        Part(block(-0.02, 0.0, 0.02, 0.62), _PALE, "tube", 0.9),
        Part(half_disc(1.0, 0.58, 0.42), None, "round"),
        Part(
            np.concatenate([half_disc(0.44, 0.58, 0.42), outline((-0.1, 0.60), (0.1, 0.60))]), _PALE, "round"
        ),
        Part(
            np.concatenate([half_disc(0.14, 0.58, 0.42), outline((-0.04, 0.60), (0.04, 0.60))]),
            None,
            "round",
        ),
    ),
}
"""What a scene can show, by the word its prompt uses."""

_RED: Colour = (206, 38, 50)
_YELLOW: Colour = (250, 206, 54)
_NAVY: Colour = (34, 52, 104)
_WHITE: Colour = (250, 250, 248)


def _star() -> NDArray[np.float64]:
    """Give the outline of a star of twelve points around (0, 0.5)."""
    turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    far = np.where(np.arange(24) % 2 == 0, 0.5, 0.4)
    return np.stack([far * np.cos(turn), 0.5 + far * np.sin(turn)], axis=1)


MARKS: dict[str, tuple[Part, ...]] = {
    "logo": (
        Part(oval(0, 0.5, 1.0, 1.0), _WHITE, "glow"),
        Part(oval(0, 0.5, 0.86, 0.86), _NAVY, "glow"),
        Part(oval(0, 0.5, 0.66, 0.66), _WHITE, "glow"),
        Part(outline((-0.22, 0.36), (0.22, 0.36), (0.0, 0.76)), _NAVY, "glow"),
    ),
    "badge": (
        Part(_star(), _RED, "glow"),
        Part(oval(0, 0.5, 0.66, 0.66), _YELLOW, "glow"),
        Part(oval(-0.13, 0.62, 0.17, 0.17), _RED, "glow"),
        Part(oval(0.13, 0.38, 0.17, 0.17), _RED, "glow"),
        Part(outline((-0.20, 0.27), (-0.13, 0.24), (0.20, 0.73), (0.13, 0.76)), _RED, "glow"),
    ),
    "copy": (
        Part(block(-1.1, 0.0, 1.1, 1.0), _YELLOW, "glow"),
        Part(block(-1.0, 0.62, 0.5, 0.88), _RED, "glow"),
        Part(block(-1.0, 0.38, 0.9, 0.52), _NAVY, "glow"),
        Part(block(-1.0, 0.14, 0.2, 0.28), _NAVY, "glow"),
    ),
}
"""What a brand lays over a picture: its logo; a sale badge, which is banned; copy, where a space is kept empty."""


SKINS: tuple[Colour, ...] = ((241, 200, 168), (214, 160, 118), (160, 110, 76), (112, 74, 52))
HAIRS: tuple[Colour, ...] = ((44, 34, 30), (110, 70, 40), (196, 150, 80), (150, 150, 152))
_TROUSERS: Colour = (56, 64, 92)
_SHOES: Colour = (40, 36, 38)
_EYES: Colour = (30, 26, 30)
_LIPS: Colour = (170, 70, 72)

FINGERS = 5
ARMS = ("left", "right")
"""The arms a person has, as the viewer sees them; a third one is wrong."""

_PALM, _LONG, _THIN = 0.115, 0.10, 0.030
_SPREAD = 1.05
_POSES = {
    "left": (-1.0, 0.72, 0.35, 1.25),
    "right": (1.0, 0.72, 0.35, 1.25),
    "third left": (-1.0, 0.62, -0.35, 0.45),
    "third right": (1.0, 0.62, -0.35, 0.45),
}
"""Side, height of the shoulder, angles of upper arm and forearm from level, in radians."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A person in a scene.

    Attributes:
        colour: Of the shirt, a name in `COLOURS`.
        x: Middle of the feet, share of the width.
        y: The feet, share of the height, down.
        size: Height, share of the picture's.
        look: Number of skin and hair.
        arms: Which arms there are: left and right; third left or third right where one is too many.
        fingers: On each hand, in the order of `arms`.
    """

    colour: str
    x: float
    y: float
    size: float
    look: int = 0
    arms: tuple[str, ...] = ARMS
    fingers: tuple[int, ...] = (FINGERS, FINGERS)


def limb(start: tuple[float, float], end: tuple[float, float], width: float) -> NDArray[np.float64]:
    """Give the outline of a straight limb with round ends."""
    first, last = np.array(start), np.array(end)
    along = float(np.arctan2(*(last - first)[::-1]))
    turn = np.linspace(-np.pi / 2, np.pi / 2, 9)
    ends = [
        centre + width / 2 * np.stack([np.cos(turn + way), np.sin(turn + way)], axis=1)
        for centre, way in ((last, along), (first, along + np.pi))
    ]
    return np.concatenate(ends)


@lru_cache(maxsize=256)
def figure_parts(look: int, arms: tuple[str, ...], fingers: tuple[int, ...]) -> tuple[Part, ...]:
    """Give the parts of a person in its own unit square, feet on y = 0, painted in order."""
    skin, hair = SKINS[look % len(SKINS)], HAIRS[(look // len(SKINS)) % len(HAIRS)]
    parts = [
        *(Part(limb((side * 0.065, 0.05), (side * 0.07, 0.42), 0.10), _TROUSERS, "tube") for side in (-1, 1)),
        *(Part(oval(side * 0.085, 0.025, 0.13, 0.05), _SHOES, "round") for side in (-1, 1)),
        Part(block(-0.035, 0.70, 0.035, 0.83), skin, "tube", 0.9),
        Part(mirrored((0.125, 0.39), (0.115, 0.55), (0.165, 0.70), (0.10, 0.775)), None, "tube"),
    ]
    for arm, count in zip(arms, fingers, strict=True):
        parts += _arm(arm, count, skin)
    parts += [
        Part(oval(0, 0.90, 0.185, 0.215), skin, "round"),
        Part(half_disc(0.205, 0.915, 0.095), hair, "round"),
        *(Part(oval(side * 0.04, 0.895, 0.022, 0.026), _EYES, "plain", 1.1) for side in (-1, 1)),
        Part(outline((-0.035, 0.845), (0.035, 0.845), (0.022, 0.832), (-0.022, 0.832)), _LIPS, "plain", 1.2),
    ]
    return tuple(parts)


def _arm(name: str, fingers: int, skin: Colour) -> list[Part]:
    """Give an arm from the shoulder to the fingertips."""
    side, height, upper, fore = _POSES[name]
    shoulder = (side * 0.135, height)
    elbow = (shoulder[0] + side * 0.15 * float(np.cos(upper)), height + 0.15 * float(np.sin(upper)))
    wrist = (elbow[0] + side * 0.14 * float(np.cos(fore)), elbow[1] + 0.14 * float(np.sin(fore)))
    palm = (wrist[0] + side * 0.045 * float(np.cos(fore)), wrist[1] + 0.045 * float(np.sin(fore)))
    parts = [
        Part(limb(shoulder, elbow, 0.085), None, "tube", 0.94),
        Part(limb(elbow, wrist, 0.058), skin, "tube"),
    ]
    for angle in np.linspace(-_SPREAD, _SPREAD, fingers):
        way = fore + float(angle)
        long = _PALM / 2 + _LONG * (1 - 0.22 * abs(float(angle)) / _SPREAD)
        tip = (palm[0] + side * long * float(np.cos(way)), palm[1] + long * float(np.sin(way)))
        parts.append(Part(limb(palm, tip, _THIN), skin, "tube", 0.96))
    return [*parts, Part(oval(*palm, _PALM, _PALM), skin, "round")]


def reach(figure: Figure) -> tuple[float, float, float, float]:
    """Give left, top, right and bottom of a person, as shares of a square picture."""
    corners = np.concatenate([part.points for part in figure_parts(figure.look, figure.arms, figure.fingers)])
    low, high = corners.min(axis=0) * figure.size, corners.max(axis=0) * figure.size
    return (
        figure.x + float(low[0]),
        figure.y - float(high[1]),
        figure.x + float(high[0]),
        figure.y - float(low[1]),
    )

"""A person waving with both hands, as parts to paint: so that arms and fingers can be counted, and miscounted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.demo.shapes import Part, block, half_disc, mirrored, outline, oval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from judge_audit.demo.shapes import Colour

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

"""Scenes whose content is known: what stands where, in which colour and light; the words for it.

A scene is a value; its prompt is written from it and its pixels are drawn from it (`drawing.draw_scene`), so
text and picture agree by construction and either can be changed alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from judge_audit.demo.shapes import COLOURS

if TYPE_CHECKING:
    from judge_audit.demo.shapes import Figure

Style = Literal["flat", "shaded"]
STYLES: tuple[Style, ...] = ("flat", "shaded")

_OUTDOORS = ("house", "tree", "balloon")
SETTINGS: dict[str, tuple[str, ...]] = {
    "table": ("apple", "mug", "ball", "box", "bottle", "lamp"),
    "meadow": _OUTDOORS,
    "beach": ("umbrella", "boat", "ball", "balloon"),
}
"""What each setting may show."""

HOURS = ("noon", "evening", "night", "fog")

CHOICES: dict[str, tuple[str, ...]] = {
    "apple": ("red", "green", "yellow"),
    "tree": ("green", "orange", "yellow"),
    "bottle": ("green", "blue", "brown", "white"),
    "house": ("red", "brown", "blue", "purple"),
}
SIZES = {"apple": 0.20, "mug": 0.26, "ball": 0.22, "box": 0.28, "bottle": 0.42, "lamp": 0.48, "house": 0.36,
          "tree": 0.42, "balloon": 0.34, "boat": 0.28, "umbrella": 0.36}  # fmt: skip
NUMBERS = ("no", "one", "two", "three", "four", "five")
_WHERE = {"table": "on a table", "meadow": "in a meadow", "beach": "on a beach", "lake": "by a lake"}
_WHEN = {"noon": "at noon", "evening": "in the evening", "night": "at night", "fog": "in haze"}
_STYLE_WORDS = {"flat": "Flat illustration", "shaded": "Rendered picture"}


@dataclass(frozen=True, slots=True)
class Placed:
    """One thing in a scene.

    Attributes:
        thing: A name in `THINGS`.
        colour: A name in `COLOURS`.
        x: Middle of its foot, share of the width.
        y: Its foot, share of the height, down.
        size: Its height, share of the picture's.
    """

    thing: str
    colour: str
    x: float
    y: float
    size: float


@dataclass(frozen=True, slots=True)
class Camera:
    """What a camera adds.

    Attributes:
        softness: Blur, sigma as a share of the picture's side.
        grain: Noise, standard deviation in levels.
    """

    softness: float
    grain: float


@dataclass(frozen=True, slots=True)
class Scene:
    """What a picture shows.

    Attributes:
        setting: A name in `SETTINGS`, or “lake”.
        hour: A name in `HOURS`.
        placed: The things, farthest first.
        seed: Settles textures, palette and camera.
        figure: A person, if there is one.
        marks: What a brand lays over the picture: names in `MARKS`.
        mirrored: The things as a lake shows them; None for the things themselves.
        camera: Softness and grain; None for the seed's own.
    """

    setting: str
    hour: str
    placed: tuple[Placed, ...]
    seed: int
    figure: Figure | None = None
    marks: tuple[Placed, ...] = ()
    mirrored: tuple[Placed, ...] | None = None
    camera: Camera | None = None

    @property
    def staged(self) -> bool:
        """Whether the scene was set for pairs: what one draw settles then hangs on no other."""
        return self.camera is not None


def make_scene(seed: int) -> Scene:
    """Invent a scene; the same seed gives the same scene."""
    rng = np.random.default_rng([7, seed])
    setting = tuple(SETTINGS)[seed % len(SETTINGS)]
    hour = HOURS[int(rng.choice(4, p=(0.4, 0.25, 0.2, 0.15)))]
    kinds = [str(kind) for kind in rng.permutation(SETTINGS[setting])[: int(rng.integers(1, 4))]]
    wanted: list[tuple[str, str]] = []
    for kind in kinds:
        colours = CHOICES.get(kind, tuple(COLOURS))
        colour = colours[int(rng.integers(len(colours)))]
        wanted += [(kind, colour)] * int(rng.integers(1, 4 if len(kinds) < 3 else 3))
    wanted = wanted[:5]
    slots = rng.permutation(len(wanted))
    placed = []
    for slot, (kind, colour) in zip(slots, wanted, strict=True):
        x = (slot + 0.5) / len(wanted) + float(rng.uniform(-0.06, 0.06)) / len(wanted)
        y = float(rng.uniform(0.06, 0.42)) if kind == "balloon" else float(rng.uniform(0.76, 0.93))
        if kind == "balloon":
            y += SIZES["balloon"]
        if kind == "boat":
            y = float(rng.uniform(0.60, 0.66))
        scale = float(rng.uniform(0.9, 1.25)) * (
            1.35 if len(wanted) <= 2 else 1.0 if len(wanted) <= 4 else 0.85
        )
        scale *= 1.0 if kind in ("balloon", "boat") else 0.55 + 0.53 * y
        placed.append(
            Placed(kind, colour, round(0.06 + 0.88 * x, 4), round(y, 4), round(SIZES[kind] * scale, 4))
        )
    return Scene(setting, hour, tuple(sorted(placed, key=lambda thing: thing.y)), seed)


def prompt_of(scene: Scene, style: Style) -> str:
    """Write what the scene shows, such as “Rendered picture of two red apples on a table at noon.”."""
    counts: dict[tuple[str, str], int] = {}
    for thing in scene.placed:
        counts[thing.colour, thing.thing] = counts.get((thing.colour, thing.thing), 0) + 1
    parts = [
        f"{NUMBERS[count]} {colour} {thing if count == 1 else plural(thing)}"
        for (colour, thing), count in sorted(counts.items())
    ]
    if scene.figure is not None:
        parts.append(
            f"a person in {'an' if scene.figure.colour[0] in 'aeiou' else 'a'} {scene.figure.colour} shirt"
        )
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"{_STYLE_WORDS[style]} of {listed} {_WHERE[scene.setting]} {_WHEN[scene.hour]}."


def plural(thing: str) -> str:
    """Give the plural of a thing's name."""
    return thing + ("es" if thing.endswith("x") else "s")

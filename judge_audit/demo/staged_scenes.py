"""Staged scenes, and every damage of the four mismatch kinds done to the scene itself.

A staged scene shows things in counts and colours, a person with two hands, and a logo with empty space beside it.
A damage changes the scene and keeps the prompt of the intact one. Everything else is drawn from the same draws:
pixels differ where the damage is, and nowhere else; what is wrong is known exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.core.digests import draw_seed
from judge_audit.demo.figure import FINGERS, Figure
from judge_audit.demo.scenes import CHOICES, NUMBERS, SIZES, Placed, Scene, plural
from judge_audit.demo.shapes import COLOURS
from judge_audit.demo.truth import POOR, SHARP
from judge_audit.stimuli.mismatches.exchanges import COLOURS as OTHER_COLOURS
from judge_audit.stimuli.mismatches.kind import Unsuited

if TYPE_CHECKING:
    from collections.abc import Callable

STAGED: dict[str, tuple[str, ...]] = {
    "table": ("apple", "mug", "ball", "box", "bottle"),
    "meadow": ("house", "tree", "box", "ball"),
    "beach": ("umbrella", "ball", "box", "bottle"),
    "lake": ("house", "tree", "boat"),
}
"""What each staged setting may show."""

SLOTS = 4
DAMAGES: dict[str, tuple[str, ...]] = {
    "semantic_miss": ("count", "colour", "hour"),
    "poor_quality": ("camera",),
    "compliance_breach": ("banned", "margin", "filled"),
    "structural_error": ("extra_arm", "missing_arm", "fingers", "reflection"),
}
"""The damages of each mismatch kind."""


@dataclass(frozen=True, slots=True)
class Damaged:
    """A damaged scene.

    Attributes:
        scene: The scene.
        told: What was done, in one sentence.
    """

    scene: Scene
    told: str


def stage_scene(seed: int) -> Scene:
    """Set a scene: the same seed gives the same one."""
    rng = np.random.default_rng([23, seed])
    setting = tuple(STAGED)[seed % len(STAGED)]
    hour = ("noon", "evening", "night")[int(rng.choice(3, p=(0.55, 0.30, 0.15)))]
    side = 1 if rng.integers(2) else -1
    # Orange beside yellow, and yellow or white in any light but noon's, could be called by another name.
    unsure = {"orange"} if hour == "noon" else {"orange", "yellow", "white"}
    shirts = [
        colour for colour in ("red", "blue", "green", "purple", "yellow", "white") if colour not in unsure
    ]
    shirt = shirts[int(rng.integers(len(shirts)))]
    size = float(rng.uniform(0.53, 0.56))
    feet = 0.98 if setting != "table" else 0.86
    figure = Figure(shirt, 0.5 + side * 0.20, feet, round(size, 3), int(rng.integers(16)))
    kinds = [str(kind) for kind in rng.permutation(STAGED[setting])[:2]]
    counts = ((1, 2), (2, 1), (3, 0), (1, 1), (2, 0))[int(rng.integers(5))]
    wanted: list[tuple[str, str]] = []
    for kind, count in zip(kinds, counts, strict=True):
        choices = [colour for colour in CHOICES.get(kind, tuple(COLOURS)) if colour not in unsure]
        wanted += [(kind, choices[int(rng.integers(len(choices)))])] * count
    placed = [_placed(kind, colour, slot, side, setting) for slot, (kind, colour) in enumerate(wanted)]
    logo = Placed("logo", "white", 0.5 - side * 0.39, 0.17, 0.13)
    return Scene(setting, hour, tuple(placed), seed, figure, (logo,), None, SHARP)


def _placed(kind: str, colour: str, slot: int, side: int, setting: str) -> Placed:
    """Put a thing in a slot of the half that the person leaves free."""
    across = 0.5 - side * (0.40 - 0.12 * slot)
    if setting == "lake":
        return Placed(kind, colour, round(across, 4), 0.565, round(SIZES[kind] * 0.55, 4))
    down = (0.80, 0.90)[slot % 2]
    return Placed(kind, colour, round(across, 4), down, round(SIZES[kind] * 0.66, 4))


def damage_scene(scene: Scene, kind: str, variant: str, seed: int) -> Damaged | Unsuited:
    """Damage a staged scene.

    Args:
        scene: A scene of `stage_scene`.
        kind: A mismatch kind.
        variant: One of its `DAMAGES`.
        seed: The audit's seed.

    Raises:
        KeyError: If there is no such damage.
    """
    if variant not in DAMAGES[kind]:
        raise KeyError(variant)
    rng = np.random.default_rng(draw_seed(seed, "scenes", kind, variant, str(scene.seed)))
    return _WAYS[variant](scene, rng)


def _count(scene: Scene, rng: np.random.Generator) -> Damaged | Unsuited:
    """Show more or fewer of a thing than the prompt asks for."""
    kinds = sorted({thing.thing for thing in scene.placed})
    kind = kinds[int(rng.integers(len(kinds)))]
    of_kind = [thing for thing in scene.placed if thing.thing == kind]
    if len(of_kind) > 1:
        gone = set(of_kind[1:])
        kept = tuple(thing for thing in scene.placed if thing not in gone)
        told = f"{_so_many(len(of_kind), kind)} asked for, one shown."
        return Damaged(replace(scene, placed=kept), told)
    side = _side(scene)
    free = range(len(scene.placed), SLOTS)
    more = [_placed(kind, of_kind[0].colour, slot, side, scene.setting) for slot in list(free)[:2]]
    if not more:
        return Unsuited("there is no room for more things.")
    told = f"One {kind} asked for, {NUMBERS[1 + len(more)]} shown."
    return Damaged(replace(scene, placed=(*scene.placed, *more)), told)


def _so_many(count: int, kind: str) -> str:
    """Say how many of a thing."""
    return f"{NUMBERS[count].capitalize()} {plural(kind)}"


def _side(scene: Scene) -> int:
    """Say on which side the person stands."""
    return 1 if scene.figure is None or scene.figure.x > 0.5 else -1


def _other_colour(thing: Placed, rng: np.random.Generator) -> str:
    """Give a colour far from a thing's own."""
    others = [colour for colour in OTHER_COLOURS[thing.colour] if colour in COLOURS]
    return others[int(rng.integers(len(others)))]


def _colour(scene: Scene, rng: np.random.Generator) -> Damaged | Unsuited:
    """Show all things of a kind in another colour."""
    thing = scene.placed[int(rng.integers(len(scene.placed)))]
    new = _other_colour(thing, rng)
    placed = tuple(replace(it, colour=new) if it.thing == thing.thing else it for it in scene.placed)
    return Damaged(
        replace(scene, placed=placed), f"{thing.colour.capitalize()} {thing.thing} asked for, {new} shown."
    )


def _hour(scene: Scene, rng: np.random.Generator) -> Damaged | Unsuited:
    """Show another hour."""
    del rng
    new = "night" if scene.hour == "noon" else "noon"
    return Damaged(replace(scene, hour=new), f"{scene.hour.capitalize()} asked for, {new} shown.")


def _camera(scene: Scene, rng: np.random.Generator) -> Damaged | Unsuited:
    """Photograph it badly."""
    del rng
    told = f"Blurred with a sigma of {POOR.softness:.2%} of the side, with grain of {POOR.grain:g} levels."
    return Damaged(replace(scene, camera=POOR), told)


def _banned(scene: Scene, rng: np.random.Generator) -> Damaged | Unsuited:
    """Lay a badge over the picture, clear of the person and of the space beside the logo."""
    x = 0.5 + _side(scene) * float(rng.uniform(0.30, 0.36))
    badge = Placed("badge", "red", round(x, 4), 0.215, 0.20)
    return Damaged(replace(scene, marks=(*scene.marks, badge)), "A banned badge is laid over the picture.")


def _margin(scene: Scene, rng: np.random.Generator) -> Damaged | Unsuited:
    """Push the person over the edge."""
    del rng
    if scene.figure is None:
        return Unsuited("there is no person to push.")
    figure = replace(scene.figure, x=0.5 + _side(scene) * 0.37)
    return Damaged(replace(scene, figure=figure), "The person is pushed to the edge, one hand beyond it.")


def _filled(scene: Scene, rng: np.random.Generator) -> Damaged | Unsuited:
    """Fill the space beside the logo."""
    del rng
    copy = Placed("copy", "yellow", round(0.5 - _side(scene) * 0.135, 4), 0.185, 0.155)
    return Damaged(
        replace(scene, marks=(*scene.marks, copy)), "The space beside the logo is filled with copy."
    )


def _with_figure(
    change: Callable[[Figure, np.random.Generator], tuple[Figure, str]],
) -> Callable[[Scene, np.random.Generator], Damaged | Unsuited]:
    """Make a damage of a person's structure."""

    def way(scene: Scene, rng: np.random.Generator) -> Damaged | Unsuited:
        if scene.figure is None:
            return Unsuited("there is no person in it.")
        figure, told = change(scene.figure, rng)
        return Damaged(replace(scene, figure=figure), told)

    return way


def _extra_arm(figure: Figure, rng: np.random.Generator) -> tuple[Figure, str]:
    del rng
    inner = "third left" if figure.x > 0.5 else "third right"
    more = replace(figure, arms=(*figure.arms, inner), fingers=(*figure.fingers, FINGERS))
    return more, "The person has a third arm."


def _missing_arm(figure: Figure, rng: np.random.Generator) -> tuple[Figure, str]:
    at = int(rng.integers(len(figure.arms)))
    return replace(figure, arms=(figure.arms[at],), fingers=(figure.fingers[at],)), "The person has one arm."


def _fingers(figure: Figure, rng: np.random.Generator) -> tuple[Figure, str]:
    at, count = int(rng.integers(len(figure.fingers))), (2, 9)[int(rng.integers(2))]
    fingers = tuple(count if number == at else given for number, given in enumerate(figure.fingers))
    return replace(figure, fingers=fingers), f"The {figure.arms[at]} hand has {count} fingers."


def _reflection(scene: Scene, rng: np.random.Generator) -> Damaged | Unsuited:
    """Let the lake show something else."""
    if scene.setting != "lake":
        return Unsuited("there is no water that reflects it.")
    at = int(rng.integers(len(scene.placed)))
    thing = scene.placed[at]
    new = _other_colour(thing, rng)
    others = tuple(it for number, it in enumerate(scene.placed) if number != at)
    if rng.integers(2):
        return Damaged(replace(scene, mirrored=others), f"The {thing.thing} has no reflection.")
    mirrored = (*others, replace(thing, colour=new))
    return Damaged(replace(scene, mirrored=mirrored), f"The {thing.colour} {thing.thing} is reflected {new}.")


_WAYS: dict[str, Callable[[Scene, np.random.Generator], Damaged | Unsuited]] = {
    "count": _count,
    "colour": _colour,
    "hour": _hour,
    "camera": _camera,
    "banned": _banned,
    "margin": _margin,
    "filled": _filled,
    "extra_arm": _with_figure(_extra_arm),
    "missing_arm": _with_figure(_missing_arm),
    "fingers": _with_figure(_fingers),
    "reflection": _reflection,
}

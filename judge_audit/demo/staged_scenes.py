"""Staged scenes, every damage of the four mismatch kinds done to the scene itself, and what is then true of it.

A staged scene shows things in counts and colours, a person with two hands, and a logo with empty space next to it.
A damage changes the scene and keeps the prompt of the intact one. Everything else is drawn from the same draws:
pixels differ where the damage is, and nowhere else; what is wrong is known exactly.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import cv2
import numpy as np

from judge_audit.core.digests import draw_seed
from judge_audit.demo.drawing import draw_scene
from judge_audit.demo.scenes import CHOICES, NUMBERS, SIZES, STYLES, Camera, Placed, Scene, plural, prompt_of
from judge_audit.demo.shapes import ARMS, COLOURS, FINGERS, Figure, reach
from judge_audit.stimuli.mismatches.exchanges import COLOURS as OTHER_COLOURS
from judge_audit.stimuli.mismatches.kind import Built, Unsuited, picture_difficulty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from judge_audit.demo.scenes import Style

SHARP = Camera(softness=0.0012, grain=1.2)
POOR = Camera(softness=0.0125, grain=26.0)
"""The camera of a sound scene, and that of one of poor quality."""

MARGIN = 0.02
"""The person keeps this share of the picture's side away from its edges: a brand rule."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What is true of a scene in each dimension, 1 for sound, down to 0.

    Attributes:
        semantic: Share of the prompt's statements (counts, colours, hour, setting, shirt) that hold.
        structure: Share of arms, hands and reflections that are right.
        aesthetic: 1 at the sound camera, 0 at the poor one.
        compliance: Share of the three brand rules (no badge, margin, empty space) that are kept.
    """

    semantic: float
    structure: float
    aesthetic: float
    compliance: float


def truth_of(shown: Scene, asked: Scene) -> Truth:
    """Say what is true of a scene under the prompt of another, or of itself."""
    return Truth(
        semantic=_share(_statements(shown, asked)),
        structure=_share(_structures(shown)),
        aesthetic=_quality(shown),
        compliance=_share(_rules_kept(shown)),
    )


def _share(held: list[bool]) -> float:
    return sum(held) / len(held)


def _statements(shown: Scene, asked: Scene) -> list[bool]:
    """Say of each statement of a prompt whether it holds."""
    held = [shown.hour == asked.hour, shown.setting == asked.setting]
    if asked.figure is not None:
        held.append(shown.figure is not None and shown.figure.colour == asked.figure.colour)
    for kind in sorted({thing.thing for thing in asked.placed}):
        seen, told = (
            sorted(it.colour for it in scene.placed if it.thing == kind) for scene in (shown, asked)
        )
        held += [len(seen) == len(told), set(seen) == set(told)]
    return held


def _structures(scene: Scene) -> list[bool]:
    """Say of arms, hands and reflection whether they are right."""
    held = [scene.mirrored is None or scene.mirrored == scene.placed]
    if scene.figure is not None:
        held += [scene.figure.arms == ARMS, all(count == FINGERS for count in scene.figure.fingers)]
    return held


def _quality(scene: Scene) -> float:
    """Say how good the camera is."""
    camera = scene.camera or SHARP
    parts = [
        (camera.softness - SHARP.softness) / (POOR.softness - SHARP.softness),
        (camera.grain - SHARP.grain) / (POOR.grain - SHARP.grain),
    ]
    return float(1 - np.clip(parts, 0, 1).mean())


def _rules_kept(scene: Scene) -> list[bool]:
    """Say of each brand rule whether it is kept."""
    names = {mark.thing for mark in scene.marks}
    clear = True
    if scene.figure is not None:
        left, _, right, _ = reach(scene.figure)
        clear = left >= MARGIN and right <= 1 - MARGIN
    return ["badge" not in names, clear, "copy" not in names]


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


SIDE = 320
SEEDS_APART = 10_000
ITEM_COLUMNS = ("item_id", "source", "prompt", "image", "topic", "cluster")
PAIR_COLUMNS = ("pair_id", "kind", "variant", "intact", "damaged", "constructed", "told")


@dataclass(frozen=True, slots=True)
class ScenePair:
    """A pair whose damage is known exactly.

    Attributes:
        pair_id: Its name.
        kind: The mismatch kind.
        style: A name in `STYLES`.
        scene: The intact scene; its prompt is the prompt of both members.
        intact: 8-bit sRGB, shape (side, side, 3).
        made: The damaged member: pixels, the region that differs, difficulty, what was done.
        sound: What is true of the intact member.
        faulty: What is true of the damaged one, under the intact one's prompt.
    """

    pair_id: str
    kind: str
    style: Style
    scene: Scene
    intact: NDArray[np.uint8]
    made: Built
    sound: Truth
    faulty: Truth

    @property
    def prompt(self) -> str:
        """The prompt of both members."""
        return prompt_of(self.scene, self.style)


def scene_pairs(
    count: int, seed: int, *, size: int = SIDE, kinds: tuple[str, ...] = tuple(DAMAGES)
) -> Iterator[ScenePair]:
    """Draw so many pairs of each kind and style; no scene serves twice.

    Args:
        count: Pairs per kind and style.
        seed: Settles scenes and damages.
        size: Side in pixels.
        kinds: Which mismatch kinds.
    """
    number = seed * SEEDS_APART
    for kind in kinds:
        for turn, style in enumerate(STYLES):
            made = 0
            while made < count:
                scene = stage_scene(number)
                variant = DAMAGES[kind][(made + turn * count) % len(DAMAGES[kind])]
                number += 1
                pair = draw_pair(scene, style, kind, variant, seed, size=size)
                if isinstance(pair, ScenePair):
                    made += 1
                    yield pair


def draw_pair(
    scene: Scene, style: Style, kind: str, variant: str, seed: int, *, size: int = SIDE
) -> ScenePair | Unsuited:
    """Draw a staged scene and its damaged twin, or say why the damage does not suit it."""
    damaged = damage_scene(scene, kind, variant, seed)
    if isinstance(damaged, Unsuited):
        return damaged
    intact, pixels = (draw_scene(shown, style, size) for shown in (scene, damaged.scene))
    region = (intact != pixels).any(axis=-1)
    if not region.any():
        return Unsuited("the damage is hidden by what stands before it.")
    made = Built(
        variant=variant,
        pixels=pixels,
        prompt=None,
        region=region,
        difficulty=picture_difficulty(intact, pixels),
        told=damaged.told,
        honest_limits=("A drawn scene: a judge of photographs may find all of it odd.",),
    )
    pair_id = f"{style}-{scene.seed}-{variant}"
    truths = truth_of(scene, scene), truth_of(damaged.scene, scene)
    return ScenePair(pair_id, kind, style, scene, intact, made, *truths)


def write_scene_pairs(folder: Path, count: int, seed: int, *, size: int = SIDE) -> tuple[Path, Path]:
    """Write pairs of staged scenes: pictures, an items file of both members, and a manifest.

    The intact members are of the sources “flat scenes” and “shaded scenes”, the damaged of the same sources and
    of their intact member's cluster.

    Returns:
        Paths of the items file and of the manifest.
    """
    (folder / "images").mkdir(parents=True, exist_ok=True)
    items: list[dict[str, str]] = []
    pairs: list[dict[str, str]] = []
    for pair in scene_pairs(count, seed, size=size):
        for member, pixels in (("intact", pair.intact), ("damaged", pair.made.pixels)):
            assert pixels is not None
            name = f"{pair.pair_id}-{member}"
            done, content = cv2.imencode(".png", pixels[..., ::-1], [cv2.IMWRITE_PNG_COMPRESSION, 1])
            assert done
            (folder / "images" / f"{name}.png").write_bytes(content.tobytes())
            items.append(
                {
                    "item_id": name,
                    "source": f"{pair.style} scenes",
                    "prompt": pair.prompt,
                    "image": f"images/{name}.png",
                    "topic": pair.scene.setting,
                    "cluster": pair.pair_id,
                }
            )
        pairs.append(
            {
                "pair_id": pair.pair_id,
                "kind": pair.kind,
                "variant": pair.made.variant,
                "intact": f"{pair.pair_id}-intact",
                "damaged": f"{pair.pair_id}-damaged",
                "constructed": "true",
                "told": pair.made.told,
            }
        )
    return (
        _listing(folder / "items.csv", ITEM_COLUMNS, items),
        _listing(folder / "pairs.csv", PAIR_COLUMNS, pairs),
    )


def _listing(path: Path, columns: tuple[str, ...], rows: list[dict[str, str]]) -> Path:
    """Write a CSV file."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")
    return path

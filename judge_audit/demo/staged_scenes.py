"""Staged scenes, every damage of the four mismatch kinds done to the scene itself, and what is then true of it.

A staged scene shows things in counts and colours, a person with two hands, and a logo with empty space next to it.
A damage changes the scene and keeps the prompt of the intact one. Everything else is drawn from the same draws:
pixels differ where the damage is, and nowhere else; what is wrong is known exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.core.digests import draw_seed
from judge_audit.demo.corpus import csv_of, item_row, png_of
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

    Change = tuple[Scene, str] | Unsuited
    """The changed scene and what was done, in one sentence; or why it cannot be done."""

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


def _share(holds: list[bool]) -> float:
    return sum(holds) / len(holds)


def _statements(shown: Scene, asked: Scene) -> list[bool]:
    """Say of each statement of a prompt whether it holds."""
    holds = [shown.hour == asked.hour, shown.setting == asked.setting]
    if asked.figure is not None:
        holds.append(shown.figure is not None and shown.figure.colour == asked.figure.colour)
    for kind in sorted({thing.thing for thing in asked.placed}):
        colours, wanted = ([it.colour for it in scene.placed if it.thing == kind] for scene in (shown, asked))
        holds += [len(colours) == len(wanted), set(colours) == set(wanted)]
    return holds


def _structures(scene: Scene) -> list[bool]:
    """Say of arms, hands and reflection whether they are right."""
    right = [scene.mirrored is None or scene.mirrored == scene.placed]
    if scene.figure is not None:
        right += [scene.figure.arms == ARMS, all(count == FINGERS for count in scene.figure.fingers)]
    return right


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
    if scene.figure is None and variant in _OF_PERSON:
        return Unsuited(_OF_PERSON[variant])
    rng = np.random.default_rng(draw_seed(seed, "scenes", kind, variant, str(scene.seed)))
    change = _CHANGES[variant](scene, rng)
    return change if isinstance(change, Unsuited) else Damaged(*change)


def _count(scene: Scene, rng: np.random.Generator) -> Change:
    """Show more or fewer of a thing than the prompt asks for."""
    kinds = sorted({thing.thing for thing in scene.placed})
    kind = kinds[int(rng.integers(len(kinds)))]
    of_kind = [thing for thing in scene.placed if thing.thing == kind]
    if len(of_kind) > 1:
        gone = set(of_kind[1:])
        kept = tuple(thing for thing in scene.placed if thing not in gone)
        asked_for = f"{NUMBERS[len(of_kind)].capitalize()} {plural(kind)}"
        return replace(scene, placed=kept), f"{asked_for} asked for, one shown."
    free = list(range(len(scene.placed), SLOTS))[:2]
    more = [_placed(kind, of_kind[0].colour, slot, _side(scene), scene.setting) for slot in free]
    if not more:
        return Unsuited("there is no room for more things.")
    return replace(
        scene, placed=(*scene.placed, *more)
    ), f"One {kind} asked for, {NUMBERS[1 + len(more)]} shown."


def _side(scene: Scene) -> int:
    """Say on which side the person stands."""
    return 1 if scene.figure is None or scene.figure.x > 0.5 else -1


def _other_colour(thing: Placed, rng: np.random.Generator) -> str:
    """Give a colour far from a thing's own."""
    others = [colour for colour in OTHER_COLOURS[thing.colour] if colour in COLOURS]
    return others[int(rng.integers(len(others)))]


def _colour(scene: Scene, rng: np.random.Generator) -> Change:
    """Show all things of a kind in another colour."""
    thing = scene.placed[int(rng.integers(len(scene.placed)))]
    new = _other_colour(thing, rng)
    placed = tuple(replace(it, colour=new) if it.thing == thing.thing else it for it in scene.placed)
    return replace(scene, placed=placed), f"{thing.colour.capitalize()} {thing.thing} asked for, {new} shown."


def _hour(scene: Scene, _: np.random.Generator) -> Change:
    """Show another hour."""
    new = "night" if scene.hour == "noon" else "noon"
    return replace(scene, hour=new), f"{scene.hour.capitalize()} asked for, {new} shown."


def _camera(scene: Scene, _: np.random.Generator) -> Change:
    """Photograph it badly."""
    told = f"Blurred with a sigma of {POOR.softness:.2%} of the side, with grain of {POOR.grain:g} levels."
    return replace(scene, camera=POOR), told


def _banned(scene: Scene, rng: np.random.Generator) -> Change:
    """Lay a badge over the picture, clear of the person and of the space beside the logo."""
    x = 0.5 + _side(scene) * float(rng.uniform(0.30, 0.36))
    badge = Placed("badge", "red", round(x, 4), 0.215, 0.20)
    return replace(scene, marks=(*scene.marks, badge)), "A banned badge is laid over the picture."


def _filled(scene: Scene, _: np.random.Generator) -> Change:
    """Fill the space beside the logo."""
    copy = Placed("copy", "yellow", round(0.5 - _side(scene) * 0.135, 4), 0.185, 0.155)
    return replace(scene, marks=(*scene.marks, copy)), "The space beside the logo is filled with copy."


def _person(variant: str) -> Callable[[Scene, np.random.Generator], Change]:
    """Give what does one of the damages of a person, who is there."""

    def change(scene: Scene, rng: np.random.Generator) -> Change:
        figure = scene.figure
        assert figure is not None
        arms, fingers = figure.arms, figure.fingers
        if variant == "margin":
            changed = replace(figure, x=0.5 + _side(scene) * 0.37)
            told = "The person is pushed to the edge, one hand beyond it."
        elif variant == "extra_arm":
            inner = "third left" if figure.x > 0.5 else "third right"
            changed = replace(figure, arms=(*arms, inner), fingers=(*fingers, FINGERS))
            told = "The person has a third arm."
        elif variant == "missing_arm":
            at = int(rng.integers(len(arms)))
            changed = replace(figure, arms=(arms[at],), fingers=(fingers[at],))
            told = "The person has one arm."
        else:
            at, count = int(rng.integers(len(fingers))), (2, 9)[int(rng.integers(2))]
            changed = replace(figure, fingers=(*fingers[:at], count, *fingers[at + 1 :]))
            told = f"The {arms[at]} hand has {count} fingers."
        return replace(scene, figure=changed), told

    return change


def _reflection(scene: Scene, rng: np.random.Generator) -> Change:
    """Let the lake show something else."""
    if scene.setting != "lake":
        return Unsuited("there is no water that reflects it.")
    at = int(rng.integers(len(scene.placed)))
    thing = scene.placed[at]
    new = _other_colour(thing, rng)
    others = tuple(it for number, it in enumerate(scene.placed) if number != at)
    if rng.integers(2):
        return replace(scene, mirrored=others), f"The {thing.thing} has no reflection."
    mirrored = (*others, replace(thing, colour=new))
    return replace(scene, mirrored=mirrored), f"The {thing.colour} {thing.thing} is reflected {new}."


_OF_PERSON = {
    "margin": "there is no person to push.",
    **dict.fromkeys(("extra_arm", "missing_arm", "fingers"), "there is no person in it."),
}
"""Damages of a person, and what is said where there is none."""

_CHANGES: dict[str, Callable[[Scene, np.random.Generator], Change]] = {
    "count": _count,
    "colour": _colour,
    "hour": _hour,
    "camera": _camera,
    "banned": _banned,
    "filled": _filled,
    "reflection": _reflection,
    **{variant: _person(variant) for variant in _OF_PERSON},
}


SIDE = 320
SEEDS_APART = 10_000


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
            (folder / "images" / f"{name}.png").write_bytes(png_of(pixels))
            source = f"{pair.style} scenes"
            items.append(item_row(name, source, pair.prompt, pair.scene.setting, pair.pair_id))
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
    listing, manifest = folder / "items.csv", folder / "pairs.csv"
    listing.write_bytes(csv_of(items))
    manifest.write_bytes(csv_of(pairs))
    return listing, manifest

"""Hidden structural error: a small part is warped, mirrored or stands twice; the rest is untouched.

The part is the item's part_box, else a disc inside its mask, else inside the salient region, where there is most
detail. Its size is a share of the short side, said with every pair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from judge_audit.stimuli.mismatches.exchanges import states_count
from judge_audit.stimuli.mismatches.kind import (
    Built,
    Kind,
    Unsuited,
    Variant,
    box_of,
    changed_share,
    picture_difficulty,
    too_small,
)
from judge_audit.stimuli.mismatches.places import INSIDE, disc, find_places, laid

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge_audit.stimuli.mismatches.kind import Mask, Material, Pixels
    from judge_audit.stimuli.mismatches.places import Place

    Damage = Callable[[Pixels, Place, np.random.Generator], tuple[Pixels, Mask, str]]

NAME = "structural_error"

SIZE = 0.30
"""Diameter of the damaged part, as a share of the short side."""

TURN = 2.6
"""Radians by which a warp turns the middle of the part against its rim."""

SEEN_LEVELS, SEEN_SHARE = 28, 0.30
"""A damage is kept only if this share of its region moves by so many levels: else nobody would find it."""

TRIES = 8

_BLIND = "The part is chosen by {by}, not by knowledge of anatomy: it need not be a face or a hand."
_NATURAL = "In foliage, hair or patterns a {what} part may pass for a natural one."


def _warp(pixels: Pixels, place: Place, rng: np.random.Generator) -> tuple[Pixels, Mask, str]:
    """Turn the middle of the part against its rim."""
    turn = TURN if rng.integers(2) else -TURN
    down, across = np.indices(pixels.shape[:2], np.float32)
    down, across = down - np.float32(place.row), across - np.float32(place.column)
    angle = turn * np.clip(1 - np.hypot(down, across) / place.radius, 0, 1) ** 1.2
    from_column = across * np.cos(angle) - down * np.sin(angle) + place.column
    from_row = across * np.sin(angle) + down * np.cos(angle) + place.row
    swirled = cv2.remap(
        pixels, from_column.astype(np.float32), from_row.astype(np.float32), cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REFLECT,
    )  # fmt: skip
    damaged = laid(pixels, swirled, place.region, place.radius)
    return damaged, place.region, f"is swirled: its middle is turned by {abs(turn):g} radians against its rim"


def _mirror(pixels: Pixels, place: Place, rng: np.random.Generator) -> tuple[Pixels, Mask, str]:
    """Stand the part on its head; left to right, a face or a bottle would look the same."""
    del rng
    rows = slice(place.row - place.radius, place.row + place.radius + 1)
    columns = slice(place.column - place.radius, place.column + place.radius + 1)
    changed = pixels.copy()
    changed[rows, columns] = pixels[rows, columns][::-1]
    return laid(pixels, changed, place.region, place.radius), place.region, "is mirrored top to bottom"


def _duplicate(pixels: Pixels, place: Place, rng: np.random.Generator) -> tuple[Pixels, Mask, str]:
    """Let the part stand a second time beside itself, on the side where it changes most."""
    height, width = pixels.shape[:2]
    radius = place.radius
    step = round(1.5 * radius)
    start = float(rng.uniform(0, np.pi / 4))
    best: tuple[float, Pixels, Mask] | None = None
    for turn in range(8):
        row = place.row + round(step * float(np.sin(start + turn * np.pi / 4)))
        column = place.column + round(step * float(np.cos(start + turn * np.pi / 4)))
        if not (radius <= row < height - radius and radius <= column < width - radius):
            continue
        whole = disc((height, width), row, column, radius)
        region = whole & place.allowed
        if region.sum() < INSIDE * whole.sum():
            continue
        moved = np.roll(pixels, (row - place.row, column - place.column), (0, 1))
        damaged = laid(pixels, moved, region, radius)
        change = _seen(pixels, damaged, region)
        if best is None or change > best[0]:
            best = change, damaged, region
    if best is None:
        return pixels, place.region, ""
    return best[1], best[2], "stands a second time beside itself"


def _seen(pixels: Pixels, damaged: Pixels, region: Mask) -> float:
    """Give the share of a region that visibly moves."""
    left, top, right, bottom = box_of(region)
    window = np.s_[top:bottom, left:right]
    moved = changed_share(pixels[window], damaged[window], SEEN_LEVELS) * region[window].size
    return moved / max(1.0, float(region.sum()))


def _way(name: str, damage: Damage, what: str) -> Callable[[Material], Built | Unsuited]:
    """Make the builder of a variant: try places until the damage can be seen."""

    def build(material: Material) -> Built | Unsuited:
        refused = too_small(material)
        if refused:
            return refused
        if name == "duplicate" and states_count(material.prompt):
            return Unsuited("its prompt states a count, which a part that stands twice could break too.")
        rng = material.random(NAME, name)
        places = find_places(material, SIZE, rng)
        if isinstance(places, Unsuited):
            return places
        for place in places[:TRIES]:
            damaged, region, did = damage(material.pixels, place, rng)
            if did and _seen(material.pixels, damaged, region) >= SEEN_SHARE:
                return _built(name, material, place, damaged, region, (did, what))
        return Unsuited(
            f"no part of {SIZE:.0%} of the short side in its {places[0].chosen_by} has detail enough for a "
            f"{what} one to be seen."
        )

    return build


def _built(
    name: str, material: Material, place: Place, damaged: Pixels, region: Mask, words: tuple[str, str]
) -> Built:
    """Say what was done to the part."""
    height, width = material.pixels.shape[:2]
    by = {"part_box": "the items file", "mask": "detail inside its mask"}.get(
        place.chosen_by, "salience and detail"
    )
    limits = [_NATURAL.format(what=words[1])]
    return Built(
        variant=name,
        pixels=damaged,
        prompt=None,
        region=region,
        difficulty=picture_difficulty(material.pixels, damaged),
        told=f"A part as wide as {2 * place.radius / min(height, width):.0%} of the short side, at "
        f"{place.column / width:.2f}, {place.row / height:.2f} of width and height, {words[0]}.",
        honest_limits=tuple(limits if place.chosen_by == "part_box" else [_BLIND.format(by=by), *limits]),
    )


KIND = Kind(
    name=NAME,
    description="Hidden structural error: a small part is wrong, the rest is as it was.",
    damages="structure",
    expectations={"semantic": "hold", "structure": "drops", "aesthetic": "free", "compliance": "hold"},
    variants=(
        Variant("warp", "A part is swirled.", _way("warp", _warp, "swirled")),
        Variant("mirror", "A part is mirrored.", _way("mirror", _mirror, "mirrored")),
        Variant("duplicate", "A part stands twice.", _way("duplicate", _duplicate, "doubled")),
    ),
    recipe_version=1,
)

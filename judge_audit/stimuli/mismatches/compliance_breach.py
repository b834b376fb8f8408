"""Compliance breach: an attractive picture that breaks one brand rule of the team's own.

banned_element: what a rule bans is overlaid, clear of the subject where there is room. margin: the frame is cut so
that the subject stands in the margin a rule keeps free; nothing is resampled. white_space: the space a rule wants
empty is filled with copy. A picture that breaks the rule already is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from judge_audit.stimuli.axes.regions import salient
from judge_audit.stimuli.mismatches.elements import ELEMENTS, copy_block, fitted, overlaid
from judge_audit.stimuli.mismatches.kind import (
    Built,
    Kind,
    Unsuited,
    Variant,
    box_of,
    picture_difficulty,
    too_small,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from judge_audit.stimuli.brand_rules import BrandRule
    from judge_audit.stimuli.mismatches.kind import Box, Mask, Material, Pixels

NAME = "compliance_breach"

COVERED = 0.25
"""A banned element may hide at most this share of the subject: hiding it would be another damage."""

KEPT = 0.70
"""A cut keeps at least this share of the picture."""

BUSY_LEVELS, BUSY_SHARE = 28, 0.04
"""A space is empty if at most this share of it departs by so many levels from a smooth gradient."""

BUSY_SIDE = 48
"""Pixels to which the space is shrunk first: grain and texture are no things."""

_GUESSED = "The subject is guessed from salience; give the items a mask to be sure of it."


def _by_rules(
    breach: str, build: Callable[[Material, BrandRule], Built | Unsuited]
) -> Callable[[Material], Built | Unsuited]:
    """Make the builder of a variant: one rule after another, in an order of the item's own."""

    def builder(material: Material) -> Built | Unsuited:
        refused = too_small(material)
        if refused:
            return refused
        if material.rules is None:
            return Unsuited("there are no brand rules; state them in a YAML file.")
        rules = [rule for rule in material.rules.rules if rule.breach == breach]
        if not rules:
            return Unsuited(f"the brand rules of {material.rules.brand} hold no {breach} rule.")
        reasons = []
        for number in material.random(NAME, breach, "order").permutation(len(rules)):
            made = build(material, rules[int(number)])
            if isinstance(made, Built):
                return made
            reasons.append(f"rule “{rules[int(number)].name}”: {made.reason}")
        return Unsuited(" ".join(sorted(reasons)))

    return builder


def _subject(material: Material) -> tuple[Mask, tuple[str, ...]] | Unsuited:
    """Give the subject: the item's mask, else the largest piece of the salient region, with the limit that sets."""
    if material.mask is not None:
        return material.mask, ()
    marked = salient(material.pixels)
    if marked.all():
        return Unsuited("nothing in it stands out, and the item has no mask to say what its subject is.")
    count, labels, stats, _ = cv2.connectedComponentsWithStats(marked.astype(np.uint8))
    largest = 1 + int(np.argmax(stats[1:count, cv2.CC_STAT_AREA]))
    return np.asarray(labels == largest, np.bool_), (_GUESSED,)


def _banned(material: Material, rule: BrandRule) -> Built | Unsuited:
    """Lay the banned element over a corner, or where it hides least of the subject."""
    found = _subject(material)
    subject, limits = (
        found if not isinstance(found, Unsuited) else (np.zeros(material.pixels.shape[:2], bool), ())
    )
    height, width = material.pixels.shape[:2]
    side = max(8, round(rule.size * min(height, width)))
    element = ELEMENTS[rule.element](side) if rule.element in ELEMENTS else fitted(_own(rule), side)
    tall, wide = element.shape[:2]
    gap = 0 if rule.element == "ribbon" else round(0.03 * min(height, width))
    spots = [(gap, width - wide - gap)]
    if rule.element != "ribbon":
        spots += [(gap, gap), (height - tall - gap, width - wide - gap), (height - tall - gap, gap)]
    hidden = [float(subject[top : top + tall, left : left + wide].sum()) for top, left in spots]
    order = material.random(NAME, rule.name).permutation(len(spots))
    chosen = min((int(number) for number in order), key=lambda number: hidden[number])
    share = hidden[chosen] / max(1.0, float(subject.sum()))
    if share > COVERED:
        return Unsuited(
            f"in every corner it would hide {share:.0%} or more of the subject; {COVERED:.0%} is the most."
        )
    top, left = spots[chosen]
    damaged = overlaid(material.pixels, element, top, left)
    region = np.zeros((height, width), np.bool_)
    region[top : top + tall, left : left + wide] = element[..., 3] > 0
    told = f"Breaks “{rule.name}”: a banned {rule.element} of {rule.size:.0%} of the short side is laid over a corner."
    limits = (
        *limits,
        "Whether the intact picture shows the banned element somewhere already is not checked.",
    )
    return _built("banned_element", material, rule, damaged, region, (told, limits))


def _own(rule: BrandRule) -> NDArray[np.uint8]:
    """Give the team's own picture of what is banned."""
    assert rule.picture is not None
    return rule.picture


def _margin(material: Material, rule: BrandRule) -> Built | Unsuited:
    """Cut the frame at the subject's edge."""
    found = _subject(material)
    if isinstance(found, Unsuited):
        return found
    subject, limits = found
    height, width = subject.shape
    left, top, right, bottom = box_of(subject)
    free = rule.margin * min(height, width)
    gaps = {"left": left, "top": top, "right": width - right, "bottom": height - bottom}
    breached = [edge for edge, gap in gaps.items() if gap < free]
    if breached:
        return Unsuited(f"its subject stands in the margin already ({', '.join(breached)}).")
    frames: dict[str, Box] = {
        "left": (left, 0, width, height), "top": (0, top, width, height),
        "right": (0, 0, right, height), "bottom": (0, 0, width, bottom),
    }  # fmt: skip
    kept = {edge: (box[2] - box[0]) * (box[3] - box[1]) / (height * width) for edge, box in frames.items()}
    edges = sorted(edge for edge in frames if kept[edge] >= KEPT)
    if not edges:
        return Unsuited(
            f"its subject is so small or far from every edge that less than {KEPT:.0%} would be kept."
        )
    edge = edges[int(material.random(NAME, rule.name).integers(len(edges)))]
    frame = frames[edge]
    damaged = np.ascontiguousarray(material.pixels[frame[1] : frame[3], frame[0] : frame[2]])
    told = (
        f"Breaks “{rule.name}”: cut at the {edge} so that the subject touches the edge; {kept[edge]:.0%} of the "
        "picture is kept, pixel for pixel."
    )
    limits = (*limits, "The frame's shape changes with the cut, and less background is shown.")
    region = np.ones((height, width), np.bool_)
    region[frame[1] : frame[3], frame[0] : frame[2]] = False
    return Built("margin", damaged, None, region, round(kept[edge], 4), told, limits, frame, rule.name)


def busy_share(pixels: Pixels) -> float:
    """Give the share of pixels that depart from a smooth gradient (quadratic in place) in any channel."""
    factor = min(1.0, BUSY_SIDE / min(pixels.shape[:2]))
    size = (max(8, round(pixels.shape[1] * factor)), max(8, round(pixels.shape[0] * factor)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA).reshape(-1, 3).astype(np.float64)
    down, across = (plane.ravel() for plane in np.mgrid[-1 : 1 : size[1] * 1j, -1 : 1 : size[0] * 1j])
    terms = np.stack([np.ones_like(down), down, across, down**2, across**2, down * across], axis=1)
    smooth = terms @ np.linalg.lstsq(terms, small, rcond=None)[0]
    return float((np.abs(small - smooth).max(axis=1) > BUSY_LEVELS).mean())


def _white_space(material: Material, rule: BrandRule) -> Built | Unsuited:
    """Fill the space with copy."""
    height, width = material.pixels.shape[:2]
    left, right = (round(rule.box[at] * width) for at in (0, 2))
    top, bottom = (round(rule.box[at] * height) for at in (1, 3))
    if right - left < 16 or bottom - top < 12:
        return Unsuited(f"its space would have {right - left} × {bottom - top} pixels; 16 × 12 are needed.")
    busy = busy_share(material.pixels[top:bottom, left:right])
    if busy > BUSY_SHARE:
        return Unsuited(
            f"its space is not empty: {busy:.0%} of it is busy, and {BUSY_SHARE:.0%} is the most."
        )
    if material.mask is not None and material.mask[top:bottom, left:right].mean() > BUSY_SHARE:
        return Unsuited("its subject stands in the space already.")
    edge = round(0.06 * min(bottom - top, right - left))
    block = copy_block(bottom - top - 2 * edge, right - left - 2 * edge)
    damaged = overlaid(material.pixels, block, top + edge, left + edge)
    region = np.zeros((height, width), np.bool_)
    region[top + edge : bottom - edge, left + edge : right - edge] = True
    told = (
        f"Breaks “{rule.name}”: the space that must stay empty, {region.mean():.0%} of the picture, is filled "
        "with copy."
    )
    limits = ("Copy bars stand for lettering; a judge that reads may take them for something else.",)
    return _built("white_space", material, rule, damaged, region, (told, limits))


def _built(
    variant: str,
    material: Material,
    rule: BrandRule,
    damaged: Pixels,
    region: Mask,
    words: tuple[str, tuple[str, ...]],
) -> Built:
    """Put an overlay together."""
    told, limits = words
    difficulty = picture_difficulty(material.pixels, damaged)
    return Built(variant, damaged, None, region, difficulty, told, limits, None, rule.name)


KIND = Kind(
    name=NAME,
    description="Attractive, but breaks a brand rule: a banned element, the subject in the margin, a filled space.",
    damages="compliance",
    expectations={"semantic": "hold", "structure": "hold", "aesthetic": "hold", "compliance": "drops"},
    variants=(
        Variant(
            "banned_element", "A banned element is laid over a corner.", _by_rules("banned_element", _banned)
        ),
        Variant("margin", "The frame is cut at the subject's edge.", _by_rules("margin", _margin)),
        Variant(
            "white_space", "A space that must stay empty is filled.", _by_rules("white_space", _white_space)
        ),
    ),
    recipe_version=1,
    needs_rules=True,
)

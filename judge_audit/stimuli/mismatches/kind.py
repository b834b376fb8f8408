"""What a mismatch kind is: a damage to one dimension, what the others should do, and how pairs are built.

A pair is an intact and a damaged member. A builder is given an item and gives the damaged member with what it
did, where, how hard it is to notice and where it is not honest, or says why the item does not suit. It draws
nothing at random but by a seed of the item's own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from judge_audit.core.digests import draw_seed, pixel_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from judge_audit.stimuli.brand_rules import BrandRules

    Pixels = NDArray[np.uint8]
    Mask = NDArray[np.bool_]
    Box = tuple[int, int, int, int]

Expectation = Literal["drops", "hold", "free"]

DIMENSIONS = ("semantic", "structure", "aesthetic", "compliance")
"""What a judge must tell apart."""

EXPECTATIONS: tuple[Expectation, ...] = ("drops", "hold", "free")
"""What a dimension does in a kind: drops (its own damage), hold (must not follow), free (may follow)."""

VISIBLE_LEVELS = 16
"""A pixel counts as changed for the difficulty when a channel moves by this many of 255 levels."""

SMALLEST_SIDE = 48
"""Pixels; in a smaller picture neither a part nor a space can be damaged so that a person sees it."""

HARDNESS = ((0.95, "hidden: a look may miss it"), (0.85, "small: seen on a second look"),
            (0.50, "plain: seen on a look"), (0.0, "at a glance"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Material:
    """What a builder works on.

    Attributes:
        item: The item's row: item_id, prompt, topic; optional part_box.
        pixels: 8-bit sRGB, shape (height, width, 3); never changed.
        seed: The audit's seed.
        mask: True where the subject is, None if the item has no mask.
        rules: The team's brand rules, None if there are none.
        prompts: Topic and prompt of the items a prompt may be exchanged with.
        spare_prompts: Topic and prompt to exchange with where the items have one topic, such as those a judge of
            stored texts knows; none takes the package's own.
    """

    item: Mapping[str, Any]
    pixels: Pixels
    seed: int
    mask: Mask | None = None
    rules: BrandRules | None = None
    prompts: tuple[tuple[str, str], ...] = ()
    spare_prompts: tuple[tuple[str, str], ...] = ()

    @property
    def strangers(self) -> tuple[tuple[str, str], ...]:
        """The name of `spare_prompts` in plug-ins written for version 0.1.0."""
        return self.spare_prompts

    @property
    def prompt(self) -> str:
        """The item's prompt."""
        return str(self.item.get("prompt") or "")

    @property
    def topic(self) -> str:
        """The item's topic, "" if none is given."""
        return str(self.item.get("topic") or "")

    def random(self, *key: str) -> np.random.Generator:
        """Give the draws of one decision; they hang on the pixels, the prompt and the key alone."""
        own = self.item.get("pixel_digest") or pixel_digest(self.pixels)
        return np.random.default_rng(draw_seed(self.seed, "pairs", *key, str(own), self.prompt))


@dataclass(frozen=True, slots=True)
class Unsuited:
    """An item of which no such pair can be made.

    Attributes:
        reason: Why, in words a person can act on.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class Built:
    """The damaged member of a constructed pair.

    Attributes:
        variant: Which of the kind's ways it was damaged.
        pixels: The damaged pixels, None if the picture stays as it is.
        prompt: The damaged prompt, None if it stays as it is.
        region: True where pixels may differ, shape (height, width) of the intact picture; None if none does.
        difficulty: Share of what a judge is shown that stays as it was, 0 to 1; the higher the harder. Pictures:
            1 − √(share of pixels that move by `VISIBLE_LEVELS`). Prompts: share of words kept. Cuts: share kept.
        told: What was done, in one sentence with its sizes.
        honest_limits: Where the pair is not what it claims to be.
        frame: For a cut, the rectangle of the intact picture that the damaged one is: left, top, right, bottom.
        rule: Name of the brand rule that is broken, "" for other kinds.
        constructed: Always true: built, not found.
    """

    variant: str
    pixels: Pixels | None
    prompt: str | None
    region: Mask | None
    difficulty: float
    told: str
    honest_limits: tuple[str, ...] = ()
    frame: Box | None = None
    rule: str = ""
    constructed: bool = field(default=True, init=False)

    @property
    def box(self) -> Box | None:
        """Left, top, right and bottom of the region in pixels, right and bottom not counted."""
        return None if self.region is None else box_of(self.region)

    @property
    def hardness(self) -> str:
        """The difficulty in words."""
        return hardness(self.difficulty)


@dataclass(frozen=True, slots=True)
class Variant:
    """One way of damaging.

    Attributes:
        name: Its name.
        description: One sentence for people.
        build: Damages an item so, or says why it does not suit.
    """

    name: str
    description: str
    build: Callable[[Material], Built | Unsuited]


@dataclass(frozen=True, slots=True)
class Kind:
    """A mismatch kind.

    Attributes:
        name: As it stands in tables.
        description: One sentence for people.
        damages: The dimension that must drop: its diagonal in the response matrix.
        expectations: What each dimension does.
        variants: The ways of damaging.
        recipe_version: Raised whenever the same item and seed would give another damage.
        needs_rules: Whether no pair can be built without brand rules.
    """

    name: str
    description: str
    damages: str
    expectations: Mapping[str, Expectation]
    variants: tuple[Variant, ...]
    recipe_version: int
    needs_rules: bool = False

    @property
    def holds(self) -> tuple[str, ...]:
        """Dimensions that must not follow."""
        return tuple(name for name, word in self.expectations.items() if word == "hold")

    def build(self, material: Material, variant: str = "") -> Built | Unsuited:
        """Build the damaged member of a pair.

        Args:
            material: The item and what comes with it.
            variant: Which way; "" takes the first that suits, in an order of the item's own.

        Raises:
            KeyError: If there is no such variant.
        """
        ways = {way.name: way for way in self.variants}
        if variant:
            return ways[variant].build(material)
        reasons = []
        order = material.random(self.name, "order").permutation(len(self.variants))
        for number in order:
            made = self.variants[int(number)].build(material)
            if isinstance(made, Built):
                return made
            reasons.append(f"{self.variants[int(number)].name}: {made.reason}")
        return Unsuited(reasons[0].partition(": ")[2] if len(reasons) == 1 else " ".join(sorted(reasons)))


def too_small(material: Material) -> Unsuited | None:
    """Refuse a picture too small to be damaged visibly."""
    height, width = material.pixels.shape[:2]
    if min(height, width) >= SMALLEST_SIDE:
        return None
    return Unsuited(f"the picture has {width} × {height} pixels; the shorter side needs {SMALLEST_SIDE}.")


def changed_share(intact: Pixels, damaged: Pixels, levels: int = VISIBLE_LEVELS) -> float:
    """Give the share of pixels of which a channel moves by so many levels."""
    apart = np.abs(intact.astype(np.int16) - damaged.astype(np.int16)).max(axis=-1)
    return float(np.mean(apart >= levels))


def picture_difficulty(intact: Pixels, damaged: Pixels) -> float:
    """Say how hard a damage of pixels is: 1 − the side of the changed area, as a share of the picture's."""
    return round(1.0 - float(np.sqrt(changed_share(intact, damaged))), 4)


def hardness(difficulty: float) -> str:
    """Put a difficulty in words."""
    return next(words for least, words in HARDNESS if difficulty >= least)


def box_of(region: Mask) -> Box:
    """Give left, top, right and bottom of the marked pixels, right and bottom not counted."""
    rows, columns = np.flatnonzero(region.any(axis=1)), np.flatnonzero(region.any(axis=0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1

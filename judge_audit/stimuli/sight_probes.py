"""What a judge can see, asked before any ladder is believed.

A few items are shown again in ways that only preprocessing, batching or memory could mistake. These probes
are planned, called and kept like every other; they are no ladders: rung 0, strength 0, and the probe's name
where a ladder's axis stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.core.digests import text_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from judge_audit.stimuli.axes.axis import Pixels

ITEMS = 16
"""Items shown for this: with none of 16 moved, at most one in seven moves (90 % Wilson interval)."""

LONGISH = 1.15
"""From this ratio of the sides on, a centre crop leaves out the ends of the long side."""

RIM = 1 / 16
"""What the usual resize to 256 and crop to 224 leaves out at each edge of a square picture, of its side."""

MARGIN = 1 / 64
"""Kept off the crop's edge, of the short side: a resize reaches a few pixels across it."""

GREY = 128


@dataclass(frozen=True, slots=True)
class SightProbe:
    """One way of showing an item.

    Attributes:
        name: Where a ladder's axis stands.
        recipe_version: Raised whenever it would show something else.
        draw: Gives the pixels shown; None if they are left as they are.
        alone: Whether it is asked in a request of its own.
        other_prompt: Whether it is shown with another item's prompt.
        repeats: How often it is asked.
    """

    name: str
    recipe_version: int
    draw: Callable[[Pixels], Pixels] | None = None
    alone: bool = False
    other_prompt: bool = False
    repeats: int = 1

    @property
    def same(self) -> bool:
        """Whether the judge is shown exactly what it was shown untouched."""
        return self.draw is None and not self.other_prompt


def without_border(image: Pixels) -> Pixels:
    """Paint grey what a centre crop leaves out.

    A picture that is clearly longer than wide (or wider than long) loses the ends of its long side, beyond the
    square in its middle; any other its rim. A judge that looks at the whole picture cannot miss either.

    Args:
        image: 8-bit sRGB, shape (height, width, 3).
    """
    height, width = image.shape[:2]
    short = min(height, width)
    changed = np.full_like(image, GREY)
    if max(height, width) >= LONGISH * short:
        half = short / 2 + short * MARGIN
        tops = [max(0, round(side / 2 - half)) for side in (height, width)]
    else:
        tops = [max(1, round(side / 2 - short / 2 + short * (RIM - MARGIN))) for side in (height, width)]
    kept = tuple(
        slice(top, max(top + 1, side - top)) for top, side in zip(tops, image.shape[:2], strict=True)
    )
    changed[kept] = image[kept]
    return changed


def stretched(image: Pixels) -> Pixels:
    """Make a picture twice as wide, each column twice: nothing is lost, only the shape is another."""
    return np.ascontiguousarray(np.repeat(image, 2, axis=1))


def upside_down(image: Pixels) -> Pixels:
    """Turn a picture by half: every pixel is there, and the shape is the same."""
    return np.ascontiguousarray(image[::-1, ::-1])


SIGHT_PROBES = (
    SightProbe("alone", 1, alone=True, repeats=2),
    SightProbe("copy", 1),
    SightProbe("border", 1, without_border),
    SightProbe("stretched", 1, stretched),
    SightProbe("upside_down", 1, upside_down),
    SightProbe("swapped_prompt", 1, other_prompt=True),
)
"""alone: the original in a request of its own, twice. copy: the original once more, elsewhere in the order.
border: without what a centre crop leaves out. stretched: another shape. upside_down: as one who ignores a
camera's orientation gets it. swapped_prompt: the original with a prompt it was not made for."""

SIGHT = {probe.name: probe for probe in SIGHT_PROBES}

ASKINGS = {probe.name: 1000 * place for place, probe in enumerate(SIGHT_PROBES, start=1)}
"""Added to the repeat where a probe is the untouched item once more: no two askings are the same one."""


def other_prompts(
    rows: Sequence[Mapping[str, Any]], item_ids: Iterable[str], seed: int
) -> dict[str, str | None]:
    """Choose for each item the prompt of another: of another topic where there is one.

    Args:
        rows: Items with item_id, topic and prompt.
        item_ids: Those to choose for.
        seed: The audit's seed.

    Returns:
        A prompt that differs from the item's own by item_id, None where the corpus has no other.
    """
    prompts = sorted({(str(row["topic"]), str(row["prompt"])) for row in rows if row["prompt"]})
    own = {str(row["item_id"]): (str(row["topic"]), str(row["prompt"])) for row in rows}
    chosen: dict[str, str | None] = {}
    for item_id in item_ids:
        topic, prompt = own[item_id]
        others = [entry for entry in prompts if entry[1] != prompt]
        far = [entry for entry in others if entry[0] != topic] or others
        drawn = min(far, key=lambda entry: text_digest(str(seed), item_id, *entry), default=None)
        chosen[item_id] = drawn[1] if drawn else None
    return chosen

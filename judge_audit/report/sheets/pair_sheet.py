"""Contact sheets of pairs: intact, damaged and their difference side by side, with what was done and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from judge_audit.core.messages import say
from judge_audit.report.sheets.layout import (
    GAP,
    INK,
    MARGIN,
    PAPER,
    PLAIN,
    SMALL,
    SOFT,
    Bar,
    Block,
    Layout,
    Tile,
    Words,
    cut,
    scaled,
    wrapped,
)
from judge_audit.stimuli.mismatches.kind import Built

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from judge_audit.report.sheets.layout import Colour
    from judge_audit.stimuli.mismatches.kind import Box, Kind, Unsuited

    Pixels = NDArray[np.uint8]

SIDE = 288
"""Pixels of a tile."""

WORDS = 400
"""Pixels of the column of words."""

GAIN = 3
"""The difference is shown this many times as bright."""

LEAD, LINE, FOOT = 26, 19, 20
MARK: Colour = (226, 40, 120)
CHANGED: Colour = (178, 58, 46)
NIGHT: Colour = (16, 18, 22)


@dataclass(frozen=True, slots=True)
class PairShown:
    """A pair on the sheet.

    Attributes:
        item: Name of the intact item.
        source: Its source.
        prompt: Its prompt.
        intact: 8-bit sRGB, shape (height, width, 3).
        made: The damaged member, or why there is none.
    """

    item: str
    source: str
    prompt: str
    intact: Pixels
    made: Built | Unsuited

    @property
    def built(self) -> bool:
        """Whether there is a pair."""
        return isinstance(self.made, Built)

    def as_json(self) -> dict[str, Any]:
        """Give what is known of the pair as plain values."""
        made = self.made
        if not isinstance(made, Built):
            return {"item_id": self.item, "source": self.source, "refused": made.reason}
        return {
            "item_id": self.item,
            "source": self.source,
            "variant": made.variant,
            "told": made.told,
            "prompt": made.prompt,
            "region": made.box,
            "frame": made.frame,
            "difficulty": made.difficulty,
            "hardness": made.hardness,
            "rule": made.rule or None,
            "honest_limits": list(made.honest_limits),
            "constructed": made.constructed,
        }


def draw_pair_sheet(kind: Kind, shown: Sequence[PairShown]) -> Pixels:
    """Draw the contact sheet of a mismatch kind.

    Args:
        kind: The kind.
        shown: The pairs, one under the other; items without one are named at the foot.

    Returns:
        8-bit sRGB, shape (height, width, 3).
    """
    return Layout(
        width=2 * MARGIN + 3 * SIDE + 3 * GAP + WORDS,
        title=say("pair_sheet.title", kind=kind.name),
        head=_head(kind),
        line=LINE,
        blocks=[_block(pair, pair.made) for pair in shown if isinstance(pair.made, Built)],
        foot=[
            say("pair_sheet.refused", item=pair.item, source=pair.source, reason=pair.made.reason)
            for pair in shown
            if not isinstance(pair.made, Built)
        ],
    ).draw()


def difference(intact: Pixels, damaged: Pixels) -> Pixels:
    """Give the absolute difference per channel, `GAIN` times as bright."""
    apart = np.abs(intact.astype(np.int16) - damaged.astype(np.int16)) * GAIN
    return np.asarray(np.minimum(apart, 255), np.uint8)


def _head(kind: Kind) -> list[str]:
    """Say what the kind is and what each dimension must do."""
    dimensions = {
        word: ", ".join(name for name, what in kind.expectations.items() if what == word)
        or say("pair_sheet.nothing")
        for word in ("drops", "hold", "free")
    }
    return [
        say("pair_sheet.damages", description=kind.description, **dimensions),
        say("pair_sheet.constructed", gain=GAIN),
    ]


def _words(pair: PairShown, made: Built) -> list[tuple[str, Colour]]:
    """Give the lines of the column of words, each with its colour."""
    texts: list[tuple[str, Colour]] = [
        (say("pair_sheet.difficulty", difficulty=f"{made.difficulty:.2f}", words=made.hardness), INK),
        (made.told, INK),
    ]
    box = made.box
    if made.frame is not None:
        texts.append((say("pair_sheet.cut", **_sides(made.frame)), SOFT))
    elif made.region is not None and box is not None:
        whole = bool(made.region.all())
        texts.append((say("pair_sheet.whole") if whole else say("pair_sheet.region", **_sides(box)), SOFT))
    texts.append((say("pair_sheet.prompt") + pair.prompt, SOFT))
    if made.prompt is not None:
        texts.append((say("pair_sheet.new_prompt") + made.prompt, CHANGED))
    texts += [(say("pair_sheet.limit", limit=limit), SOFT) for limit in made.honest_limits]
    return [(line, colour) for text, colour in texts for line in wrapped(text, SMALL, WORDS)]


def _sides(box: Box) -> dict[str, int]:
    return dict(zip(("left", "top", "right", "bottom"), box, strict=True))


def _block(pair: PairShown, made: Built) -> Block:
    """Lay out one pair: its name, its tiles with their captions, and what was done to it."""
    name = say("pair_sheet.item", item=pair.item, source=pair.source, variant=made.variant)
    marks: list[Tile | Bar | Words] = [Words(MARGIN, 2, cut(name, PLAIN, 3 * SIDE))]
    height, width = (int(side) for side in pair.intact.shape[:2])
    tall = max(1, round(height * SIDE / max(height, width)))
    for number, (tile, caption) in enumerate(tiles_of(pair.intact, made, SIDE / max(height, width))):
        left = MARGIN + number * (SIDE + GAP)
        marks += [Tile(left, LEAD, tile), Words(left, LEAD + tall + 3, caption, SOFT, SMALL)]
    lines = _words(pair, made)
    left = MARGIN + 3 * (SIDE + GAP)
    marks += [
        Words(left, LEAD + LINE * number, text, colour, SMALL) for number, (text, colour) in enumerate(lines)
    ]
    return Block(LEAD + max(tall + FOOT, LINE * len(lines)) + GAP, marks)


def tiles_of(intact: Pixels, made: Built, factor: float) -> list[tuple[Pixels, str]]:
    """Give intact, damaged and difference as tiles with their captions."""
    shown = scaled(intact, factor)
    if made.pixels is None:
        return [(shown, say("pair_sheet.intact")), (shown, say("pair_sheet.same"))]
    damaged = scaled(made.pixels, factor)
    if made.frame is not None:
        left, top, right, bottom = made.frame
        apart = np.full_like(intact, NIGHT)
        apart[~_inside(intact, made.frame)] = CHANGED
        apart[top:bottom, left:right] = difference(intact[top:bottom, left:right], made.pixels)
        place = np.full_like(shown, PAPER)
        y, x = round(top * factor), round(left * factor)
        part = damaged[: place.shape[0] - y, : place.shape[1] - x]
        place[y : y + part.shape[0], x : x + part.shape[1]] = part
        damaged = place
    else:
        apart = difference(intact, made.pixels)
    tiles = [damaged, scaled(apart, factor)]
    box = made.box
    if box is not None and made.frame is None and made.region is not None and not made.region.all():
        tiles = [_framed(tile, box, factor) for tile in tiles]
    captions = [say(f"pair_sheet.{name}") for name in ("intact", "damaged", "difference")]
    return list(zip([shown, *tiles], captions, strict=True))


def _inside(pixels: Pixels, box: Box) -> NDArray[np.bool_]:
    """Mark the pixels of a rectangle."""
    marked = np.zeros(pixels.shape[:2], np.bool_)
    marked[box[1] : box[3], box[0] : box[2]] = True
    return marked


def _framed(tile: Pixels, box: Box, factor: float) -> Pixels:
    """Draw the region's box just outside it."""
    drawn = np.ascontiguousarray(tile).copy()
    left, top = (max(0, round(side * factor) - 2) for side in box[:2])
    right = min(tile.shape[1] - 1, round(box[2] * factor) + 1)
    bottom = min(tile.shape[0] - 1, round(box[3] * factor) + 1)
    return np.asarray(cv2.rectangle(drawn, (left, top), (right, bottom), MARK, 1), np.uint8)

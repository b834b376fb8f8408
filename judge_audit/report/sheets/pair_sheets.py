"""Contact sheets of pairs: intact, damaged and their difference side by side, with what was done and where."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
from PIL import Image, ImageDraw

from judge_audit.core.messages import say
from judge_audit.report.sheets.sheets import GAP, INK, MARGIN, PAPER, SOFT
from judge_audit.report.sheets.text_drawing import cut, fonts, wrapped
from judge_audit.stimuli.mismatches.kind import Built

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from judge_audit.report.sheets.sheets import Colour
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
    small, plain, strong = fonts()
    width = 2 * MARGIN + 3 * SIDE + 3 * GAP + WORDS
    head = [part for line in _head(kind) for part in wrapped(line, plain, width - 2 * MARGIN)]
    pairs = [(pair, pair.made) for pair in shown if isinstance(pair.made, Built)]
    refused = [
        part
        for pair in shown
        if not isinstance(pair.made, Built)
        for part in wrapped(
            say("pair_sheet.refused", item=pair.item, source=pair.source, reason=pair.made.reason),
            small,
            width - 2 * MARGIN,
        )
    ]
    columns = [_words(pair, made) for pair, made in pairs]
    heights = [
        LEAD + max(_tall(pair) + FOOT, LINE * len(lines)) + GAP
        for (pair, _), lines in zip(pairs, columns, strict=True)
    ]
    top = MARGIN + 34 + LINE * len(head) + 10
    sheet = Image.new("RGB", (width, top + sum(heights) + 16 * len(refused) + MARGIN), PAPER)
    pen = ImageDraw.Draw(sheet)
    pen.text((MARGIN, MARGIN - 6), say("pair_sheet.title", kind=kind.name), INK, strong)
    for number, line in enumerate(head):
        pen.text((MARGIN, MARGIN + 32 + LINE * number), line, SOFT, plain)
    for (pair, made), lines, height in zip(pairs, columns, heights, strict=True):
        _row(sheet, top, pair, made, lines)
        top += height
    for line in refused:
        pen.text((MARGIN, top), line, SOFT, small)
        top += 16
    return np.array(sheet, np.uint8)


def pair_sheet_png(kind: Kind, shown: Sequence[PairShown]) -> bytes:
    """Draw the contact sheet of a mismatch kind as a PNG file."""
    file = BytesIO()
    Image.fromarray(draw_pair_sheet(kind, shown)).save(file, "PNG")
    return file.getvalue()


def pair_sheet_uri(kind: Kind, shown: Sequence[PairShown]) -> str:
    """Draw the contact sheet of a mismatch kind as a data URI for a page."""
    return "data:image/png;base64," + base64.b64encode(pair_sheet_png(kind, shown)).decode("ascii")


def difference(intact: Pixels, damaged: Pixels) -> Pixels:
    """Give the absolute difference per channel, `GAIN` times as bright."""
    apart = np.abs(intact.astype(np.int16) - damaged.astype(np.int16)) * GAIN
    return np.asarray(np.minimum(apart, 255), np.uint8)


def _head(kind: Kind) -> list[str]:
    """Say what the kind is and what each dimension must do."""
    told = {
        word: ", ".join(name for name, what in kind.expectations.items() if what == word)
        or say("pair_sheet.nothing")
        for word in ("drops", "hold", "free")
    }
    return [
        say("pair_sheet.damages", description=kind.description, **told),
        say("pair_sheet.constructed", gain=GAIN),
    ]


def _words(pair: PairShown, made: Built) -> list[tuple[str, Colour]]:
    """Give the lines of the column of words, each with its colour."""
    small = fonts()[0]
    told: list[tuple[str, Colour]] = [
        (say("pair_sheet.difficulty", difficulty=f"{made.difficulty:.2f}", words=made.hardness), INK),
        (made.told, INK),
    ]
    box = made.box
    if made.frame is not None:
        told.append((say("pair_sheet.cut", **_sides(made.frame)), SOFT))
    elif made.region is not None and box is not None:
        whole = bool(made.region.all())
        told.append((say("pair_sheet.whole") if whole else say("pair_sheet.region", **_sides(box)), SOFT))
    told.append((say("pair_sheet.prompt") + pair.prompt, SOFT))
    if made.prompt is not None:
        told.append((say("pair_sheet.new_prompt") + made.prompt, CHANGED))
    told += [(say("pair_sheet.limit", limit=limit), SOFT) for limit in made.honest_limits]
    return [(line, colour) for text, colour in told for line in wrapped(text, small, WORDS)]


def _sides(box: Box) -> dict[str, int]:
    return dict(zip(("left", "top", "right", "bottom"), box, strict=True))


def _row(sheet: Image.Image, top: int, pair: PairShown, made: Built, lines: list[tuple[str, Colour]]) -> None:
    """Put one pair on the sheet."""
    pen = ImageDraw.Draw(sheet)
    small, plain, _ = fonts()
    name = say("pair_sheet.item", item=pair.item, source=pair.source, variant=made.variant)
    pen.text((MARGIN, top + 2), cut(name, plain, 3 * SIDE), INK, plain)
    factor = SIDE / max(pair.intact.shape[:2])
    for number, (tile, caption) in enumerate(tiles_of(pair, made, factor)):
        left = MARGIN + number * (SIDE + GAP)
        sheet.paste(Image.fromarray(tile), (left, top + LEAD))
        pen.text((left, top + LEAD + _tall(pair) + 3), caption, SOFT, small)
    left = MARGIN + 3 * (SIDE + GAP)
    for number, (line, colour) in enumerate(lines):
        pen.text((left, top + LEAD + LINE * number), line, colour, small)


def _tall(pair: PairShown) -> int:
    """Give the height of a pair's tiles."""
    height, width = pair.intact.shape[:2]
    return max(1, round(int(height) * SIDE / max(int(height), int(width))))


def tiles_of(pair: PairShown, made: Built, factor: float) -> list[tuple[Pixels, str]]:
    """Give intact, damaged and difference as tiles with their captions."""
    intact = _scaled(pair.intact, factor)
    if made.pixels is None:
        return [(intact, say("pair_sheet.intact")), (intact, say("pair_sheet.same"))]
    damaged = _scaled(made.pixels, factor)
    if made.frame is not None:
        left, top, right, bottom = made.frame
        apart = np.full_like(pair.intact, NIGHT)
        apart[~_inside(pair.intact, made.frame)] = CHANGED
        apart[top:bottom, left:right] = difference(pair.intact[top:bottom, left:right], made.pixels)
        place = np.full_like(intact, PAPER)
        y, x = round(top * factor), round(left * factor)
        part = damaged[: place.shape[0] - y, : place.shape[1] - x]
        place[y : y + part.shape[0], x : x + part.shape[1]] = part
        damaged = place
    else:
        apart = difference(pair.intact, made.pixels)
    tiles = [damaged, _scaled(apart, factor)]
    box = made.box
    if box is not None and made.frame is None and made.region is not None and not made.region.all():
        tiles = [_framed(tile, box, factor) for tile in tiles]
    captions = [say(f"pair_sheet.{name}") for name in ("intact", "damaged", "difference")]
    return list(zip([intact, *tiles], captions, strict=True))


def _inside(pixels: Pixels, box: Box) -> NDArray[np.bool_]:
    """Mark the pixels of a rectangle."""
    marked = np.zeros(pixels.shape[:2], np.bool_)
    marked[box[1] : box[3], box[0] : box[2]] = True
    return marked


def _scaled(pixels: Pixels, factor: float) -> Pixels:
    """Scale a picture by the factor that lets the intact one fit its tile."""
    size = (max(1, round(pixels.shape[1] * factor)), max(1, round(pixels.shape[0] * factor)))
    how = cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(pixels, size, interpolation=how), np.uint8)


def _framed(tile: Pixels, box: Box, factor: float) -> Pixels:
    """Draw the region's box just outside it."""
    drawn = np.ascontiguousarray(tile).copy()
    left, top = (max(0, round(side * factor) - 2) for side in box[:2])
    right = min(tile.shape[1] - 1, round(box[2] * factor) + 1)
    bottom = min(tile.shape[0] - 1, round(box[3] * factor) + 1)
    return np.asarray(cv2.rectangle(drawn, (left, top), (right, bottom), MARK, 1), np.uint8)

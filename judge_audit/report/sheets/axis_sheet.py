"""Contact sheets: for one axis, originals and all their rungs in one picture, with strengths and zones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np

from judge_audit.core.messages import knows, say
from judge_audit.report.sheets.layout import (
    GAP,
    MARGIN,
    PLAIN,
    SOFT,
    STRONG,
    Bar,
    Block,
    Layout,
    Tile,
    Words,
    cut,
    scaled,
)
from judge_audit.stimuli.axes.image_buffers import Scratch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from judge_audit.report.sheets.layout import Colour
    from judge_audit.stimuli.axes.axis import Axis

    Pixels = NDArray[np.uint8]

TILE = 224
COLUMNS = 7
CAPTION, LEAD = 44, 30
ZONE_COLOURS: dict[str, Colour] = {
    "unseen": (79, 138, 102),
    "unsure": (138, 138, 138),
    "seen": (176, 122, 22),
    "bad": (178, 58, 46),
    "declared": (178, 58, 46),
    "inert": (200, 196, 188),
}


@dataclass(frozen=True, slots=True)
class Ladder:
    """An item whose ladder is shown.

    Attributes:
        item: Its name.
        source: Its source.
        pixels: 8-bit sRGB, shape (height, width, 3).
        mask: True where its subject is, None if it has no mask.
        low: Smaller point at which the change is first noticed; None if nobody can say.
        high: Larger such point.
        objectionable: Strength from which the change is objected to.
        provisional: Whether models stand in for readers.
        region: What a local axis keeps to, as probes name it ("mask", "saliency", "corner"); "" for the whole
            picture.
    """

    item: str
    source: str
    pixels: Pixels
    mask: NDArray[np.bool_] | None = None
    low: float | None = None
    high: float | None = None
    objectionable: float | None = None
    provisional: bool = True
    region: str = ""


def zone_name(ladder: Ladder, strength: float, overdone: float) -> str:
    """Name the zone of a rung on a ladder that is shown."""
    return zone_at(strength, ladder.low, ladder.high, ladder.objectionable, overdone)


def zone_at(
    strength: float, low: float | None, high: float | None, objectionable: float | None, overdone: float
) -> str:
    """Name the zone of a strength: unseen, unsure, seen or bad; "declared" or "" where nobody can say.

    Args:
        strength: The strength.
        low: Smaller point at which the change is first noticed; None if nobody can say.
        high: Larger such point.
        objectionable: Strength from which the change is objected to; None leaves it to the axis.
        overdone: Strength from which the axis counts as overdone when nobody has read it.
    """
    if low is None or high is None:
        return "declared" if strength >= overdone else ""
    if strength < low:
        return "unseen"
    if strength < high:
        return "unsure"
    return "bad" if strength >= (overdone if objectionable is None else objectionable) else "seen"


def is_fine(axis: Axis) -> bool:
    """Whether a change is too fine to be seen on a picture that was scaled down."""
    return axis.visibility in {"blur", "noise", "jpeg"}


def draw_sheet(axis: Axis, ladders: Sequence[Ladder]) -> Pixels:
    """Draw the contact sheet of an axis.

    Fine changes (blur, noise, JPEG and the like) are shown by the middle of each picture, pixel for pixel.

    Args:
        axis: The axis.
        ladders: The items, one under the other; at least one.

    Returns:
        8-bit sRGB, shape (height, width, 3).
    """
    count = 1 + len(axis.strengths)
    across = min(COLUMNS, -(-count // 2) if count > COLUMNS else count)
    scratch = Scratch()
    return Layout(
        width=2 * MARGIN + across * TILE + (across - 1) * GAP,
        title=say("sheet.title", axis=axis.name),
        head=_head(axis, ladders, fine=is_fine(axis)),
        line=20,
        blocks=[_block(axis, ladder, scratch, across) for ladder in ladders],
        below=MARGIN // 2,
    ).draw()


def _head(axis: Axis, ladders: Sequence[Ladder], *, fine: bool) -> list[str]:
    """Say what the sheet shows and where its zones come from."""
    known = [ladder for ladder in ladders if ladder.low is not None]
    origin = "unknown" if not known else "provisional" if known[0].provisional else "read"
    shown = "middle" if fine else "whole"
    parts = {"description": axis.description, "unit": axis.unit, "overdone": f"{axis.overdone:g}"}
    return [say("sheet.unit", **parts), f"{say(f'sheet.{shown}')}  {say(f'sheet.{origin}')}"]


def tile_of(pixels: Pixels, original: tuple[int, ...], side: int, *, fine: bool) -> Pixels:
    """Cut out the middle, or scale the whole by what the original needs to fit.

    Args:
        pixels: 8-bit sRGB, shape (height, width, 3).
        original: Shape of the original.
        side: Longest side of its tile.
        fine: Whether the middle is cut out, pixel for pixel.
    """
    if fine:
        top, left = (max(0, (length - side) // 2) for length in pixels.shape[:2])
        return pixels[top : top + side, left : left + side]
    return scaled(pixels, side / max(original[:2]), cv2.INTER_NEAREST)


def _block(axis: Axis, ladder: Ladder, scratch: Scratch, across: int) -> Block:
    """Lay out one item: its name, and the original and every rung in rows, each with its strength and zone."""
    name = say("sheet.item", item=ladder.item, source=ladder.source)
    if axis.region is not None and ladder.region:
        name += f"  ·  {region_text(ladder.region)}"
    marks: list[Tile | Bar | Words] = [Words(MARGIN, 4, cut(name, PLAIN, across * TILE))]
    tiles = _tiles(axis, ladder, scratch)
    for number, (pixels, strength, zone) in enumerate(tiles):
        x = MARGIN + number % across * (TILE + GAP)
        y = LEAD + number // across * (TILE + CAPTION)
        marks.append(Tile(x, y, pixels))
        if zone in ZONE_COLOURS:
            marks.append(Bar((x, y + TILE + 3, x + TILE - 1, y + TILE + 7), ZONE_COLOURS[zone]))
        marks.append(Words(x, y + TILE + 11, strength, size=STRONG))
        word = say(f"sheet.{zone}") if zone else ""
        marks.append(Words(x + TILE, y + TILE + 13, word, SOFT, anchor="ra"))
    return Block(LEAD + -(-len(tiles) // across) * (TILE + CAPTION), marks)


def _tiles(axis: Axis, ladder: Ladder, scratch: Scratch) -> list[tuple[Pixels, str, str]]:
    """Draw the original and every rung as tiles (copies: a scratch is used again), each with its strength and zone."""
    original, fine = ladder.pixels, is_fine(axis)
    scratch.begin(original, ladder.mask)
    tiles = [(tile_of(original, original.shape, TILE, fine=fine).copy(), say("sheet.original"), "")]
    for strength in axis.strengths:
        changed = axis.draw(original, strength, scratch)
        inert = changed.shape == original.shape and np.array_equal(changed, original)
        zone = "inert" if inert else zone_name(ladder, strength, axis.overdone)
        tiles.append((tile_of(changed, original.shape, TILE, fine=fine).copy(), f"{strength:g}", zone))
    return tiles


def region_text(region: str) -> str:
    """Name the part of a picture that a change keeps to."""
    key = f"sheet.region_{region}"
    return say(key) if knows(key) else region

"""Contact sheets: for one axis, originals and all their rungs in one picture, with strengths and zones."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

import cv2
import numpy as np
from PIL import Image, ImageDraw

from judge_audit.core.messages import knows, say
from judge_audit.report.sheets.text_drawing import cut, fonts, wrapped
from judge_audit.stimuli.axes.image_buffers import Scratch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from judge_audit.stimuli.axes.axis import Axis

    Pixels = NDArray[np.uint8]
    Colour = tuple[int, int, int]

TILE = 224
COLUMNS = 7
GAP, MARGIN, CAPTION, LEAD = 10, 24, 44, 30

PAPER: Colour = (251, 250, 247)
INK: Colour = (29, 33, 39)
SOFT: Colour = (89, 97, 108)
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
    down = -(-count // across)
    fine = is_fine(axis)
    lines = _head(axis, ladders, fine=fine)
    width = 2 * MARGIN + across * TILE + (across - 1) * GAP
    letters = fonts()
    parts = [part for line in lines for part in wrapped(line, letters[1], width - 2 * MARGIN)]
    top = MARGIN + 34 + 20 * len(parts) + 10
    each = LEAD + down * (TILE + CAPTION)
    sheet = Image.new("RGB", (width, top + each * len(ladders) + MARGIN // 2), PAPER)
    pen = ImageDraw.Draw(sheet)
    pen.text((MARGIN, MARGIN - 6), say("sheet.title", axis=axis.name), INK, letters[2])
    for number, line in enumerate(parts):
        pen.text((MARGIN, MARGIN + 32 + 20 * number), line, SOFT, letters[1])
    scratch = Scratch()
    for number, ladder in enumerate(ladders):
        scratch.begin(ladder.pixels, ladder.mask)
        place = (MARGIN, top + each * number)
        _block(sheet, place, axis, ladder, _tiles(axis, ladder, scratch, fine=fine), across)
    return np.array(sheet, np.uint8)


def sheet_png(axis: Axis, ladders: Sequence[Ladder]) -> bytes:
    """Draw the contact sheet of an axis as a PNG file."""
    file = BytesIO()
    Image.fromarray(draw_sheet(axis, ladders)).save(file, "PNG")
    return file.getvalue()


def sheet_uri(axis: Axis, ladders: Sequence[Ladder]) -> str:
    """Draw the contact sheet of an axis as a data URI for a page."""
    return "data:image/png;base64," + base64.b64encode(sheet_png(axis, ladders)).decode("ascii")


def _head(axis: Axis, ladders: Sequence[Ladder], *, fine: bool) -> list[str]:
    """Say what the sheet shows and where its zones come from."""
    known = [ladder for ladder in ladders if ladder.low is not None]
    origin = "unknown" if not known else "provisional" if known[0].provisional else "read"
    shown = "middle" if fine else "whole"
    parts = {"description": axis.description, "unit": axis.unit, "overdone": f"{axis.overdone:g}"}
    return [say("sheet.unit", **parts), f"{say(f'sheet.{shown}')}  {say(f'sheet.{origin}')}"]


def _tiles(axis: Axis, ladder: Ladder, scratch: Scratch, *, fine: bool) -> list[tuple[Pixels, str, str]]:
    """Draw the original and every rung as tiles, each with its strength and the name of its zone."""
    original = ladder.pixels
    tiles = [(tile_of(original, original.shape, TILE, fine=fine), say("sheet.original"), "")]
    for strength in axis.strengths:
        changed = axis.draw(original, strength, scratch)
        inert = changed.shape == original.shape and np.array_equal(changed, original)
        zone = "inert" if inert else zone_name(ladder, strength, axis.overdone)
        tiles.append((tile_of(changed, original.shape, TILE, fine=fine), f"{strength:g}", zone))
    return tiles


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
    factor = side / max(original[:2])
    if factor == 1:
        return pixels
    size = (max(1, round(pixels.shape[1] * factor)), max(1, round(pixels.shape[0] * factor)))
    how = cv2.INTER_AREA if factor < 1 else cv2.INTER_NEAREST
    return np.asarray(cv2.resize(pixels, size, interpolation=how), np.uint8)


def _block(
    sheet: Image.Image,
    place: tuple[int, int],
    axis: Axis,
    ladder: Ladder,
    tiles: Sequence[tuple[Pixels, str, str]],
    across: int,
) -> None:
    """Put one item on the sheet: its name, and its tiles in rows."""
    pen = ImageDraw.Draw(sheet)
    _, plain, strong = fonts()
    left, top = place
    name = say("sheet.item", item=ladder.item, source=ladder.source)
    if axis.region is not None and ladder.region:
        key = f"sheet.region_{ladder.region}"
        name += f"  ·  {say(key) if knows(key) else ladder.region}"
    pen.text((left, top + 4), cut(name, plain, across * TILE), INK, plain)
    for number, (pixels, strength, zone) in enumerate(tiles):
        x = left + number % across * (TILE + GAP)
        y = top + LEAD + number // across * (TILE + CAPTION)
        sheet.paste(Image.fromarray(np.ascontiguousarray(pixels)), (x, y))
        colour = ZONE_COLOURS.get(zone)
        if colour:
            pen.rectangle((x, y + TILE + 3, x + TILE - 1, y + TILE + 7), colour)
        pen.text((x, y + TILE + 11), strength, INK, strong)
        word = say(f"sheet.{zone}") if zone else ""
        pen.text((x + TILE, y + TILE + 13), word, SOFT, plain, anchor="ra")

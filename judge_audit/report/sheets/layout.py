"""The layout of a contact sheet: a title, lines under it, blocks of tiles with their words, and lines at the foot."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]
    Colour = tuple[int, int, int]
    Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

GAP, MARGIN = 10, 24
SMALL_LINE = 16
"""Height of a line at the foot."""

PAPER: Colour = (251, 250, 247)
INK: Colour = (29, 33, 39)
SOFT: Colour = (89, 97, 108)
SMALL, PLAIN, STRONG = 12, 15, 19
"""Sizes of the letters."""


@dataclass(frozen=True, slots=True)
class Tile:
    """A picture on a sheet, at a place of its block."""

    x: int
    y: int
    pixels: Pixels

    def draw(self, sheet: Image.Image, top: int) -> None:
        """Put it on a sheet."""
        sheet.paste(Image.fromarray(np.ascontiguousarray(self.pixels)), (self.x, top + self.y))


@dataclass(frozen=True, slots=True)
class Bar:
    """A coloured bar: its left, upper, right and lower side in its block."""

    box: tuple[int, int, int, int]
    colour: Colour

    def draw(self, sheet: Image.Image, top: int) -> None:
        """Put it on a sheet."""
        left, upper, right, lower = self.box
        ImageDraw.Draw(sheet).rectangle((left, top + upper, right, top + lower), self.colour)


@dataclass(frozen=True, slots=True)
class Words:
    """A line of text, at a place of its block; `anchor` as Pillow names it."""

    x: int
    y: int
    text: str
    colour: Colour = INK
    size: int = PLAIN
    anchor: str | None = None

    def draw(self, sheet: Image.Image, top: int) -> None:
        """Put it on a sheet."""
        place = (self.x, top + self.y)
        ImageDraw.Draw(sheet).text(place, self.text, self.colour, font(self.size), anchor=self.anchor)


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a sheet: its height, and what is drawn on it, in this order."""

    height: int
    marks: Sequence[Tile | Bar | Words]


@dataclass(frozen=True, slots=True)
class Layout:
    """A sheet.

    Attributes:
        width: Its width in pixels.
        title: Its title.
        head: Texts under the title, broken into lines that fit.
        line: Height of such a line.
        blocks: The blocks, from above.
        foot: Texts at the foot.
        below: Pixels left free at the foot.
    """

    width: int
    title: str
    head: Sequence[str]
    line: int
    blocks: Sequence[Block]
    foot: Sequence[str] = field(default=())
    below: int = MARGIN

    def draw(self) -> Pixels:
        """Draw the sheet.

        Returns:
            8-bit sRGB, shape (height, width, 3).
        """
        room = self.width - 2 * MARGIN
        head = [part for text in self.head for part in wrapped(text, PLAIN, room)]
        foot = [part for text in self.foot for part in wrapped(text, SMALL, room)]
        top = MARGIN + 34 + self.line * len(head) + 10
        tall = sum(block.height for block in self.blocks) + SMALL_LINE * len(foot)
        sheet = Image.new("RGB", (self.width, top + tall + self.below), PAPER)
        Words(MARGIN, MARGIN - 6, self.title, size=STRONG).draw(sheet, 0)
        for number, part in enumerate(head):
            Words(MARGIN, MARGIN + 32 + self.line * number, part, SOFT).draw(sheet, 0)
        for block in self.blocks:
            for mark in block.marks:
                mark.draw(sheet, top)
            top += block.height
        for part in foot:
            Words(MARGIN, top, part, SOFT, SMALL).draw(sheet, 0)
            top += SMALL_LINE
        return np.array(sheet, np.uint8)


def png_of(sheet: Pixels) -> bytes:
    """Store a sheet as a PNG file."""
    file = BytesIO()
    Image.fromarray(sheet).save(file, "PNG")
    return file.getvalue()


def scaled(pixels: Pixels, factor: float, larger: int = cv2.INTER_LINEAR) -> Pixels:
    """Scale a picture, 8-bit sRGB; `larger` is OpenCV's way to make one larger."""
    size = (max(1, round(pixels.shape[1] * factor)), max(1, round(pixels.shape[0] * factor)))
    return np.asarray(
        cv2.resize(pixels, size, interpolation=cv2.INTER_AREA if factor < 1 else larger), np.uint8
    )


@cache
def font(size: int) -> Font:
    """Give a font, which comes with Pillow."""
    return ImageFont.load_default(size)


def wrapped(text: str, size: int, width: int) -> list[str]:
    """Break a text into lines that fit."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if font(size).getlength(longer) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def cut(text: str, size: int, width: int) -> str:
    """Shorten a text until it fits."""
    while len(text) > 1 and font(size).getlength(text) > width:
        text = text[:-2] + "…"
    return text

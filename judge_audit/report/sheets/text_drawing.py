"""Letters on drawn sheets: fonts, and texts that are broken or cut to fit."""

from __future__ import annotations

from PIL import ImageFont

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def fonts() -> tuple[Font, Font, Font]:
    """Give the small, the plain and the strong font, which come with Pillow."""
    return ImageFont.load_default(12), ImageFont.load_default(15), ImageFont.load_default(19)


def wrapped(text: str, font: Font, width: int) -> list[str]:
    """Break a text into lines that fit."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if font.getlength(longer) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def cut(text: str, font: Font, width: int) -> str:
    """Shorten a text until it fits."""
    while len(text) > 1 and font.getlength(text) > width:
        text = text[:-2] + "…"
    return text

"""A folder as it comes from the wild: every good picture read, every bad one named, nothing lost."""

from __future__ import annotations

import csv
import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from judge_audit.core.errors import InputError
from judge_audit.inputs.items import read_items
from judge_audit.stimuli.images import load_image

GRID = np.random.default_rng(3).integers(0, 256, (24, 32, 3)).astype(np.uint8)


def _encoded(image, kind="PNG", **options):
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def _bomb(side):
    """A PNG of a few hundred bytes that claims side × side pixels."""

    def chunk(name, content):
        return (
            struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        )

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")


def _turned():
    image = Image.fromarray(GRID)
    exif = image.getexif()
    exif[0x0112] = 6
    return _encoded(image, "JPEG", quality=95, subsampling=0, exif=exif)


GOOD = {
    "plain.png": _encoded(Image.fromarray(GRID)),
    'quotes "and" \n newlines.png': _encoded(Image.fromarray(GRID)),
    "cmyk.jpg": _encoded(Image.fromarray(GRID).convert("CMYK"), "JPEG", quality=95),
    "grey16.png": _encoded(Image.fromarray((np.arange(24 * 32).reshape(24, 32) * 80).astype(np.uint16))),
    "palette.png": _encoded(Image.fromarray(GRID).quantize(16), transparency=3),
    "turned.jpg": _turned(),
    "moving.gif": _encoded(
        Image.fromarray(GRID), "GIF", save_all=True, append_images=[Image.fromarray(255 - GRID)]
    ),
}
BAD = {
    "cut.png": _encoded(Image.fromarray(GRID))[:400],
    "zero.png": b"",
    "bomb.png": _bomb(30_000),
    "text.png": b"this is no picture at all",
}


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "pictures"
    inside.mkdir()
    for name, content in {**GOOD, **BAD}.items():
        (inside / name).write_bytes(content)
    (tmp_path / "secret.png").write_bytes(GOOD["plain.png"])
    (inside / "link.png").symlink_to(tmp_path / "secret.png")
    with (inside / "items.csv").open("w", newline="", encoding="utf-8") as stream:
        rows = [[f"i{at:02}", "s", "p", name] for at, name in enumerate([*GOOD, *BAD, "link.png"])]
        csv.writer(stream).writerows([["item_id", "source", "prompt", "image"], *rows])
    return inside


def test_every_good_picture_is_read_and_every_bad_one_named(folder):
    told = read_items(folder / "items.csv", skip_bad=True)
    rows = told.items.to_pylist()
    assert [row["uri"].rpartition("/")[2] for row in rows] == list(GOOD)
    assert [fault.row for fault in told.refusals] == [at + 1 for at in range(len(GOOD), len(GOOD) + 5)]
    said = " ".join(fault.message for fault in told.refusals)
    for words in ("cut.png", "zero.png", "bomb.png", "text.png", "link.png", "must stay in the folder"):
        assert words in said
    with pytest.raises(InputError) as caught:
        read_items(folder / "items.csv")
    assert len(caught.value.faults) == 5


def test_what_is_read_has_the_pixels_an_independent_reader_gives(folder):
    pixels = {
        row["item_id"]: load_image(row["uri"]).pixels
        for row in read_items(folder / "items.csv", skip_bad=True).items.to_pylist()
    }
    names = dict(zip(GOOD, sorted(pixels), strict=True))
    assert np.array_equal(pixels[names["plain.png"]], GRID)
    turned = np.array(Image.open(io.BytesIO(GOOD["turned.jpg"])).convert("RGB"))
    assert np.abs(pixels[names["turned.jpg"]].astype(int) - np.rot90(turned, -1)).max() <= 1
    grey = (np.arange(24 * 32).reshape(24, 32) * 80) / 257
    assert np.abs(pixels[names["grey16.png"]][..., 0] - grey).max() <= 1
    first = Image.open(io.BytesIO(GOOD["moving.gif"])).convert("RGB")
    assert np.array_equal(pixels[names["moving.gif"]], np.array(first))
    palette = Image.open(io.BytesIO(GOOD["palette.png"]))
    opaque = np.array(palette) != 3
    assert np.array_equal(pixels[names["palette.png"]][opaque], np.array(palette.convert("RGB"))[opaque])

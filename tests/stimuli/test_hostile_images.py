"""Pictures from the wild: each good one normalised as an independent reader says, each bad one refused in words."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image, ImageCms

from judge_audit.stimuli.images import ImageError, ImageLimits, decode_image, load_image

RNG = np.random.default_rng(7)
COLOUR = RNG.integers(0, 256, (24, 32, 3)).astype(np.uint8)


def encoded(image, kind="PNG", **options):
    held = io.BytesIO()
    image.save(held, kind, **options)
    return held.getvalue()


def png_claiming(width, height):
    def chunk(name, content):
        return (
            struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        )

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")


def test_a_plain_picture_is_read_value_for_value():
    loaded = decode_image(encoded(Image.fromarray(COLOUR)))
    assert np.array_equal(loaded.pixels, COLOUR)
    assert loaded.notes == ""
    assert not loaded.pixels.flags.writeable


def test_exif_orientation_is_applied():
    exif = Image.Exif()
    exif[0x0112] = 6
    loaded = decode_image(encoded(Image.fromarray(COLOUR), exif=exif))
    assert np.array_equal(loaded.pixels, np.rot90(COLOUR, -1))
    assert "EXIF" in loaded.notes


def test_sixteen_bit_grey_is_scaled_and_not_cut_to_white():
    grey = np.linspace(0, 65535, 24 * 32).reshape(24, 32).astype(np.uint16)
    loaded = decode_image(encoded(Image.fromarray(grey)))
    assert np.array_equal(loaded.pixels[..., 0], np.rint(grey / 65535 * 255).astype(np.uint8))


def test_transparency_lies_over_middle_grey():
    alpha = np.dstack([COLOUR, np.full((24, 32), 51, np.uint8)])
    loaded = decode_image(encoded(Image.fromarray(alpha)))
    assert np.array_equal(loaded.pixels, np.rint(COLOUR * 0.2 + 128 * 0.8).astype(np.uint8))
    assert "transparency" in loaded.notes


def test_a_palette_with_a_transparent_colour_shows_grey_there():
    image = Image.fromarray(RNG.integers(0, 2, (24, 32)).astype(np.uint8), "P")
    image.putpalette([255, 0, 0, 0, 255, 0])
    loaded = decode_image(encoded(image, transparency=0))
    clear = np.asarray(image) == 0
    assert (loaded.pixels[clear] == 128).all()
    assert (loaded.pixels[~clear] == [0, 255, 0]).all()


def test_the_first_frame_of_an_animation_is_used_and_said():
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("red", "blue", "green")]
    loaded = decode_image(encoded(frames[0], "GIF", save_all=True, append_images=frames[1:]))
    assert (loaded.pixels == [255, 0, 0]).all()
    assert loaded.frames == 3
    assert "first of 3 frames" in loaded.notes


def test_an_embedded_profile_is_converted_as_the_colour_engine_says():
    lab = ImageCms.createProfile("LAB")
    srgb = ImageCms.createProfile("sRGB")
    plain = decode_image(
        encoded(Image.fromarray(COLOUR), icc_profile=ImageCms.ImageCmsProfile(srgb).tobytes())
    )
    assert np.array_equal(plain.pixels, COLOUR)
    broken = decode_image(
        encoded(Image.fromarray(COLOUR), icc_profile=ImageCms.ImageCmsProfile(lab).tobytes())
    )
    assert np.array_equal(broken.pixels, COLOUR)
    assert "profile" in broken.notes


def test_cmyk_becomes_three_channels_and_says_so():
    loaded = decode_image(encoded(Image.fromarray(COLOUR).convert("CMYK"), "JPEG", quality=100))
    assert loaded.pixels.shape == COLOUR.shape
    assert "CMYK" in loaded.notes


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not a picture"),
        (b"this is text", "not a picture"),
        (encoded(Image.fromarray(COLOUR))[:300], "damaged or cut off"),
        (png_claiming(30_000, 30_000), "far too many pixels"),
        (png_claiming(9_000, 9_000), "9000 × 9000"),
        (encoded(Image.fromarray(COLOUR[:4, :4])), "at least 16"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 20 20\n", "not a picture"),
    ],
    ids=["empty", "text", "truncated", "bomb", "large", "tiny", "postscript"],
)
def test_what_is_no_whole_picture_is_refused_in_words(content, words):
    with pytest.raises(ImageError, match=words):
        decode_image(content)


def test_a_zero_byte_file_a_missing_one_and_a_huge_one_are_told_apart(tmp_path):
    (tmp_path / "zero.png").touch()
    (tmp_path / "huge.png").write_bytes(b"x" * 2000)
    for name, words in (("zero.png", "empty"), ("none.png", "no such file"), ("huge.png", "larger than")):
        with pytest.raises(ImageError, match=words):
            load_image(str(tmp_path / name), ImageLimits(max_bytes=1000))

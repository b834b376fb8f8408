"""Preprocessing against Pillow and NumPy, put together here from their own documentation."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from judge_audit.judges.runtimes.preprocessing import Preprocessing, preprocessing_of

MEAN, STD = [0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]
SIZES = [(40, 40), (37, 90), (90, 37), (224, 300), (31, 33), (500, 224)]
FILTERS = {"bicubic": Image.BICUBIC, "bilinear": Image.BILINEAR, "lanczos": Image.LANCZOS}


def noise(height, width, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def prepared(pixels, **content):
    found, faults = preprocessing_of(content)
    assert not faults
    assert not found.problem(*pixels.shape[:2])
    return found.prepare(pixels)


def standardised(pixels):
    return ((np.asarray(pixels, np.float64) / 255 - MEAN) / STD).transpose(2, 0, 1)


@pytest.mark.parametrize("interpolation", FILTERS)
@pytest.mark.parametrize(("height", "width"), SIZES)
def test_short_side_and_crop_are_pillows_antialiased_resize_and_the_middle(height, width, interpolation):
    pixels = noise(height, width)
    found = prepared(
        pixels,
        resize="short_side",
        size=32,
        crop="centre",
        interpolation=interpolation,
        mean=MEAN,
        std=STD,
        scale="1/255",
    )
    image = Image.fromarray(pixels)
    rows, columns = (32, int(32 * width / height)) if height <= width else (int(32 * height / width), 32)
    shown = image.resize((columns, rows), FILTERS[interpolation])
    top, left = round((rows - 32) / 2), round((columns - 32) / 2)
    wanted = standardised(shown.crop((left, top, left + 32, top + 32)))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("height", "width"), SIZES)
def test_squash_is_pillows_resize_to_both_sides(height, width):
    pixels = noise(height, width)
    found = prepared(pixels, resize="squash", size=[24, 48], interpolation="bilinear", mean=MEAN, std=STD)
    wanted = standardised(Image.fromarray(pixels).resize((48, 24), Image.BILINEAR))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("height", "width"), SIZES)
def test_pad_keeps_the_shape_and_fills_up_around_the_middle(height, width):
    pixels = noise(height, width)
    found = prepared(pixels, resize="pad", size=48, pad_value=[1, 2, 3], scale=1, layout="NHWC")
    scale = 48 / max(height, width)
    rows, columns = round(height * scale), round(width * scale)
    wanted = Image.new("RGB", (48, 48), (1, 2, 3))
    wanted.paste(
        Image.fromarray(pixels).resize((columns, rows), Image.BICUBIC),
        ((48 - columns) // 2, (48 - rows) // 2),
    )
    np.testing.assert_array_equal(found, np.asarray(wanted))


@pytest.mark.parametrize("size", [[7, 900], [900, 7], [64, 64]])
@pytest.mark.parametrize(("height", "width"), [*SIZES, (1, 3000), (3000, 1), (331, 997)])
def test_pad_touches_one_side_and_never_outgrows_the_frame(height, width, size):
    found, _ = preprocessing_of({"resize": "pad", "size": size})
    rows, columns = found.resized(height, width)
    assert 1 <= rows <= size[0]
    assert 1 <= columns <= size[1]
    assert rows == size[0] or columns == size[1]


def test_the_default_is_bicubic_and_one_over_255_in_float32_by_channels():
    pixels = noise(20, 30)
    found = prepared(pixels, resize="squash", size=10)
    spelt = prepared(
        pixels,
        resize="squash",
        size=10,
        crop="none",
        interpolation="bicubic",
        scale="1/255",
        mean=[0, 0, 0],
        std=[1, 1, 1],
        layout="NCHW",
        channels="RGB",
        dtype="float32",
        backend="pillow",
    )
    np.testing.assert_array_equal(found, spelt)
    assert (found.shape, found.dtype) == ((3, 10, 10), np.float32)
    assert found.max() <= 1


def test_a_picture_of_the_right_size_is_not_touched():
    pixels = noise(16, 16)
    found = prepared(pixels, resize="squash", size=16, dtype="uint8", layout="NHWC", interpolation="lanczos")
    np.testing.assert_array_equal(found, pixels)


def test_mean_and_std_go_by_the_channels_in_the_models_order():
    pixels = np.full((2, 2, 3), (10, 20, 30), np.uint8)
    found = prepared(pixels, resize="none", scale=1, channels="BGR", mean=[1, 2, 3], std=[1, 2, 7])
    assert found[:, 0, 0].tolist() == [29, 9, 1]


def test_half_precision_is_rounded_once():
    values = np.arange(192, dtype=np.uint8).reshape(8, 8, 3)
    found = prepared(values, resize="none", mean=MEAN, std=STD, dtype="float16")
    assert found.dtype == np.float16
    np.testing.assert_array_equal(found, standardised(values).astype(np.float16))


def test_a_crop_of_its_own_size_is_cut_from_the_resized_picture():
    found, faults = preprocessing_of(
        {"resize": "short_side", "size": 256, "crop": "centre", "crop_size": 224}
    )
    assert (found.shape, faults) == ((224, 224), {})


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ({"resize": "none", "size": 8}, "size"),
        ({"resize": "squash"}, "size"),
        ({"resize": "short_side", "size": [8, 9]}, "size"),
        ({"resize": "squash", "size": 8, "pad_value": [0, 0, 0]}, "pad_value"),
        ({"resize": "squash", "size": 8, "crop_size": 4}, "crop_size"),
        ({"resize": "none", "crop": "centre"}, "crop_size"),
        ({"resize": "squash", "size": 8, "crop": "centre", "crop_size": 9}, "crop_size"),
        ({"resize": "squash", "size": 8, "dtype": "uint8", "mean": MEAN}, "mean"),
        ({"resize": "squash", "size": 8, "std": [1, 1, 1e-320]}, "std"),
        ({"resize": "squash", "size": 8, "scale": 1e4, "dtype": "float16"}, "std"),
    ],
)
def test_fields_that_do_not_go_together_are_named(content, field):
    assert list(preprocessing_of(content)[1]) == [field]


def test_a_strip_that_would_grow_without_bounds_is_not_shown():
    found, _ = preprocessing_of({"resize": "short_side", "size": 224, "crop": "centre"})
    assert "30000" in found.problem(1, 30_000)
    assert not found.problem(1000, 1500)


def test_the_identity_tells_backend_and_dtype():
    told = Preprocessing("squash", 8, 8).identity()
    assert (told["backend"], told["dtype"]) == ("pillow", "float32")

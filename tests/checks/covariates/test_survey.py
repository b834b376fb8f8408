"""Covariates of untouched pictures: known pictures, and what is put together per item."""

from __future__ import annotations

import math
from importlib.resources import files

import cv2
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from judge_audit.judges.instruments.covariates import (
    COVARIATE_INSTRUMENT,
    COVARIATES,
    MEASURED,
    VERSION,
    background_blur,
    covariate_table,
    measure_covariates,
    saliency,
    text_area,
)
from judge_audit.judges.instruments.surface import Instrument
from judge_audit.judges.protocol import Stimulus
from judge_audit.stimuli.images import load_image


def photos():
    folder = files("judge_audit.demo") / "photos"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".jpg"))
    return [load_image(str(folder / name)).pixels for name in names]


def written_on(pixels, size):
    """Print two lines on a picture."""
    image = Image.fromarray(pixels.copy())
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(size)
    look = {"font": font, "fill": "white", "stroke_width": 2, "stroke_fill": "black"}
    pen.text((20, 20), "SUMMER SALE 50% off", **look)
    pen.text((20, 20 + 2 * size), "Only this weekend in store", **look)
    return np.asarray(image)


def luma(pixels):
    return np.ascontiguousarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2YCrCb)[..., 0])


def test_a_page_of_print_is_text_and_an_empty_page_is_not():
    page = np.full((400, 600, 3), 250, np.uint8)
    assert text_area(luma(page)) == 0.0
    image = Image.fromarray(page)
    for line in range(6):
        pen = ImageDraw.Draw(image)
        pen.text(
            (30, 30 + 55 * line), "The quick brown fox jumps", fill="black", font=ImageFont.load_default(32)
        )
    boxes = 6 * 400 * 30 / (400 * 600)
    assert text_area(luma(np.asarray(image))) == pytest.approx(boxes, rel=0.4)


@pytest.mark.parametrize("size", [14, 28, 60])
def test_print_on_a_photograph_is_seen_and_the_larger_the_more(size):
    for pixels in photos():
        plain, lettered = (
            measure_covariates(pixels)["text_area"],
            measure_covariates(written_on(pixels, size))["text_area"],
        )
        share = 2 * size * 10 * size / (pixels.shape[0] * pixels.shape[1])
        assert lettered >= plain
        if size >= 28 and share < 0.5:
            assert lettered > plain
    gains = [
        measure_covariates(written_on(pixels, 28))["text_area"] - measure_covariates(pixels)["text_area"]
        for pixels in photos()
    ]
    assert np.median(gains) > 0.03


def test_photographs_without_print_show_hardly_any():
    assert np.median([measure_covariates(pixels)["text_area"] for pixels in photos()]) < 0.002
    assert max(measure_covariates(pixels)["text_area"] for pixels in photos()) < 0.08


def test_noise_and_stripes_are_not_taken_for_text():
    rng = np.random.default_rng(0)
    assert text_area(rng.integers(0, 256, (300, 400), np.uint8)) < 0.02
    stripes = np.tile(np.repeat(np.array([20, 230], np.uint8), 8), 30)[None].repeat(300, 0)
    assert text_area(np.ascontiguousarray(stripes)) == 0.0


def test_blurring_what_does_not_stand_out_raises_background_blur():
    for pixels in photos():
        plain = luma(pixels)
        salient = saliency(plain)
        inside = salient > np.quantile(salient, 0.75)
        blurred = np.where(inside, plain, cv2.GaussianBlur(plain, (0, 0), 4))
        assert background_blur(blurred) > background_blur(plain) + 0.5


def test_a_sharp_object_on_a_plain_ground_is_salient():
    picture = np.full((240, 320), 120, np.uint8)
    picture[90:150, 130:190] = np.random.default_rng(1).integers(0, 256, (60, 60))
    salient = saliency(picture)
    assert salient[90:150, 130:190].mean() > 5 * salient[:60].mean()
    assert background_blur(picture) > 3


@pytest.mark.parametrize("shape", [(3, 3), (3, 900), (900, 3), (64, 64)])
def test_tiny_flat_and_narrow_pictures_are_measured(shape):
    flat = measure_covariates(np.full((*shape, 3), 128, np.uint8))
    assert flat == {"background_blur": 0.0, "text_area": 0.0}
    noise = measure_covariates(np.random.default_rng(0).integers(0, 256, (*shape, 3), np.uint8))
    assert all(math.isfinite(value) for value in noise.values())


def test_the_instrument_of_covariates_answers_every_picture_and_changes_none():
    pixels = photos()[:2]
    before = [picture.copy() for picture in pixels]
    replies = COVARIATE_INSTRUMENT.score([Stimulus(picture, "") for picture in pixels])
    assert [tuple(reply.scores) for reply in replies] == [MEASURED, MEASURED]
    assert all((one == other).all() for one, other in zip(pixels, before, strict=True))
    again = Instrument("surveyor", VERSION, MEASURED, measure_covariates)
    assert COVARIATE_INSTRUMENT.card.judge_id == again.card.judge_id


def test_what_the_items_table_knows_stands_beside_what_was_measured():
    items = [
        {"item_id": "b", "width": 200, "height": 100, "face_count": 2, "file_bytes": 1000},
        {"item_id": "a", "width": 1000, "height": 1000, "face_count": None, "file_bytes": None},
    ]
    readings = [
        {"item_id": "b", "dimension": "luma", "value": 7.0},
        {"item_id": "b", "dimension": "noise", "value": 9.0},
        {"item_id": "stranger", "dimension": "luma", "value": 1.0},
    ]
    table = covariate_table(items, readings)
    assert table.column_names == ["item_id", *COVARIATES]
    first, second = table.to_pylist()
    assert (first["item_id"], first["luma"], first["face_count"], first["megapixels"]) == (
        "a",
        None,
        None,
        0.0,
    )
    assert second["luma"] == 7.0
    assert (second["face_count"], second["aspect_ratio"], second["file_bytes"]) == (2.0, 1.0, 3.0)
    assert second["megapixels"] == pytest.approx(math.log10(0.02))

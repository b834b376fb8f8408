"""Axes that keep to a region: inside it the stated formula, outside it not one level moves."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from judge_audit.core.digests import pixel_digest
from judge_audit.demo.corpus import cut_crops
from judge_audit.stimuli.axes import builtin_axes
from judge_audit.stimuli.axes.image_buffers import Scratch
from judge_audit.stimuli.axes.regions import SALIENT_SHARE, corner, salient, subject
from judge_audit.stimuli.axes.watermark import overlay

AXES = builtin_axes()
BLUR, WATERMARK = AXES["background_blur"], AXES["watermark"]
PHOTOS = [crop.pixels for crop in cut_crops(9, 160, 1)]
WIDE = np.ascontiguousarray(PHOTOS[0][40:120])


def disc(pixels):
    height, width = pixels.shape[:2]
    down, across = np.mgrid[:height, :width]
    return (down - height / 2) ** 2 + (across - width / 2) ** 2 < (min(height, width) / 4) ** 2


def with_mask(pixels, mask):
    scratch = Scratch()
    scratch.begin(pixels, mask)
    return scratch


@pytest.mark.parametrize("strength", BLUR.strengths)
def test_the_subject_stays_as_it_is_and_the_background_is_the_blurred_picture_s(strength):
    for pixels in [*PHOTOS[:3], WIDE]:
        mask = disc(pixels)
        changed = BLUR.draw(pixels, strength, with_mask(pixels, mask))
        assert np.array_equal(changed[mask], pixels[mask])
        sigma = strength / 100 * min(pixels.shape[:2])
        wanted = gaussian_filter(pixels.astype(float), (sigma, sigma, 0), mode="reflect", truncate=6)
        assert np.abs(changed[~mask] - wanted[~mask]).max() <= 2.6
        assert np.array_equal(changed[~mask], Scratch().blurred(pixels, sigma)[~mask])


def test_without_a_mask_the_salient_region_stays_as_it_is():
    for pixels in PHOTOS:
        kept = salient(pixels)
        changed = BLUR.draw(pixels, 2.0, Scratch())
        assert np.array_equal(changed[kept], pixels[kept])
        assert (changed[~kept] != pixels[~kept]).any()


def test_a_mask_is_forgotten_with_its_picture():
    scratch = with_mask(PHOTOS[0], disc(PHOTOS[0]))
    BLUR.draw(PHOTOS[0], 1.0, scratch)
    assert np.array_equal(BLUR.draw(PHOTOS[1], 1.0, scratch), BLUR.draw(PHOTOS[1], 1.0, Scratch()))
    assert np.array_equal(subject(PHOTOS[1], scratch), salient(PHOTOS[1]))


def test_another_axis_drawn_first_does_not_lose_the_mask():
    mask = disc(PHOTOS[0])
    scratch = with_mask(PHOTOS[0], mask)
    AXES["blur"].draw(PHOTOS[0], 1.0, scratch)
    AXES["noise"].draw(PHOTOS[0], 1.39, scratch)
    assert np.array_equal(subject(PHOTOS[0], scratch), mask)


def test_a_mask_that_covers_everything_makes_every_rung_inert():
    whole = np.ones(PHOTOS[0].shape[:2], np.bool_)
    for strength in BLUR.strengths:
        assert np.array_equal(BLUR.draw(PHOTOS[0], strength, with_mask(PHOTOS[0], whole)), PHOTOS[0])


def test_the_salient_region_is_a_third_of_the_picture_and_lies_on_the_odd_one_out():
    for pixels in PHOTOS:
        assert salient(pixels).mean() == pytest.approx(SALIENT_SHARE, abs=0.05)
    rng = np.random.default_rng(5)
    field = np.clip(128 + 6 * rng.standard_normal((160, 240)), 0, 255)
    field[50:90, 150:190] = 240
    kept = salient(np.repeat(field[..., None], 3, axis=2).astype(np.uint8))
    assert kept[50:90, 150:190].mean() > 0.9
    assert kept[:, :80].mean() < 0.1


def test_a_picture_of_one_colour_is_salient_everywhere():
    assert salient(np.full((40, 60, 3), 77, np.uint8)).all()


@pytest.mark.parametrize("strength", WATERMARK.strengths)
def test_a_watermark_is_the_text_laid_over_the_corner_at_its_opacity(strength):
    for pixels in [*PHOTOS[:3], WIDE]:
        rows, columns = corner(pixels.shape)
        cover, white = overlay(rows.stop - rows.start, columns.stop - columns.start).astype(float)
        ink = 255 * np.divide(white, cover, out=np.zeros_like(cover), where=cover > 0)
        opacity = strength * cover
        wanted = pixels[rows, columns] * (1 - opacity) + ink * opacity
        changed = WATERMARK.draw(pixels, strength, Scratch())
        # In single precision a value at half a level may round either way.
        assert np.abs(changed[rows, columns] - wanted).max() <= 0.5 + 1e-4
        outside = np.ones(pixels.shape[:2], np.bool_)
        outside[rows, columns] = False
        assert np.array_equal(changed[outside], pixels[outside])


def test_a_watermark_shows_on_black_and_on_white_and_can_be_read():
    for level in (0, 255):
        flat = np.full((200, 300, 3), level, np.uint8)
        assert (WATERMARK.draw(flat, 0.9, Scratch()) != flat).any(axis=2).mean() > 0.005
    cover, white = overlay(100, 400)[..., 0]
    assert (white <= cover).all()
    assert 0.1 < white.mean() < cover.mean() < 0.7
    assert not cover[0].any()
    assert cover.max() == 1


def test_each_pixel_of_a_watermark_moves_ever_further_from_the_original():
    steps = [
        np.abs(WATERMARK.draw(PHOTOS[2], s, Scratch()).astype(int) - PHOTOS[2]) for s in WATERMARK.strengths
    ]
    assert all((after >= before).all() for before, after in pairwise(steps))


@pytest.mark.parametrize("shape", [(3, 3), (3, 90), (90, 3), (16, 16), (1, 1), (2000, 40)])
def test_the_corner_is_within_the_picture_whatever_its_shape(shape):
    rows, columns = corner(shape)
    assert 0 <= rows.start < rows.stop <= shape[0]
    assert 0 <= columns.start < columns.stop <= shape[1]
    assert WATERMARK.draw(np.zeros((*shape, 3), np.uint8), 0.9, Scratch()).shape == (*shape, 3)


@pytest.mark.parametrize("axis", [BLUR, WATERMARK], ids=["background_blur", "watermark"])
def test_threads_draw_the_same_local_changes(axis):
    def digests(_):
        scratch = Scratch()
        return [pixel_digest(axis.draw(pixels, axis.strengths[-2], scratch)) for pixels in PHOTOS]

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(digests, range(2))
    assert first == second


def test_no_rung_writes_into_the_picture_it_was_given():
    for axis in AXES.values():
        pixels = PHOTOS[4].copy()
        pixels.flags.writeable = False
        for strength in axis.strengths:
            axis.draw(pixels, strength, Scratch())
        assert np.array_equal(pixels, PHOTOS[4])

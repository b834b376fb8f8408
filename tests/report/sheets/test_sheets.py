"""Contact sheets: what stands on them, and that they show the rungs themselves."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest
from PIL import Image

from judge_audit.demo.corpus import cut_crops
from judge_audit.report.sheets.axis_sheet import TILE, Ladder, draw_sheet, zone_name
from judge_audit.report.sheets.layout import png_of
from judge_audit.report.sheets.page_pictures import pictures_of
from judge_audit.stimuli.axes import builtin_axes
from judge_audit.stimuli.axes.image_buffers import Scratch

AXES = builtin_axes()
PHOTO = cut_crops(1, 300, 1)[0].pixels
SMALL = cut_crops(2, 48, 1)[1].pixels


def ladder(pixels=PHOTO, **changes):
    return Ladder("photo-1", "photographs", pixels, **changes)


def stands_on(sheet, tile):
    """Whether a tile stands somewhere on the sheet, pixel for pixel."""
    height, width = tile.shape[:2]
    windows = np.lib.stride_tricks.sliding_window_view(sheet[..., 1], (1, width))[:, :, 0]
    rows = np.argwhere((windows == tile[0, :, 1]).all(axis=-1))
    return any(np.array_equal(sheet[top : top + height, left : left + width], tile) for top, left in rows)


@pytest.mark.parametrize("name", ["noise", "jpeg", "blur"])
def test_fine_changes_are_shown_pixel_for_pixel_at_every_rung(name):
    axis = AXES[name]
    sheet = draw_sheet(axis, [ladder()])
    start = (300 - TILE) // 2
    for strength in axis.strengths[::4]:
        changed = axis.draw(PHOTO, strength, Scratch())
        assert stands_on(sheet, changed[start : start + TILE, start : start + TILE])


def test_the_mask_of_an_item_is_kept_to_on_its_sheet():
    pixels = cut_crops(1, TILE, 1)[0].pixels
    mask = np.zeros(pixels.shape[:2], np.bool_)
    mask[:, :100] = True
    sheet = draw_sheet(AXES["background_blur"], [ladder(pixels, mask=mask, region="mask")])
    scratch = Scratch()
    scratch.begin(pixels, mask)
    assert stands_on(sheet, AXES["background_blur"].draw(pixels, 4.0, scratch))


@pytest.mark.parametrize("name", sorted(AXES))
def test_every_axis_has_a_sheet_of_any_pictures_as_wide_as_a_screen(name):
    shown = [ladder(), ladder(SMALL, low=0.1, high=0.4), ladder(np.ascontiguousarray(PHOTO[:40]))]
    sheet = draw_sheet(AXES[name], shown)
    assert sheet.dtype == np.uint8
    assert sheet.shape[1] < 1800
    assert np.array_equal(sheet, draw_sheet(AXES[name], shown))


def test_more_items_make_a_longer_sheet_and_not_a_wider_one():
    one, two = (draw_sheet(AXES["crop"], [ladder()] * count) for count in (1, 2))
    assert two.shape[1] == one.shape[1]
    assert two.shape[0] > 1.5 * one.shape[0]


def test_rungs_are_named_by_the_zones_of_the_measures():
    read = ladder(low=0.1, high=0.4, objectionable=1.0)
    assert [zone_name(read, strength, 9.0) for strength in (0.09, 0.1, 0.39, 0.4, 0.99, 1.0)] == [
        "unseen",
        "unsure",
        "unsure",
        "seen",
        "seen",
        "bad",
    ]
    never = ladder(low=math.inf, high=math.inf, objectionable=math.inf)
    assert zone_name(never, 50.0, 1.0) == "unseen"
    assert zone_name(ladder(low=0.1, high=0.2), 3.0, 2.0) == "bad"
    assert [zone_name(ladder(), strength, 2.0) for strength in (1.9, 2.0)] == ["", "declared"]


def test_a_sheet_comes_as_png():
    content = png_of(draw_sheet(AXES["crop"], [ladder()]))
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(content))), draw_sheet(AXES["crop"], [ladder()]))
    assert Image.open(io.BytesIO(content)).format == "PNG"


def test_a_name_of_any_length_and_script_fits():
    long = draw_sheet(AXES["crop"], [Ladder("n" * 900, "源" * 40, SMALL)])
    short = draw_sheet(AXES["crop"], [Ladder("n", "s", SMALL)])
    assert long.shape[1] == short.shape[1]
    assert not np.array_equal(long[: short.shape[0]], short[: long.shape[0]])


def test_the_report_s_pictures_keep_to_the_mask_too():
    mask = np.ones(PHOTO.shape[:2], np.bool_)
    rows = [{"item_id": "photo-1", "axis": "background_blur", "strength": 4.0}]
    (masked,) = pictures_of(rows, lambda _: PHOTO, AXES, lambda _: mask).values()
    (guessed,) = pictures_of(rows, lambda _: PHOTO, AXES).values()
    assert masked.changed == masked.original
    assert guessed.changed != guessed.original

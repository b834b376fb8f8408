"""What a contact sheet takes from an items file."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from PIL import Image

from judge_audit.audits.inputs import planned_mask
from judge_audit.core.errors import InputError, UsageError
from judge_audit.demo.corpus import cut_crops, demo_pictures
from judge_audit.inputs.items import read_items
from judge_audit.people.visibility import provisional_points
from judge_audit.report.sheets.sheet_items import ladders_of_file
from judge_audit.stimuli.axes import builtin_axes

AXES = builtin_axes()
PHOTOS = [crop.pixels for crop in cut_crops(6, 64, 1)]


@pytest.fixture
def items(tmp_path):
    mask = np.zeros((64, 64), np.uint8)
    mask[:, :20] = 255
    Image.fromarray(mask).save(tmp_path / "mask.png")
    rows = []
    for number, pixels in enumerate(PHOTOS):
        Image.fromarray(pixels).save(tmp_path / f"{number}.png")
        rows.append([str(number), f"source {number % 2}", "p", f"{number}.png", "mask.png"])
    return written(tmp_path / "items.csv", ["item_id", "source", "prompt", "image", "mask"], rows)


def written(path, columns, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns, *rows])
    return path


def test_a_few_items_of_different_sources_are_taken_with_pixels_mask_and_models_zones(items):
    found = ladders_of_file(items, AXES["noise"], count=2, seed=1)
    assert {ladder.source for ladder in found} == {"source 0", "source 1"}
    for ladder in found:
        assert np.array_equal(ladder.pixels, PHOTOS[int(ladder.item)])
        assert ladder.mask.mean() == pytest.approx(20 / 64)
        assert (ladder.low, ladder.high) == provisional_points(AXES["noise"], ladder.pixels)
        assert ladder.provisional
        assert not ladder.region
    (masked, _) = ladders_of_file(items, AXES["background_blur"], count=2, seed=1)
    assert masked.region == "mask"
    assert masked.low is None


def test_the_zones_are_the_readers_once_they_have_read(items):
    rows = [[str(number), "crop", who, 0.1, 0.3] for number in range(6) for who in ("ann", "bob")]
    columns = ["item_id", "axis", "annotator_id", "perceptible", "objectionable"]
    readings = written(items.parent / "readings.csv", columns, rows)
    (read,) = ladders_of_file(items, AXES["crop"], count=1, seed=1, readings=readings)
    assert (read.low, read.high, read.objectionable, read.provisional) == (0.1, 0.1, 0.3, False)
    (unread,) = ladders_of_file(items, AXES["noise"], count=1, seed=1, readings=readings)
    assert unread.provisional


def test_only_the_chosen_pictures_are_read_and_a_bad_one_is_named(items):
    (first,) = ladders_of_file(items, AXES["crop"], count=1, seed=1)
    for number in range(6):
        if str(number) != first.item:
            (items.parent / f"{number}.png").write_text("no picture")
    assert ladders_of_file(items, AXES["crop"], count=1, seed=1)[0].item == first.item
    with pytest.raises(InputError) as raised:
        ladders_of_file(items, AXES["crop"], count=6, seed=1)
    assert len(raised.value.faults) == 5


def test_a_file_without_its_columns_or_rows_is_refused(tmp_path):
    with pytest.raises(InputError, match="source"):
        ladders_of_file(written(tmp_path / "a.csv", ["item_id"], []), AXES["crop"], count=1, seed=1)
    empty = written(tmp_path / "b.csv", ["item_id", "source", "prompt", "image"], [])
    with pytest.raises(InputError, match="no rows"):
        ladders_of_file(empty, AXES["crop"], count=1, seed=1)


def test_the_demo_shows_one_picture_of_each_source():
    found = demo_pictures(3)
    assert len({row["source"] for row, _ in found}) == 3
    assert all(pixels.shape == (320, 320, 3) for _, pixels in found)


def test_a_mask_that_changed_after_planning_is_refused(items):
    row = read_items(items).items.to_pylist()[0]
    assert planned_mask(row).sum() == 64 * 20
    assert planned_mask(row | {"mask_uri": None}) is None
    Image.fromarray(np.full((64, 64), 255, np.uint8)).save(items.parent / "mask.png")
    with pytest.raises(UsageError, match=r"mask\.png: the mask of “0” has changed"):
        planned_mask(row)

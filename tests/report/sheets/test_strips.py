"""Contact sheets of the page: what is chosen, that zones are labelled, and that the page stays small."""

from __future__ import annotations

import base64
import io
import re
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from judge_audit.core.messages import say
from judge_audit.demo.corpus import cut_crops
from judge_audit.report.charts.ladder_charts import curve
from judge_audit.report.charts.svg import CHARACTER
from judge_audit.report.sections.strips import RUNGS, chosen
from judge_audit.report.sheets.page_pictures import FINE_QUALITY, draw_strips
from judge_audit.report.sheets.page_pictures import TILE_SIDE as SIDE
from judge_audit.stimuli.axes import builtin_axes
from judge_audit.stimuli.axes.image_buffers import Scratch

AXES = builtin_axes()
PHOTO = cut_crops(1, 300, 1)[0].pixels


def picture(tile):
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(tile.uri.partition(",")[2]))))


def strip(name, count=3):
    axis = AXES[name]
    rungs = [
        {"rung": rung, "strength": strength, "zone": ""}
        for rung, strength in enumerate(axis.strengths[-count:], start=1)
    ]
    fine = axis.visibility in {"blur", "noise", "jpeg"}
    return {"axis": name, "item_id": "photo-1", "fine": fine, "rungs": rungs}


def test_each_zone_is_shown_and_both_ends_of_the_ladder():
    zones = ["unseen"] * 7 + ["unsure"] + ["seen"] * 3 + ["bad"]
    found = chosen(zones, RUNGS)
    assert found == sorted(set(found))
    assert len(found) == RUNGS
    assert {0, 7, 8, 11} <= set(found)
    assert chosen(["unseen", "bad"], RUNGS) == [0, 1]
    assert chosen([""], RUNGS) == [0]
    assert len(chosen([str(place) for place in range(12)], RUNGS)) == RUNGS


def test_zones_and_strengths_stand_under_the_pictures(report):
    (row,) = report.document["strips"]
    assert [(rung["strength"], rung["zone"]) for rung in row["rungs"]] == [
        (0.1, "unseen"),
        (0.2, "unsure"),
        (0.4, "unsure"),
    ]
    assert (row["item_id"], row["provisional"], row["climbed"]) == ("a-00", True, 3)
    marks = re.findall(r'<figcaption class="mark ?(\w*)"><b>(.*?)</b> ?(.*?)</figcaption>', report.html)
    assert marks == [
        ("", say("strips.zone.original"), ""),
        ("unseen", "0.1", say("strips.zone.unseen")),
        ("unsure", "0.2", say("strips.zone.unsure")),
        ("unsure", "0.4", say("strips.zone.unsure")),
    ]


def test_a_sheet_is_shown_once_per_change_whatever_the_dimensions(report_of):
    report = report_of(dimensions=("semantic", "structure"), card={"dimensions": ["semantic", "structure"]})
    assert report.html.count('class="tiles"') == 1


def test_without_pictures_one_sentence_stands_in_for_all_sheets(report_of):
    def broken(item_id):
        raise OSError(item_id)

    for pixels in (None, broken):
        report = report_of(pixels=pixels)
        assert report.html.count(say("strips.none")) == 1
        assert 'class="tiles"' not in report.html
        assert len(report.document["strips"]) == 1


@pytest.mark.parametrize("name", ["jpeg", "noise"])
def test_fine_changes_are_the_middle_pixel_for_pixel(name):
    (tiles,) = draw_strips([strip(name, 1)], lambda _: PHOTO, AXES).values()
    start = (300 - SIDE) // 2
    drawn = AXES[name].draw(PHOTO, AXES[name].strengths[-1], Scratch())
    middle = drawn[start : start + SIDE, start : start + SIDE]
    assert picture(tiles[1]).shape == (SIDE, SIDE, 3)
    # What storing loses is far less than what the change did.
    lost = np.abs(picture(tiles[1]).astype(int) - middle).mean()
    changed = np.abs(middle.astype(int) - PHOTO[start : start + SIDE, start : start + SIDE]).mean()
    assert lost < changed / 3
    assert FINE_QUALITY >= 95


def test_a_crop_keeps_the_original_s_scale():
    (tiles,) = draw_strips([strip("crop", 1)], lambda _: PHOTO, AXES).values()
    cut = AXES["crop"].strengths[-1]
    assert tiles[1].width == pytest.approx(100 * (1 - cut), abs=0.5)
    assert picture(tiles[1]).shape[0] == picture(tiles[0]).shape[0]


def test_every_axis_with_its_sheet_stays_far_below_the_size_of_a_report():
    tiles = draw_strips([strip(name, RUNGS) for name in AXES], lambda _: PHOTO, AXES)
    assert set(tiles) == set(AXES)
    assert sum(len(tile.uri) for row in tiles.values() for tile in row) < 1_500_000


def test_the_page_of_a_small_audit_is_small(report):
    assert len(report.html.encode()) < 200_000


def test_zone_words_do_not_run_into_one_another():
    zones = {"unseen_below": 0.1, "seen_from": 0.55, "overdone_from": 0.8}
    points = [{"strength": s, "value": 0.0, "ci_low": None, "ci_high": None} for s in (0.05, 0.5, 0.9)]
    section = {"axis": "glow", "points": points, "sources": {}, "zones": zones}
    drawing = str(curve(section, 0.5, {}))
    words = re.findall(r'<text class="zone-word" x="([\d.]+)"[^>]*text-anchor="(\w+)">(.*?)<', drawing)
    spans = []
    for x, anchor, word in words:
        wide = len(word) * CHARACTER
        left = float(x) - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
        spans.append((left, left + wide))
    assert len(words) >= 2
    assert all(first[1] <= second[0] for first, second in pairwise(sorted(spans)))

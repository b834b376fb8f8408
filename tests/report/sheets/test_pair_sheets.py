"""Contact sheets of pairs: what stands on them, and that damage is shown where it is declared."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from judge_audit.core.errors import InputError
from judge_audit.report.sheets.layout import png_of
from judge_audit.report.sheets.pair_sheet import (
    GAIN,
    PairShown,
    difference,
    draw_pair_sheet,
)
from judge_audit.report.sheets.sheet_items import (
    demo_materials,
    materials_of_file,
    show_pairs,
    show_scene_pairs,
)
from judge_audit.stimuli.brand_rules import example_rules
from judge_audit.stimuli.mismatches import mismatch_kinds
from judge_audit.stimuli.mismatches.kind import Built, Unsuited

KINDS = mismatch_kinds()


@pytest.mark.parametrize("name", sorted(KINDS))
def test_every_kind_has_a_sheet_of_demo_pictures_and_scenes(name):
    kind = KINDS[name]
    shown = [*show_pairs(kind, demo_materials(3, 20, example_rules())), *show_scene_pairs(kind, 2, 1)]
    assert len(shown) >= 5
    assert any(isinstance(pair.made, Built) for pair in shown)
    sheet = draw_pair_sheet(kind, shown)
    assert sheet.shape[1] < 1500
    assert np.array_equal(sheet, np.asarray(Image.open(io.BytesIO(png_of(draw_pair_sheet(kind, shown))))))
    assert png_of(draw_pair_sheet(kind, shown[:1])).startswith(b"\x89PNG")


def test_items_without_a_pair_are_named_and_more_pairs_make_it_longer():
    kind = KINDS["poor_quality"]
    pixels = np.full((60, 90, 3), 90, np.uint8)
    refused = PairShown("n" * 300, "源", "p", pixels, Unsuited("it is too even."))
    none = draw_pair_sheet(kind, [])
    one = draw_pair_sheet(kind, [refused])
    assert one.shape[0] > none.shape[0]


def test_the_difference_is_dark_outside_the_region():
    kind = KINDS["structural_error"]
    shown = [pair for pair in show_pairs(kind, demo_materials(4, 20, None)) if isinstance(pair.made, Built)]
    for pair in shown:
        apart = difference(pair.intact, pair.made.pixels)
        assert not apart[~pair.made.region].any()
        assert apart[pair.made.region].max() > 20 * GAIN


def test_pairs_of_an_items_file_are_shown_and_a_bad_picture_is_told(tmp_path):
    rng = np.random.default_rng(1)
    for name in "ab":
        Image.fromarray(rng.integers(0, 255, (64, 64, 3), np.uint8)).save(tmp_path / f"{name}.png")
    listing = tmp_path / "items.csv"
    head = "item_id,source,prompt,image,topic\n"
    listing.write_text(head + "a,s,two cats,a.png,cats\nb,s,two dogs,b.png,dogs\n", encoding="utf-8")
    materials = materials_of_file(listing, count=2, seed=1, rules=None)
    shown = show_pairs(KINDS["semantic_miss"], materials)
    assert all(isinstance(pair.made, Built) for pair in shown)
    listing.write_text(head + "a,s,two cats,none.png,cats\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"none\.png"):
        materials_of_file(listing, count=1, seed=1, rules=None)

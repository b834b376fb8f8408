"""The sight probes: what they show, of which items, and that they are planned like every other."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from judge_audit.core.digests import pixel_digest
from judge_audit.core.errors import MachineryError
from judge_audit.core.tables import from_rows
from judge_audit.stimuli import sight_probes as sight
from judge_audit.stimuli.axes import axes_of, builtin_axes
from judge_audit.stimuli.planning.probes import make_plan

RNG = np.random.default_rng(3)
PROBES_OF_AN_ITEM = 7


def items(count, topics=3, prompts=None):
    rows = [
        {"plan_id": "", "item_id": f"i{n:03d}", "source": "ab"[n % 2], "topic": str(n % topics)}
        | {"prompt": f"p{n % (prompts or count)}", "prompt_id": str(n), "cluster": str(n), "uri": "x"}
        | {"file_digest": "f", "pixel_digest": f"d{n}", "width": 8, "height": 8, "frames": 1}
        for n in range(count)
    ]
    return from_rows("items", rows).drop_columns(["plan_id"])


def plan(table, ladder_items=20, seed=1):
    axes = {"blur": builtin_axes()["blur"]}
    return make_plan(table, (), axes, ladder_items=ladder_items, repeats=1, seed=seed)


def sight_rows(made):
    return [row for row in made.probes.to_pylist() if row["axis"] in sight.SIGHT]


def test_sixteen_of_the_ladder_items_are_looked_at_spread_over_sources():
    made = plan(items(60))
    assert len(made.sight_items) == 16
    assert set(made.sight_items) <= set(made.ladder_items)
    assert {row["item_id"] for row in sight_rows(made)} == set(made.sight_items)
    assert set(Counter(int(item[1:]) % 2 for item in made.sight_items).values()) == {8}


def test_items_are_looked_at_whether_they_carry_ladders_or_not():
    assert len(plan(items(60), ladder_items=2).sight_items) == 16
    assert len(plan(items(5), ladder_items=2).sight_items) == 5


def test_each_is_shown_once_a_probe_and_twice_alone_and_never_as_a_rung():
    rows = sight_rows(plan(items(60)))
    assert Counter(Counter(row["item_id"] for row in rows).values()) == {PROBES_OF_AN_ITEM: 16}
    assert Counter(row["axis"] for row in rows)["alone"] == 32
    assert {(row["rung"], row["strength"]) for row in rows} == {(0, 0.0)}
    assert len({(row["probe_id"], row["repeat"]) for row in rows}) == len(rows)


def test_a_swapped_prompt_is_another_one_of_another_topic_where_there_is_one():
    own = {row["item_id"]: row for row in items(60).to_pylist()}
    for row in sight_rows(plan(items(60))):
        if row["axis"] == "swapped_prompt":
            assert int(row["prompt"][1:]) % 3 != int(own[row["item_id"]]["topic"])
        else:
            assert row["prompt"] == own[row["item_id"]]["prompt"]
    one_topic = [row for row in sight_rows(plan(items(60, topics=1))) if row["axis"] == "swapped_prompt"]
    assert len(one_topic) == 16
    assert all(row["prompt"] != own[row["item_id"]]["prompt"] for row in one_topic)


def test_a_corpus_of_one_prompt_has_none_to_swap():
    assert "swapped_prompt" not in {row["axis"] for row in sight_rows(plan(items(60, prompts=1)))}


def test_the_choice_follows_the_seed():
    assert plan(items(60)).plan_id == plan(items(60)).plan_id
    assert plan(items(60)).sight_items != plan(items(60), seed=2).sight_items


@pytest.mark.parametrize("size", [(320, 320), (100, 160), (160, 100), (224, 240), (31, 77), (2, 9)])
def test_what_the_border_probe_changes_lies_outside_a_centre_crop(size):
    image = RNG.integers(0, 100, (*size, 3)).astype(np.uint8)
    before = image.copy()
    shown = sight.without_border(image)
    assert np.array_equal(image, before)
    changed = (shown != image).any(axis=2)
    assert 0.05 < changed.mean() < 1
    assert (shown[changed] == sight.GREY).all()
    side = min(size) if max(size) >= sight.LONGISH * min(size) else round(min(size) * 7 / 8)
    top, left = (size[0] - side) // 2, (size[1] - side) // 2
    assert not changed[top : top + side, left : left + side].any()


def test_a_stretched_picture_has_every_pixel_twice_and_a_turned_one_every_pixel_once():
    image = RNG.integers(0, 255, (5, 7, 3)).astype(np.uint8)
    wide = sight.stretched(image)
    assert wide.shape == (5, 14, 3)
    assert np.array_equal(wide[:, ::2], image)
    assert np.array_equal(wide[:, 1::2], image)
    turned = sight.upside_down(image)
    assert np.array_equal(sight.upside_down(turned), image)
    assert pixel_digest(turned) != pixel_digest(image)
    assert turned.flags.c_contiguous
    assert wide.flags.c_contiguous


@pytest.mark.parametrize("name", ["original", "*", *sight.SIGHT])
def test_no_axis_may_take_the_name_of_a_sight_probe(name):
    from dataclasses import replace
    from types import SimpleNamespace

    module = SimpleNamespace(AXES=(replace(builtin_axes()["blur"], name=name),))
    with pytest.raises(MachineryError, match="no name for an axis"):
        axes_of(module, "mine")

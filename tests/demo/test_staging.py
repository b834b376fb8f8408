"""Staged scenes: what is true of them, and that each damage is where it is said to be and nowhere else."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from judge_audit.demo.drawing import draw_scene
from judge_audit.demo.scenes import STYLES, prompt_of
from judge_audit.demo.shapes import ARMS, Figure, figure_parts, reach
from judge_audit.demo.staged_scenes import (
    DAMAGES,
    STAGED,
    Damaged,
    ScenePair,
    damage_scene,
    draw_pair,
    scene_pairs,
    stage_scene,
    truth_of,
    write_scene_pairs,
)
from judge_audit.inputs.pairs import read_pairs
from judge_audit.stimuli.mismatches import mismatch_kinds
from judge_audit.stimuli.mismatches.kind import DIMENSIONS, Unsuited

WAYS = [(kind, variant) for kind, variants in DAMAGES.items() for variant in variants]
KINDS = mismatch_kinds()
SIZE = 128


def a_pair(kind, variant, style="flat", start=0, size=SIZE):
    for seed in range(start, start + 12):
        pair = draw_pair(stage_scene(seed), style, kind, variant, 1, size=size)
        if isinstance(pair, ScenePair):
            return pair
    raise AssertionError(f"no scene suits {variant}")


def test_there_are_damages_of_every_kind():
    assert set(DAMAGES) == set(KINDS)


def test_a_scene_is_sound_in_every_dimension_under_its_own_prompt():
    for seed in range(80):
        scene = stage_scene(seed)
        assert asdict(truth_of(scene, scene)) == dict.fromkeys(DIMENSIONS, 1.0), seed
        assert 1 <= len(scene.placed) <= 3
        assert len({thing.x for thing in scene.placed}) == len(scene.placed)
    assert {stage_scene(seed).setting for seed in range(8)} == set(STAGED)


def test_a_prompt_names_things_person_place_and_hour():
    scene = stage_scene(3)
    assert prompt_of(scene, "flat") == (
        "Flat illustration of three blue boats and a person in a blue shirt by a lake in the evening."
    )


@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_a_damage_lowers_its_own_dimension_and_no_other(way):
    kind, variant = way
    for style in STYLES:
        pair = a_pair(kind, variant, style)
        sound, faulty = asdict(pair.sound), asdict(pair.faulty)
        changed = {name for name in DIMENSIONS if faulty[name] != sound[name]}
        assert changed == {KINDS[kind].damages}
        assert faulty[KINDS[kind].damages] < sound[KINDS[kind].damages]


@pytest.mark.parametrize("way", WAYS, ids="-".join)
@pytest.mark.parametrize("style", STYLES)
def test_the_same_damage_is_drawn_the_same_twice_and_can_be_seen(way, style):
    first, second = a_pair(*way, style), a_pair(*way, style)
    assert np.array_equal(first.intact, second.intact)
    assert np.array_equal(first.made.pixels, second.made.pixels)
    apart = np.abs(first.intact.astype(int) - first.made.pixels).max(axis=-1)
    assert np.quantile(apart[first.made.region], 0.9) > 24
    assert np.array_equal(apart > 0, first.made.region)


@pytest.mark.parametrize(
    "variant", ["extra_arm", "missing_arm", "fingers", "reflection", "banned", "filled", "count"]
)
def test_local_damages_touch_a_small_part_of_the_picture(variant):
    kind = next(name for name, variants in DAMAGES.items() if variant in variants)
    for start in (0, 20, 40):
        pair = a_pair(kind, variant, start=start)
        assert 0 < pair.made.region.mean() < 0.15
        assert pair.made.difficulty > 0.5


def test_damaged_arms_and_fingers_lie_where_the_person_is():
    for variant in ("extra_arm", "missing_arm", "fingers"):
        pair = a_pair("structural_error", variant)
        faulty = damage_scene(pair.scene, "structural_error", variant, 1).scene
        reaches = [reach(scene.figure) for scene in (pair.scene, faulty)]
        left, top, right, bottom = pair.made.box
        slack = 4
        assert left >= min(it[0] for it in reaches) * SIZE - slack
        assert right <= max(it[2] for it in reaches) * SIZE + slack
        assert top >= min(it[1] for it in reaches) * SIZE - slack
        assert bottom <= max(it[3] for it in reaches) * SIZE + slack


def test_a_broken_reflection_lies_in_the_water():
    for seed in (3, 7, 11, 15):
        pair = draw_pair(stage_scene(seed), "shaded", "structural_error", "reflection", 1, size=SIZE)
        assert isinstance(pair, ScenePair)
        assert pair.made.box[1] >= 0.55 * SIZE


def test_a_scene_without_water_refuses_a_broken_reflection():
    made = damage_scene(stage_scene(0), "structural_error", "reflection", 1)
    assert isinstance(made, Unsuited)
    assert "water" in made.reason


def test_another_hour_leaves_the_ground_where_it_was():
    scene = next(stage_scene(seed) for seed in range(1, 60, 4) if stage_scene(seed).hour == "noon")
    night = damage_scene(scene, "semantic_miss", "hour", 1)
    assert isinstance(night, Damaged)
    day, dark = (draw_scene(it, "shaded", SIZE).astype(float) for it in (scene, night.scene))
    foot = np.s_[-14:, :, 1]
    assert dark.mean() < day.mean() - 20
    assert np.corrcoef(day[foot].ravel(), dark[foot].ravel())[0, 1] > 0.8


def test_a_damage_of_no_such_name_is_refused():
    with pytest.raises(KeyError):
        damage_scene(stage_scene(1), "poor_quality", "fingers", 1)


def test_a_person_has_two_arms_of_five_fingers_to_paint():
    whole = figure_parts(0, ARMS, (5, 5))
    assert len(figure_parts(0, ARMS, (5, 6))) == len(whole) + 1
    assert len(figure_parts(0, ("left",), (5,))) == len(whole) - 8
    assert Figure("red", 0.5, 0.9, 0.5).arms == ARMS


def test_pairs_are_of_every_kind_and_style_and_no_scene_serves_twice():
    pairs = list(scene_pairs(2, 5, size=48))
    assert len(pairs) == 2 * len(KINDS) * len(STYLES)
    assert len({pair.scene.seed for pair in pairs}) == len(pairs)


def test_written_pairs_are_read_back_as_constructed_ones(tmp_path):
    items, manifest = write_scene_pairs(tmp_path, 1, 2, size=48)
    names = [line.split(",")[0] for line in items.read_text().splitlines()[1:]]
    read = read_pairs(manifest, items=[{"item_id": name} for name in names], kinds=KINDS)
    assert len(read.pairs) == 8
    assert all(pair.constructed for pair in read.pairs)

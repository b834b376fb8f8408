"""What is read, by whom, in which order."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from study_cases import AXES, items_of, planned, write_items

from judge_audit.core.digests import pixel_digest
from judge_audit.core.errors import UsageError
from judge_audit.inputs.items import read_items
from judge_audit.people.study.build_plan import half_width, items_needed, ranked, spread_of
from judge_audit.people.study.plan import Study, slots_of
from judge_audit.stimuli.axes import builtin_axes
from judge_audit.stimuli.axes.image_buffers import Scratch
from judge_audit.stimuli.images import load_image
from judge_audit.stimuli.planning.probes import make_plan


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    return items_of(tmp_path_factory.mktemp("pictures"))


@pytest.fixture(scope="module")
def study(items):
    return planned(items).study


def test_the_same_inputs_and_seed_give_the_same_study(items, study):
    again = planned(items).study
    assert again == study
    assert again.study_id == study.study_id
    assert planned(items, seed=8).study.study_id != study.study_id
    assert Study.from_json(study.as_json()) == study


def test_a_ladder_names_the_probes_and_pixels_that_an_audit_scores(items, study):
    probes = make_plan(items, (), AXES, ladder_items=48, repeats=1, seed=7).probes.to_pylist()
    asked = {(row["item_id"], row["axis"], row["rung"]): row["probe_id"] for row in probes}
    rows = {row["item_id"]: row for row in items.to_pylist()}
    for ladder in study.ladders:
        original = load_image(rows[ladder.item_id]["uri"]).pixels
        if ladder.catch:
            assert set(ladder.rung_digests) == {pixel_digest(original)}
            assert ladder.probe_ids == (asked[ladder.item_id, "original", 0],)
            continue
        for rung, (strength, probe, digest) in enumerate(
            zip(ladder.strengths, ladder.probe_ids, ladder.rung_digests, strict=True), 1
        ):
            assert probe == asked[ladder.item_id, ladder.axis, rung]
            assert digest == pixel_digest(AXES[ladder.axis].draw(original, strength, Scratch()))


def test_every_prefix_of_the_items_read_is_spread_over_sources_then_clusters(items):
    order = ranked(items.to_pylist(), "blur", 3, {})
    for count in range(2, len(order) + 1, 2):
        sources = Counter(row["source"] for row in order[:count])
        assert max(sources.values()) - min(sources.values()) == 0
    # Each cluster has one item of each source: no source repeats one before it has used all.
    for source in ("quokka0", "quokka1"):
        clusters = [row["cluster"] for row in order if row["source"] == source]
        assert len(set(clusters[:6])) == 6


def test_axes_read_other_items_first(items):
    used = {row["item_id"]: 1 for row in ranked(items.to_pylist(), "blur", 3, {})[:4]}
    first = [row["item_id"] for row in ranked(items.to_pylist(), "crop", 3, used)[:2]]
    assert not set(first) & set(used)


def test_enough_items_are_those_that_make_the_threshold_narrow_and_never_fewer_than_16():
    assert items_needed(0.1) == 16
    wide = items_needed(0.9)
    assert wide > 16
    assert half_width(0.9, wide) <= 1.25 < half_width(0.9, wide - 1)


def test_the_interval_of_the_typical_threshold_is_as_wide_as_promised():
    rng = np.random.default_rng(1)
    n, spread, inside = 16, 0.5, 0
    width = math.log(half_width(spread, n))
    for _ in range(2000):
        inside += abs(rng.normal(0, spread, n).mean()) <= width
    # The promise uses the true spread with Student's t: a little more than nine in ten.
    assert 0.89 < inside / 2000 < 0.95


def test_spread_comes_from_readings_once_enough_items_are_read():
    rows = [
        {"axis": "blur", "item_id": str(number), "catch": False, "perceptible": math.exp(value)}
        for number, value in enumerate(np.linspace(-1, 1, 8))
    ]
    assert spread_of(rows, "blur") == pytest.approx(np.std(np.linspace(-1, 1, 8), ddof=1))
    assert spread_of(rows[:7], "blur") is None
    assert spread_of(rows, "crop") is None


def test_an_item_on_which_nothing_changes_is_passed_over(tmp_path):
    from PIL import Image

    path = write_items(tmp_path, count=4)
    for number in (0, 1):
        Image.fromarray(np.full((40, 48, 3), 90, np.uint8)).save(tmp_path / f"zebra{number}.png")
    items = read_items(path).items
    found = planned(items, {"saturation+": AXES["saturation+"]}, per_axis=4, catches=0)
    assert {ladder.item_id for ladder in found.study.ladders} == {"zebra-02", "zebra-03"}
    assert found.axes[0].inert == 2


def test_nothing_to_read_is_said_in_words(items):
    with pytest.raises(UsageError, match="no ladder to read"):
        planned(items, {})


def test_each_reader_meets_every_ladder_once_and_the_repeats_later(study):
    for reader in ("one", "two"):
        slots = slots_of(study, reader)
        assert len(slots) == study.slots == len(study.ladders) + 2
        first = {slot.ladder.key: place for place, slot in enumerate(slots) if not slot.repeat}
        assert set(first) == {ladder.key for ladder in study.ladders}
        again = [(place, slot) for place, slot in enumerate(slots) if slot.repeat]
        assert len(again) == 2
        assert all(place > first[slot.ladder.key] and not slot.ladder.catch for place, slot in again)
    order = [[slot.ladder.key for slot in slots_of(study, reader)] for reader in ("one", "two")]
    assert order[0] != order[1]
    assert slots_of(study, "one") == slots_of(study, "one")


def test_all_sliders_are_equally_long_and_begin_changing_at_different_steps(study):
    slots = slots_of(study, "one")
    assert {slot.lead for slot in slots} == {0, 1, 2}
    for slot in slots:
        count = len(slot.ladder.strengths)
        rungs = [slot.rung(step) for step in range(study.steps + 1)]
        assert rungs[0] == 0
        assert rungs[slot.lead] == 0
        assert max(rungs) == count
        assert rungs == sorted(rungs)
        for rung, strength in enumerate(slot.ladder.strengths, 1):
            assert slot.strength(slot.lead + rung) == strength
            assert slot.step(strength) == slot.lead + rung


def test_shipped_ladders_of_every_axis_can_be_read(items):
    found = planned(items, builtin_axes(), per_axis=1)
    assert {ladder.axis for ladder in found.study.ladders if not ladder.catch} == set(builtin_axes())
    assert found.minutes == pytest.approx(found.study.slots * 20 / 60)

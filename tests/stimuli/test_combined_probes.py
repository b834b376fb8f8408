"""Planning and drawing changes combined."""

from __future__ import annotations

import math

import numpy as np
import pytest

from judge_audit.core.tables import from_rows
from judge_audit.measures.headroom import Named, half_of, read_combo
from judge_audit.stimuli.axes import builtin_axes
from judge_audit.stimuli.axes.image_buffers import Scratch
from judge_audit.stimuli.combinations import (
    CHOSEN_MOST,
    Dose,
    chosen_id,
    combinable,
    combined_rows,
    compatible,
    draw_combined,
    read_recipe,
    recipe_text,
    soundings,
    soundings_id,
    visible_points,
)

AXES = {name: axis for name, axis in builtin_axes().items() if axis.default}
SEED = 3


def items(count=48):
    return [
        {"item_id": f"i{at:02d}", "source": f"s{at % 3}", "cluster": f"c{at}", "topic": "", "prompt": "p"}
        | {"pixel_digest": f"d{at}"}
        for at in range(count)
    ]


def zones(rows, low=lambda item, axis: 3.1 * axis.strengths[0]):
    return [
        {"item_id": row["item_id"], "axis": axis.name, "perceptible_low": low(row, axis)}
        for row in rows
        for axis in AXES.values()
        if axis.visibility is not None
    ]


def planned(count=48, **rest):
    rows = items(count)
    return soundings(rows, zones(rows, **rest), AXES, repeats=1, seed=SEED)


def test_every_pair_is_sounded_on_a_few_items_of_both_halves_and_all_sources():
    probes = planned()
    pairs = {probe["axis"] for probe in probes}
    assert len(pairs) == 25  # of 8 axes, without the three that turn one knob both ways
    drawn = {probe["item_id"] for probe in probes}
    home = {row["item_id"]: row for row in items()}
    halves = [half_of(home[item]["cluster"], SEED) for item in drawn]
    assert halves.count(0) == halves.count(1) >= 4
    assert len({home[item]["source"] for item in drawn}) == 3
    assert len(probes) == len(pairs) * len(drawn)


def test_combined_probes_cost_a_small_share_of_the_ladders():
    ladders = 48 * sum(len(axis.strengths) for axis in AXES.values())
    assert len(planned()) + 48 * CHOSEN_MOST < 0.15 * (ladders + 300)


def test_what_is_combined_stays_below_each_visible_point_and_adds_in_quadrature():
    for probe in planned():
        doses = read_recipe(probe["recipe"])
        shares = []
        for dose in doses:
            axis = AXES[dose.axis]
            point = 3.1 * axis.strengths[0]
            unseen = max(strength for strength in axis.strengths if strength < point)
            assert dose.strength == pytest.approx(unseen / math.sqrt(2), rel=1e-5)
            shares.append(dose.strength / point)
        assert probe["strength"] == pytest.approx(math.hypot(*shares), rel=1e-5)
        assert probe["strength"] < 1


def test_axes_that_keep_to_a_part_and_opposite_directions_are_not_combined():
    everything = builtin_axes()
    assert not {"crop", "watermark", "background_blur"} & set(combinable(everything))
    assert combinable(everything)[-2:] == ["noise", "jpeg"]
    assert not compatible(("saturation+", "blur", "saturation-"))
    assert compatible(("saturation+", "blur", "contrast-"))


def test_items_without_zones_or_with_a_visible_first_rung_are_left_out():
    def low(row, axis):
        if axis.name == "blur":
            return None
        return axis.strengths[0] if axis.name == "sharpen" else math.inf

    probes = planned(low=low)
    named = {axis for probe in probes for axis in read_combo(probe["axis"]).axes}
    assert named == {name for name in AXES if name[-1] in "+-"}
    # Where nobody ever notices, the strongest rungs are combined.
    assert [probe["strength"] for probe in probes] == pytest.approx([1.0] * len(probes), rel=1e-5)


def test_without_zones_nothing_is_planned():
    assert soundings(items(), [], AXES, repeats=1, seed=SEED) == []


def test_a_probe_is_named_by_what_is_shown_and_not_by_who_chose_it():
    rows = items(4)
    visible = visible_points(zones(rows), AXES)
    plain, first, second = (
        combined_rows(rows, [Named(("contrast+", "sharpen"), half)], visible, AXES, 1)
        for half in (None, 0, 1)
    )
    ids = [[probe["probe_id"] for probe in probes] for probes in (plain, first, second)]
    assert ids[0] == ids[1] == ids[2]
    assert len(set(ids[0])) == 4
    other = combined_rows(rows, [Named(("saturation+", "sharpen"))], visible, AXES, 1)
    assert not set(ids[0]) & {probe["probe_id"] for probe in other}


def test_the_same_inputs_give_the_same_plan():
    assert planned() == planned()
    assert soundings_id("p", "z") != soundings_id("p", "y")
    assert chosen_id("p", "z", "j") != chosen_id("p", "z", "k")
    table = from_rows("probes", [{**probe, "plan_id": "x"} for probe in planned()])
    assert table.num_rows == len(planned())


def test_repeats_are_planned_as_often_as_asked():
    rows = items(2)
    probes = combined_rows(
        rows, [Named(("contrast+", "sharpen"))], visible_points(zones(rows), AXES), AXES, 3
    )
    assert [probe["repeat"] for probe in probes] == [0, 1, 2, 0, 1, 2]


def picture():
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (64, 80, 3), dtype=np.uint8)


def test_changes_are_laid_over_one_another_in_order():
    image = picture()
    doses = (Dose("saturation+", 0.3, 2), Dose("blur", 2.0, 1), Dose("contrast+", 0.4, 1))
    expected = image
    for dose in doses:
        scratch = Scratch()
        scratch.begin(expected)
        expected = AXES[dose.axis].draw(expected, dose.strength, scratch)
    scratch, further = Scratch(), Scratch()
    scratch.begin(image)
    drawn = draw_combined(image, doses, AXES, scratch, further)
    assert np.array_equal(drawn, expected)
    turned = draw_combined(image, doses[::-1], AXES, scratch, further)
    assert not np.array_equal(turned, expected)


def test_the_scratch_still_draws_the_picture_s_own_rungs_afterwards():
    image = picture()
    scratch, further = Scratch(), Scratch()
    scratch.begin(image)
    before = AXES["blur"].draw(image, 1.5, scratch).copy()
    draw_combined(image, (Dose("blur", 1.0, 1), Dose("sharpen", 1.0, 2)), AXES, scratch, further)
    assert np.array_equal(AXES["blur"].draw(image, 1.5, scratch), before)


def test_a_recipe_is_read_as_it_was_written():
    doses = (Dose("saturation+", 0.031, 2), Dose("blur", 0.2, 1))
    assert read_recipe(recipe_text(doses)) == doses

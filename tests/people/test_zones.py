"""From readings, or from models, to zones."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from judge_audit.people.readings import SCHEMA
from judge_audit.people.zones import make_zones
from judge_audit.stimuli.axes.axis import Axis


def _brighter(image, strength, _scratch):
    return np.clip(np.rint(image * (1 + strength)), 0, 255).astype(np.uint8)


def axis_of(name="tone", visibility="tone"):
    return Axis(name, "unit", "A test.", (0.1, 0.2, 0.4, 0.8, 1.6), 1.2, visibility, None, rises=True,
                recipe_version=2, draw=_brighter)  # fmt: skip


AXES = {"tone": axis_of()}
CROP = {"crop": axis_of("crop", None)}


def items_of(count):
    return pa.table({"item_id": [f"i{index:02d}" for index in range(count)]})


def reading(item, who, perceptible, objectionable=None, axis="tone", **more):
    row = {"item_id": item, "axis": axis, "annotator_id": who, "perceptible": perceptible}
    return {
        "objectionable": objectionable,
        "protocol": "",
        "recipe_version": None,
        "catch": False,
        **row,
        **more,
    }


def no_pixels(_row):
    raise AssertionError("readings need no pixels")


def grey(row):
    return np.full((32, 32, 3), 60 + 4 * int(row["item_id"][1:]), np.uint8)


def settle(rows, count=1, axes=AXES, pixels=no_pixels):
    readings = pa.Table.from_pylist(rows, schema=SCHEMA) if rows is not None else None
    made = make_zones(axes, items_of(count), readings, pixels, seed=5)
    return {(row["item_id"], row["axis"]): row for row in made.table.to_pylist()}, made


def test_two_readers_make_the_zone_by_their_smaller_and_larger_points():
    zones, _ = settle([reading("i00", "r1", 0.5, 0.9), reading("i00", "r2", 0.3, 1.1)])
    zone = zones["i00", "tone"]
    assert (zone["perceptible_low"], zone["perceptible_high"], zone["objectionable"]) == (0.3, 0.5, 1.1)
    assert zone["provisional"] is False


def test_later_readers_do_not_move_the_zone():
    zones, _ = settle([reading("i00", "r1", 0.5), reading("i00", "r2", 0.3), reading("i00", "r3", 0.15)])
    assert zones["i00", "tone"]["perceptible_low"] == 0.3
    assert zones["i00", "tone"]["objectionable"] == 1.2


def test_never_noticed_is_beyond_the_last_rung():
    zones, _ = settle([reading("i00", "r1", math.inf), reading("i00", "r2", 0.6)])
    assert zones["i00", "tone"]["perceptible_low"] == 0.6
    assert zones["i00", "tone"]["perceptible_high"] == math.inf


def test_one_reading_makes_no_zone():
    zones, made = settle([reading("i00", "r1", 0.5)])
    assert zones["i00", "tone"]["perceptible_low"] is None
    assert made.counts[0].single == 1
    assert any("one usable reading" in note for note in made.notes)


def test_a_reading_at_the_first_rung_is_set_aside_and_counted():
    zones, made = settle([reading("i00", "r1", 0.1), reading("i00", "r2", 0.3), reading("i00", "r3", 0.4)])
    assert (zones["i00", "tone"]["perceptible_low"], zones["i00", "tone"]["perceptible_high"]) == (0.3, 0.4)
    assert made.counts[0].at_first_rung == 1


def test_a_reading_of_another_recipe_is_stale_and_said_so():
    rows = [reading("i00", "r1", 0.2, recipe_version=1), reading("i00", "r2", 0.3), reading("i00", "r3", 0.4)]
    zones, made = settle(rows)
    assert zones["i00", "tone"]["perceptible_low"] == 0.3
    assert any("stale" in note for note in made.notes)


def test_fifteen_read_items_lend_no_quantiles_and_sixteen_do():
    def rows(count):
        return [
            reading(f"i{index:02d}", who, 0.30 + 0.01 * index + shift)
            for index in range(count)
            for who, shift in (("r1", 0.0), ("r2", 0.05))
        ]

    assert settle(rows(15), 20)[0]["i19", "tone"]["perceptible_low"] is None
    zones = settle(rows(16), 20)[0]
    assert zones["i00", "tone"]["basis"] == "readings"
    zone = zones["i19", "tone"]
    assert zone["basis"] == "quantiles"
    assert zone["perceptible_low"] == pytest.approx(0.31)
    assert zone["perceptible_high"] == pytest.approx(0.49)


def test_quantiles_stay_defined_when_many_never_notice():
    rows = [
        reading(f"i{index:02d}", who, math.inf if who == "r2" else 0.5)
        for index in range(16)
        for who in ("r1", "r2")
    ]
    zones, made = settle(rows, 17)
    assert not made.counts[0].unreliable
    assert zones["i16", "tone"]["perceptible_low"] == 0.5
    assert zones["i16", "tone"]["perceptible_high"] == math.inf


def test_two_readers_who_never_notice_agree():
    zones, made = settle([reading("i00", "r1", math.inf), reading("i00", "r2", math.inf)])
    assert zones["i00", "tone"]["perceptible_low"] == math.inf
    assert not made.counts[0].unreliable


def test_readers_a_factor_of_four_apart_on_half_the_items_make_it_unreliable():
    rows = [reading(f"i{index:02d}", who, point) for index in range(4) for who, point in
            (("r1", 0.2), ("r2", 1.0 if index < 2 else 0.3))]  # fmt: skip
    zones, made = settle(rows, 4)
    assert made.counts[0].unreliable
    assert all(zone["perceptible_low"] is None for zone in zones.values())
    assert {zone["basis"] for zone in zones.values()} == {"unreliable"}
    assert any("unreliable" in note for note in made.notes)


def test_a_careless_reader_is_set_aside():
    rows = [reading(f"i{index:02d}", "r1", 0.5, catch=True) for index in range(8)]
    rows += [reading("i00", "r1", 0.2), reading("i00", "r2", 0.3), reading("i00", "r3", 0.4)]
    zones, made = settle(rows)
    assert zones["i00", "tone"]["perceptible_low"] == 0.3
    assert any("r1" in note for note in made.notes)


def test_without_readings_two_models_give_provisional_zones():
    zones, made = settle(None, 6, pixels=grey)
    assert len(zones) == 6
    assert all(zone["provisional"] for zone in zones.values())
    assert all(0 < zone["perceptible_low"] <= zone["perceptible_high"] for zone in zones.values())
    assert all(zone["objectionable"] == 1.2 for zone in zones.values())
    assert made.counts[0].provisional


def test_crops_have_no_zone_until_read():
    assert settle(None, 3, CROP, grey)[0] == {}
    read = settle([reading("i00", "r1", 0.5, axis="crop"), reading("i00", "r2", 0.3, axis="crop")], 1, CROP)[
        0
    ]
    assert read["i00", "crop"]["perceptible_low"] == 0.3


def test_an_axis_somebody_read_asks_no_model_even_for_unread_items():
    zones, _ = settle([reading("i00", "r1", 0.5), reading("i00", "r2", 0.3)], 2)
    assert zones["i01", "tone"]["perceptible_low"] is None
    assert zones["i01", "tone"]["provisional"] is False

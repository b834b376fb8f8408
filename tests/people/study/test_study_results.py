"""From marks to zones and to what the owner is told: known readers, known answers."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from study_cases import AXES, SCREEN, items_of, planned

from judge_audit.lake import Lake
from judge_audit.people.readings import Freshness, readings_of
from judge_audit.people.study.folder import register
from judge_audit.people.study.marks import Mark, Marks
from judge_audit.people.study.plan import slots_of
from judge_audit.people.study.readers import add_reader
from judge_audit.people.study.results import results_of
from judge_audit.people.study.results_page import lines_of, write_page
from judge_audit.people.zones import make_zones
from judge_audit.stimuli.images import load_image

NOW = datetime(2026, 11, 30, tzinfo=UTC)
ITEMS = 18
READ = {name: AXES[name] for name in ("blur", "saturation+")}


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    items = items_of(tmp_path_factory.mktemp("pictures"), count=ITEMS)
    return items, planned(items, READ, per_axis=ITEMS, catches=10, repeats=6).study


def say(marks, reader, slot, rung, **more):
    """Mark a rung (0: never), and the second point two rungs on."""
    step = slot.lead + rung if rung else None
    marks.add(reader, slot, Mark(after=-1, perceptible=step, objectionable=None, asked=False, reason="",
              screen=SCREEN), NOW)  # fmt: skip
    if rung:
        second = Mark(after=0, perceptible=step, objectionable=step + 2, asked=True, reason="", screen=SCREEN)
        marks.add(reader, slot, second, NOW)


def read_by(folder, study, people):
    """Let simulated people read: name to (rung on a ladder, alarms on every n-th catch ladder or never)."""
    lake = Lake.open(folder / "lake")
    register(lake, study)
    marks, readers = Marks(study, lake), ()
    for name in people:
        readers, _ = add_reader(readers, name, NOW)
    for reader, (rung_of, alarm) in zip(readers, people.values(), strict=True):
        rng = np.random.default_rng(reader.order)
        catches = 0
        for slot in slots_of(study, reader.reader_id):
            if slot.ladder.catch:
                catches += 1
                say(marks, reader, slot, 3 if alarm and catches % alarm == 0 else 0)
            else:
                say(marks, reader, slot, rung_of(slot, rng))
    return lake, readers


def steady(rung):
    return lambda slot, rng: rung


@pytest.mark.timeout(300)
def test_two_careful_readers_give_the_planted_interval_and_zones_that_are_not_provisional(tmp_path, plan):
    items, study = plan
    lake, readers = read_by(tmp_path, study, {"ana": (steady(4), 0), "ben": (steady(5), 0)})
    found = results_of(study, lake, readers)
    for axis in found.axes:
        strengths = AXES[axis.axis].strengths
        assert (axis.items, axis.readers) == (ITEMS, ("ana", "ben"))
        assert (axis.low, axis.high) == (strengths[3], strengths[4])
        assert axis.lent
        assert not axis.unreliable
        assert axis.ratio.value == pytest.approx(strengths[4] / strengths[3])
        assert axis.close.value == 1.0
        assert axis.objectionable == strengths[6]
    for reader in found.readers:
        assert (reader.read, reader.of) == (study.slots, study.slots)
        assert reader.alarms.value == 0
        assert reader.alarms.high < 0.25
        assert reader.consistency.value == 1.0
        assert not reader.set_aside
        assert not reader.out_of_line
    table, origins = readings_of(lake, READ, items)
    assert list(origins) == [f"study {study.study_id}"]
    zones = make_zones(READ, items, table, lambda row: load_image(row["uri"]).pixels, seed=1)
    assert zones.table.num_rows == 2 * ITEMS
    assert set(zones.table["provisional"].to_pylist()) == {False}
    assert set(zones.table["basis"].to_pylist()) == {"readings"}
    write_page(found, tmp_path / "results.html")
    page = (tmp_path / "results.html").read_text()
    assert "ana" in page
    assert page.count("<svg") == 2
    assert any("no longer provisional" in line for line in lines_of(found))


@pytest.mark.timeout(300)
def test_a_careless_reader_is_set_aside_named_and_kept_and_a_strange_one_is_named(tmp_path, plan):
    items, study = plan
    people = {
        "ana": (steady(4), 0),
        "eve": (lambda slot, rng: int(rng.integers(2, 9)), 2),
        "ben": (lambda slot, rng: int(rng.choice([4, 5])), 0),
        "zoe": (steady(8), 0),
    }
    lake, readers = read_by(tmp_path, study, people)
    found = results_of(study, lake, readers)
    by_name = {reader.reader: reader for reader in found.readers}
    assert by_name["eve"].set_aside
    assert by_name["eve"].alarms.value == 0.5
    assert lake.read("readings", annotator_id="eve").num_rows > 0
    assert {axis.readers for axis in found.axes} == {("ana", "ben")}
    assert by_name["zoe"].out_of_line
    assert not by_name["ana"].out_of_line
    text = "\n".join(lines_of(found))
    assert "eve marked a change on too many ladders" in text
    assert "zoe marks" in text
    notes = make_zones(READ, items, readings_of(lake, READ, items)[0], None, seed=1).notes
    assert any("eve were set aside" in note for note in notes)
    assert 0.8 < by_name["ben"].consistency.value <= 1


def test_nobody_and_one_reader_are_told_what_is_missing(tmp_path, plan):
    _, study = plan
    lake, readers = read_by(tmp_path, study, {})
    assert "Nobody has read" in lines_of(results_of(study, lake, readers))[1]
    marks = Marks(study, lake)
    readers, _ = add_reader((), "ana", NOW)
    say(marks, readers[0], slots_of(study, readers[0].reader_id)[0], 3)
    found = results_of(study, lake, readers)
    assert "needs two" in lines_of(found)[1]
    write_page(found, tmp_path / "page.html")
    assert "not read by two people yet" in (tmp_path / "page.html").read_text()


def test_a_correction_moves_the_zone_and_the_history_stays(tmp_path, plan):
    items, study = plan
    lake = Lake.open(tmp_path / "lake")
    register(lake, study)
    marks, readers = Marks(study, lake), ()
    for name in ("ana", "ben"):
        readers, _ = add_reader(readers, name, NOW)
    ladder = next(held for held in study.ladders if held.axis == "blur" and not held.catch)
    for reader in readers:
        slot = next(
            held for held in slots_of(study, reader.reader_id) if held.ladder == ladder and not held.repeat
        )
        say(marks, reader, slot, 4)
    corrected = Mark(after=1, perceptible=slot.lead + 6, objectionable=None, asked=False, reason="looked again",
                     screen=SCREEN)  # fmt: skip
    marks.add(readers[1], slot, corrected, NOW)
    zones = make_zones({"blur": AXES["blur"]}, items, readings_of(lake, READ, items)[0], None, seed=1)
    zone = next(row for row in zones.table.to_pylist() if row["item_id"] == ladder.item_id)
    assert (zone["perceptible_low"], zone["perceptible_high"]) == (ladder.strengths[3], ladder.strengths[5])
    assert lake.read("readings").num_rows == 5


def test_a_reading_of_other_pixels_is_stale_and_said_so(tmp_path, plan):
    items, study = plan
    lake = Lake.open(tmp_path / "lake")
    register(lake, study)
    marks, readers = Marks(study, lake), ()
    for name in ("ana", "ben"):
        readers, _ = add_reader(readers, name, NOW)
        slots = slots_of(study, readers[-1].reader_id)
        say(marks, readers[-1], next(s for s in slots if s.ladder == study.ladders[0]), 4)
    axis = AXES[study.ladders[0].axis]
    rows = {row["item_id"]: row for row in items.to_pylist()}

    def stale(axes, changed_rows=rows):
        looked = Freshness(axes, changed_rows, lambda row: load_image(row["uri"]).pixels, lambda row: None)
        table, _ = readings_of(lake, axes, items, looked.is_stale)
        return table

    assert stale({axis.name: axis})["stale"].to_pylist() == [False, False]
    # Another prompt is another probe of the judge's, but people saw the same pictures.
    other_prompt = {name: {**row, "prompt": "another"} for name, row in rows.items()}
    assert stale({axis.name: axis}, other_prompt)["stale"].to_pylist() == [False, False]

    def other(image, strength, scratch):
        return 255 - axis.draw(image, strength, scratch)

    redrawn = {axis.name: replace(axis, recipe_version=axis.recipe_version + 1, draw=other)}
    table = stale(redrawn)
    assert table["stale"].to_pylist() == [True, True]
    notes = make_zones(redrawn, items, table, None, seed=1).notes
    assert any("stale" in note for note in notes)
    other_picture = {name: {**row, "pixel_digest": "0" * 32} for name, row in rows.items()}
    assert stale({axis.name: axis}, other_picture)["stale"].to_pylist() == [False, False]


def test_never_counts_one_rung_beyond_the_last():
    from judge_audit.people.study.results import log_point

    ladder = type("L", (), {"strengths": (1.0, 2.0, 4.0)})
    assert log_point(ladder, math.inf) == pytest.approx(math.log(8))
    assert log_point(ladder, 2.0) == pytest.approx(math.log(2))

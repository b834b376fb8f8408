"""Marks: nothing lost, nothing doubled, corrections on record."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest
from study_cases import SCREEN, study_in

from judge_audit.lake import Lake
from judge_audit.people.study.marks import Conflict, Mark, Marks, Unreasoned
from judge_audit.people.study.plan import slots_of

NOW = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture
def case(tmp_path):
    made, lake, _ = study_in(tmp_path)
    marks = Marks(made.study, lake)
    marks.load()
    readers = made.readers()[1]
    slot = next(slot for slot in slots_of(made.study, readers[0].reader_id) if not slot.ladder.catch)
    return made, marks, readers, slot


def said(perceptible, after=-1, **more):
    given = {"objectionable": None, "asked": False, "reason": "", **more}
    return Mark(after=after, perceptible=perceptible, screen=SCREEN, **given)


def afresh(made):
    marks = Marks(made.study, Lake.open(made.lake))
    marks.load()
    return marks


def test_a_mark_is_in_the_lake_before_it_is_answered(case):
    made, marks, (ana, ben), slot = case
    marks.add(ana, slot, said(slot.lead + 3), NOW)
    (row,) = Lake.open(made.lake).read("readings").to_pylist()
    assert (row["annotator_id"], row["perceptible"]) == ("ana", slot.ladder.strengths[2])
    assert row["objectionable"] is None
    assert row["probe_ids"] == list(slot.ladder.probe_ids)
    assert row["study_id"] == row["import_id"] == made.study.study_id
    assert {name: row[name] for name in SCREEN} == SCREEN
    assert not afresh(made).done(ana, slot)
    assert afresh(made).latest(ben, slot) is None


def test_the_same_mark_sent_twice_is_kept_once(case):
    made, marks, (ana, _), slot = case
    marks.add(ana, slot, said(4), NOW)
    marks.add(ana, slot, said(4), NOW)
    afresh(made).add(ana, slot, said(4), NOW)
    assert Lake.open(made.lake).read("readings").num_rows == 1


def test_of_two_tabs_the_first_counts_and_the_second_is_told(case):
    made, marks, (ana, _), slot = case
    marks.add(ana, slot, said(4), NOW)
    with pytest.raises(Conflict):
        marks.add(ana, slot, said(7), NOW)
    other = Marks(made.study, Lake.open(made.lake))  # a second server that has not seen the first mark
    with pytest.raises(Conflict):
        other.add(ana, slot, said(7), NOW)
    assert Lake.open(made.lake).read("readings").num_rows == 1


def test_a_correction_is_a_new_row_with_its_reason_and_counts(case):
    made, marks, (ana, _), slot = case
    step = slot.lead + 3
    marks.add(ana, slot, said(step), NOW)
    marks.add(ana, slot, said(step, 0, objectionable=step + 2, asked=True), NOW)
    assert marks.done(ana, slot)
    with pytest.raises(Unreasoned):
        marks.add(ana, slot, said(step + 1, 1), NOW)
    marks.add(ana, slot, said(step + 1, 1, reason="pressed by mistake"), NOW)
    rows = afresh(made).rows()
    assert [(row["revision"], row["reason"]) for row in rows] == [
        (0, None),
        (1, "second point"),
        (2, "pressed by mistake"),
    ]
    assert not afresh(made).done(ana, slot), "the second point belongs to the new first one"
    assert afresh(made).latest(ana, slot)["perceptible"] == slot.ladder.strengths[3]


def test_never_is_an_answer_and_ends_the_ladder(case):
    _, marks, (ana, _), slot = case
    row = marks.add(ana, slot, said(None), NOW)
    assert row["perceptible"] == row["objectionable"] == math.inf
    assert marks.done(ana, slot)


def test_a_mark_where_nothing_had_changed_counts_as_the_first_rung(case):
    _, marks, (ana, _), slot = case
    row = marks.add(ana, slot, said(1), NOW)
    assert row["perceptible"] == slot.ladder.strengths[0]

"""A judge changed: its anchors decide, against the approved judge and the night before."""

from __future__ import annotations

import pytest
from gate_lake import SOURCES, add_anchors, add_answers, add_audit, add_judge, add_plan, answer_anchors, night

from judge_audit.audits.stages.check import compare_with_earlier, earlier
from judge_audit.audits.stages.gate import approve_candidate
from judge_audit.decisions.gate.approvals import Approver
from judge_audit.lake import Lake
from judge_audit.lake.connect import connect

ORDER = {n: float(n) for n in range(30)}
HARMLESS = {n: 2.0 * n + 1 for n in range(30)}
BROKEN = {n: float((n + 15) % 30) for n in range(30)}
CARD = '{{"preprocessing":{{"side":{side}}},"higher_is_better":true,"dimensions":["overall"]}}'


@pytest.fixture
def anchored(tmp_path):
    """A judge with anchors, approved for filtering."""
    lake = Lake.open(tmp_path / "lake")
    probes = add_plan(lake, "plan")
    add_anchors(lake, "plan")
    join(lake, "j1", ORDER, probes, side=224)
    add_audit(lake, "first", anchors=1)
    approver = Approver("Ada", "ada", "first", first=True)
    approve_candidate(lake, candidate="first", use="filtering", approver=approver, now=night(1))
    return lake


def join(lake, judge, scores, probes=None, *, side=336):
    add_judge(lake, judge, card=CARD.format(side=side))
    add_answers(lake, judge, probes or [f"{s}{n}/original/0" for s in SOURCES for n in range(3)] + ladders())
    answer_anchors(lake, judge, scores)


def ladders():
    return [f"{s}{n}/blur/{rung}" for s in SOURCES for n in range(2) for rung in (1, 2, 3)]


def row_of(told, name):
    return next(row for row in told.answer.rows if f"{row['suite']}/{row['expectation']}" == name)


def test_a_judge_changed_only_in_preprocessing_with_the_same_order_finds_the_gate_open(anchored, ask):
    join(anchored, "j2", HARMLESS)
    add_audit(anchored, "second", judge="j2", at=2, anchors=1)
    told = ask(anchored)
    assert told.code == 0, told.lines
    assert row_of(told, "anchor_order/same_order_or_better")["state"] == "open"


def test_an_order_breaking_change_shuts_it_with_the_flipped_pairs_named(anchored, ask):
    join(anchored, "j2", BROKEN)
    add_audit(anchored, "second", judge="j2", at=2, anchors=1)
    told = ask(anchored)
    assert told.code == 1
    row = row_of(told, "anchor_order/same_order_or_better")
    assert row["state"] == "shut"
    assert "against people" in row["observed"]
    assert "(bad), against people; and 220 more" in row["observed"]
    assert anchored.read("rank_changes", judge_id="j2").num_rows > 200


def test_a_change_towards_people_is_no_fault(tmp_path, ask):
    lake = Lake.open(tmp_path / "lake")
    probes = add_plan(lake, "plan")
    add_anchors(lake, "plan")
    join(lake, "j1", BROKEN, probes)
    add_audit(lake, "first", anchors=1)
    approver = Approver("Ada", "ada", "first", first=True)
    approve_candidate(lake, candidate="first", use="filtering", approver=approver, now=night(1))
    join(lake, "j2", ORDER)
    add_audit(lake, "second", judge="j2", at=2, anchors=1)
    assert ask(lake).code == 0


def test_the_same_judge_needs_no_anchors_and_a_changed_one_does(anchored, ask):
    add_audit(anchored, "second", at=2)
    assert ask(anchored).code == 0
    join(anchored, "j2", HARMLESS)
    add_audit(anchored, "third", judge="j2", at=3)
    anchored_still = ask(anchored)  # the approved audit had anchors, and j2 scored them
    assert anchored_still.code == 0
    add_judge(anchored, "j3")
    add_answers(anchored, "j3", [f"{s}{n}/original/0" for s in SOURCES for n in range(3)] + ladders())
    add_audit(anchored, "fourth", judge="j3", at=4, anchors=1)
    told = ask(anchored, candidate="fourth")
    assert told.code != 0
    assert row_of(told, "anchor_order/same_order_or_better")["state"] == "cannot be asked"


def test_where_anchors_and_judge_both_changed_the_old_anchors_must_agree(anchored, ask):
    add_anchors(anchored, "newer", version=2, names=range(15))
    add_answers(anchored, "j2", add_plan(anchored, "newer"))
    # the order of the first fifteen is kept, the rest is turned round
    half = {n: float(n if n < 15 else -n) for n in range(30)}
    add_judge(anchored, "j2", card=CARD.format(side=336))
    answer_anchors(anchored, "j2", half)
    add_audit(anchored, "second", judge="j2", at=2, plan="newer", anchors=2)
    told = ask(anchored)
    row = row_of(told, "anchor_order/old_anchors_agree")
    assert row["state"] == "shut"
    assert "old anchors" in row["observed"]
    assert told.code == 1


def test_drift_of_the_order_is_told_night_by_night(anchored, ask):
    slow = {n: float(n + 3 * (n % 2)) for n in range(30)}
    for judge, scores, at in (("j2", HARMLESS, 2), ("j3", slow, 3)):
        join(anchored, judge, scores)
        add_audit(anchored, judge, judge=judge, at=at, anchors=1)
        ask(anchored, candidate=judge)
    question = "SELECT audit_id, against, other_audit, round(value, 3) FROM anchor_drift_history"
    with connect(anchored) as connection:
        rows = connection.execute(question).fetchall()
    told = {row[:3]: row[3] for row in rows}
    assert told["j2", "before", "first"] == told["j2", "approved", "first"] == 1.0
    assert told["j3", "before", "j2"] == told["j3", "approved", "first"] < 1.0


def test_a_night_on_which_nobody_asks_the_gate_has_its_figures_too(anchored):
    join(anchored, "j2", neighbours_swapped(3))
    add_audit(anchored, "second", judge="j2", at=2, anchors=1)
    compare_with_earlier(anchored, "second")
    question = (
        "SELECT against, round(value, 3), tau_drop > 0 FROM anchor_drift_history WHERE audit_id = 'second'"
    )
    with connect(anchored) as connection:
        rows = connection.execute(question).fetchall()
    assert sorted(rows) == [("approved", 0.986, True), ("before", 0.986, True)]
    assert anchored.read("gates", audit_id="second").num_rows == 0
    with connect(anchored) as connection:
        nights = connection.execute("SELECT audit_id, before, approved FROM nights").fetchall()
    for audit_id, *others in nights:
        (row,) = anchored.read("audits", audit_id=audit_id, status="complete").to_pylist()
        assert {other["audit_id"] for other in earlier(anchored, row)} == {other for other in others if other}
    before = anchored.read("measures").num_rows
    compare_with_earlier(anchored, "second")
    add_audit(anchored, "bare", judge="j2", at=3, drift={})
    compare_with_earlier(anchored, "bare")
    assert anchored.read("measures").num_rows == before


def neighbours_swapped(pairs):
    swapped = dict(ORDER)
    for pair in range(pairs):
        swapped[2 * pair], swapped[2 * pair + 1] = swapped[2 * pair + 1], swapped[2 * pair]
    return swapped


def test_an_order_that_slips_a_little_every_night_is_caught_against_the_approved_judge(anchored, ask):
    for number, pairs in enumerate((3, 6, 9), start=2):
        join(anchored, f"j{number}", neighbours_swapped(pairs))
        add_audit(anchored, f"night{number}", judge=f"j{number}", at=number, anchors=1)
    assert ask(anchored, candidate="night2").code == 0
    told = ask(anchored, candidate="night4")
    assert told.code == 1
    row = row_of(told, "anchor_order/same_order_or_better")
    assert "Against the approved judge" in row["observed"]
    assert "Against the night before" not in row["observed"]

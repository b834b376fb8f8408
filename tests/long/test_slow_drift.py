"""Every night inside the margin, the sum outside: twelve nights of a judge that slips, told by the rows of the lake."""

from __future__ import annotations

import pytest
from gate_lake import SOURCES, add_anchors, add_answers, add_audit, add_judge, add_plan, answer_anchors, night

from judge_audit.audits.stages.check import compare_with_earlier
from judge_audit.audits.stages.gate import approve_candidate, gate
from judge_audit.decisions.gate.approvals import Approver
from judge_audit.lake import Lake
from judge_audit.lake.connect import connect

pytestmark = pytest.mark.long

NIGHTS = range(2, 14)
CARD = '{{"preprocessing":{{"side":{side}}},"higher_is_better":true,"dimensions":["overall"]}}'
PROBES = [f"{s}{n}/original/0" for s in SOURCES for n in range(3)]
PROBES += [f"{s}{n}/blur/{rung}" for s in SOURCES for n in range(2) for rung in (1, 2, 3)]


def slipped(pairs):
    """The order of thirty anchors with so many pairs of neighbours turned round."""
    order = {n: float(n) for n in range(30)}
    for pair in range(pairs):
        order[2 * pair], order[2 * pair + 1] = order[2 * pair + 1], order[2 * pair]
    return order


def join(lake, judge, order, side):
    add_judge(lake, judge, card=CARD.format(side=side))
    add_answers(lake, judge, PROBES)
    answer_anchors(lake, judge, order)


@pytest.fixture(scope="module")
def slipping(tmp_path_factory):
    """A judge approved on the first night; on each of twelve nights a new version turns one more pair round."""
    lake = Lake.open(tmp_path_factory.mktemp("slipping") / "lake")
    add_plan(lake, "plan")
    add_anchors(lake, "plan")
    join(lake, "j1", slipped(0), 224)
    add_audit(lake, "night01", anchors=1)
    approver = Approver("Ada", "ada", "first", first=True)
    approve_candidate(lake, candidate="night01", use="filtering", approver=approver, now=night(1))
    for number in NIGHTS:
        join(lake, f"j{number}", slipped(number - 1), 224 + number)
        drift = {"a": 0.01 + 0.011 * (number - 1), "b": -0.01}
        name = f"night{number:02}"
        add_audit(lake, name, judge=f"j{number}", at=number, anchors=1, drift=drift)
        compare_with_earlier(lake, name)
    return lake


def rows_of(lake, question):
    with connect(lake) as connection:
        return connection.execute(question).fetchall()


def test_every_audit_with_anchors_has_figures_though_nobody_asked_the_gate(slipping):
    assert slipping.read("gates", audit_id="night13").num_rows == 0
    question = (
        "SELECT audit_id, against, value, ci_low, tau_drop FROM anchor_drift_history WHERE value IS NOT NULL"
    )
    told = {(row[0], row[1]): row[2:] for row in rows_of(slipping, question)}
    assert set(told) == {(f"night{n:02}", against) for n in NIGHTS for against in ("before", "approved")}
    for number in NIGHTS:
        pairs = number - 1
        assert told[f"night{number:02}", "approved"][0] == pytest.approx(1 - 2 * pairs / 435)
        assert told[f"night{number:02}", "before"][0] == pytest.approx(1 - 2 / 435)


def test_no_night_differs_from_the_one_before_and_the_last_from_the_approved_one(slipping):
    question = """
        SELECT audit_id, baseline, verdict FROM verdicts
        WHERE "check" = 'change' AND measure = 'tau_drop' AND kind = '*' AND dimension = 'overall'
    """
    told = {(row[0], row[1]): row[2] for row in rows_of(slipping, question)}
    assert {told[f"night{n:02}", f"j{n - 1}"] for n in NIGHTS} == {"pass"}
    approved = [told[f"night{n:02}", "j1"] for n in NIGHTS]
    assert approved[0] == "pass"
    assert approved[-1] == "fail"
    assert approved == sorted(approved, key=["pass", "inconclusive", "fail"].index)


def test_the_gate_shuts_on_the_sum_and_names_no_single_night(slipping):
    told = gate(slipping, candidate="night13", now=night(14))
    rows = {f"{row['suite']}/{row['expectation']}": row for row in told.answer.rows}
    assert told.code == 1
    order, drift = rows["anchor_order/same_order_or_better"], rows["source_stability/no_drift"]
    assert (order["state"], drift["state"]) == ("shut", "shut")
    for row in (order, drift):
        assert "approved judge" in row["observed"]
        assert "night before" not in row["observed"]


def test_the_history_of_the_sources_adds_up(slipping):
    question = """
        SELECT max(abs(since_before)), max(since_approved) FROM source_stability_history WHERE source = 'a'
    """
    ((step, total),) = rows_of(slipping, question)
    assert step == pytest.approx(0.011)
    assert total == pytest.approx(0.132)
    assert step < 0.10 < total


def test_a_night_is_remembered_once_and_one_without_anchors_not_at_all(slipping):
    before = slipping.read("measures").num_rows
    compare_with_earlier(slipping, "night13")
    add_audit(slipping, "bare", judge="j13", at=20)
    compare_with_earlier(slipping, "bare")
    added = slipping.read("measures", audit_id="bare").num_rows
    assert slipping.read("measures").num_rows == before + added
    assert not {"change"} & set(slipping.read("measures", audit_id="bare")["check"].to_pylist())

"""What people, SQL and the gate are told of a judge that changed behind its name."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from anchor_files import small_set
from night_server import nights_in

from judge_audit.audits.pipeline import LocalExecutor
from judge_audit.audits.stages.gate import before
from judge_audit.decisions.gate.evaluate import held_against
from judge_audit.decisions.gate.model import Against
from judge_audit.lake.connect import connect

pytestmark = pytest.mark.parts


def whole(nights, **options):
    executor = LocalExecutor(nights.context(**options))
    prepared = executor.prepare()
    nights.ask(executor, prepared)
    executor.controls(prepared)
    executor.check(prepared)
    return prepared, executor.report(prepared)


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """Two nights with anchors, between which the judge comes to prefer the dark."""
    folder = tmp_path_factory.mktemp("changed")
    small_set(folder / "anchors", count=12)
    with nights_in(folder) as nights:
        first, _ = whole(nights, anchors=str(folder / "anchors"))
        nights.model.score = lambda pixels, number: 9 - pixels.mean() / 40
        second, outcome = whole(nights, anchors=str(folder / "anchors"))
        yield nights, first, second, outcome


def test_anchors_are_the_canaries_before_any_item(changed):
    nights, *_ = changed
    rows = nights.lake.read("canaries", asking=1).to_pylist()
    assert sum(row["item_id"].startswith("anchor:") for row in rows) == 2 * 12
    assert len(rows) == 2 * 16


def test_the_report_says_that_it_changed_and_what_of_the_order(changed):
    _, first, second, outcome = changed
    told = outcome.document["canaries"]
    assert (told["answer"], told["epoch"], told["nights"]) == ("changed", 1, 1)
    assert told["order"][0] == "It is another epoch: the same name answers differently now (from 0 to 1)."
    assert any("On overall" in line for line in told["order"][1:])
    (caveat,) = [text for text in outcome.document["caveats"] if "asked afresh about canaries" in text]
    assert "The judge has changed behind its name" in caveat
    page = Path(outcome.report).read_text(encoding="utf-8")
    assert "The judge has changed behind its name" in page
    assert not [row for row in outcome.document["fix_first"]["faults"] if row.get("check") == "change"]
    assert first.canaries.answer == "first"
    assert second.judge_id != first.judge_id


def test_the_order_of_both_epochs_stands_in_the_lake(changed):
    nights, first, second, _ = changed
    rows = nights.lake.read("verdicts", audit_id=second.audit_id, check="change").to_pylist()
    assert {(row["subject"], row["baseline"]) for row in rows} == {(second.judge_id, first.judge_id)}
    (drop,) = [row for row in rows if row["measure"] == "tau_drop"]
    assert drop["verdict"] in {"fail", "inconclusive"}
    flips = nights.lake.read("rank_changes", judge_id=second.judge_id)
    assert flips.num_rows > 12


def test_the_gate_sees_another_judge_of_the_same_name(changed):
    nights, first, second, _ = changed
    assert before(nights.lake, second.audit_id) == first.audit_id
    audit = nights.lake.read("audits", audit_id=second.audit_id, status="complete").to_pylist()[0]
    assert audit["judge_id"] == second.judge_id != first.judge_id
    assert (
        held_against(nights.lake, audit, "screening", Against(first.audit_id), datetime.now(UTC))
        == first.audit_id
    )


def test_sql_tells_both_epochs_apart_by_name(changed):
    nights, *_ = changed
    question = "SELECT judge, epoch, opened_by, finding, nights FROM epochs ORDER BY epoch"
    with connect(nights.lake) as connection:
        rows = connection.execute(question).fetchall()
        named = connection.execute("SELECT judge FROM latest_audit ORDER BY judge").fetchall()
    assert [row[:3] for row in rows] == [("vlm 1", 0, "first"), ("vlm 1 · epoch 1", 1, "changed")]
    assert rows[1][3]
    assert named == [("vlm 1",), ("vlm 1 · epoch 1",)]


def test_the_audit_says_which_asking_it_went_by(changed):
    nights, first, second, _ = changed
    rows = nights.lake.read("audits", status="complete").to_pylist()
    assert {row["audit_id"]: row["canary_asking"] for row in rows} == {first.audit_id: 1, second.audit_id: 2}
    assert json.loads(rows[0]["configuration"])["canaries"] == 16

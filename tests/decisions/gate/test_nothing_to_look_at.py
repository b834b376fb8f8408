"""Data about which every expectation would pass: the gate is shut or cannot be asked, never open."""

from __future__ import annotations

import json

import pytest
from gate_lake import add_answers, add_audit, add_judge, add_plan, night, standing_rows, verdict_rows

from judge_audit.audits.stages.gate import approve_candidate
from judge_audit.decisions.gate import evaluate as asking
from judge_audit.decisions.gate.approvals import Approver
from judge_audit.decisions.gate.evaluate import ask_gate, candidate_of
from judge_audit.decisions.gate.suites import parse_suite
from judge_audit.lake import Lake

POSITIVE = {
    "type": "expect_column_values_to_be_between",
    "kwargs": {"column": "v", "min_value": 0, "max_value": 1000},
    "meta": {"name": "positive", "reason": "It is negative.", "remedy": "Add."},
}
NONE = {
    "type": "expect_table_row_count_to_equal",
    "kwargs": {"value": 0},
    "meta": {"name": "none", "reason": "There are bad rows.", "remedy": "Mend."},
}
TWO = "SELECT * FROM (VALUES ('a', 1.0), ('b', 2.0)) AS t (k, v)"
ALL = "SELECT k, {}::DOUBLE AS v FROM (VALUES ('a'), ('b')) AS t (k)"
KEYS = "SELECT * FROM (VALUES ('a'), ('b')) AS t (k)"


def suite(frame, keys=KEYS, *expectations, **parts):
    content = {
        "owner": "judge owner",
        "key": ["k"],
        "expectations": list(expectations) or [POSITIVE],
        **parts,
    }
    return parse_suite("odd", f"-- Odd?\n{frame};\n-- keys: all.\n{keys};\n", json.dumps(content))


def answered(lake, *suites):
    found = {entry.name: entry for entry in suites}
    answer = ask_gate(lake, candidate_of(lake, None), "filtering", found, now=night(9))
    (row,) = [row for row in answer.rows if row["suite"] == "odd"]
    return row


def test_a_whole_frame_is_open(lake):
    row = answered(lake, suite(TWO))
    assert (row["state"], row["observed"]) == ("open", "met by all 2 rows")


def test_a_row_that_fails_is_named_by_its_key(lake):
    row = answered(lake, suite(TWO.replace("2.0", "-2.0")))
    assert (row["state"], row["observed"], row["reason"]) == ("shut", "k b", "It is negative.")


@pytest.mark.parametrize(
    ("frame", "keys", "state", "said"),
    [
        (f"{TWO} WHERE k = 'c'", KEYS, "cannot be asked", "no rows"),
        (TWO, f"{KEYS} WHERE k = 'c'", "cannot be asked", "Nothing is due"),
        (f"{TWO} WHERE k = 'a'", KEYS, "cannot be asked", "Missing: k b."),
        (f"{TWO} UNION ALL SELECT 'c', 3.0", KEYS, "cannot be asked", "Nobody expected: k c."),
        (f"{TWO} UNION ALL SELECT 'a', 3.0", KEYS, "cannot be asked", "more than once: k a."),
        (f"{TWO} UNION ALL SELECT NULL, 3.0", KEYS, "cannot be asked", "without a k"),
        (TWO, f"{KEYS} UNION ALL SELECT NULL", "cannot be asked", "without a k"),
        (ALL.format("NULL"), KEYS, "cannot be asked", "no value for k a; k b"),
        (ALL.format("'nan'"), KEYS, "cannot be asked", "no value for k a; k b"),
        (TWO.replace("2.0", "'nan'::DOUBLE"), KEYS, "cannot be asked", "no value for k b"),
        (TWO.replace("2.0", "'inf'::DOUBLE"), KEYS, "shut", "infinite for k b"),
        (TWO.replace("2.0", "'-inf'::DOUBLE"), KEYS, "shut", "infinite for k b"),
        (TWO.replace("(k, v)", "(k, w)"), KEYS, "cannot be asked", "no column v"),
        (TWO.replace("(k, v)", "(j, v)"), KEYS, "cannot be asked", "lack the key column k"),
        (TWO, KEYS.replace("(k)", "(j)"), "cannot be asked", "lack the key column k"),
        ("SELECT gone AS k, 1.0 AS v FROM verdicts", KEYS, "cannot be asked", "cannot be run"),
        ("SELECT * FROM no_such_table", KEYS, "cannot be asked", "cannot be run"),
        ("SELEC", KEYS, "cannot be asked", "cannot be run"),
        (TWO + " WHERE k <> $party", KEYS, "cannot be asked", "no parameter $party"),
        ("COPY (SELECT 1) TO 'x.csv'", KEYS, "cannot be asked", "cannot be run"),
        ("SELECT * FROM read_csv('/etc/passwd')", KEYS, "cannot be asked", "cannot be run"),
        (TWO.replace("1.0", "'1'").replace("2.0", "'2'"), KEYS, "cannot be asked", "could not evaluate"),
    ],
)  # fmt: skip
def test_what_great_expectations_would_pass_or_stumble_over_is_never_open(lake, frame, keys, state, said):
    row = answered(lake, suite(frame, keys))
    assert row["state"] == state
    assert said in row["reason"]


def test_a_rule_of_bad_rows_needs_rows_it_looked_at(lake):
    bad = f"{TWO} WHERE v < 0"
    assert answered(lake, suite(bad, KEYS, NONE, rows="none"))["observed"] == "none among 2 looked at"
    nothing = answered(lake, suite(bad, f"{KEYS} WHERE k = 'c'", NONE, rows="none"))
    assert nothing["state"] == "cannot be asked"
    found = answered(lake, suite(f"{TWO} WHERE v > 1", KEYS, NONE, rows="none"))
    assert (found["state"], found["observed"]) == ("shut", "k b")


def test_without_a_suite_nothing_is_open(lake):
    answer = ask_gate(lake, candidate_of(lake, None), "filtering", {}, now=night(9))
    assert answer.state != "open"
    assert {row["expectation"]: row["state"] for row in answer.rows}["suites"] == "cannot be asked"


def test_an_expectation_left_unanswered_is_not_open(lake, monkeypatch):
    monkeypatch.setattr(asking, "evaluate", lambda frame, expectations: {})
    row = answered(lake, suite(TWO))
    assert row["state"] == "cannot be asked"
    assert "no answer" in row["reason"]


def test_an_empty_lake_and_an_audit_without_results_are_not_open(tmp_path, ask):
    lake = Lake.open(tmp_path / "empty")
    add_judge(lake, "j1")
    add_audit(lake, "hollow", verdicts=[], standings=[], drift={})
    told = ask(lake, use="filtering")
    asked = [row for row in told.answer.rows if row["suite"] not in {"gate", "signoffs"}]
    assert {row["state"] for row in asked} == {"cannot be asked"}
    assert told.code != 0


@pytest.mark.parametrize(
    ("plan", "said"),
    [({"sources": ("a",)}, "source b"), ({"rungs": (1, 2)}, "axis blur, rung 3")],
)
def test_a_source_or_rung_that_was_approved_with_must_be_there(approved, ask, plan, said):
    add_answers(approved, "j1", add_plan(approved, "less", **plan))
    add_audit(approved, "second", at=2, plan="less")
    told = ask(approved)
    assert told.code == 2
    row = next(row for row in told.answer.rows if row["suite"] == "completeness")
    assert row["state"] == "cannot be asked"
    assert said in row["reason"]


def test_a_planned_picture_without_an_answer_shuts(lake, ask):
    add_judge(lake, "j2")
    add_answers(lake, "j2", add_plan(lake, "plan")[:-1])
    add_audit(lake, "second", judge="j2", at=2)
    rows = {f"{row['suite']}/{row['expectation']}": row for row in ask(lake, use="filtering").answer.rows}
    row = rows["completeness/nothing_unanswered"]
    assert row["state"] == "shut"
    assert "source b" in row["observed"]


def test_an_audit_that_never_ended_cannot_be_asked_about(approved, ask):
    add_audit(approved, "killed", at=2, status="started")
    told = ask(approved, candidate="killed")
    assert told.code == 2
    assert "judge-audit run" in "\n".join(told.lines)


@pytest.mark.parametrize(
    ("parts", "suite_name"),
    [
        ({"verdicts": verdict_rows("second", "j1", controls=())}, "controls"),
        ({"verdicts": verdict_rows("second", "j1")[:1]}, "convictions"),
        ({"standings": standing_rows("second", "j1")[1:]}, "standings"),
    ],
)
def test_evidence_that_was_there_when_approved_may_not_be_gone(approved, ask, parts, suite_name):
    add_audit(approved, "second", at=2, **parts)
    told = ask(approved)
    assert told.code == 2
    assert {row["state"] for row in told.answer.rows if row["suite"] == suite_name} == {"cannot be asked"}


def test_a_source_gone_from_the_history_counts_where_the_use_needs_it(lake, ask):
    standings = standing_rows("first", "j1", allowed=("filtering", "ranking", "reward"))
    add_audit(lake, "base", at=2, standings=[{**row, "audit_id": "base"} for row in standings])
    for use in ("reward", "filtering"):
        approver = Approver("Ada", "ada", "so", first=True)
        approve_candidate(lake, candidate="base", use=use, approver=approver, now=night(3))
    rows = [{**row, "audit_id": "second"} for row in standings]
    add_audit(lake, "second", at=4, standings=rows, drift={"a": 0.01})
    assert ask(lake, use="reward").code == 2
    filtering = ask(lake, use="filtering")
    assert filtering.code == 0
    assert [row["state"] for row in filtering.answer.warnings] == ["cannot be asked"]

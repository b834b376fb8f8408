from __future__ import annotations

import json
from importlib.resources import files

import pytest
from suite_files import SQL, expectation, text

from judge_audit.audits.plugins import find_suites, part_digests
from judge_audit.core.configuration import FOLDERS, Configuration
from judge_audit.core.errors import UsageError
from judge_audit.decisions.gate.suites import builtin_suites, parse_suite

DRIFT = {"anchor_order", "source_stability"}


def kwargs(**parts):
    return expectation(kwargs=parts)


def typed(kind, **parts):
    return expectation(type=f"expect_column_{kind}", kwargs=parts)


@pytest.mark.parametrize(
    ("sql", "content", "said"),
    [
        (SQL, text(), "expectations"),
        (SQL, "[", "not valid JSON"),
        (SQL, "[]", "whole file"),
        (SQL, text(expectation(), wish=1), "wish"),
        (SQL, text(expectation(), expectation()), "two expectations are named “small”"),
        (SQL, text(expectation(meta={"name": "small", "reason": "x"})), "remedy"),
        (SQL, text(expectation(severity="mild")), "mild"),
        (SQL, text(kwargs(column="v", min_value=0)), "takes exactly column, max_value, min_value"),
        (SQL, text(kwargs(column="v", min_value=0, max_value=None)), "an open end lets everything pass"),
        (SQL, text(kwargs(column="v", min_value=0, max_value=float("inf"))), "an open end"),
        (SQL, text(kwargs(column="v", min_value=0, max_value=3, mostly=0.1)), "is given"),
        (SQL, text(kwargs(column="v", min_value=0, max_value=3, row_condition="k > 9")), "is given"),
        (SQL, text(typed("values_to_be_in_set", column="v", value_set=[])), "empty one"),
        (SQL, text(typed("to_exist", column="v")), "is not one of"),
        (SQL, text(expectation(), rows="none"), "expect_table_row_count_to_equal with value 0"),
        ("SELECT 1", text(expectation()), "opens with a comment"),
        ("-- Odd?\nSELECT 1;\n", text(expectation()), "-- keys"),
        ("-- Odd?\n-- keys: x\nSELECT 1;\n", text(expectation()), "the query for the rows is empty"),
        ("-- Odd?\nSELECT 1;\n-- keys: x\n", text(expectation()), "the query for the keys is empty"),
    ],
)  # fmt: skip
def test_a_malformed_suite_is_refused_by_name(sql, content, said):
    with pytest.raises(UsageError, match=r"suites/odd\.") as refused:
        parse_suite("odd", sql, content)
    assert said in str(refused.value)


def test_every_fault_is_told_at_once():
    with pytest.raises(UsageError) as refused:
        parse_suite("odd", "SELECT 1", text(expectation(severity="mild"), wish=1))
    assert str(refused.value).count("\n") == 2


def test_a_suite_may_not_bear_the_gate_s_own_name():
    with pytest.raises(UsageError, match="what the gate asks by itself"):
        parse_suite("gate", SQL, text(expectation()))


@pytest.fixture
def project(tmp_path):
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "odd.sql").write_text(SQL, encoding="utf-8")
    (tmp_path / "suites" / "odd.json").write_text(text(expectation()), encoding="utf-8")
    return tmp_path


def test_a_suite_dropped_into_a_project_is_found_with_its_digest(project):
    assert "suites" in FOLDERS
    part = find_suites(str(project))["odd"]
    assert part.thing.meaning == "Odd?"
    assert str(project) in part.origin
    assert part.digest in part_digests(Configuration(items="x", project=str(project))).values()
    assert set(find_suites("")) == set(builtin_suites())


def test_half_a_suite_a_malformed_one_and_a_name_that_stands_twice_are_refused(project):
    (project / "suites" / "odd.json").unlink()
    with pytest.raises(UsageError, match=r"suites/odd\.json is not there"):
        find_suites(str(project))
    (project / "suites" / "odd.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match=rf"{project}.*suites/odd\.json"):
        find_suites(str(project))
    for ending, content in (("sql", SQL), ("json", text(expectation()))):
        (project / "suites" / f"odd.{ending}").unlink()
        (project / "suites" / f"standings.{ending}").write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match="“standings” stands twice"):
        find_suites(str(project))


def test_an_installed_package_s_suites_are_found_by_their_entry_point(tmp_path, monkeypatch):
    package = tmp_path / "team_suites"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "odd.sql").write_text(SQL, encoding="utf-8")
    (package / "odd.json").write_text(text(expectation()), encoding="utf-8")
    record = tmp_path / "team_suites-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: team-suites\nVersion: 1.0\n")
    (record / "entry_points.txt").write_text("[judge_audit.suites]\nodd = team_suites\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "entry point odd" in find_suites("")["odd"].origin


def test_only_the_two_drift_suites_hold_thresholds_and_each_holds_it_once():
    folder = files("judge_audit_schemas") / "suites"
    for name in builtin_suites():
        entries = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))["expectations"]
        ends = [
            entry["kwargs"][end]
            for entry in entries
            for end in ("min_value", "max_value", "value")
            if end in entry["kwargs"]
        ]
        thresholds = {abs(end) for end in ends if end != 0}
        assert len(thresholds) <= (2 if name in DRIFT else 0), name
        sql = (folder / f"{name}.sql").read_text(encoding="utf-8")
        assert not any(str(threshold) in sql for threshold in thresholds)

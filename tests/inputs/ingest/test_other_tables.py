"""Readings, choices, decisions, pairs, reviews and appeals: taken, or refused with every fault."""

from __future__ import annotations

import pytest
from table_files import lake_of, write_csv, write_lines

from judge_audit.core.errors import InputError
from judge_audit.core.tables import TABLES, definition, from_rows
from judge_audit.inputs.ingest.importer import import_file
from judge_audit.inputs.ingest.kinds import table_kinds
from judge_audit.people.readings import SCHEMA, readings_of
from judge_audit.stimuli.axes import builtin_axes


def take(folder, kind, header, rows, **options):
    path = write_csv(folder / f"{kind}.csv", header, rows)
    return import_file(lake_of(folder), kind, path, options=options)


def faults_of(folder, kind, header, rows):
    with pytest.raises(InputError) as error:
        take(folder, kind, header, rows)
    return {(fault.row, fault.column): fault.message for fault in error.value.faults}


def test_every_kind_names_columns_of_its_table():
    for name, kind in table_kinds().items():
        assert kind.table in TABLES
        if name not in {"scores", "labels"}:
            known = {column.name for column in definition(name).columns}
            assert {column.name for column in kind.columns} <= known


def test_decisions_are_taken_with_their_times(tmp_path):
    header = "decision_id,item_id,decision,value,decided_at"
    take(tmp_path, "decisions", header, ["d1,a,ACCEPT,7.5,2026-01-02T03:04:05+02:00", "d2,b,reject,,"])
    found = lake_of(tmp_path).read("decisions").to_pylist()
    assert [(row["decision"], row["value"]) for row in found] == [("accept", 7.5), ("reject", None)]
    assert found[0]["decided_at"].isoformat() == "2026-01-02T01:04:05+00:00"
    wrong = faults_of(
        tmp_path, "decisions", header, ["d1,a,maybe,x,yesterday", "d2,b,accept,1,", "d2,c,accept,1,"]
    )
    assert "none of accept, reject" in wrong[1, "decision"]
    assert "not a number" in wrong[1, "value"]
    assert "not a time" in wrong[1, "decided_at"]
    assert "in row 2 already" in wrong[3, "decision_id"]


def test_choices_may_be_wide_and_must_be_among_the_candidates(tmp_path):
    take(tmp_path, "choices", "group_id,ann,bob", ["g1,a,b", "g2,c,"], wide=["ann", "bob"])
    found = lake_of(tmp_path).read("choices").to_pylist()
    assert [(row["group_id"], row["annotator_id"], row["item_id"]) for row in found] == [
        ("g1", "ann", "a"),
        ("g1", "bob", "b"),
        ("g2", "ann", "c"),
    ]
    wrong = faults_of(
        tmp_path,
        "choices",
        "group_id,item_id,annotator_id,candidates",
        ["g,z,r,a|b", "g,a,r,a|b", "g,b,r,a|b"],
    )
    assert "none of the group's candidates" in wrong[1, "item_id"]
    assert "in row 2 already" in wrong[3, "annotator_id"]


def test_choices_keep_their_candidates_in_order(tmp_path):
    path = write_lines(tmp_path / "c.jsonl", [{"group_id": "g", "item_id": "b", "candidates": ["b", "a"]}])
    done = import_file(lake_of(tmp_path), "choices", path)
    assert lake_of(tmp_path).read("choices").to_pylist()[0]["candidates"] == ["b", "a"]
    assert any("who chose" in note for note in done.notes)


def test_readings_are_held_to_the_ladders(tmp_path):
    header = "item_id,axis,annotator_id,perceptible"
    take(tmp_path, "readings", header, ["a,blur,r1,0.01", "a,blur,r2,"])
    found = lake_of(tmp_path).read("readings").to_pylist()
    assert [(row["annotator_id"], row["perceptible"]) for row in found] == [
        ("r1", 0.01),
        ("r2", float("inf")),
    ]
    wrong = faults_of(
        tmp_path, "readings", header, ["a,smell,r1,1", "a,blur,r1,x", "a,blur,r2,0.01", "a,blur,r2,0.02"]
    )
    assert "there is no axis “smell”" in wrong[1, "axis"]
    assert "not a number" in wrong[2, "perceptible"]
    assert "in row 3 already" in wrong[4, "annotator_id"]


def test_imported_readings_are_those_of_the_audits_items_and_axes_in_the_order_of_readers(tmp_path):
    header = "item_id,axis,annotator_id,perceptible"
    axes = builtin_axes()
    take(
        tmp_path, "readings", header, ["a,blur,r2,0.01", "a,blur,r1,0.02", "z,blur,r1,0.01", "a,crop,r1,0.1"]
    )
    take(tmp_path, "readings", header, ["a,blur,r2,0.005"])
    items = from_rows("items", [{"item_id": "a", "plan_id": "p"}])
    found, imports = readings_of(lake_of(tmp_path), {"blur": axes["blur"]}, items)
    assert [(row["annotator_id"], row["perceptible"]) for row in found.to_pylist()] == [
        ("r2", 0.005),
        ("r1", 0.02),
    ]
    assert found.schema == SCHEMA
    assert len(imports) == 2
    none, _ = readings_of(lake_of(tmp_path / "other"), axes, items)
    assert none.num_rows == 0


def test_pairs_reviews_and_appeals_are_taken_or_refused(tmp_path):
    take(tmp_path, "pairs", "pair_id,kind,intact,damaged", ["p,hands,a,b"])
    assert lake_of(tmp_path).read("pairs").to_pylist()[0]["cluster"] == "p"
    assert (
        "intact member itself"
        in faults_of(tmp_path, "pairs", "pair_id,kind,intact,damaged", ["p,k,a,a"])[1, "damaged"]
    )
    done = take(tmp_path, "reviews", "review_id,item_id,outcome,inclusion", ["r,a,good,0.1", "s,b,bad,"])
    assert any("with which probability 1 of 2" in note for note in done.notes)
    wrong = faults_of(
        tmp_path, "reviews", "review_id,item_id,outcome,inclusion", ["r,a,good,1.5", "s,b,fine,1"]
    )
    assert "at most 1" in wrong[1, "inclusion"]
    assert "none of good, bad" in wrong[2, "outcome"]
    take(tmp_path, "appeals", "appeal_id,decision_id,outcome", ["x,d1,open"])
    assert lake_of(tmp_path).read("appeals").to_pylist()[0]["outcome"] == "open"
    with pytest.raises(InputError, match="never wide"):
        take(tmp_path, "appeals", "appeal_id,decision_id,outcome", ["x,d1,open"], wide=["outcome"])

"""Labels from tables: every way of writing the same table gives the same labels, and every fault is told."""

from __future__ import annotations

import pytest
from table_files import labels, lake_of, plain, write_csv, write_lines, write_parquet

from judge_audit.core.errors import InputError, UsageError
from judge_audit.core.tables import from_rows
from judge_audit.inputs.ingest.importer import import_file
from judge_audit.people.labels import labels_of

LONG = "item_id,source,annotator_id,value"
ROWS = [("a", "x", "r1", 4), ("a", "x", "r2", 5), ("b", "y", "r1", 2), ("b", "y", "r2", 1)]


def told(path_or_error):
    return {(fault.row, fault.column): fault.message for fault in path_or_error.value.faults}


def items_of(*names):
    rows = [{"item_id": name, "plan_id": "p", "source": "s", "topic": "t", "cluster": name} for name in names]
    return from_rows("items", rows)


def test_csv_json_lines_and_parquet_give_the_same_labels(tmp_path):
    rows = [dict(zip(LONG.split(","), row, strict=True)) for row in ROWS]
    found = []
    for number, path in enumerate(
        (
            write_csv(tmp_path / "a.csv", LONG, [",".join(map(str, row)) for row in ROWS]),
            write_lines(tmp_path / "a.jsonl", rows),
            write_parquet(tmp_path / "a.parquet", rows),
        )
    ):
        lake = lake_of(tmp_path / str(number))
        labels(lake, path, low=1, high=5)
        found.append(plain(lake))
    assert found[0] == found[1] == found[2]
    assert sorted(row["value"] for row in found[0]) == [1.0, 2.0, 4.0, 5.0]
    assert {(row["level"], row["low"], row["high"]) for row in found[0]} == {("ordinal", 1.0, 5.0)}


def test_wide_and_long_give_the_same_labels(tmp_path):
    long = write_csv(tmp_path / "long.csv", LONG, [",".join(map(str, row)) for row in ROWS])
    wide = write_csv(tmp_path / "wide.csv", "item_id,source,r1,r2", ["a,x,4,5", "b,y,2,1"])
    labels(lake_of(tmp_path / "1"), long)
    labels(lake_of(tmp_path / "2"), wide, wide=["r1", "r2"])
    assert plain(lake_of(tmp_path / "1")) == plain(lake_of(tmp_path / "2"))


def test_wide_columns_may_stand_for_annotator_and_dimension_at_once(tmp_path):
    path = write_csv(tmp_path / "w.csv", "item_id,a_SC,a_PQ", ["i,1,0"])
    wide = {
        "a_SC": {"annotator_id": "a", "dimension": "semantic"},
        "a_PQ": {"annotator_id": "a", "dimension": "quality"},
    }
    labels(lake_of(tmp_path), path, wide=wide)
    found = {(row["annotator_id"], row["dimension"]): row["value"] for row in plain(lake_of(tmp_path))}
    assert found == {("a", "semantic"): 1.0, ("a", "quality"): 0.0}


def test_ids_are_put_together_and_values_renamed_before(tmp_path):
    path = write_csv(tmp_path / "m.csv", "model,uid,rater,score", ["D2,1,r,3", "SD,1,r,4"])
    columns = {"item_id": ["model", "uid"], "source": "model", "annotator_id": "rater", "value": "score"}
    labels(lake_of(tmp_path), path, columns=columns, values={"model": {"D2": "DALLE"}})
    assert {(row["item_id"], row["source"]) for row in plain(lake_of(tmp_path))} == {
        ("DALLE/1", "DALLE"),
        ("SD/1", "SD"),
    }


def test_only_the_rows_that_are_meant_are_taken(tmp_path):
    path = write_csv(tmp_path / "o.csv", "item_id,value,task", ["a,1,x", "b,2,y"])
    done = labels(lake_of(tmp_path), path, only={"task": ["y"]})
    assert (done.rows, done.refused) == (1, 0)
    with pytest.raises(InputError, match="no row has z"):
        labels(lake_of(tmp_path), path, only={"task": ["z"]})


def test_every_fault_is_told_at_once_with_row_and_column(tmp_path):
    rows = [
        ",x,r,3",  # no item
        "a,x,r,good",
        "b,x,r,9",
        "c,x,r,inf",
        "d,x,r,1e999",
        "e,*,r,3",
        "f,x,r,3",
        "f,x,r,4",
        f"{'g' * 1001},x,r,3",
        "h\0,x,r,3",
        "ok,x,r,3",
        "i,x,r,1,extra",
    ]
    path = write_csv(tmp_path / "bad.csv", LONG, rows)
    with pytest.raises(InputError) as error:
        labels(lake_of(tmp_path), path, low=1, high=5)
    found = told(error)
    assert found[1, "item_id"] == "it is empty."
    assert "“good” is not a number" in found[2, "value"]
    assert "words:" in found[2, "value"]
    assert "9 lies beyond the declared ends 1 and 5" in found[3, "value"]
    assert "is not a number" in found[4, "value"]
    assert "too large" in found[5, "value"]
    assert "kept for figures over all" in found[6, "source"]
    assert "in row 7 already" in found[8, "annotator_id"]
    assert "1,001 characters" in found[9, "item_id"]
    assert "NUL" in found[10, "item_id"]
    assert "more or fewer fields" in found[12, ""]
    assert len(found) == 10
    assert "Nothing was imported" in str(error.value)
    assert lake_of(tmp_path).contents().records == ()


def test_refused_rows_are_listed_in_the_lake_and_the_rest_is_taken(tmp_path):
    path = write_csv(tmp_path / "bad.csv", LONG, ["a,x,r,3", "b,x,r,good", "c,x,r,9"])
    done = labels(lake_of(tmp_path), path, low=1, high=5, skip_bad=True)
    lake = lake_of(tmp_path)
    assert (done.rows, done.refused) == (1, 2)
    assert any("2 faulty rows" in line for line in done.lines)
    refused = lake.read("refusals", plan_id=done.import_id).to_pylist()
    assert [(row["file"], row["row"], row["column"], row["item_id"]) for row in refused] == [
        ("bad.csv", 2, "value", "b"),
        ("bad.csv", 3, "value", "c"),
    ]
    assert lake.read("imports").to_pylist()[0]["refused"] == 2


def test_a_column_is_named_as_the_file_names_it(tmp_path):
    path = write_csv(tmp_path / "n.csv", "item_id,r1,r2", ["a,3,bad"])
    with pytest.raises(InputError) as error:
        labels(lake_of(tmp_path), path, wide=["r1", "r2"])
    assert list(told(error)) == [(1, "r2")]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "column value: this column is missing"),
        ({"columns": {"value": "score"}}, "column score: there is no such column in the file"),
        ({"columns": {"worth": "x"}}, "column worth: there is no such column to fill"),
        ({"wide": ["nobody"]}, "column nobody: there is no such column in the file"),
        ({"wide": ["x"], "set": {"value": "3"}}, "wide columns hold it already"),
        ({"only": {"task": ["y"]}}, "column task: there is no such column"),
        ({"wide": ["x"], "wide_as": "rater"}, "column rater: there is no such column to fill"),
        ({"level": "cardinal"}, "column level: 'cardinal' is not one of"),
        ({"low": 5, "high": 1}, "low and high are given together"),
        ({"low": 5}, "low and high are given together"),
        ({"colour": "red"}, "column colour: there is no such key"),
    ],
)
def test_what_cannot_be_read_is_told_by_name(tmp_path, options, said):
    path = write_csv(tmp_path / "x.csv", "item_id,x", ["a,1"])
    with pytest.raises(InputError, match=said):
        labels(lake_of(tmp_path), path, **options)


def test_an_unknown_table_a_card_with_labels_and_an_empty_file_are_told(tmp_path):
    path = write_csv(tmp_path / "e.csv", "item_id,value", [])
    with pytest.raises(UsageError, match="no table “ratings” to import; there are appeals, choices"):
        import_file(lake_of(tmp_path), "ratings", path)
    with pytest.raises(InputError, match="no rows with a value"):
        labels(lake_of(tmp_path), path)
    with pytest.raises(UsageError, match="no such file"):
        labels(lake_of(tmp_path), tmp_path / "absent.csv")
    with pytest.raises(UsageError, match="scores need the card"):
        import_file(lake_of(tmp_path), "scores", path)


def test_nothing_is_imported_twice(tmp_path):
    path = write_csv(tmp_path / "a.csv", LONG, ["a,x,r,3"])
    first = labels(lake_of(tmp_path), path)
    commits = len(lake_of(tmp_path).contents().records)
    again = labels(lake_of(tmp_path), path)
    assert (first.new, again.new) == (True, False)
    assert "was imported the same way" in again.lines[0]
    assert len(lake_of(tmp_path).contents().records) == commits
    assert labels(lake_of(tmp_path), path, low=1, high=5).new  # read otherwise: another import


def test_missing_annotators_are_accepted_and_named_as_a_limitation_that_stays(tmp_path):
    path = write_csv(tmp_path / "u.csv", "item_id,value", ["a,3", "a,4", "b,2"])
    done = labels(lake_of(tmp_path), path)
    (note,) = [note for note in done.notes if "who labelled" in note]
    assert "3 of 3 rows" in note
    assert f"Note: {note}" in done.lines
    assert note in lake_of(tmp_path).read("imports").to_pylist()[0]["notes"]
    found = labels_of(lake_of(tmp_path), items_of("a", "b"))
    assert any(note in told for told in found.notes)
    assert [(row["item_id"], row["repeat"], row["value"]) for row in found.table.to_pylist()] == [
        ("a", 0, 3.0),
        ("a", 1, 4.0),
        ("b", 0, 2.0),
    ]


def test_empty_values_are_no_labels_and_counted(tmp_path):
    path = write_lines(tmp_path / "e.jsonl", [{"item_id": "a", "value": v} for v in (3, None, float("nan"))])
    done = labels(lake_of(tmp_path), path)
    assert done.rows == 1
    assert "2 empty values are no labels." in done.lines


def test_words_stand_for_numbers_and_dimensions_may_differ(tmp_path):
    path = write_csv(tmp_path / "w.csv", "item_id,dimension,value", ["a,look, Good ", "a,artefacts,1"])
    extra = {"artefacts": {"low": 0, "high": 1, "higher_is_better": False, "level": "nominal"}}
    labels(lake_of(tmp_path), path, words={"good": 4}, low=1, high=5, dimensions=extra)
    found = {row["dimension"]: row for row in lake_of(tmp_path).read("labels").to_pylist()}
    assert (found["look"]["value"], found["look"]["label_text"]) == (4.0, " Good ")
    bad = found["artefacts"]
    assert (bad["level"], bad["high"], bad["higher_is_better"]) == ("nominal", 1.0, False)


def test_of_one_annotators_labels_of_an_item_the_newest_import_counts(tmp_path):
    lake = lake_of(tmp_path)
    labels(lake, write_csv(tmp_path / "1.csv", LONG, ["a,x,r,3", "b,x,r,3"]))
    labels(lake, write_csv(tmp_path / "2.csv", LONG, ["a,x,r,5"]))
    found = labels_of(lake, items_of("a", "c"))
    assert [(row["item_id"], row["value"]) for row in found.table.to_pylist()] == [("a", 5.0)]
    assert len(found.imports) == 1
    assert any("given again" in note for note in found.notes)


def test_hostile_names_are_kept_as_they_are(tmp_path):
    names = [
        '=cmd|"/c calc"!A1',
        "../../etc/passwd",
        "<script>alert(1)</script>",
        "'; DROP TABLE labels;--",
        "𝕏 é",
    ]
    path = write_lines(tmp_path / "h.jsonl", [{"item_id": name, "value": 1} for name in names])
    labels(lake_of(tmp_path), path)
    assert {row["item_id"] for row in lake_of(tmp_path).read("labels").to_pylist()} == set(names)


def test_rows_of_several_batches_are_all_taken(tmp_path):
    rows = [f"i{n // 4},s{n % 7},r{n % 4},{n % 5 + 1}" for n in range(20_000)]
    path = write_csv(tmp_path / "big.csv", LONG, [row.replace(row.split(",")[1], "s") for row in rows])
    done = labels(lake_of(tmp_path), path, low=1, high=5)
    assert done.rows == 20_000

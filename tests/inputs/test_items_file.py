"""The items file: every fault at once, with row and column, and nothing lost."""

from __future__ import annotations

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from judge_audit.core.errors import InputError, UsageError
from judge_audit.inputs.items import read_items
from judge_audit.stimuli.images import load_mask

COLUMNS = ["item_id", "source", "prompt", "image"]


@pytest.fixture
def folder(tmp_path):
    for name in ("a", "b", "c"):
        pixels = np.random.default_rng(ord(name)).integers(0, 256, (20, 20, 3)).astype(np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{name}.png")
    return tmp_path


def written(folder, rows, columns=COLUMNS, name="items.csv"):
    with (folder / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)
    return folder / name


def test_csv_json_lines_and_parquet_give_the_same_items(folder):
    rows = [["1", "x", 'a "quoted", \nprompt', "a.png"], ["2", "y", "b\u2028c", "b.png"]]
    table = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in table)
    (folder / "items.jsonl").write_text(text, encoding="utf-8")
    pq.write_table(pa.Table.from_pylist(table), folder / "items.parquet")
    first = read_items(written(folder, rows)).items
    assert first.num_rows == 2
    for name in ("items.jsonl", "items.parquet"):
        assert read_items(folder / name).items.equals(first)


def test_all_faults_are_told_at_once_with_row_and_column(folder):
    (folder / "text.png").write_text("no picture")
    outside = folder.parent / "outside.png"
    Image.new("RGB", (20, 20)).save(outside)
    (folder / "link.png").symlink_to(outside)
    path = written(
        folder,
        [
            ["1", "x", "p", "a.png"],
            ["1", "x", "p", "b.png"],
            ["3", "", "p", "b.png"],
            ["4", "x", "", "b.png"],
            ["5", "x", "p", "none.png"],
            ["6", "x", "p", "text.png"],
            ["7", "x", "p", "../outside.png"],
            ["8", "x", "p", "link.png"],
        ],
    )
    with pytest.raises(InputError) as caught:
        read_items(path, needs_prompt=True)
    assert [(fault.row, fault.column) for fault in caught.value.faults] == [
        (2, "item_id"),
        (3, "source"),
        (4, "prompt"),
        (5, "image"),
        (6, "image"),
        (7, "image"),
        (8, "image"),
    ]
    assert "--skip-bad" in str(caught.value)
    skipped = read_items(path, needs_prompt=True, skip_bad=True)
    assert skipped.items["item_id"].to_pylist() == ["1"]
    assert len(skipped.refusals) == 7


def test_an_empty_prompt_is_no_fault_for_a_judge_that_needs_none(folder):
    assert read_items(written(folder, [["1", "x", "", "a.png"]])).items.num_rows == 1


def test_defaults_are_one_cluster_an_item_and_one_prompt_id_a_prompt(folder):
    path = written(folder, [["1", "x", "same", "a.png"], ["2", "x", "same", "b.png"]])
    items = read_items(path).items.to_pylist()
    assert [row["cluster"] for row in items] == ["1", "2"]
    assert items[0]["prompt_id"] == items[1]["prompt_id"]


@pytest.mark.parametrize(
    ("columns", "rows", "words"),
    [
        (["item_id", "source", "image"], [["1", "x", "a.png"]], "prompt"),
        (
            ["item_id", "item_id", "source", "prompt", "image"],
            [["1", "1", "x", "p", "a.png"]],
            "stands twice",
        ),
        (COLUMNS, [["1", "x", "p"]], "fewer fields"),
        (COLUMNS, [], "no rows"),
        (COLUMNS, [["1", "*", "p", "a.png"]], "is kept for"),
    ],
)
def test_a_file_of_the_wrong_shape_is_refused_in_words(folder, columns, rows, words):
    with pytest.raises(InputError, match=words):
        read_items(written(folder, rows, columns))


@pytest.mark.parametrize(("name", "words"), [("none.csv", "no such file"), ("a.png", "must end in")])
def test_a_missing_file_and_another_kind_of_file_are_told_apart(folder, name, words):
    with pytest.raises(UsageError, match=words):
        read_items(folder / name)


def test_rows_that_cannot_be_taken_apart_are_left_out_and_listed_when_bad_ones_may_be(folder):
    rows = [
        ["1", "x", "p", "a.png"],
        ["2", "x", "p"],
        ["3", "x", "p", "b.png", "more"],
        ["4", "x", "p", "b.png"],
    ]
    told = read_items(written(folder, rows), skip_bad=True)
    assert told.items["item_id"].to_pylist() == ["1", "4"]
    assert [fault.row for fault in told.refusals] == [2, 3]
    lines = [json.dumps(dict(zip(COLUMNS, rows[0], strict=True))), "{broken", "[1]"]
    (folder / "items.jsonl").write_text("\n".join(lines), encoding="utf-8")
    told = read_items(folder / "items.jsonl", skip_bad=True)
    assert told.items["item_id"].to_pylist() == ["1"]
    assert [fault.row for fault in told.refusals] == [2, 3]


def test_faults_of_taking_apart_and_of_content_are_told_together(folder):
    path = written(folder, [["1", "x", "p"], ["2", "", "p", "a.png"], ["3", "x", "p", "none.png"]])
    with pytest.raises(InputError) as caught:
        read_items(path)
    assert [fault.row for fault in sorted(caught.value.faults)] == [1, 2, 3]


def test_counted_faces_and_the_size_of_the_file_are_kept(folder):
    rows = [["1", "x", "p", "a.png", "2"], ["2", "x", "p", "b.png", ""], ["3", "x", "p", "c.png", "0"]]
    items = read_items(written(folder, rows, [*COLUMNS, "face_count"])).items
    assert items["face_count"].to_pylist() == [2, None, 0]
    sizes = [(folder / name).stat().st_size for name in ("a.png", "b.png", "c.png")]
    assert items["file_bytes"].to_pylist() == sizes
    assert (
        read_items(written(folder, [row[:4] for row in rows])).items["face_count"].to_pylist() == [None] * 3
    )


@pytest.mark.parametrize("faces", ["two", "-1", "1.5", "nan", "1e3"])
def test_a_face_count_that_is_no_count_is_refused_by_row(folder, faces):
    rows = [["1", "x", "p", "a.png", "1"], ["2", "x", "p", "b.png", faces]]
    with pytest.raises(InputError) as caught:
        read_items(written(folder, rows, [*COLUMNS, "face_count"]))
    (fault,) = caught.value.faults
    assert (fault.row, fault.column) == (2, "face_count")
    assert faces in fault.message


def masked(folder, mask, image="a.png"):
    rows = [["1", "x", "p", image, mask], ["2", "x", "p", "b.png", ""]]
    return read_items(written(folder, rows, [*COLUMNS, "mask"]))


def test_a_mask_is_read_with_its_item_and_may_be_left_out(folder):
    marked = np.zeros((20, 20), np.uint8)
    marked[5:9, 5:9] = 255
    Image.fromarray(marked).save(folder / "mask.png")
    Image.fromarray(marked > 0).save(folder / "bits.png")
    first, second = masked(folder, "mask.png").items.to_pylist()
    assert first["mask_uri"] == str(folder / "mask.png")
    assert second["mask_uri"] is None
    assert second["mask_digest"] is None
    assert masked(folder, "bits.png").items["mask_digest"][0].as_py() == first["mask_digest"]
    assert np.array_equal(load_mask(first["mask_uri"], (20, 20)), marked == 255)


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        ("none.png", "there is no such file"),
        ("small.png", "the mask has 30 × 16 pixels, its picture 20 × 20"),
        ("ones.png", "the mask marks nothing"),
        ("../out.png", "must stay in the folder"),
    ],
)
def test_a_mask_that_cannot_serve_is_a_fault_of_its_own_column(folder, mask, said):
    Image.fromarray(np.full((16, 30), 255, np.uint8)).save(folder / "small.png")
    Image.fromarray(np.ones((20, 20), np.uint8)).save(folder / "ones.png")
    with pytest.raises(InputError) as raised:
        masked(folder, mask)
    (fault,) = raised.value.faults
    assert (fault.row, fault.column) == (1, "mask")
    assert said in fault.message


def test_the_part_that_damage_keeps_to_is_kept_as_written(folder):
    rows = [["1", "x", "p", "a.png", "0.1 0.2 0.5 0.6"], ["2", "x", "p", "b.png", ""]]
    items = read_items(written(folder, rows, [*COLUMNS, "part_box"])).items
    assert items["part_box"].to_pylist() == ["0.1 0.2 0.5 0.6", None]


@pytest.mark.parametrize("part", ["0.5 0.2 0.1 0.6", "1 2 3", "left", "0 0 1 1.5", "nan 0 1 1"])
def test_a_part_that_is_none_is_refused_by_row(folder, part):
    rows = [["1", "x", "p", "a.png", ""], ["2", "x", "p", "b.png", part]]
    with pytest.raises(InputError) as caught:
        read_items(written(folder, rows, [*COLUMNS, "part_box"]))
    (fault,) = caught.value.faults
    assert (fault.row, fault.column) == (2, "part_box")

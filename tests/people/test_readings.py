"""Files of readings."""

from __future__ import annotations

import json
import math

import pyarrow as pa
import pytest

from judge_audit.core.errors import InputError
from judge_audit.people.readings import read_readings
from judge_audit.stimuli.axes.axis import Axis

AXES = {
    "blur": Axis("blur", "px", "Blur.", (0.5, 1.0, 2.0, 4.0), 3.0, "blur", None, rises=True, recipe_version=2,
                 draw=lambda image, _strength, _scratch: image)
}  # fmt: skip
ITEMS = pa.table({"item_id": ["a", "b"]})


def write(folder, text, name="readings.csv"):
    path = folder / name
    path.write_text(text)
    return path


def test_an_empty_point_means_never(tmp_path):
    path = write(
        tmp_path, "item_id,axis,annotator_id,perceptible,objectionable\na,blur,r1,1.5,\nb,blur,r1,,\n"
    )
    rows = read_readings(path, AXES, ITEMS).to_pylist()
    assert [row["perceptible"] for row in rows] == [1.5, math.inf]
    assert [row["objectionable"] for row in rows] == [math.inf, math.inf]
    assert rows[0]["recipe_version"] is None


def test_a_study_that_did_not_ask_for_objections_leaves_them_unknown(tmp_path):
    path = write(tmp_path, "item_id,axis,annotator_id,perceptible\na,blur,r1,1.5\n")
    assert read_readings(path, AXES, ITEMS)["objectionable"].to_pylist() == [None]


def test_json_lines_read_the_same_as_csv(tmp_path):
    row = {"item_id": "a", "axis": "blur", "annotator_id": "r1", "perceptible": 1.5}
    path = write(tmp_path, json.dumps(row) + "\n", "readings.jsonl")
    assert read_readings(path, AXES, ITEMS)["perceptible"].to_pylist() == [1.5]


def test_readings_of_shipped_axes_not_climbed_are_left_out(tmp_path):
    path = write(tmp_path, "item_id,axis,annotator_id,perceptible\na,crop,r1,0.1\na,blur,r1,1\n")
    assert read_readings(path, AXES, ITEMS)["axis"].to_pylist() == ["blur"]


def test_all_faults_are_named_at_once_with_row_and_column(tmp_path):
    text = (
        "item_id,axis,annotator_id,perceptible,objectionable,recipe_version\n"
        "x,blur,r1,1,2,2\na,sepia,r1,1,2,2\na,blur,,1,2,2\na,blur,r1,much,2,2\na,blur,r2,9,2,2\n"
        "b,blur,r1,2,1,2\nb,blur,r3,1,2,two\nb,blur,r4,1,2,2\nb,blur,r4,1,2,2\n"
    )
    with pytest.raises(InputError) as caught:
        read_readings(write(tmp_path, text), AXES, ITEMS)
    assert [(fault.row, fault.column) for fault in caught.value.faults] == [
        (1, "item_id"), (2, "axis"), (3, "annotator_id"), (4, "perceptible"), (5, "perceptible"),
        (6, "objectionable"), (7, "recipe_version"), (9, "annotator_id"),
    ]  # fmt: skip


def test_a_missing_column_is_named(tmp_path):
    with pytest.raises(InputError, match="annotator_id"):
        read_readings(write(tmp_path, "item_id,axis,perceptible\na,blur,1\n"), AXES, ITEMS)

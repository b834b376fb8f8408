from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from judge_audit_schemas import rows

from judge_audit.core.errors import MachineryError
from judge_audit.core.row_types import row_types_source
from judge_audit.core.tables import (
    TABLES,
    definition,
    empty,
    from_rows,
    parse_definitions,
    reference_markdown,
    schema,
    sort_by_key,
)
from judge_audit.core.vocabulary import State

MEASURE = {"audit_id": "a", "subject": "s", "check": "c", "measure": "m"}


def test_what_a_result_leaves_out_is_pooled_real_or_unknown():
    row = from_rows("measures", [MEASURE]).to_pylist()[0]
    assert {row[name] for name in ("baseline", "source", "topic", "dimension", "axis", "kind", "rater")} == {
        "*"
    }
    assert row["is_control"] is False
    assert row["value"] is None


def test_numpy_values_enums_and_nan_find_their_way():
    row = {**MEASURE, "value": np.float64("nan"), "ci_low": np.float32(0.5), "n": np.int64(3)}
    told = from_rows("measures", [row]).to_pylist()[0]
    assert (told["value"], told["ci_low"], told["n"]) == (None, 0.5, 3)
    call = {"judge_id": "j", "probe_id": "p", "repeat": 0, "state": State.INERT}
    assert from_rows("calls", [call]).column("state").to_pylist() == ["inert"]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({**MEASURE, "colour": 1}, "no column “colour”"),
        ({"audit_id": "a", "subject": "s", "check": "c"}, "key column “measure”"),
        ({**MEASURE, "n": "many"}, "column “n” holds int64"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_by_column(row, said):
    with pytest.raises(MachineryError, match=said):
        from_rows("measures", [row])


def test_tables_of_no_results_pool_nothing():
    with pytest.raises(MachineryError, match="key column"):
        from_rows("scores", [{"judge_id": "j", "probe_id": "p", "repeat": 0}])


def test_rows_are_sorted_by_the_order_of_the_key():
    rows = [
        {"judge_id": j, "probe_id": p, "repeat": r}
        for j, p, r in [("b", "a", 0), ("a", "b", 1), ("a", "b", 0)]
    ]
    ordered = sort_by_key("calls", from_rows("calls", rows))
    assert [(row["judge_id"], row["repeat"]) for row in ordered.to_pylist()] == [("a", 0), ("a", 1), ("b", 0)]


def test_every_table_is_whole_and_stands_in_the_reference():
    reference = reference_markdown()
    for name in TABLES:
        told = definition(name)
        assert empty(name).schema == schema(name)
        assert set(told.key) <= set(schema(name).names)
        assert told.partition_column in schema(name).names
        assert f"## {name}" in reference
        assert all(column.description for column in told.columns)


def test_an_unknown_table_is_named():
    with pytest.raises(MachineryError, match="no table “scorse”"):
        schema("scorse")


COLUMN = {"type": "string", "description": "d"}
TABLE = {"grain": "g", "key": ["k"], "partition": "audit", "columns": ["k", "audit_id"]}


@pytest.mark.parametrize(
    ("columns", "change", "said"),
    [
        ({"k": {"type": "text", "description": "d"}}, {}, "unknown type"),
        ({"k": COLUMN}, {}, "columns.yaml does not"),
        ({"k": COLUMN, "audit_id": COLUMN}, {"partition": "day"}, "partitioned by none"),
        ({"k": COLUMN, "audit_id": COLUMN}, {"key": ["x"]}, "needs the columns"),
        ({"k": COLUMN, "audit_id": COLUMN}, {"links": {"k": "nowhere"}}, "does not exist"),
    ],
)
def test_definitions_that_contradict_themselves_are_refused(columns, change, said):
    with pytest.raises(MachineryError, match=said):
        parse_definitions(columns, {"t": {**TABLE, **change}})


class _Strict(yaml.SafeLoader):
    """Refuses a key that stands twice, which YAML lets pass."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        assert len(keys) == len(set(keys)), sorted({key for key in keys if keys.count(key) > 1})
        return super().construct_mapping(node, deep)


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[2] / "schemas").rglob("*.yaml")), ids=lambda path: path.name
)
def test_no_key_of_a_schema_stands_twice(path):
    assert yaml.load(path.read_text(encoding="utf-8"), _Strict)


def test_the_types_of_rows_are_those_that_the_definitions_give(tmp_path):
    """`make rows` writes them; whoever changes a column runs it."""
    written = tmp_path / "rows.py"
    written.write_text(row_types_source(), encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--line-length", "110", written],
        check=True,
        capture_output=True,
    )
    assert written.read_text(encoding="utf-8") == Path(rows.__file__).read_text(encoding="utf-8")


def test_a_misspelt_column_is_an_error_of_the_type_checker(tmp_path):
    for column, right in (("verdict", True), ("verdit", False)):
        file = tmp_path / f"{column}.py"
        file.write_text(
            "from judge_audit_schemas.rows import ResultRow, VerdictsRow\n"
            f'row: VerdictsRow = {{"{column}": "pass"}}\n'
            f'said: ResultRow = {{"{column}": "pass"}}\n',
            encoding="utf-8",
        )
        schemas = tmp_path / "names" / "judge_audit_schemas"
        if not schemas.exists():
            schemas.parent.mkdir()
            schemas.symlink_to(Path(rows.__file__).parent)
        command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", tmp_path, file]
        checked = subprocess.run(
            command,
            env=os.environ | {"MYPYPATH": str(schemas.parent)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (checked.returncode == 0) == right, checked.stdout
        assert checked.stdout.count('has no key "verdit"') + checked.stdout.count("Extra key") == (
            0 if right else 2
        )

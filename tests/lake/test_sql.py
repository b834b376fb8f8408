from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from judge_audit.core.errors import UsageError
from judge_audit.lake import sql as module
from judge_audit.lake.sql import run_sql


def test_rows_are_written_as_a_table_as_csv_and_as_json(small_lake):
    text = (
        "SELECT item_id, value, reasons FROM responses LEFT JOIN positions ON false ORDER BY probe_id LIMIT 3"
    )
    table = run_sql(small_lake, text)
    assert table.splitlines()[0].split() == ["item_id", "value", "reasons"]
    assert table.endswith("(3 rows)\n")
    assert "NULL" in table
    sheet = list(csv.DictReader(io.StringIO(run_sql(small_lake, text, "csv"))))
    assert sheet[0] == {"item_id": "i0", "value": "3.0", "reasons": ""}
    assert sheet[2]["value"] == ""
    assert json.loads(run_sql(small_lake, text, "json"))[1] == {
        "item_id": "i0",
        "value": 0.5,
        "reasons": None,
    }


def test_lists_times_and_odd_numbers_can_be_written(small_lake):
    text = "SELECT ['a', 'b'] AS l, 'nan'::DOUBLE AS n, TIMESTAMPTZ '2026-01-01 00:00:00+00' AS t"
    found = json.loads(run_sql(small_lake, text, "json"))
    assert found == [{"l": ["a", "b"], "n": "nan", "t": "2026-01-01T00:00:00+00:00"}]
    assert '["a", "b"]' in run_sql(small_lake, text)
    assert "2026-01-01" in run_sql(small_lake, "SELECT max(called_at) FROM calls", "csv")


def test_a_hostile_name_gives_the_terminal_no_orders(small_lake):
    assert "\x1b" not in run_sql(small_lake, "SELECT chr(27) || '[2Jgone' AS name")
    with pytest.raises(UsageError, match="mine"):
        run_sql(small_lake, "SELECT error('mine')")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1;",
        "FROM responses",
        "VALUES (1)",
        "WITH a AS (SELECT 1) SELECT * FROM a UNION SELECT 2",
        "WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT * FROM t",
        "DESCRIBE responses",
        "SUMMARIZE scores",
        "EXPLAIN SELECT * FROM responses",
        "explain analyze SELECT 1",
        "SELECT ';' -- ; COPY",
    ],
)
def test_whatever_only_reads_is_answered(small_lake, text):
    assert "row" in run_sql(small_lake, text)


HOSTILE = [
    "COPY (SELECT 1) TO '{out}'",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{out}'",
    "/* c */ EXPLAIN ANALYZE COPY (SELECT 1) TO '{out}'",
    "WITH a AS (COPY (SELECT 1) TO '{out}') SELECT * FROM a",
    "EXPLAIN ANALYZE WITH a AS (COPY (SELECT 1) TO '{out}') SELECT * FROM a",
    "WITH a AS (COPY (SELECT 1) TO '{part}') SELECT * FROM a",
    "WITH a AS (INSERT INTO scores VALUES (1) RETURNING *) SELECT * FROM a",
    "SELECT * FROM query('WITH a AS (COPY (SELECT 1) TO ''{part}'') SELECT * FROM a')",
    "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
    "ATTACH '{out}'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "PRAGMA version",
    "CALL pragma_version()",
    "SET threads = 1",
    "SET VARIABLE files_scores = ['/etc/passwd']",
    "CREATE TABLE t AS SELECT 1",
    "DROP VIEW scores",
    "EXPORT DATABASE '{out}'",
    "IMPORT DATABASE '{out}'",
    "SELECT 1; SELECT 2",
    "SELECT 1; COPY (SELECT 1) TO '{out}'",
    "EXPLAIN SELECT 1; COPY (SELECT 1) TO '{out}'",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_text('{lake}/lake.json')",
    "SELECT * FROM read_text('{lake}/data/../lake.json')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM parquet_metadata('/etc/passwd')",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM small_lake",
    "PREPARE p AS SELECT 1",
    "VACUUM",
    "CHECKPOINT",
    "",
    "-- nothing",
    "give me everything",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_else_is_refused_and_nothing_is_written(small_lake, tmp_path, text):
    out = tmp_path / "out"
    part = small_lake.files("scores")[0]
    before = {path: path.read_bytes() for path in Path(small_lake.url).rglob("*") if path.is_file()}
    with pytest.raises(UsageError):
        run_sql(small_lake, text.format(out=out, part=part, lake=small_lake.url))
    assert not out.exists()
    assert before == {path: path.read_bytes() for path in Path(small_lake.url).rglob("*") if path.is_file()}


@pytest.mark.parametrize("text", [text for text in HOSTILE if "{part}" not in text and "COPY" in text])
def test_the_closed_connection_writes_nothing_even_if_the_text_were_not_checked(
    small_lake, tmp_path, monkeypatch, text
):
    monkeypatch.setattr(module, "checked", lambda _connection, text: text)
    out = tmp_path / "out"
    with pytest.raises(UsageError):
        run_sql(small_lake, text.format(out=out))
    assert not out.exists()


def test_an_unknown_format_is_named(small_lake):
    with pytest.raises(UsageError, match="table, csv and json"):
        run_sql(small_lake, "SELECT 1", "xml")

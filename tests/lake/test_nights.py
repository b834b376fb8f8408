"""Night after night: what did not change is referred to, small parts are put together, old files go."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from lake_nights import audit_row, results, write_night

from judge_audit.core.digests import row_digest
from judge_audit.core.tables import from_rows
from judge_audit.lake import Lake
from judge_audit.lake.compaction import compact, grouped, tidy
from judge_audit.lake.connect import connect, views_sql
from judge_audit.lake.records import Part
from judge_audit.lake.sql import run_sql

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
RESULTS = ("curves", "measures", "verdicts", "standings")


def without_id(table):
    return row_digest(table.drop_columns(["audit_id"]))


def files(lake):
    return [path for path in Path(lake.url).rglob("*") if path.is_file()]


def test_a_night_that_found_the_same_refers_to_the_rows_there_are(lake):
    for night in range(3):
        write_night(lake, night, FIRST + timedelta(days=night))
    for name in RESULTS:
        assert len(lake.files(name)) == 1
        nights = [lake.read(name, audit_id=f"night-{night:04}") for night in range(3)]
        assert [table.num_rows for table in nights] == [nights[0].num_rows] * 3
        assert nights[0].num_rows > 0
        assert len({without_id(table) for table in nights}) == 1
        assert set(nights[2]["audit_id"].to_pylist()) == {"night-0002"}
        assert lake.read(name).num_rows == 3 * nights[0].num_rows
        assert lake.contents().row_count(name) == 3 * nights[0].num_rows
    assert json.loads((Path(lake.url) / "lake.json").read_text()) == {"format": 3}


def test_a_night_that_found_something_else_has_rows_of_its_own_and_the_next_refers_to_the_right_ones(lake):
    values = [0.1, 0.2, 0.1, 0.2, 0.3]
    for night, value in enumerate(values):
        write_night(lake, night, FIRST + timedelta(days=night), value=value)
    assert len(lake.files("measures")) == 3
    for night, value in enumerate(values):
        assert set(lake.read("measures", audit_id=f"night-{night:04}")["value"].to_pylist()) == {value}


def test_sql_shows_the_rows_of_a_night_that_refers_like_any_other(lake, tmp_path):
    import duckdb

    for night in range(3):
        write_night(lake, night, FIRST + timedelta(days=night))
    asked = "SELECT audit_id, count(*), sum(value) FROM measures GROUP BY 1 ORDER BY 1"
    with connect(lake) as connection:
        rows = connection.execute(asked).fetchall()
    assert [audit for audit, _, _ in rows] == ["night-0000", "night-0001", "night-0002"]
    assert len({rest for _, *rest in [(audit, tuple(other)) for audit, *other in rows] for rest in rest}) == 1
    (tmp_path / "views.sql").write_text(views_sql(lake))
    with duckdb.connect() as plain:
        plain.execute((tmp_path / "views.sql").read_text())
        assert plain.execute(asked).fetchall() == rows
    assert "night-0002" in run_sql(lake, asked)


def test_rows_committed_without_an_audit_refer_to_none(lake):
    for night in range(2):
        lake.commit({"measures": results(f"night-{night}")["measures"]})
    assert len(lake.files("measures")) == 2
    assert lake.origins("measures") == {}


@pytest.mark.parametrize("pressed_after", [1, 2, 4])
def test_compaction_changes_no_row_of_nights_that_refer(lake, pressed_after):
    for night in range(5):
        write_night(lake, night, FIRST + timedelta(days=night), value=0.1 * (night % 2))
        if night + 1 == pressed_after:
            compact(lake, now=FIRST + timedelta(days=night))
    opened = Lake.open(lake.url)
    before = {name: (lake.read(name), row_digest(lake.read(name))) for name in RESULTS}
    for days in (6, 8, 20):
        compact(opened, now=FIRST + timedelta(days=days))
        assert {name: (opened.read(name), row_digest(opened.read(name))) for name in RESULTS} == before
    write_night(opened, 5, FIRST + timedelta(days=30), value=0.1)
    assert opened.origins("measures")["night-0005"] == "night-0001"


def test_forty_nights_leave_few_files_and_every_night_reads_as_it_was(lake):
    for night in range(40):
        when = FIRST + timedelta(days=night)
        write_night(lake, night, when, value=0.1 * (night % 3))
        tidy(lake, now=when)
    tidy(lake, now=FIRST + timedelta(days=60))
    assert len(files(lake)) < 60
    for night in range(40):
        rows = lake.read("measures", audit_id=f"night-{night:04}")
        assert set(rows["value"].to_pylist()) == {0.1 * (night % 3)}
    with connect(lake) as connection:
        assert connection.execute("SELECT count(DISTINCT audit_id) FROM measures").fetchall() == [(40,)]


def test_large_parts_are_left_alone_until_there_is_as_much_to_put_to_them():
    def parts(*rows):
        return [Part("scores", "", f"data/{place}", count, "") for place, count in enumerate(rows)]

    assert [len(group.parts) for group in grouped(parts(10, 20, 9_000), thrifty=True)] == [2]
    assert [len(group.parts) for group in grouped(parts(3_000, 4_000, 9_000), thrifty=True)] == [3]
    assert [len(group.parts) for group in grouped(parts(10, 20, 9_000))] == [3]


def test_the_rows_that_tidying_writes_anew_grow_with_the_logarithm_of_the_nights(lake, monkeypatch):
    from judge_audit.lake import compaction

    written = []
    write = compaction.write_part

    def counted(storage, table, partition, rows, *given, **named):
        written.append(rows.num_rows)
        return write(storage, table, partition, rows, *given, **named)

    monkeypatch.setattr(compaction, "write_part", counted)
    monkeypatch.setattr(compaction, "OFTEN", 6)
    monkeypatch.setattr(compaction, "FEW", 1)
    for night in range(60):
        when = FIRST + timedelta(days=night)
        write_night(lake, night, when, value=float(night), rows=20)
        tidy(lake, now=when)
    held = sum(lake.contents().row_count(name) for name in (*RESULTS, "audits", "runs"))
    assert sum(written) < 5 * held


@pytest.mark.parametrize("pressed", [False, True])
def test_the_log_is_read_in_plain_sql_as_the_docs_say(lake, pressed):
    import duckdb

    for night in range(4):
        write_night(lake, night, FIRST + timedelta(days=night), value=0.1 * (night % 2))
        if pressed and night == 2:
            compact(lake, now=FIRST + timedelta(days=night))
    (Path(lake.url) / "commits" / ".killed.json").write_bytes(b"half")
    docs = (Path(__file__).parents[2] / "docs" / "lake.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```sql\n(SET VARIABLE.*?)```", docs, re.DOTALL)
    with duckdb.connect() as plain:
        plain.execute(script.replace("/path/of/the/lake", lake.url))
        parts = plain.execute(
            "SELECT table_name, file, partition, rows, row_digest, origin FROM committed_parts"
        )
        rows = set(parts.fetchall())
    assert rows == {
        (part.table, part.path or None, part.partition, part.rows, part.row_digest, part.origin or None)
        for part in lake.contents().all_parts
    }


def test_a_lake_that_stands_still_is_listed_once_and_shows_its_own_commits(lake, monkeypatch):
    write_night(lake, 0, FIRST)
    listed = []
    names = type(lake.storage).names

    def counted(storage, folder):
        listed.append(folder)
        return names(storage, folder)

    monkeypatch.setattr(type(lake.storage), "names", counted)
    with lake.standing_still():
        for _ in range(5):
            lake.read("measures")
            lake.read("scores")
        looked = len(listed)
        Lake.open(lake.url).commit({"runs": from_rows("runs", [{"run_id": "other", "outcome": "started"}])})
        assert lake.read("runs", run_id="other").num_rows == 0
        lake.commit({"audits": audit_row("mine", "started", FIRST)})
        assert lake.read("audits", audit_id="mine").num_rows == 1
    assert looked <= 3
    assert lake.read("runs", run_id="other").num_rows == 1

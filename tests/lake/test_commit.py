from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from lake_rows import NOON, call_rows, score_rows

from judge_audit.core.digests import row_digest
from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.core.tables import from_rows, schema
from judge_audit.lake import Lake
from judge_audit.lake.connect import connect
from judge_audit.lake.lake import FORMAT

KILLED_WRITER = """
import os, signal, sys
from judge_audit.lake import Lake
from judge_audit.core.tables import from_rows
lake = Lake.open(sys.argv[1])
flush, left = os.fsync, [int(sys.argv[2])]
def counted(handle):
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    flush(handle)
os.fsync = counted
calls = [{"judge_id": "j", "probe_id": f"p{n}", "repeat": 0, "state": "ok"} for n in range(20)]
scores = [{"judge_id": "j", "probe_id": f"p{n}", "repeat": 0, "dimension": "d"} for n in range(20)]
lake.commit({"calls": from_rows("calls", calls), "scores": from_rows("scores", scores)})
"""
FLUSHES_BEFORE_THE_RECORD_COUNTS = 5


def test_a_commit_is_read_back_value_for_value(lake):
    rows = score_rows("j", {"b": 2.0, "a": 1.0, "c": None})
    told = lake.commit({"scores": rows})
    assert told.new
    assert told.rows == 3
    assert lake.has(told.commit_id)
    back = lake.read("scores")
    assert back.schema == schema("scores")
    assert back.column("probe_id").to_pylist() == ["a", "b", "c"]
    assert row_digest(back) == row_digest(rows)


def test_times_and_lists_come_back_as_they_went(lake):
    row = {"audit_id": "a", "status": "complete", "started_at": NOON, "commits": ["x", "y"], "seed": 7}
    lake.commit({"audits": from_rows("audits", [row])})
    back = lake.read("audits").to_pylist()[0]
    assert {name: back[name] for name in row} == row
    assert back["ended_at"] is None


def test_the_same_keys_are_the_same_commit_and_the_first_wins(lake):
    first = lake.commit({"scores": score_rows("j", {"a": 1.0, "b": 2.0})})
    again = Lake.open(lake.url).commit({"scores": score_rows("j", {"b": 9.0, "a": 9.0})})
    assert again.commit_id == first.commit_id
    assert not again.new
    assert lake.read("scores").column("value").to_pylist() == [1.0, 2.0]
    assert len(list(Path(lake.url).rglob("*.parquet"))) == 1


def test_an_answer_after_a_failure_with_the_same_keys_is_kept(lake):
    lake.commit({"calls": call_rows("j", ["a"], state="failed"), "scores": score_rows("j", {"a": None})})
    lake.commit({"calls": call_rows("j", ["a"]), "scores": score_rows("j", {"a": 7.0})})
    assert lake.read("calls").column("state").to_pylist() == ["ok"]
    assert lake.read("scores").column("value").to_pylist() == [7.0]


def test_the_same_probes_shown_with_other_pixels_are_kept_and_the_newest_drawing_counts(lake):
    lake.commit({"calls": call_rows("j", ["a", "b"], pixels="old"), "scores": score_rows("j", {"a": 1.0})})
    later = NOON + timedelta(days=1)
    told = lake.commit(
        {"calls": call_rows("j", ["a", "b"], pixels="new", at=later), "scores": score_rows("j", {"a": 2.0})}
    )
    assert told.new
    assert lake.read("scores").column("value").to_pylist() == [2.0]


def test_a_writer_that_loses_the_race_leaves_nothing_behind(lake, monkeypatch):
    lake.commit({"scores": score_rows("j", {"a": 1.0})})
    late = Lake.open(lake.url)
    monkeypatch.setattr(Lake, "has", lambda _self, _commit: False)
    assert not late.commit({"scores": score_rows("j", {"a": 5.0})}).new
    assert len(list(Path(lake.url).rglob("*.parquet"))) == 1
    assert lake.read("scores").column("value").to_pylist() == [1.0]


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is a POSIX notion")
def test_a_writer_killed_at_any_flush_leaves_all_of_its_commit_or_nothing(tmp_path):
    places = {step: tmp_path / f"lake{step}" for step in range(1, 7)}
    for place in places.values():
        Lake.open(place)
    writers = [
        subprocess.Popen([sys.executable, "-c", KILLED_WRITER, str(place), str(step)])
        for step, place in places.items()
    ]
    assert [writer.wait(60) for writer in writers] == [-9] * len(places)
    for step, place in places.items():
        lake = Lake.open(place)
        whole = step > FLUSHES_BEFORE_THE_RECORD_COUNTS
        assert lake.read("calls").num_rows == lake.read("scores").num_rows == (20 if whole else 0)
        calls = call_rows("j", [f"p{n}" for n in range(20)], pixels=None)
        scores = score_rows("j", {f"p{n}": n for n in range(20)}, dimension="d")
        again = lake.commit({"calls": calls, "scores": scores})
        assert again.new is not whole
        assert lake.read("scores").column("probe_id").to_pylist() == sorted(f"p{n}" for n in range(20))


@pytest.mark.parametrize("content", [b"", b"PAR1 then nothing"])
def test_a_truncated_part_changes_no_answer(small_lake, content):
    before = small_lake.read("scores")
    for table in ("scores", "calls", "items", "verdicts"):
        for folder in (Path(small_lake.url) / "data" / table).iterdir():
            (folder / f"part-{'0' * 32}-dead.parquet").write_bytes(content)
            (folder / ".part-killed").write_bytes(content)
    (Path(small_lake.url) / "commits" / ".killed.json").write_bytes(content)
    opened = Lake.open(small_lake.url)
    assert opened.read("scores") == before
    assert connect(opened).execute("SELECT count(*) FROM responses").fetchall() == [(7,)]


def test_a_committed_part_that_is_gone_is_an_error_and_not_fewer_rows(lake):
    lake.commit({"scores": score_rows("j", {"a": 1.0})})
    for part in Path(lake.url).rglob("*.parquet"):
        part.unlink()
    with pytest.raises(MachineryError, match="cannot be read"):
        lake.read("scores")


def test_a_damaged_record_is_named(lake):
    lake.commit({"scores": score_rows("j", {"a": 1.0})})
    name = f"{'0' * 32}.json"
    (Path(lake.url) / "commits" / name).write_bytes(b"")
    with pytest.raises(MachineryError, match=name):
        lake.read("scores")


@pytest.mark.parametrize(
    "path", ["../../secret.parquet", "/etc/passwd", "data/scores/judge=j/../../x.parquet"]
)
def test_a_record_that_points_outside_the_data_folder_is_refused(lake, path):
    commit_id = "a" * 32
    entry = {"files": [path], "partition": "j", "rows": 1, "row_digest": ""}
    record = Path(lake.url) / "commits" / f"{commit_id}.json"
    record.parent.mkdir()
    record.write_text(json.dumps({"commit_id": commit_id, "tables": {"scores": entry}}))
    with pytest.raises(MachineryError, match="names files"):
        lake.read("scores")


def test_a_lake_of_a_newer_format_is_refused_with_what_to_do(tmp_path):
    (tmp_path / "lake.json").write_text(f'{{"format": {FORMAT + 1}}}')
    with pytest.raises(UsageError, match=rf"format {FORMAT + 1}.*Install a newer judge-audit"):
        Lake.open(tmp_path)


def test_a_lake_that_is_not_there_is_not_made_by_a_reader(tmp_path):
    with pytest.raises(UsageError, match="no lake at"):
        Lake.open(tmp_path / "none", create=False)
    assert not (tmp_path / "none").exists()


def test_an_address_elsewhere_is_refused_plainly():
    with pytest.raises(UsageError, match="neither a folder"):
        Lake.open("gs://bucket/lake")


@pytest.mark.parametrize(
    ("table", "rows", "said"),
    [
        ("measures", [{"audit_id": "a", "subject": "s", "check": "c", "measure": "m"}] * 2, "key twice"),
        ("audits", [{"audit_id": name, "status": "started"} for name in "ab"], "holds one audit_id"),
    ],
)
def test_rows_that_do_not_fit_a_commit_are_refused(lake, table, rows, said):
    with pytest.raises(MachineryError, match=said):
        lake.commit({table: from_rows(table, rows)})


def test_one_answer_given_twice_in_a_batch_counts_once(lake):
    """Two items with the same picture and prompt are one probe."""
    lake.commit({"calls": call_rows("j", ["a", "a", "b"])})
    assert lake.read("calls").column("probe_id").to_pylist() == ["a", "b"]


def test_a_key_bought_by_two_plans_stands_once_and_the_earliest_call_counts(lake):
    late, early = NOON + timedelta(hours=1), NOON
    lake.commit(
        {"calls": call_rows("j", ["a", "b"], at=late), "scores": score_rows("j", {"a": 1.0, "b": 1.0})}
    )
    lake.commit(
        {"calls": call_rows("j", ["b", "c"], at=early), "scores": score_rows("j", {"b": 2.0, "c": 2.0})}
    )
    assert lake.read("scores").column("value").to_pylist() == [1.0, 2.0, 2.0]
    assert lake.read("calls").num_rows == 3
    assert connect(lake).execute("SELECT sum(value), count(*) FROM scores").fetchall() == [(5.0, 3)]


def test_an_answer_counts_before_a_failed_call_of_the_same_probe(lake):
    failed = call_rows("j", ["a"], state="failed", at=NOON)
    lake.commit({"calls": failed, "scores": from_rows("scores", [])})
    lake.commit(
        {
            "calls": call_rows("j", ["a", "b"], at=NOON + timedelta(hours=1)),
            "scores": score_rows("j", {"a": 1.0, "b": 2.0}),
        }
    )
    assert lake.answered("j").sort_by("probe_id").column("state").to_pylist() == ["ok", "ok"]
    assert lake.read("scores").column("value").to_pylist() == [1.0, 2.0]


def test_newly_drawn_pixels_count_and_the_old_score_goes_with_its_call(lake):
    old = call_rows("j", ["a", "b"], pixels="old", at=NOON)
    lake.commit({"calls": old, "scores": score_rows("j", {"a": 1.0, "b": 1.0})})
    new = call_rows("j", ["a"], pixels="new", state="unparsable", at=NOON + timedelta(hours=1))
    lake.commit({"calls": new, "scores": from_rows("scores", [])})
    assert lake.read("calls", probe_id="a").column("pixel_digest").to_pylist() == ["new"]
    assert lake.read("scores").column("probe_id").to_pylist() == ["b"]
    assert connect(lake).execute("SELECT probe_id FROM scores").fetchall() == [("b",)]


def test_reads_take_only_what_was_asked_for(small_lake):
    assert small_lake.read("scores", judge_id="real", probe_id=["o1", "o3"]).column("value").to_pylist() == [
        2,
        4,
    ]
    assert small_lake.read("scores", judge_id="nobody").schema == schema("scores")
    assert small_lake.read("items", topic="", width=None).num_rows == 4
    assert len(small_lake.files("scores", "real")) == 1
    with pytest.raises(MachineryError, match="no column"):
        small_lake.read("scores", colour="red")


def test_an_id_with_odd_characters_stays_inside_the_lake(lake):
    lake.commit({"scores": score_rows("../../o'dd/judge", {"a": 1.0})})
    assert lake.read("scores", judge_id="../../o'dd/judge").num_rows == 1
    assert connect(lake).execute("SELECT count(*) FROM scores").fetchall() == [(1,)]
    inside = Path(lake.url)
    assert [part.relative_to(inside).parts[0] for part in inside.parent.rglob("*.parquet")] == ["data"]


def test_an_older_part_that_lacks_a_column_reads_as_null(lake, monkeypatch):
    import judge_audit.lake.lake as module

    write = module.pq.write_table
    monkeypatch.setattr(
        module.pq, "write_table", lambda t, *a, **k: write(t.drop_columns("parser_version"), *a, **k)
    )
    lake.commit({"scores": score_rows("j", {"a": 1.5})})
    assert lake.read("scores").to_pylist()[0]["parser_version"] is None
    monkeypatch.undo()
    lake.commit({"scores": score_rows("j", {"b": 2.5})})
    assert lake.read("scores").column("value").to_pylist() == [1.5, 2.5]


def test_how_rows_were_cut_into_commits_changes_no_answer(tmp_path):
    values = {f"p{n}": float(n) for n in range(12)}
    found = []
    for size in (1, 5, 12):
        lake = Lake.open(tmp_path / str(size))
        names = sorted(values, reverse=True)
        for start in range(0, len(names), size):
            part = {name: values[name] for name in names[start : start + size]}
            lake.commit({"calls": call_rows("j", part), "scores": score_rows("j", part)})
        found.append((lake.read("calls"), lake.read("scores"), lake.answered("j").num_rows))
    assert found[0] == found[1] == found[2]

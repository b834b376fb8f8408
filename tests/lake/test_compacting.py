from __future__ import annotations

import json
import shutil
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from busy_lake import all_files, everything, fill, parts, start_killed
from lake_rows import NOON, call_rows, score_rows

from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.core.tables import from_rows
from judge_audit.lake import Lake
from judge_audit.lake import compaction as compacting
from judge_audit.lake.compaction import compact
from judge_audit.lake.connect import connect, views_sql

NOW = datetime(2026, 6, 1, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
MUCH_LATER = NOW + timedelta(days=9)


@pytest.fixture
def busy(tmp_path):
    return fill(Lake.open(tmp_path / "busy"))


def test_every_value_and_digest_is_as_before_and_few_parts_are_left(busy):
    before, count = everything(busy.url), parts(busy.url)
    told = compact(busy, now=NOW)
    assert told.recorded
    assert told.commits == 16
    assert told.parts_after == len(busy.contents().parts) == 3
    assert everything(busy.url) == before
    assert compact(busy, now=LATER).removed > count
    assert parts(busy.url) == 3
    assert everything(busy.url) == before


def test_later_commits_are_put_together_with_what_is_compacted_already(busy):
    compact(busy, now=NOW)
    fill(busy, seed=9)
    before = everything(busy.url)
    for when in (LATER, MUCH_LATER, MUCH_LATER + timedelta(days=1)):
        compact(busy, now=when)
        assert everything(busy.url) == before
    assert parts(busy.url) == 3
    assert not list((Path(busy.url) / "commits").iterdir())


def test_nothing_new_writes_nothing(busy):
    compact(busy, now=NOW)
    told = compact(busy, now=NOW)
    assert not told.recorded
    assert told.number == 0
    assert "nothing to put together" in told.reason
    assert len(list((Path(busy.url) / "compactions").iterdir())) == 1


def test_parts_of_many_rows_stay_apart_by_judge_and_large_ones_stay_as_they_are(busy, monkeypatch):
    monkeypatch.setattr(compacting, "ALONE", 10)
    monkeypatch.setattr(compacting, "FULL", 30)
    before = everything(busy.url)
    compact(busy, now=NOW)
    assert everything(busy.url) == before
    held = busy.contents().parts
    assert {part.partition for part in held if part.table == "calls"} == {"judge-0", "judge-1", "judge-2"}
    large = {part.path for part in held if part.rows >= compacting.FULL}
    fill(busy, seed=9)
    before = everything(busy.url)
    compact(busy, now=LATER)
    assert everything(busy.url) == before
    assert large <= {part.path for part in busy.contents().parts}


def test_a_repeated_batch_is_known_after_its_record_is_gone(busy):
    batch = {"calls": call_rows("j", ["a"]), "scores": score_rows("j", {"a": 1.0})}
    told = busy.commit(batch)
    for when in (NOW, LATER):
        compact(busy, now=when)
    fresh = Lake.open(busy.url)
    assert not list((Path(busy.url) / "commits").iterdir())
    assert fresh.has(told.commit_id)
    again = fresh.commit({"calls": call_rows("j", ["a"]), "scores": score_rows("j", {"a": 9.0})})
    assert (again.new, again.commit_id) == (False, told.commit_id)
    assert fresh.read("scores", judge_id="j")["value"].to_pylist() == [1.0]


def test_a_late_writer_of_a_commit_that_was_taken_in_changes_nothing(busy, monkeypatch):
    before = everything(busy.url)
    values = busy.read("scores", judge_id="judge-0")
    record = min((Path(busy.url) / "commits").iterdir())
    content = record.read_bytes()
    for when in (NOW, LATER):
        compact(busy, now=when)
    record.write_bytes(content)
    assert everything(busy.url) == before
    assert Lake.open(busy.url).read("scores", judge_id="judge-0").equals(values)
    compact(busy, now=MUCH_LATER)
    compact(busy, now=MUCH_LATER + timedelta(days=8))
    assert not record.exists()
    assert everything(busy.url) == before


def test_whoever_listed_files_before_reads_them_on_until_the_grace_is_over(busy):
    connection = connect(busy)
    count = connection.execute("SELECT count(*), max(value) FROM scores").fetchall()
    files = busy.files("scores")
    compact(busy, now=NOW)
    compact(busy, now=NOW + timedelta(hours=11))
    assert connection.execute("SELECT count(*), max(value) FROM scores").fetchall() == count
    assert all(Path(file).exists() for file in files)
    compact(busy, now=NOW + timedelta(hours=12))
    assert not any(Path(file).exists() for file in files)


def test_a_lake_opened_before_sees_the_compaction_and_what_came_after(busy):
    early = Lake.open(busy.url)
    before = early.read("scores")
    compact(busy, now=NOW)
    compact(busy, now=LATER)
    assert early.read("scores").equals(before)
    busy.commit({"scores": score_rows("new", {"a": 1.0})})
    assert early.read("scores").num_rows == before.num_rows + 1


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is a POSIX notion")
def test_killed_at_any_moment_the_lake_reads_as_before_and_the_next_one_finishes(busy, tmp_path):
    before = everything(busy.url)
    places = {step: shutil.copytree(busy.url, tmp_path / f"lake{step}") for step in (1, 8, 12)}
    killed = [start_killed(place, step, NOW) for step, place in places.items()]
    assert [one.wait(120) for one in killed] == [-9] * len(places)
    for place in places.values():
        assert everything(place) == before
        for days in (9, 10, 18):
            compact(Lake.open(place), now=NOW + timedelta(days=days))
        assert everything(place) == before
        assert all_files(place) == {part.path for part in Lake.open(place).contents().parts}


def test_of_two_at_once_one_counts_and_the_other_leaves_nothing_behind(busy, monkeypatch):
    before = everything(busy.url)
    settle = compacting._settle

    def beaten(lake, *given):
        monkeypatch.setattr(compacting, "_settle", settle)
        assert compact(Lake.open(lake.url), now=NOW).recorded
        return settle(lake, *given)

    monkeypatch.setattr(compacting, "_settle", beaten)
    told = compact(busy, now=NOW)
    assert not told.recorded
    assert "another compaction was faster" in told.reason
    assert everything(busy.url) == before
    compact(busy, now=LATER)
    assert parts(busy.url) == 3


def test_readers_and_writers_beside_compactions_see_every_row_once(tmp_path):
    lake = Lake.open(tmp_path / "busy")
    faults, done = [], threading.Event()
    written, looked = [0], [0]

    def write():
        for number in range(25):
            lake.commit({"scores": score_rows("j", {f"{number}-{k}": 1.0 for k in range(4)})})
            written[0] = 4 * (number + 1)
        done.set()

    def look():
        while not done.is_set():
            least = written[0]
            rows = Lake.open(lake.url).read("scores")
            keys = rows["probe_id"].to_pylist()
            if len(set(keys)) != len(keys) or len(keys) < least or len(keys) % 4:
                faults.append((least, len(keys)))
            looked[0] += 1

    def press():
        # An hour passes with every look, so that none takes as long as the grace that is left to it.
        while not done.is_set():
            compact(Lake.open(lake.url), now=NOW + timedelta(hours=looked[0]))

    threads = [threading.Thread(target=act) for act in (write, look, press, press)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert lake.read("scores").num_rows == 100


def test_plain_duckdb_reads_the_same_from_the_printed_sql(busy, tmp_path):
    import duckdb

    compact(busy, now=NOW)
    compact(busy, now=LATER)
    busy.commit({"scores": score_rows("new", {"a": 1.0})})
    (tmp_path / "views.sql").write_text(views_sql(busy))
    with duckdb.connect() as connection:
        connection.execute((tmp_path / "views.sql").read_text())
        asked = connection.execute("SELECT judge_id, probe_id, value FROM scores ORDER BY ALL").fetchall()
    rows = busy.read("scores").select(["judge_id", "probe_id", "value"]).to_pylist()
    assert asked == [tuple(row.values()) for row in rows]


def test_older_judge_audits_refuse_a_compacted_lake_and_read_one_that_never_was(busy):
    assert json.loads((Path(busy.url) / "lake.json").read_text()) == {"format": 1}
    compact(busy, now=NOW, dry_run=True)
    assert json.loads((Path(busy.url) / "lake.json").read_text()) == {"format": 1}
    compact(busy, now=NOW)
    assert json.loads((Path(busy.url) / "lake.json").read_text()) == {"format": 2}


def test_a_dry_run_says_the_same_and_writes_nothing(busy):
    before = sorted(path for path in Path(busy.url).rglob("*"))
    told = compact(busy, now=NOW, dry_run=True)
    assert (told.parts_before, told.parts_after, told.recorded) == (28, 3, False)
    assert sorted(path for path in Path(busy.url).rglob("*")) == before


@pytest.mark.parametrize("content", [b"", b"PAR1 then nothing"])
def test_a_damaged_part_stops_it_and_nothing_is_replaced(busy, content):
    part = min((Path(busy.url) / "data" / "scores").rglob("*.parquet"))
    part.write_bytes(content)
    with pytest.raises(MachineryError, match=part.name):
        compact(busy, now=NOW)
    assert not (Path(busy.url) / "compactions").exists()
    assert not list((Path(busy.url) / "data").rglob("compacted-*"))


def test_a_part_with_other_rows_than_were_committed_is_not_carried_over(busy):
    one, two, *_ = sorted((Path(busy.url) / "data" / "scores" / "judge=judge-0").iterdir())
    one.write_bytes(two.read_bytes())
    with pytest.raises(MachineryError, match="is not the file that was committed"):
        compact(busy, now=NOW)


@pytest.mark.parametrize(
    "change",
    [
        {"number": 7},
        {"commits": ["../x"]},
        {"reissued": {"a": "b"}},
        {"retired": {"lake.json": "2026-01-01T00:00:00+00:00"}},
        {"retired": {"data/scores/../../x": "2026-01-01T00:00:00+00:00"}},
        {"retired": {"data/scores/..": "2026-01-01T00:00:00+00:00"}},
        {"retired": {"commits/x.json": "2026-01-01T00:00:00"}},
        {"retired": {"commits/x.json": 5}},
        {"tables": {"scores": [{"file": "/etc/passwd", "partition": "", "rows": 1, "row_digest": ""}]}},
        {"tables": {"scores": [{"file": "data/x/../../compacted-" + "a" * 32 + "-" + "b" * 8 + ".parquet"}]}},
        {"tables": []},
        {"made_at": None},
    ],
)
def test_a_compaction_s_record_of_another_s_making_is_refused(busy, change):
    compact(busy, now=NOW)
    record = Path(busy.url) / "compactions" / "00000001.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | change))
    with pytest.raises(MachineryError, match=r"00000001\.json"):
        Lake.open(busy.url).read("scores")
    with pytest.raises(MachineryError, match=r"00000001\.json"):
        compact(Lake.open(busy.url), now=MUCH_LATER)


def test_columns_of_a_newer_judge_audit_are_carried_over(busy):
    import pyarrow as pa
    import pyarrow.parquet as pq

    from judge_audit.core.digests import file_digest, row_digest
    from judge_audit.lake.records import with_digest

    for path in sorted((Path(busy.url) / "data" / "scores" / "judge=judge-0").iterdir()):
        rows = pq.ParquetFile(path).read()
        rows = rows.append_column("newer", pa.array(["x"] * rows.num_rows))
        pq.write_table(rows, path)
        record = Path(busy.url) / "commits" / f"{path.name.split('-')[1]}.json"
        told = json.loads(record.read_text())
        told.pop("digest")
        digests = {"row_digest": row_digest(rows), "file_digest": file_digest(path.read_bytes())}
        told["tables"]["scores"] |= digests
        record.write_bytes(with_digest(told))
    compact(busy, now=NOW)
    held = [pq.ParquetFile(path).read() for path in busy.files("scores")]
    assert any(set(table["newer"].to_pylist()) >= {"x"} for table in held if "newer" in table.column_names)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"keep_days": -1}, "--keep-days"),
        ({"keep_audits": -1}, "--keep-audits"),
        ({"grace": timedelta(0)}, "grace"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(lake, given, said):
    with pytest.raises(UsageError, match=said):
        compact(lake, **given)


def test_an_empty_lake_has_nothing_to_do(lake):
    assert not compact(lake, now=NOW).recorded


def test_what_a_killed_writer_left_lying_goes_after_a_week(busy):
    folder = Path(busy.url) / "data" / "scores" / "judge=judge-0"
    left = [folder / f"part-{'0' * 32}-dead.parquet", folder / ".part-killed"]
    for path in left:
        path.write_bytes(b"PAR1")
    compact(busy, now=NOW)
    compact(busy, now=NOW + timedelta(days=6))
    assert all(path.exists() for path in left)
    compact(busy, now=NOW + timedelta(days=8))
    assert not any(path.exists() for path in left)


def test_times_and_lists_come_through(lake):
    for name in "ab":
        row = {"audit_id": name, "status": "complete", "started_at": NOON, "commits": ["x", name]}
        lake.commit({"audits": from_rows("audits", [row])})
    before = lake.read("audits")
    compact(lake, now=NOW)
    compact(lake, now=LATER)
    assert Lake.open(lake.url).read("audits").equals(before)

"""A lake in S3 keeps the promises of a folder, also while the store fails: a real HTTP server on loopback."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from lake_rows import NOON, call_rows, score_rows

from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.lake import Lake
from judge_audit.lake.compaction import compact
from judge_audit.lake.connect import connect
from judge_audit.lake.integrity import damaged
from judge_audit.lake.sql import run_sql
from judge_audit.lake.write_ahead import keep, seal

pytestmark = pytest.mark.parts


def batch(number):
    """Give one batch of answers."""
    probes = [f"probe-{number}-{place}" for place in range(4)]
    values = {probe: number + 0.1 * place for place, probe in enumerate(probes)}
    return {"calls": call_rows("judge", probes), "scores": score_rows("judge", values)}


def _filled(lake, count=12):
    for number in range(count):
        lake.commit(batch(number))
    return lake


def test_rows_are_value_for_value_those_of_a_folder(store, tmp_path):
    there, here = _filled(Lake.open("s3://audits/nightly")), _filled(Lake.open(tmp_path / "lake"))
    for name in ("calls", "scores"):
        assert there.read(name).equals(here.read(name))
    assert Lake.open("s3://audits/nightly", create=False).read("scores").equals(here.read("scores"))


def test_a_store_that_fails_one_request_in_three_loses_and_doubles_nothing(store, tmp_path):
    here = _filled(Lake.open(tmp_path / "lake"))
    store.share = 0.33
    lakes = [Lake.open("s3://audits/shaky") for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(_filled, lakes))
    store.share = 0.0
    fresh = Lake.open("s3://audits/shaky", create=False)
    assert store.refused > 10
    assert store.lost > 3
    for name in ("calls", "scores"):
        assert fresh.read(name).equals(here.read(name))


def test_of_many_who_write_the_same_commit_exactly_one_is_told_that_it_was_new(store):
    lakes = [Lake.open("s3://audits/race") for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda lake: lake.commit(batch(1)).new, lakes))
    assert sum(told) == 1
    assert Lake.open("s3://audits/race").read("calls").num_rows == batch(1)["calls"].num_rows


def test_a_store_that_is_down_is_told_plainly_and_no_key_is_in_the_message(store, monkeypatch):
    lake = _filled(Lake.open("s3://audits/down"), 2)
    store.down = True
    monkeypatch.setattr("judge_audit.lake.remote.PAUSE", 0.01)
    with pytest.raises(MachineryError, match="Nothing committed is lost") as told:
        lake.commit(batch(5))
    assert "planted" not in str(told.value)
    store.down = False
    assert Lake.open("s3://audits/down").read("calls").num_rows == 2 * batch(1)["calls"].num_rows


def test_a_stranger_s_question_reads_the_lake_and_nothing_else(store, tmp_path):
    lake = _filled(Lake.open("s3://audits/asked"), 3)
    assert "3" in run_sql(lake, "SELECT count(DISTINCT probe_id) > 2, 3 FROM calls")
    (tmp_path / "secret.csv").write_text("a\n1\n")
    with pytest.raises(UsageError):
        run_sql(lake, f"SELECT * FROM read_csv('{tmp_path / 'secret.csv'}')")
    with connect(lake) as connection:
        assert connection.execute("SELECT count(*) FROM calls").fetchall()[0][0] > 0


def test_what_was_fetched_once_is_not_fetched_again(store):
    lake = _filled(Lake.open("s3://audits/once"), 3)
    before = lake.read("scores")
    seen = _watched(store)
    assert lake.read("scores").equals(before)
    assert not [path for method, path, _ in seen if method == "GET" and path.endswith(".parquet")]


def _watched(store):
    """Note every request that the store is sent from now on."""
    seen, inner = [], store.server.app

    def watching(environ, start):
        seen.append((environ["REQUEST_METHOD"], environ["PATH_INFO"], environ.get("QUERY_STRING", "")))
        return inner(environ, start)

    store.server.app = watching
    return seen


def test_a_command_lists_the_log_once_and_fetches_only_what_is_new_since_the_last(store):
    lake = _filled(Lake.open("s3://audits/asked-again"), 4)
    asked = "SELECT count(*) FROM scores JOIN calls USING (judge_id, probe_id, repeat)"
    assert "16" in run_sql(Lake.open(lake.url, create=False), asked)
    lake.commit(batch(9))
    seen = _watched(store)
    assert "20" in run_sql(Lake.open(lake.url, create=False), asked)
    logs = ("commits", "compactions", "ahead")
    lists = [
        query for _, _, query in seen if "list-type" in query and any(f"%2F{name}" in query for name in logs)
    ]
    fetched = [path for method, path, _ in seen if method == "GET" and path.endswith((".json", ".parquet"))]
    assert len(lists) <= 3
    assert sorted(path.rpartition(".")[2] for path in fetched if "lake.json" not in path) == [
        "json",
        "parquet",
        "parquet",
    ]
    seen.clear()
    assert "1" in run_sql(Lake.open(lake.url, create=False), "SELECT 1")
    assert not [
        query for _, _, query in seen if "list-type" in query and "prefix" in query and "commits" in query
    ]


def test_batches_are_written_ahead_and_sealed_in_a_store_that_fails(store):
    store.share = 0.25
    lake = Lake.open("s3://audits/ahead")
    for number in range(12):
        keep(lake, batch(number))
    assert Lake.open(lake.url).read("scores").num_rows == 48
    lakes = [Lake.open(lake.url) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(seal, lakes))
    store.share = 0.0
    fresh = Lake.open(lake.url, create=False)
    system, root = fresh.storage._place
    assert not system.find(f"{root}/ahead")
    assert fresh.read("scores").num_rows == fresh.read("calls").num_rows == 48


def test_compaction_keeps_every_value_beside_a_store_that_fails_one_request_in_five(store):
    lake = _filled(Lake.open("s3://audits/pressed"))
    before = {name: lake.read(name) for name in ("calls", "scores")}
    store.share = 0.2
    for days in (0, 1):
        assert compact(lake, now=NOON + timedelta(days=days)).number == 1 - days
    store.share = 0.0
    system, root = lake.storage._place
    assert len(system.find(f"{root}/data")) == 2
    assert not system.find(f"{root}/commits")
    for opened in (lake, Lake.open("s3://audits/pressed", create=False)):
        assert {name: opened.read(name) for name in before} == before
        assert not opened.commit(batch(3)).new


def test_of_two_compactions_at_once_in_a_store_one_counts(store):
    before = _filled(Lake.open("s3://audits/twice")).read("scores")
    lakes = [Lake.open("s3://audits/twice") for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        told = list(pool.map(lambda lake: compact(lake, now=NOON), lakes))
    assert sum(one.recorded for one in told) == 1
    assert Lake.open("s3://audits/twice").read("scores").equals(before)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("s3://key:secret@audits/x", "keys are taken from the environment"),
        ("s3://", "names no bucket"),
        ("gopher://audits/x", "neither a folder of this machine nor in S3"),
    ],
)
def test_addresses_that_cannot_be_are_refused_without_repeating_them(address, told):
    with pytest.raises(UsageError, match=told) as error:
        Lake.open(address)
    assert "secret" not in str(error.value)


def test_a_bucket_that_is_not_there_is_told_plainly(store, monkeypatch):
    monkeypatch.setattr("judge_audit.lake.remote.PAUSE", 0.01)
    with pytest.raises((MachineryError, UsageError), match="audits-nobody-made"):
        Lake.open("s3://audits-nobody-made/x")


def test_a_damaged_object_and_a_damaged_copy_of_a_whole_one_are_told_apart(store):
    lake = _filled(Lake.open("s3://audits/whole"), 2)
    assert damaged(lake, thorough=True).damages == []
    path = lake.contents().parts_of("scores")[0].path
    content = lake.storage.get(path)
    (lake.storage.cache / path).write_bytes(content[:-9])
    for thorough in (True, False):
        (found,) = damaged(Lake.open("s3://audits/whole"), thorough=thorough).damages
        assert "Remove the copy" in found.remedy
    (lake.storage.cache / path).write_bytes(content)
    lake.storage.put(path, content[:-9])
    (found,) = damaged(Lake.open("s3://audits/whole"), thorough=True).damages
    assert (found.file, "Remove the copy" in found.remedy) == (path, False)

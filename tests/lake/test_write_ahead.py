"""Answers are on disk before the next is asked, and become few files; whoever reads meanwhile misses none."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lake_rows import call_rows, score_rows

from judge_audit.core.errors import MachineryError
from judge_audit.lake import Lake
from judge_audit.lake.compaction import compact, tidy
from judge_audit.lake.connect import connect
from judge_audit.lake.write_ahead import keep, packed, seal, unpacked

NOW = datetime(2026, 6, 1, tzinfo=UTC)

KILLED = """
import os, signal, sys
from judge_audit.lake import Lake
from judge_audit.lake.write_ahead import keep, seal
sys.path.insert(0, sys.argv[3])
from lake_rows import call_rows, score_rows
left = [int(sys.argv[2])]
def counted(act):
    def run(*given, **named):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return act(*given, **named)
    return run
os.fsync, os.link, os.unlink = counted(os.fsync), counted(os.link), counted(os.unlink)
lake = Lake.open(sys.argv[1])
for number in range(4):
    probes = [f"p{number}-{k}" for k in range(5)]
    keep(lake, {"calls": call_rows("j", probes), "scores": score_rows("j", dict.fromkeys(probes, 1.0))})
    print(number, flush=True)
seal(lake)
print("sealed", flush=True)
"""


def batch(number, judge="j", size=3):
    probes = [f"p{number}-{place}" for place in range(size)]
    return {
        "calls": call_rows(judge, probes),
        "scores": score_rows(judge, dict.fromkeys(probes, float(number))),
    }


def files(lake, folder):
    return sorted(path for path in (Path(lake.url) / folder).rglob("*") if path.is_file())


def test_a_batch_counts_at_once_for_those_who_ask_the_judge_and_in_sql_once_it_is_sealed(lake):
    keep(lake, batch(1))
    other = Lake.open(lake.url)
    assert other.answered("j").num_rows == 3
    assert other.read("scores", judge_id="j").num_rows == 3
    assert other.read("scores", judge_id="k").num_rows == 0
    with connect(other) as connection:
        assert connection.execute("SELECT count(*) FROM calls").fetchall() == [(0,)]
    seal(lake)
    for opened in (lake, other, Lake.open(lake.url)):
        assert opened.read("calls").num_rows == opened.read("scores").num_rows == 3
    with connect(other) as connection:
        assert connection.execute("SELECT count(*) FROM calls").fetchall() == [(3,)]


def test_a_batch_that_was_sealed_alone_and_is_still_there_counts_once(lake):
    keep(lake, batch(1))
    (path,) = files(lake, "ahead")
    content = path.read_bytes()
    before = lake.read("scores")
    seal(lake)
    path.write_bytes(content)
    for opened in (lake, Lake.open(lake.url)):
        assert opened.read("scores").equals(before)
        assert opened.read("calls").num_rows == 3


def test_many_batches_of_several_judges_become_three_files(lake):
    for number in range(40):
        keep(lake, batch(number, judge=f"judge-{number % 4}"))
    before = {name: lake.read(name) for name in ("calls", "scores")}
    done = seal(lake)
    assert done.new
    assert not files(lake, "ahead")
    assert len(files(lake, "data")) == 2
    assert len(files(lake, "commits")) == 1
    assert {name: lake.read(name) for name in before} == before
    assert lake.partitions("calls") == {f"judge-{n}": 30 for n in range(4)}
    assert seal(lake) is None


def test_a_reader_of_one_judge_opens_no_part_that_holds_others_alone(lake):
    for judge in ("a", "b"):
        keep(lake, batch(1, judge=judge))
        seal(lake)
    assert len(lake.files("calls", "a")) == 1
    assert lake.files("calls", "nobody") == []


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is a POSIX notion")
@pytest.mark.parametrize("step", range(1, 24, 2))
def test_killed_at_any_moment_nothing_that_was_kept_is_lost_and_nothing_counts_twice(tmp_path, step):
    place = tmp_path / "lake"
    Lake.open(place)
    support = str(Path(__file__).parents[1] / "support")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(place), str(step), support],
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout.split()
    kept = sum(word != "sealed" for word in said)
    opened = Lake.open(place)
    for _ in range(2):
        rows = opened.read("scores")["probe_id"].to_pylist()
        assert len(rows) == len(set(rows)) == opened.read("calls").num_rows
        assert 5 * kept <= len(rows) <= 5 * (kept + 1)
        tidy(opened)
    assert not [path for path in files(opened, "ahead") if not path.name.startswith(".")]
    for days in (1, 10, 19):
        compact(opened, now=NOW + timedelta(days=days))
    assert not files(opened, "ahead")


def test_two_that_seal_at_once_lose_nothing_and_double_nothing(lake):
    for number in range(30):
        keep(lake, batch(number))
    lakes = [Lake.open(lake.url) for _ in range(4)]
    threads = [threading.Thread(target=seal, args=(one,)) for one in lakes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = lake.read("scores")["probe_id"].to_pylist()
    assert len(rows) == len(set(rows)) == 90


def test_readers_beside_writers_and_sealers_never_miss_a_batch(lake):
    faults, done, written = [], threading.Event(), [0]

    def write():
        for number in range(40):
            keep(lake, batch(number))
            written[0] = 3 * (number + 1)
        done.set()

    def look():
        while not done.is_set():
            least = written[0]
            keys = Lake.open(lake.url).read("scores")["probe_id"].to_pylist()
            if len(set(keys)) != len(keys) or len(keys) < least:
                faults.append((least, len(keys)))

    def press():
        while not done.is_set():
            seal(Lake.open(lake.url))

    threads = [threading.Thread(target=act) for act in (write, look, press, press)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    seal(lake)
    assert lake.read("scores").num_rows == 120


def test_a_process_seals_its_own_batches_when_they_are_many(lake, monkeypatch):
    monkeypatch.setattr("judge_audit.lake.write_ahead.MOST", 5)
    for number in range(12):
        keep(lake, batch(number))
    assert len(files(lake, "ahead")) == 2
    assert lake.read("calls").num_rows == 36


def test_a_compaction_seals_what_a_killed_audit_left_but_not_when_it_is_dry(lake):
    keep(lake, batch(1))
    compact(Lake.open(lake.url), now=NOW, dry_run=True)
    assert len(files(lake, "ahead")) == 1
    compact(Lake.open(lake.url), now=NOW)
    assert not files(lake, "ahead")
    assert lake.read("calls").num_rows == 3


@pytest.mark.parametrize("content", [b"", b"ARROW1 then nothing", packed({"verdicts": score_rows("j", {})})])
def test_a_damaged_batch_is_named_with_what_to_do(lake, content):
    keep(lake, batch(1))
    (path,) = files(lake, "ahead")
    path.write_bytes(content)
    for act in (lambda opened: opened.read("calls"), seal):
        with pytest.raises(MachineryError, match=rf"{path.name}.*[Rr]emove it"):
            act(Lake.open(lake.url))


@given(content=st.binary(max_size=400))
@settings(max_examples=200, deadline=None)
def test_whatever_bytes_a_batch_has_it_is_read_or_refused(content):
    with pytest.raises(MachineryError):
        unpacked("ahead/x.arrow", content)


def test_other_files_in_the_folder_are_no_batches(lake):
    keep(lake, batch(1))
    (Path(lake.url) / "ahead" / "notes.txt").write_text("mine")
    (Path(lake.url) / "ahead" / f".{'0' * 32}.arrow.half").write_bytes(b"half")
    assert lake.read("calls").num_rows == 3
    seal(lake)
    assert [path.name for path in files(lake, "ahead")] == [f".{'0' * 32}.arrow.half", "notes.txt"]

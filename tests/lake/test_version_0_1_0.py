"""A lake written by version 0.1.0 is read, verified and added to by the judge-audit of today.

`version_0_1_0.tar.gz` holds six drawn pictures of 48 × 48 with their items file, a judge (`sharpness.py`), and the lake
of one audit of it (axis blur, every item on a ladder), its approval for screening, an open gate and its certificate.
"""

from __future__ import annotations

import json
import sys
import tarfile
from pathlib import Path

import pytest

import judge_audit
from judge_audit.cli import run_command
from judge_audit.core.tables import TABLES, schema
from judge_audit.judges.adapters.python_callable import CallableJudge, wrap
from judge_audit.lake import Lake
from judge_audit.lake.audits import audit_digest, find_audit
from judge_audit.lake.compaction import compact
from judge_audit.lake.connect import connect, shipped_views
from judge_audit.lake.integrity import damaged

AUDIT = "20261201T013651Z-2f2f18"
JUDGE = "a28f9bac43a3b1c5"
DIGEST = "35c0d9cf437c17bcdd4431d67849be74"
ROWS = {
    "items": 6,
    "probes": 129,
    "mismatches": 9,
    "unsuited": 10,
    "zones": 6,
    "judges": 24,
    "judge_labels": 24,
    "calls": 1791,
    "scores": 1860,
    "audits": 2,
    "runs": 2,
    "curves": 30,
    "measures": 2248,
    "verdicts": 1188,
    "standings": 5,
    "gates": 29,
    "approvals": 1,
}


@pytest.fixture
def folder(tmp_path):
    with tarfile.open(Path(__file__).with_name("version_0_1_0.tar.gz")) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


@pytest.fixture
def judge(folder, monkeypatch):
    """The judge of then, which counts what it is asked."""
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "sharpness", raising=False)
    import sharpness

    class Counting(CallableJudge):
        asked = 0

        def score(self, stimuli):
            Counting.asked += len(stimuli)
            return super().score(stimuli)

    yield Counting(sharpness.score, wrap(sharpness.score).card)
    del sys.modules["sharpness"]


def rows_of(lake):
    return {name: lake.read(name).num_rows for name in TABLES if lake.read(name).num_rows}


def test_its_tables_and_views_are_read_and_its_digest_is_as_it_was(folder):
    lake = Lake.open(folder / "lake", create=False)
    assert rows_of(lake) == ROWS
    assert all(lake.read(name).schema.equals(schema(name)) for name in ROWS)
    assert find_audit(lake)["audit_id"] == AUDIT
    assert audit_digest(lake, AUDIT) == DIGEST
    with connect(lake) as connection:
        for view in shipped_views():
            connection.execute(f"SELECT * FROM {view}").fetchall()
        nights = connection.execute("SELECT audit_id FROM nights").fetchall()
    assert (AUDIT,) in nights


def test_its_certificate_verifies_and_its_status_is_told(folder, capsys):
    lake = ["--lake", str(folder / "lake")]
    assert run_command(["verify", str(folder / "certificate" / "certificate.json"), *lake]) == 0
    assert "3841 rows in 13 tables are those it was issued for" in capsys.readouterr().out
    assert run_command(["status", "--json", *lake]) in {0, 1}
    assert AUDIT in capsys.readouterr().out


def test_a_changed_row_of_its_certificate_is_found_out(folder):
    path = folder / "certificate" / "certificate.json"
    path.write_text(path.read_text(encoding="utf-8").replace(AUDIT, AUDIT[:-1] + "9"), encoding="utf-8")
    assert run_command(["verify", str(path), "--lake", str(folder / "lake")]) != 0


def test_it_is_compacted_without_changing_a_digest(folder):
    lake = Lake.open(folder / "lake", create=False)
    before = len(list((folder / "lake" / "data").rglob("*.parquet")))
    assert compact(lake).recorded
    assert len(lake.contents().parts) <= len(ROWS) < before
    assert rows_of(lake) == ROWS
    assert audit_digest(Lake.open(lake.url), AUDIT) == DIGEST
    assert run_command(["verify", str(folder / "certificate" / "certificate.json"), "--lake", lake.url]) == 0


def test_an_audit_goes_on_in_it_without_asking_the_judge_again(folder, judge):
    done = judge_audit.audit(
        judge,
        folder / "items.csv",
        axes=["blur"],
        ladder_items=6,
        lake=folder / "lake",
        report=folder / "report",
    )
    assert judge.asked == 0
    lake = Lake.open(folder / "lake")
    for name in ("measures", "verdicts", "curves"):
        then, today = (lake.read(name, audit_id=audit_id).to_pylist() for audit_id in (AUDIT, done.audit_id))
        own = [[row for row in rows if _subject(row) == JUDGE] for rows in (then, today)]
        assert own[0]
        assert _without_audit(own[0]) == _without_audit(own[1])


def test_damaged_answers_are_asked_again_and_no_others(folder, judge):
    lake = Lake.open(folder / "lake")
    part = max(lake.contents().parts_of("scores", {JUDGE}), key=lambda part: part.rows)
    answers = lake.read("scores", judge_id=JUDGE)
    (folder / "lake" / part.path).write_bytes(b"")
    assert run_command(["lake", "verify", "--forget-damaged", "--lake", lake.url]) == 0
    judge_audit.audit(
        judge,
        folder / "items.csv",
        axes=["blur"],
        ladder_items=6,
        lake=folder / "lake",
        report=folder / "report",
    )
    again = Lake.open(lake.url)
    assert 0 < judge.asked == part.rows < answers.num_rows
    assert again.read("scores", judge_id=JUDGE)["value"].equals(answers["value"])
    assert damaged(again, thorough=True).damages == []


def _subject(row):
    return row.get("subject", row.get("judge_id"))


def _without_audit(rows):
    return [json.dumps({**row, "audit_id": ""}, default=str, sort_keys=True) for row in rows]

"""Clocks that are wrong: a lake written by a clock that was ahead, read by one that is right."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from judge_audit.audits.stages.plan import clock_notes
from judge_audit.core.tables import from_rows
from judge_audit.lake import Lake

NOW = datetime(2026, 5, 5, 2, 30, tzinfo=UTC)
AUDIT = {
    "status": "started",
    "judge_id": "j",
    "plan_id": "p",
    "code_version": "1",
    "configuration": "{}",
    "seed": 1,
    "input_digests": "{}",
    "commits": [],
    "anchor_set": None,
    "anchor_version": None,
    "anchor_head": None,
}


def lake_of(folder, *times):
    lake = Lake.open(folder / "lake")
    for number, (started, ended) in enumerate(times):
        row = {**AUDIT, "audit_id": f"a{number}", "started_at": started, "ended_at": ended}
        lake.commit({"audits": from_rows("audits", [row])})
    return lake


@pytest.mark.parametrize("name", ["started_at", "ended_at"])
def test_an_audit_from_the_future_is_told_with_both_times(tmp_path, name):
    before, ahead = NOW - timedelta(days=1), NOW + timedelta(hours=3)
    started = ahead if name == "started_at" else before
    lake = lake_of(tmp_path, (before, before), (started, None if name == "started_at" else ahead))
    (note,) = clock_notes(lake, NOW)
    assert "a1 of 2026-05-05 05:30 UTC, while this machine's clock says 2026-05-05 02:30 UTC" in note


def test_clocks_that_differ_a_little_and_an_empty_lake_are_no_word_worth(tmp_path):
    assert clock_notes(lake_of(tmp_path), NOW) == ()
    assert clock_notes(lake_of(tmp_path, (NOW, NOW + timedelta(minutes=1))), NOW) == ()

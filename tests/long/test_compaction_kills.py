"""Compactions killed at every step on disk, one after another on the same lake."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta

import pytest
from busy_lake import all_files, everything, fill, start_killed

from judge_audit.lake import Lake
from judge_audit.lake.compaction import compact

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is a POSIX notion"),
]

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def test_a_lake_whose_every_compaction_is_killed_reads_as_before_and_the_next_one_finishes(tmp_path):
    lake = fill(Lake.open(tmp_path / "busy"), judges=2, batches=4)
    before = everything(lake.url)
    killed = 0
    for night in range(2):
        for step in range(1, 24):
            outcome = start_killed(lake.url, step, NOW + timedelta(days=night)).wait(120)
            assert outcome in {0, -9}
            killed += outcome == -9
            assert everything(lake.url) == before
    print(f"{killed} of 46 compactions were killed")
    assert killed >= 15
    for days in (9, 10, 18):
        compact(lake, now=NOW + timedelta(days=days))
        assert everything(lake.url) == before
    assert all_files(lake.url) == {part.path for part in lake.contents().parts}

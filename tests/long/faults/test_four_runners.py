"""Threads, processes, Dask and Ray: the same rows, value for value, in the same commits."""

from __future__ import annotations

from pathlib import Path

import pytest
from fault_world import good, make, run, same, words

from judge_audit.lake import Lake

pytestmark = pytest.mark.long


def _commits(lake):
    """The commits of answers, whose ids stand in the names of their files."""
    return {Path(file).name.split("-")[1] for file in Lake.open(lake, create=False).files("calls")}


def test_all_four_come_to_the_same(tmp_path):
    for name in ("prefect_dask", "prefect_ray"):
        pytest.importorskip(name)
    loads = 'open(HERE / "loaded.log", "a").write(f"{__import__(\'os\').getpid()}\\n")'
    world = make(tmp_path, pictures=40, seconds=0.005, more=loads)
    loaded = {}
    for runner in ("threads", "processes", "dask", "ray"):
        good(run(world, words(runner, "--runner", runner)))
        log = world / "loaded.log"
        pids = log.read_text().split()
        assert len(pids) == len(set(pids)), "a process loaded the judge twice"
        loaded[runner] = len(pids)
        log.unlink()
    # The flow's own process reads the card, and each of the two workers loads the judge once.
    assert loaded == {"threads": 1, "processes": 3, "dask": 3, "ray": 3}
    for runner in ("processes", "dask", "ray"):
        same(world / "threads", world / runner)
        assert _commits(world / runner) == _commits(world / "threads")

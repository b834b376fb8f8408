"""Two runs of the same audit at the same time, in one lake."""

from __future__ import annotations

import subprocess

import pytest
from fault_world import answers, good, make, run, same, words

pytestmark = pytest.mark.long


@pytest.mark.parametrize("runners", [("threads", "threads"), ("processes", "threads")])
def test_both_end_well_and_the_lake_holds_what_one_would_have_left(tmp_path, runners):
    world = make(tmp_path, pictures=40, seconds=0.02)
    both = [
        subprocess.Popen(
            words("shared", "--runner", runner, "--report", f"report-{number}"),
            cwd=world,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number, runner in enumerate(runners)
    ]
    for process in both:
        out, said = process.communicate(timeout=600)
        assert process.returncode == 0, said
        assert out.startswith("Position: ")
    good(run(world, words("whole")))
    assert answers(world / "shared") == answers(world / "whole")
    same(world / "whole", world / "shared")

"""Judges that hang or take their process with them: the reason stands in plain words, and the next run goes on."""

from __future__ import annotations

import pytest
from fault_world import answers, asked, good, make, run, same, told, words

pytestmark = pytest.mark.long

# It answers like the whole judge, but breaks at the 200th picture for as long as the file is there. The name of the
# function and what it holds are the same, so it is the same judge before and after.
BREAKING = """
def breaking(images, prompts):
    if (HERE / "breaks").exists() and (HERE / "asked.log").exists():
        if len((HERE / "asked.log").read_text().split()) >= 200:
            BREAK
    return score(images, prompts)
breaking.identity = "breaking 1"
"""
CARD = "kind: callable\nname: breaking\ntarget: slow_judge:breaking\nbatch_size: 8\ntimeout: 3\n"


@pytest.fixture
def world(tmp_path):
    return make(tmp_path, pictures=40, seconds=0.005)


def _breaks(world, how):
    make(world, pictures=40, seconds=0.005, more=BREAKING.replace("BREAK", how))
    (world / "breaking.yaml").write_text(CARD)
    (world / "breaks").write_text("")


def _goes_on(world, runner):
    held = answers(world / "broken")
    assert 150 <= sum(held.values()) < 300
    (world / "breaks").unlink()
    before = asked(world)
    good(run(world, words("broken", "--runner", runner, judge="breaking.yaml")))
    assert sum((asked(world) - before).values()) == sum(answers(world / "broken").values()) - sum(
        held.values()
    )
    (world / "asked.log").unlink()
    good(run(world, words("whole", judge="breaking.yaml")))
    same(world / "whole", world / "broken")


@pytest.mark.parametrize("runner", ["threads", "processes"])
def test_a_judge_that_hangs(world, runner):
    _breaks(world, "time.sleep(10_000)")
    said = told(run(world, words("broken", "--runner", runner, judge="breaking.yaml")), 3)
    print(said)
    assert "gave no answer to" in said
    assert "within 3 s: it hangs. It stands at" in said
    assert "slow_judge.py, line" in said
    _goes_on(world, runner)


@pytest.mark.parametrize("runner", ["processes", "dask", "ray"])
def test_a_judge_that_ends_its_worker(world, runner):
    if runner != "processes":
        pytest.importorskip(f"prefect_{runner}")
    _breaks(world, "import os; os._exit(7)")
    said = told(run(world, words("broken", "--runner", runner, judge="breaking.yaml")), 3)
    print(said)
    assert said.startswith("judge-audit: a worker died while it asked the judge")
    assert "Nothing committed is lost: the same command goes on from there" in said
    _goes_on(world, runner)


def test_a_judge_that_ends_the_whole_process(world):
    _breaks(world, "import os; os._exit(7)")
    assert run(world, words("broken", "--runner", "threads", judge="breaking.yaml")).returncode == 7
    _goes_on(world, "threads")

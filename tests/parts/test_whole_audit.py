"""The command on real parts: dry runs, kills, resumption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from command_world import COMMAND, arguments, make, results, run

from judge_audit.lake import Lake

pytestmark = pytest.mark.parts


@pytest.fixture
def folder(tmp_path):
    return make(tmp_path)


def test_a_dry_run_shows_three_pictures_once_and_bad_input_ends_with_two(folder):
    for expected in (3, 0):
        done = run(folder, arguments("lake", "slow_judge:score", "--dry-run", "--json"))
        told = json.loads(done.stdout)
        assert told["tried_calls"] == expected
        assert told["seconds_per_call"] == pytest.approx(0.12, rel=0.2)
    assert len(asked(folder)) == Lake.open(folder / "lake").read("calls", is_control=False).num_rows == 3
    (folder / "items.csv").write_text("item_id,source,prompt,image\n1,x,p,0.png\n1,x,p,none.png\n")
    done = run(folder, arguments("other"), expected=2)
    assert "row 2, column item_id" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "other" / "prefect").exists(), "a server was started for input that cannot be used"


def asked(folder):
    """The pictures that the logging judge was shown, each as often as it was."""
    log = folder / "asked.log"
    return log.read_text().splitlines() if log.exists() else []


def answers(folder, lake):
    """The pictures whose answers of the logging judge are in the lake, by how many answers there are."""
    calls = Lake.open(folder / lake).read("calls", is_control=False).to_pylist()
    return Counter(call["pixel_digest"] for call in calls if call["state"] == "ok")


def servers_of(folder):
    """Processes of embedded servers whose home lies in the folder."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                if str(folder).encode() in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_bytes())
            except OSError:
                continue
    return [line for line in found if b"server_process" in line]


def killed_when(folder, reached):
    """Start the audit, kill it and all its children when something is reached."""
    words = [*COMMAND, *arguments("killed", "slow_judge:score")]
    nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(words, cwd=folder, start_new_session=True, **nowhere) as process:
        deadline = time.monotonic() + 120
        while not reached():
            assert process.poll() is None, "the run was over before it was killed: make the judge slower"
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)


def test_a_run_killed_anywhere_goes_on_buys_nothing_twice_and_ends_with_the_same_rows(folder):
    run(folder, arguments("whole", "slow_judge:score"))
    (folder / "asked.log").unlink()
    started = time.monotonic()
    moments = [
        lambda: time.monotonic() > started + 2,
        lambda: bool(asked(folder)),
        lambda: sum(answers(folder, "killed").values()) > 64,
        lambda: sum(answers(folder, "killed").values()) > 200,
    ]
    for reached in moments:
        held, before = answers(folder, "killed"), len(asked(folder))
        killed_when(folder, reached)
        _bought_only_what_was_missing(folder, held, before)
    data = folder / "killed" / "data" / "scores"
    for name, content in (("part-zero.parquet", b""), ("part-cut.parquet", b"PAR1 half")):
        data.mkdir(parents=True, exist_ok=True)
        (data / name).write_bytes(content)
    held, before = answers(folder, "killed"), len(asked(folder))
    run(folder, arguments("killed", "slow_judge:score"))
    _bought_only_what_was_missing(folder, held, before)
    assert answers(folder, "killed") == answers(folder, "whole")
    assert results(folder, "killed") == results(folder, "whole")
    deadline = time.monotonic() + 20
    while servers_of(folder) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not servers_of(folder), "a killed run left its server behind"


def _bought_only_what_was_missing(folder, held, before):
    """See that no picture was shown whose answers were all in the lake when the run began."""
    planned = answers(folder, "whole")
    shown = Counter(asked(folder)[before:])
    twice = [picture for picture, times in shown.items() if times > planned[picture] - held[picture]]
    assert not twice

"""Twenty kills at random moments: of the flow, a worker, the server, or everything at once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))
from fault_world import answers, asked, below, good, make, run, same, words

pytestmark = pytest.mark.long

KILLS = int(os.environ.get("JUDGE_AUDIT_KILLS", "20"))
VICTIMS = ("flow", "worker", "server", "everything")
HUNG_SECONDS = 240


@pytest.fixture
def world(tmp_path):
    return make(tmp_path, pictures=120, seconds=0.05)


def _victims(kind, pid):
    """The processes to kill; none while there are none of the kind."""
    children = below(pid)
    servers = [child for child, line in children.items() if "server_process" in line]
    workers = [child for child, line in children.items() if "spawn_main" in line or "forkserver" in line]
    return {"flow": [pid], "server": servers, "worker": workers[-1:], "everything": [*children, pid]}[kind]


def _killed(folder, kind, moment):
    """Start the audit, kill at a moment; gives what the command said, and its code."""
    started = time.monotonic()
    asking = words("killed", "--runner", "processes")
    with (folder / "said.txt").open("w") as said, subprocess.Popen(
        asking, cwd=folder, stdout=said, stderr=said, start_new_session=True
    ) as process:
        while process.poll() is None and time.monotonic() < started + moment:
            time.sleep(0.05)
        victims = _victims(kind, process.pid) if process.poll() is None else []
        for victim in victims:
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                continue
        code = process.wait(HUNG_SECONDS)
    return code, (folder / "said.txt").read_text(), bool(victims)


def test_after_twenty_kills_the_lake_holds_the_same_rows_as_one_that_was_never_disturbed(world):
    began = time.monotonic()
    good(run(world, words("whole", "--runner", "processes")))
    length = time.monotonic() - began
    planned = answers(world / "whole")
    (world / "asked.log").unlink()
    draw = random.Random(20)
    held_back = 0
    for number in range(KILLS):
        kind = VICTIMS[number % len(VICTIMS)]
        moment = draw.uniform(0.1, 1.0) * length
        held, before = answers(world / "killed"), asked(world)
        code, said, killed = _killed(world, kind, moment)
        print(f"{number:2d} {kind:10s} at {moment:5.1f} s: code {code}, killed {killed}, {sum(held.values())} held")
        print("   ", " | ".join(said.strip().splitlines()[-2:]))
        assert "Traceback" not in said, said
        if code > 0:
            assert code == 3, said
            assert "Nothing committed is lost" in said, said
        # What was in the lake when the run began was not asked again.
        shown = asked(world) - before
        twice = {picture for picture, times in shown.items() if times > planned[picture] - held[picture]}
        assert not twice
        held_back += code != 0
    good(run(world, words("killed", "--runner", "processes")))
    same(world / "whole", world / "killed")
    assert answers(world / "killed") == planned
    assert held_back >= KILLS // 2
    deadline = time.monotonic() + 30
    while (left := _of_ours(world)) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert not left, "killed runs left processes behind"


def _of_ours(folder):
    """Processes that still work in the folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if (entry / "cwd").readlink() == folder:
                    found.append((entry / "cmdline").read_bytes())
            except OSError:
                continue
    return found

"""Twenty kills at random moments: of the flow, a worker, the server, or everything at once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from fault_world import answers, asked, below, good, make, run, same, words

pytestmark = pytest.mark.long

HUNG_SECONDS = 240


@pytest.fixture
def world(tmp_path):
    return make(tmp_path, pictures=300, seconds=0.05)


def _victims(kind, pid):
    """The processes to kill; none while there are none of the kind."""
    children = below(pid)
    servers = [child for child, line in children.items() if "server_process" in line]
    workers = [child for child, line in children.items() if "spawn_main" in line or "forkserver" in line]
    return {"flow": [pid], "server": servers, "worker": workers[-1:], "everything": [*children, pid]}[kind]


def _kills(draw):
    """Whom to kill and when: while it starts, after so many more pictures, and while it measures and reports.

    The server comes after the others, since an audit goes on without it and then nothing is left to ask.
    """
    early = [(kind, ("seconds", draw.uniform(0.5, 15))) for kind in ("flow", "everything", "flow")]
    asking = [(kind, ("pictures", draw.randint(1, 40))) for kind in ("flow", "worker", "everything") * 4]
    stages = ("controls …", "measuring …", "report …", "measuring …")
    first = early + asking
    draw.shuffle(first)
    kinds = ("server", "everything", "flow", "flow")
    late = [(kind, ("stage", at)) for kind, at in zip(kinds, stages, strict=True)]
    return [*first, ("server", ("seconds", draw.uniform(8, 15))), *late]


def _killed(folder, kind, moment):
    """Start the audit, kill at a moment; gives what the command said, its code, and whether it was killed."""
    started, before = time.monotonic(), sum(asked(folder).values())
    asking = words("killed", "--runner", "processes" if kind == "worker" else "threads")
    what, size = moment

    def reached():
        if what == "seconds":
            return time.monotonic() > started + size
        if what == "pictures":
            return sum(asked(folder).values()) > before + size
        return str(size) in (folder / "said.txt").read_text()

    with (
        (folder / "said.txt").open("w") as said,
        subprocess.Popen(asking, cwd=folder, stdout=said, stderr=said, start_new_session=True) as process,
    ):
        victims = []
        while process.poll() is None and not victims:
            if reached():
                victims = _victims(kind, process.pid)
            time.sleep(0.02)
        for victim in victims:
            with suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        code = process.wait(HUNG_SECONDS)
    return code, (folder / "said.txt").read_text(), bool(victims)


def test_after_twenty_kills_the_lake_holds_the_same_rows_as_one_that_was_never_disturbed(world):
    good(run(world, words("whole")))
    planned = answers(world / "whole")
    (world / "asked.log").unlink()
    deaths = 0
    for number, (kind, moment) in enumerate(_kills(random.Random(20))):
        held, before, began = answers(world / "killed"), asked(world), time.monotonic()
        code, said, killed = _killed(world, kind, moment)
        last = (said.strip() or "nothing").splitlines()[-1]
        print(
            f"{number:2d} {kind:10s} {moment}: code {code} after {time.monotonic() - began:.0f} s, {killed=}, "
            f"{sum(held.values())} answers before: {last}",
            flush=True,
        )
        assert "Traceback" not in said, said
        if code > 0:
            assert code == 3, said
            assert "Nothing committed is lost" in said, said
        # What was in the lake when the run began was not asked again.
        shown = asked(world) - before
        twice = {picture for picture, times in shown.items() if times > planned[picture] - held[picture]}
        assert not twice
        deaths += killed
    good(run(world, words("killed")))
    same(world / "whole", world / "killed")
    assert answers(world / "killed") == planned
    assert deaths >= 16
    deadline = time.monotonic() + 30
    while (left := _of_ours(world)) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert not left, "killed runs left processes behind"


def test_an_audit_goes_on_without_its_server_or_says_that_it_is_gone(world):
    code, said, killed = _killed(world, "server", ("pictures", 20))
    print(code, said)
    assert killed
    assert code in {0, 3}
    assert "Traceback" not in said
    if code:
        assert "Nothing committed is lost" in said
        good(run(world, words("killed")))
    good(run(world, words("whole")))
    same(world / "whole", world / "killed")


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

"""A disk that is full, in the middle of the answers: a real small file system."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import time

import pytest
from fault_world import good, make, run, same, words

pytestmark = pytest.mark.long

# A file system of its own, seen only from inside; the second run finds it larger.
SCRIPT = """
set -u
mount -t tmpfs -o size=$SIZE tmpfs small
FIRST > first.out 2> first.err; echo $? > first.code
df -k small | tail -1 > first.df
mount -o remount,size=400m small
SECOND > second.out 2> second.err; echo $? > second.code
cp -r small kept
"""


def _confined(*command):
    return ["unshare", "--user", "--map-root-user", "--mount", *command]


@pytest.fixture
def world(tmp_path):
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare here")
    (tmp_path / "try").mkdir()
    trial = _confined("mount", "-t", "tmpfs", "tmpfs", str(tmp_path / "try"))
    if subprocess.run(trial, capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody make a small file system")
    (tmp_path / "small").mkdir()
    return make(tmp_path, pictures=40, seconds=0.005)


# Never the machine's own disk: the undisturbed run is outside of the small file system.
FILLING = """
import shutil

def filling(images, prompts):
    found = score(images, prompts)
    full = HERE / "small" / "filler"
    small = shutil.disk_usage(full.parent).total < 1 << 30
    if small and len((HERE / "asked.log").read_text().split()) >= 150 and not full.exists():
        try:
            with full.open("wb") as file:
                while True:
                    file.write(bytes(4096))
        except OSError:
            pass
    return found
filling.identity = "filling 1"
"""


@pytest.mark.parametrize(
    ("size", "runner"), [("64k", "threads"), ("2m", "threads"), ("100m", "threads"), ("100m", "processes")]
)
def test_a_full_disk_is_said_plainly_and_the_next_run_goes_on(world, size, runner):
    """Full from the start, after some answers, and filled while the judge is asked."""
    make(world, pictures=40, seconds=0.005, more=FILLING)
    judge = "slow_judge:filling" if size == "100m" else "slow_judge:score"
    command = shlex.join(words("small/lake", "--runner", runner, judge=judge))
    script = SCRIPT.replace("FIRST", command).replace("SECOND", command).replace("$SIZE", size)
    began = time.monotonic()
    run(world, _confined("bash", "-c", script))
    said = (world / "first.err").read_text()
    print(size, runner, f"{time.monotonic() - began:.0f} s", (world / "first.df").read_text(), said[-600:])
    assert (world / "first.code").read_text().strip() == "3", said
    assert "Traceback" not in said
    last = said[said.rindex("judge-audit: ") :]
    assert "No space left on device" in last
    assert "Nothing committed is lost" in last
    assert (world / "second.code").read_text().strip() == "0", (world / "second.err").read_text()
    good(run(world, words("whole", judge=judge)))
    same(world / "whole", world / "kept" / "lake")

"""A disk that is full, in the middle of the answers: a real small file system."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))
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


@pytest.mark.parametrize("size", ["64k", "1m", "3m", "5m"])
def test_a_full_disk_is_said_plainly_and_the_next_run_goes_on(world, size):
    import shlex

    command = shlex.join(words("small/lake"))
    script = SCRIPT.replace("FIRST", command).replace("SECOND", command).replace("$SIZE", size)
    run(world, _confined("bash", "-c", script))
    said = (world / "first.err").read_text()
    print(size, (world / "first.df").read_text(), said[-600:])
    assert (world / "first.code").read_text().strip() == "3", said
    assert "Traceback" not in said
    last = said[said.rindex("judge-audit: ") :]
    assert "No space left on device" in last
    assert "Nothing committed is lost" in last
    assert (world / "second.code").read_text().strip() == "0", (world / "second.err").read_text()
    good(run(world, words("whole")))
    same(world / "whole", world / "kept" / "lake")

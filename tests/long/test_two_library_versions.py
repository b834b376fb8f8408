"""The same pictures drawn by an older OpenCV and NumPy have the same pixels, in an environment of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
OLDER = ["opencv-python-headless==4.12.0.88", "numpy==2.2.6"]
OTHERS = ["pillow", "xxhash", "pyarrow", "pyyaml", "scipy", "fsspec"]
DRAW = """
import json
import numpy as np
from judge_audit.stimuli.axes import builtin_axes, fingerprint
from judge_audit.stimuli.axes.image_buffers import Scratch
from judge_audit.core.digests import pixel_digest
found = {}
for number in range(3):
    rng = np.random.default_rng(number)
    blocks = rng.integers(0, 256, (12, 15, 3)).repeat(27, 0).repeat(21, 1)
    pixels = np.clip(blocks + rng.integers(-9, 10, blocks.shape), 0, 255).astype(np.uint8)
    scratch = Scratch()
    for axis in builtin_axes().values():
        for x in axis.strengths:
            found[f"{number} {axis.name} {x}"] = pixel_digest(axis.draw(pixels, x, scratch))
print(json.dumps([fingerprint(), found]))
"""


def _drawn(python, path):
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([python, "-c", DRAW], capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout)


def test_an_older_opencv_and_numpy_draw_the_same_pixels(tmp_path):
    venv.create(tmp_path / "old", with_pip=True)
    python = str(tmp_path / "old/bin/python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *OLDER, *OTHERS], check=True, timeout=600)
    names = tmp_path / "names"
    names.mkdir()
    for folder in ("flows", "tasks", "schemas"):
        (names / f"judge_audit_{folder}").symlink_to(ROOT / folder)
    path = os.pathsep.join([str(ROOT), str(names)])
    (old, before), (new, after) = _drawn(python, path), _drawn(sys.executable, path)
    assert old != new
    differing = sorted({name.split()[1] for name in after if before.get(name) != after[name]})
    print(f"{old} against {new}: {len(after)} rungs, differing axes: {differing}")
    assert not differing

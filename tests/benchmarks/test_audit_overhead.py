"""A whole audit beside the time its judge takes, in the same run."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pytestmark = pytest.mark.parts

COMMAND = [str(Path(sys.executable).with_name("judge-audit"))]
SECONDS = 0.1
JUDGE = f"""
import pathlib, time
LOG = pathlib.Path(__file__).with_name("busy.log")
def score(images, prompts):
    started = time.perf_counter()
    time.sleep({SECONDS} * len(images))
    with LOG.open("a") as file:
        file.write(f"{{time.perf_counter() - started}} {{len(images)}}\\n")
    return [float(image[..., 1].mean() + image.std()) for image in images]
"""
SERVER = """
import sys, time
from pathlib import Path
started = time.perf_counter()
from judge_audit_flows.runtime.server import embedded_server
with embedded_server(Path(sys.argv[1])):
    import prefect
    print(time.perf_counter() - started)
"""


@pytest.fixture
def folder(tmp_path):
    lines = ["item_id,source,prompt,image"]
    for number in range(160):
        rng = np.random.default_rng(number)
        pixels = np.clip(rng.normal(60 + number / 2, 20 + number / 4, (320, 320, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{number}.png", compress_level=1)
        lines.append(f"i{number:03d},{'xy'[number % 2]},a picture,{number}.png")
    (tmp_path / "items.csv").write_text("\n".join(lines))
    (tmp_path / "slow_judge.py").write_text(JUDGE)
    return tmp_path


def _overhead(folder, name):
    """Run a whole audit: its seconds less a server's start, over those of its judge."""
    words = ["run", "--items", "items.csv", "--judge", "slow_judge:score", "--ladder-items", "12"]
    words += ["--workers", "1", "--lake", name, "--report", f"{name}-report"]
    log = folder / "busy.log"
    log.unlink(missing_ok=True)
    started = time.perf_counter()
    done = subprocess.run(
        [*COMMAND, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=900
    )
    whole = time.perf_counter() - started
    assert done.returncode == 0, done.stderr
    alone = subprocess.run(
        [sys.executable, "-c", SERVER, str(folder / f"{name}-home")],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={name: value for name, value in os.environ.items() if name != "PREFECT_API_URL"},
    )
    server = float(alone.stdout.split()[-1])
    lines = [line.split() for line in log.read_text().splitlines()]
    judge = sum(float(seconds) for seconds, _ in lines)
    asked = sum(int(count) for _, count in lines)
    print(f"{asked} pictures: judge {judge:.1f} s, server {server:.1f} s, whole {whole:.1f} s")
    print(f"whole less server over judge: {(whole - server) / judge:.3f}")
    return (whole - server) / judge


@pytest.mark.long
@pytest.mark.xfail(
    strict=True,
    reason="measured 1.18 to 1.21 with 1,524 pictures: pairs, combined changes and twice as many controls came in, and "
    "some thirty seconds of planning, checks, report and Prefect's own do not grow with the judge's time",
)
def test_a_whole_audit_takes_little_longer_than_its_judge_and_a_server_start(folder):
    # What else the machine does only ever adds; a second try is made where it may have.
    assert any(_overhead(folder, name) <= 1.15 for name in ("first", "second"))

"""Seventy small pictures, a slow judge that writes down what it is shown, and the command on them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image

from judge_audit.lake import Lake

COMMAND = [str(Path(sys.executable).with_name("judge-audit"))]
RESULTS = ("curves", "measures", "verdicts", "standings")
JUDGE = """
import pathlib, time
from judge_audit.core.digests import pixel_digest
LOG = pathlib.Path(__file__).with_name("asked.log")
def score(images, prompts):
    time.sleep(0.12 * len(images))
    with LOG.open("a") as file:
        for image in images:
            file.write(f"{pixel_digest(image)}\\n")
    return [float(image[..., 1].mean() + image.std()) for image in images]
score.pinned = True
"""


def make(tmp_path):
    lines = ["item_id,source,prompt,image"]
    for number in range(70):
        rng = np.random.default_rng(number)
        pixels = np.clip(rng.normal(60 + number, 20 + number / 2, (48, 48, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{number}.png")
        lines.append(f"i{number:02d},{'xy'[number % 2]},a picture,{number}.png")
    (tmp_path / "items.csv").write_text("\n".join(lines))
    (tmp_path / "slow_judge.py").write_text(JUDGE)
    return tmp_path


def arguments(lake, judge="brisque", *more):
    given = ["run", "--items", "items.csv", "--judge", judge, "--axes", "saturation+,blur,contrast-"]
    return [*given, "--ladder-items", "12", "--lake", lake, "--report", f"{lake}-report", *more]


def run(folder, words, expected=0):
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(  # noqa: PLW1510 - the code is asserted below
        [*COMMAND, *words], cwd=folder, capture_output=True, text=True, timeout=300, env=environment
    )
    assert done.returncode == expected, done.stdout + done.stderr
    return done


def results(folder, lake):
    """Every result row of the last complete audit, ids of audits and times aside."""
    held = Lake.open(folder / lake, create=False)
    audits = [row for row in held.read("audits").to_pylist() if row["status"] == "complete"]
    last = max(audits, key=lambda row: row["ended_at"])["audit_id"]
    found = {name: held.read(name, audit_id=last).drop_columns(["audit_id"]).to_pylist() for name in RESULTS}
    scores = held.read("scores").to_pylist()
    return {**found, "scores": sorted(scores, key=lambda row: json.dumps(row, sort_keys=True))}

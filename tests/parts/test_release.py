"""A release on real parts: a server, the flow, the gate's exit code."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

pytestmark = pytest.mark.parts

JUDGE = """
def score(images, prompts):
    return [float({sign}image[..., 1].mean() + image.std()) for image in images]
"""
AUDIT = """
items: items.csv
judge: mine:score
axes: [blur, contrast-]
ladder_items: 12
lake: lake
report: report
"""


@pytest.fixture
def folder(tmp_path):
    lines = ["item_id,source,prompt,image"]
    for number in range(40):
        rng = np.random.default_rng(number)
        pixels = np.clip(rng.normal(60 + number, 20 + number / 2, (48, 48, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{number}.png")
        lines.append(f"i{number:02d},{'xy'[number % 2]},a picture,{number}.png")
    (tmp_path / "items.csv").write_text("\n".join(lines))
    (tmp_path / "mine.py").write_text(JUDGE.format(sign=""))
    (tmp_path / "audit.yaml").write_text(AUDIT)
    return tmp_path


def judge_audit(folder, *words):
    command = [sys.executable, "-c", "from judge_audit.cli import main; main()", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=400, check=False)


def test_a_release_audits_asks_the_gate_and_ends_with_its_exit_code(folder):
    first = judge_audit(folder, "release", "audit.yaml")
    assert first.returncode == 1, first.stdout + first.stderr
    assert "No judge is approved for screening yet" in first.stdout
    approved = judge_audit(folder, "approve", "--first", "--by", "Ada", "--reason", "a start")
    assert approved.returncode == 0, approved.stderr
    again = judge_audit(folder, "release", "audit.yaml", "--json")
    assert again.returncode == 0, again.stdout + again.stderr
    told = json.loads(again.stdout)
    assert told["gate"]["state"] == "open"
    assert told["gate"]["baseline"] != told["gate"]["candidate"]
    page = folder / "report" / "certificate.html"
    held = judge_audit(folder, "verify", str(page))
    assert held.returncode == 0, held.stdout
    assert "The certificate holds" in held.stdout
    stand = judge_audit(folder, "status", "--max-age", "1", "--json")
    assert stand.returncode == 0, stand.stdout + stand.stderr
    assert json.loads(stand.stdout)["judges"][0]["last_good_audit"]["audit_id"] == told["gate"]["candidate"]
    kept = judge_audit(
        folder, "lake", "sql", "--json", "FROM runs WHERE outcome <> 'started' ORDER BY started_at"
    )
    runs = json.loads(kept.stdout)
    assert [(row["kind"], row["outcome"], row["exit_code"]) for row in runs] == [
        ("release", "complete", 1),
        ("release", "complete", 0),
    ]
    assert all(row["flow_run"] and row["audit_id"] and row["gate_id"] for row in runs)

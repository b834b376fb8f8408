"""What Prefect's page calls the runs of an audit, and their tags."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("prefect")
pytestmark = [pytest.mark.parts, pytest.mark.timeout(400)]

AUDIT = """
items: items.csv
judge: mine:bright
axes: [blur, contrast-]
ladder_items: 6
pairs_per_kind: 2
lake: lake
report: report
"""

RUN = """
import json
from pathlib import Path
from judge_audit_flows.runtime.server import _drain, embedded_server
with embedded_server(Path("server")) as url:
    from judge_audit_flows.nightly import ad_hoc
    from prefect.client.orchestration import get_client
    ad_hoc(str(Path("audit.yaml").resolve()))
    _drain(url, 0)
    with get_client(sync_client=True) as client:
        runs = {"flows": client.read_flow_runs(), "tasks": client.read_task_runs()}
        print(json.dumps({name: [[run.name, run.tags] for run in found] for name, found in runs.items()}))
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("thumbnails") / "team"
    folder.mkdir()
    lines = ["item_id,source,prompt,image"]
    for number in range(24):
        rng = np.random.default_rng(number)
        pixels = np.clip(rng.normal(60 + number, 20 + number / 2, (48, 48, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
        lines.append(f"i{number:02d},{'xy'[number % 2]},picture {number % 3},{number}.png")
    (folder / "items.csv").write_text("\n".join(lines))
    (folder / "mine.py").write_text(
        "def bright(images, prompts):\n    return [float(image.mean()) for image in images]\n"
    )
    (folder / "audit.yaml").write_text(AUDIT)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    command = [sys.executable, "-c", RUN]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env=clean, timeout=380, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_flow_runs_are_called_by_judge_sources_and_axes(runs):
    names = {name for name, _ in runs["flows"]}
    assert names == {"ad hoc the judge of audit.yaml", "audit mine:bright 1 · x, y · blur, contrast-"}


def test_every_task_is_called_by_its_judge_and_scoring_by_source_and_axes_or_pairs(runs):
    names = [
        name for name, _ in runs["tasks"] if name != "judge-audit-0"
    ]  # what Prefect calls a flow in a flow
    assert {f"{stage} mine:bright 1" for stage in ("prepare", "controls", "check", "report")} <= set(names)
    scoring = [name for name in names if name.startswith("score mine:bright 1 · ")]
    assert {name.split(" · ")[1] for name in scoring} <= {"x", "y", "2 sources"}
    assert any("blur" in name.split(" · ")[2] for name in scoring)
    assert any("pairs " in name.split(" · ")[2] for name in scoring)
    assert len(scoring) == len(set(scoring)) == len(names) - 4


def test_every_run_of_an_audit_is_tagged_with_project_and_judge(runs):
    audit = [tags for name, tags in runs["flows"] if name.startswith("audit ")]
    for tags in [*audit, *(tags for _, tags in runs["tasks"])]:
        assert {"judge-audit", "project:team", "judge:mine:bright 1"} <= set(tags)
    assert all("judge-audit-score" in tags for name, tags in runs["tasks"] if name.startswith("score"))

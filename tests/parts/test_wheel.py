"""The wheel in an environment that holds nothing else."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

pytestmark = pytest.mark.parts

ROOT = Path(__file__).parents[2]


def test_a_wheel_runs_the_demo_in_an_empty_environment_beside_other_flows_and_tasks(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path / "dist"), str(ROOT)],
        check=True,
        capture_output=True,
        timeout=300,
    )
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    venv.create(tmp_path / "env", with_pip=True)
    pip = [str(tmp_path / "env/bin/python"), "-m", "pip", "install", "--quiet", "--constraint"]
    subprocess.run([*pip, str(ROOT / "constraints.txt"), str(wheel)], check=True, timeout=600)
    project = tmp_path / "project"
    for name in ("flows", "tasks", "schemas"):
        (project / name).mkdir(parents=True)
        (project / name / "__init__.py").write_text("raise ImportError('not yours')\n")
    done = subprocess.run(  # noqa: PLW1510 - the code is asserted below
        [str(tmp_path / "env/bin/judge-audit"), "demo"],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr
    assert (project / "judge-audit-demo/report/report.html").is_file()

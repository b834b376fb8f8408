"""The guard of the layers guards: a copy with one wrong import breaks its contract, by name."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("flows", "tasks", "judge_audit", "schemas")


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A copy of the sources under the names they are imported by."""
    folder = tmp_path_factory.mktemp("copy")
    for name in FOLDERS:
        imported = name if name == "judge_audit" else f"judge_audit_{name}"
        shutil.copytree(ROOT / name, folder / imported, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.fixture
def changed(copied):
    """Change files of the copy, and have them as they were afterwards."""
    before = {}

    def change(path, text):
        file = copied / path
        before.setdefault(file, file.read_text(encoding="utf-8") if file.exists() else None)
        file.write_text((before[file] or "") + text, encoding="utf-8")

    yield change
    for file, content in before.items():
        if content is None:
            file.unlink()
        else:
            file.write_text(content, encoding="utf-8")


def linted(folder):
    """Run the contracts over the copy: exit code and what was printed."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_the_sources_as_they_are_keep_every_contract(copied):
    code, said = linted(copied)
    assert code == 0, said


@pytest.mark.parametrize(
    ("path", "line", "contract"),
    [
        ("judge_audit/measures/scale.py", "\nimport duckdb\n", "DuckDB only in the lake BROKEN"),
        ("judge_audit/cli/app.py", "\nimport great_expectations\n", "only in the gate BROKEN"),
        ("judge_audit/report/page.py", "\nimport mlflow\n", "MLflow only in the registry's client BROKEN"),
        ("judge_audit/inputs/items.py", "\nimport starlette\n", "web framework only in servers BROKEN"),
        ("judge_audit/checks/evidence.py", "\nimport torch\n", "inside the file of their judge kind BROKEN"),
        ("judge_audit/lake/lake.py", "\nimport prefect\n", "Prefect only in flows and tasks BROKEN"),
        ("judge_audit/lake/lake.py", "\nimport judge_audit.report\n", "top to bottom BROKEN"),
    ],
)
def test_one_wrong_import_breaks_its_contract(copied, changed, path, line, contract):
    changed(path, line)
    code, said = linted(copied)
    assert code == 1
    assert contract in said.replace("\n", " ")


def test_a_module_that_is_in_no_layer_breaks_the_layers(copied, changed):
    changed("judge_audit/somewhere.py", '"""Nobody said where this belongs."""\n')
    code, said = linted(copied)
    assert code != 0
    assert "somewhere" in said


def test_a_circle_between_two_folders_of_a_room_is_found(copied, changed):
    changed("judge_audit/checks/sight/__init__.py", "\nimport judge_audit.checks.ladders.premature\n")
    code, said = linted(copied)
    assert code == 1
    assert "no circle of imports, at any depth BROKEN" in said


def test_the_map_in_the_documentation_is_that_of_the_code():
    """`make map` draws it; the counts of lines may lag behind."""
    drawn = runpy.run_path(str(ROOT / "docs" / "draw_rooms.py"))
    shown = (ROOT / "docs" / "pictures" / "rooms.svg").read_text(encoding="utf-8")
    without = [re.sub(r"[\d,]+ lines", "", text) for text in (drawn["drawing"](), shown)]
    assert without[0] == without[1]
    assert "#b3261e" not in shown, "an arrow runs back up"

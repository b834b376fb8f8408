"""Nothing is registered: a file with the constant is found, a helper breaks nothing, a malformed one is named."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = {
    "checks/ladders": "CHECK",
    "stimuli/axes": "AXES",
    "stimuli/mismatches": "KIND",
    "judges/adapters": "KIND",
    "judges/controls": "CONTROLS",
}
FOUND = """
from judge_audit.checks import builtin_checks
from judge_audit.judges import builtin_kinds
from judge_audit.judges.controls import builtin_controls, comparing_controls, seeing_controls
from judge_audit.stimuli.axes import builtin_axes
from judge_audit.stimuli.mismatches import mismatch_kinds
controls = (*builtin_controls("z", 1), *comparing_controls("z", 1), *seeing_controls())
print(*builtin_checks(), *builtin_kinds(), *builtin_axes(), *mismatch_kinds(), len(controls))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package under the names it is imported by."""
    folder = tmp_path_factory.mktemp("package")
    for name in ("judge_audit", "schemas"):
        imported = name if name == "judge_audit" else f"judge_audit_{name}"
        shutil.copytree(ROOT / name, folder / imported, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def found_in(package):
    """List every part that a fresh process finds in the copy: exit code, output, errors."""
    environment = os.environ | {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", FOUND], env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_a_helper_dropped_beside_a_part_breaks_nothing(package):
    code, before, said = found_in(package)
    assert code == 0, said
    assert {"premature", "brisque", "blur", "semantic_miss"} <= set(before.split())
    helpers = [package / "judge_audit" / room / "zz_helper.py" for room in ROOMS]
    for helper in helpers:
        helper.write_text('"""What two parts share."""\n\nNAME = "helper"\nSTRENGTH = 3\n', encoding="utf-8")
    code, after, said = found_in(package)
    for helper in helpers:
        helper.unlink()
    assert code == 0, said
    assert after == before


@pytest.mark.parametrize(("room", "constant"), list(ROOMS.items()))
def test_a_malformed_part_is_refused_by_name(package, room, constant):
    wrong = package / "judge_audit" / room / "zz_wrong.py"
    wrong.write_text(f'"""Not a part."""\n\n{constant} = 3\n', encoding="utf-8")
    code, _, said = found_in(package)
    wrong.unlink()
    assert code == 1
    assert "MachineryError" in said
    assert "zz_wrong" in said


def test_a_new_check_is_one_new_file(package):
    new = package / "judge_audit" / "checks" / "scale" / "zz_new.py"
    new.write_text(
        '"""A new question."""\n\n'
        "from judge_audit.checks.check import Check\n"
        "from judge_audit.checks.evidence import Findings\n\n\n"
        "def run(evidence):\n    return Findings()\n\n\n"
        'CHECK = Check("zz_new", run)\n',
        encoding="utf-8",
    )
    code, found, said = found_in(package)
    new.unlink()
    assert code == 0, said
    assert "zz_new" in found.split()

"""What is installed is what is here."""

from __future__ import annotations

import tomllib
from pathlib import Path

import judge_audit
from judge_audit.judges import builtin_kinds

ROOT = Path(__file__).parents[1]


def test_every_folder_of_the_library_is_in_the_list_that_is_installed():
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = {name for name in told["tool"]["setuptools"]["packages"] if name.split(".")[0] == "judge_audit"}
    held = {
        ".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "judge_audit").rglob("__init__.py")
    }
    assert listed == held


def test_every_constraint_is_a_name_and_a_version_and_stands_once():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line.lower().split("==") for line in lines if line and not line.startswith("#")]
    assert all(len(pin) == 2 and pin[1] for pin in pins)
    names = [name.replace("_", "-") for name, _ in pins]
    assert len(names) == len(set(names)), sorted({name for name in names if names.count(name) > 1})


def test_every_extra_that_a_kind_names_is_there_in_the_spelling_that_every_pip_finds():
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = told["project"]["optional-dependencies"]
    assert not [name for name in extras if "_" in name]
    named = {getattr(module, "EXTRA", "") for module in builtin_kinds().values()} - {""}
    assert named <= set(extras)


def test_the_version_that_audits_record_is_that_of_the_distribution():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert judge_audit.__version__ == project["version"]

"""Which lake a project means: what its audit.yaml says, else the environment, else a folder next to the file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import yaml

from judge_audit.core.resources import LOADER

if TYPE_CHECKING:
    from pathlib import Path

LAKE_VARIABLE = "JUDGE_AUDIT_LAKE"
DEFAULT_LAKE = "judge-audit-lake"


def lake_of_project(path: Path) -> str:
    """Read which lake a project names, and nothing else of its file: questions to a lake need no more.

    Args:
        path: Its audit.yaml.

    Returns:
        The lake's address; "" where the file is faulty, so that whoever reads all of it says how.
    """
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=LOADER)  # noqa: S506 - a safe loader
    except (OSError, ValueError, yaml.YAMLError):
        return ""
    if not isinstance(content, dict):
        return ""
    base = path.resolve().parent
    lake = content.get("lake") or os.environ.get(LAKE_VARIABLE) or str(base / DEFAULT_LAKE)
    if not isinstance(lake, str):
        return ""
    return lake if "://" in lake or lake == os.environ.get(LAKE_VARIABLE) else str(base / lake)

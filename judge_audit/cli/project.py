"""The project and the lake that a command is about."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_audit.core.lake_address import DEFAULT_LAKE, LAKE_VARIABLE, lake_of_project

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit.core.configuration import Configuration
    from judge_audit.lake.lake import Lake

AUDIT_FILE = "audit.yaml"


def configured(path: str | Path | None, overrides: Mapping[str, Any] | None = None) -> Configuration:
    """Read audit.yaml and the options of a command, the team's hook of notices included.

    Args:
        path: The file; None for options alone.
        overrides: What the options say; they win.

    Raises:
        UsageError: If anything in it cannot be used.
    """
    from judge_audit.core.configuration import resolve

    configuration = resolve(path, overrides)
    if configuration.notify:
        from judge_audit.operations.notifications import hook_of

        hook_of(configuration)
    return configuration


def file_here(file: Path | None = None) -> Path | None:
    """Give the file that was named, else ./audit.yaml if there is one."""
    return file or (Path(AUDIT_FILE) if Path(AUDIT_FILE).exists() else None)


def project_here() -> str:
    """Give the project in whose folder this is asked, "" if it is none."""
    return str(Path.cwd()) if Path(AUDIT_FILE).exists() else ""


def lake_here(option: str | None) -> str:
    """Say which lake is meant: the option, else ./audit.yaml, else the environment, else a folder here."""
    if option:
        return option
    if Path(AUDIT_FILE).exists():
        return lake_of_project(Path(AUDIT_FILE)) or configured(AUDIT_FILE).lake
    return os.environ.get(LAKE_VARIABLE) or DEFAULT_LAKE


def opened(option: str | None) -> Lake:
    """Open the lake that was meant; never make one."""
    from judge_audit.lake import Lake

    return Lake.open(lake_here(option), create=False)


def report_folder(option: str | None) -> str:
    """Give the folder of the report that belongs to a lake, as `run` would."""
    if option is None and Path(AUDIT_FILE).exists():
        return configured(AUDIT_FILE).report
    home = lake_here(option)
    return "judge-audit-report" if "://" in home else str(Path(home).with_name("judge-audit-report"))


def configuration_here(option: str | None) -> Configuration:
    """Give what ./audit.yaml says, if there is one, for a command that is about a lake and no judge in particular."""
    from dataclasses import replace

    from judge_audit.core.configuration import Configuration

    configuration = configured(AUDIT_FILE) if Path(AUDIT_FILE).exists() else Configuration()
    return replace(configuration, lake=lake_here(option), judge="")

"""The configuration a command goes by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from judge_audit.core.configuration import Configuration


def configured(path: str | Path | None, overrides: Mapping[str, Any] | None = None) -> Configuration:
    """Read audit.yaml and the options of a command, the team's hook of notices included.

    Args:
        path: The file; None for options alone.
        overrides: What the options say; they win.

    Raises:
        UsageError: If anything in it cannot be used.
    """
    from judge_audit.core.configuration import resolve

    found = resolve(path, overrides)
    if found.notify:
        from judge_audit.operations.notifications import hook_of

        hook_of(found)
    return found

"""The audit an AI image judge must pass before its score may filter, rank, steer or accept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.core.version import __version__

if TYPE_CHECKING:
    from judge_audit.api import Audit, audit, connect

__all__ = ["Audit", "__version__", "audit", "connect"]

_HOMES = {"audit": "judge_audit.api", "Audit": "judge_audit.api", "connect": "judge_audit.api"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever is asked for
    """Import the public names when they are used: `judge-audit --help` needs none of them."""
    if name in _HOMES:
        import importlib  # noqa: PLC0415

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

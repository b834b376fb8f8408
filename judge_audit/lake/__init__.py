"""Where everything an audit finds is kept, and how it is read back."""

from __future__ import annotations

from judge_audit.lake.lake import Commit, Lake

__all__ = ["Commit", "Lake"]

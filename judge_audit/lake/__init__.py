"""Where everything an audit finds is kept, and how it is read back; DuckDB is imported here and nowhere else.

It may import `stimuli`, `measures` and `core`.
"""

from __future__ import annotations

from judge_audit.lake.lake import Commit, Lake

__all__ = ["Commit", "Lake"]

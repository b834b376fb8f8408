"""Whether the process of a run still lives: it holds a lock that the system lets go whatever becomes of it."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from judge_audit.core.file_locks import grab

if TYPE_CHECKING:
    from pathlib import Path

    from judge_audit.lake import Lake

FOLDER = "running"
"""Where the locks lie, below the lake's folder (of a lake in S3: below this machine's folder for it)."""


class Life:
    """A lock held by this process until it lets go or ends."""

    def __init__(self, path: Path) -> None:
        """Take the lock; where none can be had nobody knows later whether the process lives, and nothing is lost."""
        self._path, self._file = path, -1
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            grab(self._file)

    def end(self) -> None:
        """Let go."""
        if self._file < 0:
            return
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        with suppress(OSError):
            os.close(self._file)
        self._file = -1


def lock_of(lake: Lake, run_id: str) -> Path:
    """Give where a run's lock lies."""
    return lake.storage.beside / FOLDER / f"{run_id}.lock"


def lives(lake: Lake, run_id: str) -> bool | None:
    """Tell whether a run's process lives; None where this machine does not know."""
    path = lock_of(lake, run_id)
    try:
        file = os.open(path, os.O_RDWR)
    except OSError:
        return None
    try:
        free = grab(file)
    finally:
        os.close(file)
    return None if free is None else not free

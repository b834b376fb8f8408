"""Writing in the folder of a set: whole files, and one change at a time."""

from __future__ import annotations

import os
import time
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING

from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.core.file_locks import grab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOCK = ".lock"
PATIENCE = 30.0
"""Seconds to wait for another change of the set to end."""


def write(path: Path, content: bytes) -> None:
    """Write a file so that it is either whole or as it was before, also after a power cut."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.parent.is_symlink():
        raise UsageError(f"{path.parent}: it is a link, which is not followed. Remove it.")
    draft = path.parent / f".{path.name}.{uuid.uuid4().hex}"
    try:
        with draft.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a set against other changes; a process that dies lets go.

    Raises:
        UsageError: If another change does not end.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder. `judge-audit anchors add` makes one.")
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    try:
        handle = os.open(folder / LOCK, flags, 0o644)
    except OSError as error:
        raise MachineryError(f"{folder / LOCK}: it cannot be opened: {error.strerror or error}.") from error
    try:
        until = time.monotonic() + PATIENCE
        while not grab(handle):
            if time.monotonic() > until:
                raise UsageError(
                    f"{folder}: another change of this set has not ended. Try again when it has."
                )
            time.sleep(0.05)
        yield
    finally:
        os.close(handle)

"""Locks on open files: held by one process at a time, let go by the system whatever becomes of it.

Writing a file so that a reader sees the old one or the new one, never a part.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from judge_audit.core.errors import MachineryError

if TYPE_CHECKING:
    from pathlib import Path


def grab(handle: int) -> bool | None:
    """Take the lock of an open file without waiting for it.

    Args:
        handle: The file, open for writing.

    Returns:
        Whether it is ours now: False if another process holds it, None where files cannot be locked (on some
        network disks), so that nobody can tell.
    """
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415 - of Windows alone

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415 - absent on Windows

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return None
    return True


def put(path: Path, text: str) -> None:
    """Write beside, then rename."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def put_pair(folder: Path, name: str, content: str, page: str) -> None:
    """Put a page and its content as JSON into a folder, each whole or not at all.

    Raises:
        MachineryError: If the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        put(folder / f"{name}.json", content + "\n")
        put(folder / f"{name}.html", page)
    except OSError as error:
        raise MachineryError(f"the {name} cannot be written to {folder}: {error.strerror}.") from error

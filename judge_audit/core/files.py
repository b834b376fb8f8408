"""Locks on open files: held by one process at a time, let go by the system whatever becomes of it.

Writing a file so that a reader sees the old one or the new one, never a part.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

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

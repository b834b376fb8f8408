"""One database in memory for all of a process's reads: making one takes fifty times as long as asking it."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

_lock = threading.Lock()
_held: dict[int, duckdb.DuckDBPyConnection] = {}


def cursor() -> duckdb.DuckDBPyConnection:
    """Give a connection of one's own to this process's database, which holds no table; close it after use."""
    import duckdb  # noqa: PLC0415 - a tenth of a second that commits alone need not pay

    own = os.getpid()  # a forked process has its parent's object and not its threads, and lets it be
    with _lock:
        if own not in _held:
            _held[own] = duckdb.connect()
        return _held[own].cursor()

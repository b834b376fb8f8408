"""A Prefect server that lasts as long as `judge-audit serve`: with schedules, automations and Prefect's page."""

from __future__ import annotations

import os
import socket
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from judge_audit_flows.runtime.server import (
    LOOPBACK,
    START_SECONDS,
    announced,
    exported,
    healthy,
    last_words,
    locked,
    spawn,
    stop,
)

from judge_audit.core.errors import MachineryError, UsageError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

USUAL_PORT = 4200
LEASES = "prefect.server.concurrency.lease_storage.filesystem"
"""Where the server notes who holds a slot: in memory, as is usual, a restart would end the runs that hold one."""


@contextmanager
def lasting_server(folder: Path, port: int | None = None) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run a server with a database of its own, on loopback only.

    Args:
        folder: Where its database, its log and its settings are; kept for the next time.
        port: Where it listens; None for the usual port or, if that is taken, a free one.

    Yields:
        The address of its API, exported to the environment, and its process.

    Raises:
        UsageError: If another server uses the folder, or the port is taken.
        MachineryError: If it does not start; shows the end of its log.
    """
    lock = locked(folder)
    if lock is None:
        raise UsageError(
            f"{folder}: another `judge-audit serve` runs on this lake, or the folder cannot be written. End the other, "
            "or set PREFECT_API_URL to its server."
        )
    with lock:
        process, url = _started(folder.resolve(), _door(port))
        try:
            with exported({"PREFECT_API_URL": url, "PREFECT_HOME": str(folder.resolve())}):
                yield url, process
        finally:
            stop(process)


def _door(port: int | None) -> int:
    """Say which port to listen on; 0 lets the system choose."""
    wanted = USUAL_PORT if port is None else port
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, wanted))
        except OSError as error:
            if port is None:
                return 0
            raise UsageError(f"--port {port}: it is taken on this machine. Name another, or none.") from error
    return wanted


def _started(folder: Path, port: int) -> tuple[subprocess.Popen[str], str]:
    """Start the server and wait until it answers."""
    deadline = time.monotonic() + START_SECONDS
    settings = {
        "PREFECT_SERVER_UI_ENABLED": "true",
        "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": LEASES,
        **{name: value for name, value in os.environ.items() if name.startswith("PREFECT_SERVER_")},
    }
    process = spawn(folder, settings, str(port))
    url = announced(process, deadline)
    if url and healthy(process, url, deadline):
        return process, url
    stop(process)
    raise MachineryError(f"the Prefect server did not start. The end of its log:\n{last_words(folder)}")

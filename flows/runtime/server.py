"""A Prefect server of our own where none is configured: for the time of a run, or for as long as `serve` runs.

Prefect's own ephemeral server starts slowly, drops task records at exit and outlives a killed parent; this
one keeps a folder of its own, waits for its records, and dies with whoever started it.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.core.files import grab

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LOOPBACK = "127.0.0.1"
LOG = "server.log"
START_SECONDS = 180.0
"""On a very busy machine, or with a database to make, a server takes more than a minute."""

DRAIN_SECONDS = 10.0
STOP_SECONDS = 5.0
SETTLE_SECONDS = 0.3
"""Two counts this far apart that agree mean that nothing is under way."""

LEAST_ROOM = 64 * 2**20
"""Bytes that the disk of a server's folder must have free: its database and log grow by some dozen megabytes."""

TRIES = 3
"""A start that fails is tried again: four servers starting at once on a small machine do fail."""

QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    # A failed task is reported in one plain sentence by the command; a traceback before it helps nobody.
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_SERVER_LEVEL": "WARNING",
}
"""No telemetry, and no lines that break a progress bar."""

IDLE_SERVICES = (
    "CANCELLATION_CLEANUP",
    "DB_VACUUM",
    "EVENT_LOGGER",
    "FOREMAN",
    "LATE_RUNS",
    "PAUSE_EXPIRATIONS",
    "REPOSSESSOR",
    "SCHEDULER",
    "TRIGGERS",
)
"""Services for schedules, workers and automations, which a server for one run has no use for."""


USUAL_PORT = 4200

LEASES = "prefect.server.concurrency.lease_storage.filesystem"
"""Where the server notes who holds a slot: in memory, as is usual, a restart would end the runs that hold one."""


@contextmanager
def embedded_server(home: Path | None = None) -> Iterator[str]:
    """Give the address of a Prefect server's API: the configured one, else one started for the time being.

    Enter it before Prefect is imported: the address is exported to the environment, which worker processes
    inherit.

    Args:
        home: Folder for the server's database and log. A folder that another run is using or whose disk is nearly
            full, and None, mean a temporary one.

    Yields:
        The address of the API.

    Raises:
        MachineryError: If the server does not start; shows the end of its log.
    """
    configured = os.environ.get("PREFECT_API_URL", "")
    with ExitStack() as stack:
        if configured:
            stack.enter_context(exported(or_chosen(QUIET)))
            yield configured
            return
        folder = stack.enter_context(_folder_of_our_own(home))
        process, url = _start(folder)
        stack.callback(stop, process)
        stack.enter_context(
            exported({**or_chosen(QUIET), "PREFECT_API_URL": url, "PREFECT_HOME": str(folder)})
        )
        stack.callback(_drain, url, _unfinished(url) or 0)
        yield url


def or_chosen(settings: Mapping[str, str]) -> dict[str, str]:
    """Give some settings as they are, or as the user's environment already has them."""
    return {name: os.environ.get(name, value) for name, value in settings.items()}


@contextmanager
def exported(settings: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables, and put the old ones back at the end."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        with ExitStack() as stack:
            if "prefect" in sys.modules and "PREFECT_API_URL" in settings:
                # This Prefect has already read its settings.
                from prefect.settings import PREFECT_API_URL, temporary_settings  # noqa: PLC0415

                stack.enter_context(temporary_settings({PREFECT_API_URL: settings["PREFECT_API_URL"]}))
            yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _folder_of_our_own(home: Path | None) -> Iterator[Path]:
    """Hold a folder that no other server uses: the given one if it is free, else a temporary one."""
    with ExitStack() as stack:
        lock = locked(home) if home is not None and _free(home) >= LEAST_ROOM else None
        if home is not None and lock is not None:
            stack.enter_context(lock)
            yield home.resolve()
        else:
            made = tempfile.TemporaryDirectory(prefix="judge-audit-prefect-", ignore_cleanup_errors=True)
            yield Path(stack.enter_context(made))


def _free(folder: Path) -> int:
    """Say how many bytes the disk of a folder, which need not be there yet, has free."""
    there = next(path for path in (folder.resolve(), *folder.resolve().parents) if path.exists())
    return shutil.disk_usage(there).free


def locked(home: Path) -> IO[str] | None:
    """Lock a folder for this process; None if it is taken, cannot be written, or cannot be locked here."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        lock = (home / "lock").open("w", encoding="utf-8")
    except OSError:
        return None
    if not grab(lock.fileno()):
        lock.close()
        return None
    return lock


def _start(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """Start a server for the time being and wait until it answers."""
    deadline = time.monotonic() + START_SECONDS
    settings = {f"PREFECT_SERVER_SERVICES_{name}_ENABLED": "false" for name in IDLE_SERVICES}
    for _ in range(TRIES):
        process = spawn(folder, {**settings, "PREFECT_SERVER_UI_ENABLED": "false"})
        if url := _answering(process, deadline):
            return process, url
        if time.monotonic() >= deadline or _free(folder) < LEAST_ROOM:
            break
    if _free(folder) < LEAST_ROOM:
        raise MachineryError(
            f"the embedded Prefect server did not start: the disk of {folder} has {_free(folder) // 2**20} MiB left. "
            "Nothing committed is lost: make room there (TMPDIR names another folder), then run again."
        )
    raise MachineryError(
        "the embedded Prefect server did not start. Run the command again, or set PREFECT_API_URL to a "
        f"server of your own. The end of its log:\n{last_words(folder)}"
    )


def last_words(folder: Path) -> str:
    """Give the end of the log of a server."""
    text = (folder / LOG).read_text(encoding="utf-8", errors="replace")
    return "\n".join(text.strip().splitlines()[-8:])


def spawn(folder: Path, settings: Mapping[str, str], *arguments: str) -> subprocess.Popen[str]:
    """Start the server's process: in a session of its own, so that Ctrl-C does not reach it before us.

    Args:
        folder: Where its database and log lie.
        settings: Prefect's settings; of those of the environment it inherits none.
        arguments: What the process is started with.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    usual = {
        **QUIET,
        "PREFECT_HOME": str(folder),
        "PREFECT_API_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{folder / 'prefect.db'}",
    }
    with (folder / LOG).open("a", encoding="utf-8") as log:
        return subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-P", "-m", "judge_audit_flows.runtime.server_process", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env={**inherited, **usual, **settings},
            text=True,
            start_new_session=True,
        )


def _answering(process: subprocess.Popen[str], deadline: float) -> str:
    """Give the address of a server's API once it answers; "" where it ended or does not, and is then stopped."""
    assert process.stdout is not None
    stream, ports = process.stdout, SimpleQueue[str]()
    threading.Thread(target=lambda: ports.put(stream.readline()), daemon=True).start()
    with suppress(Empty):
        port = ports.get(timeout=max(deadline - time.monotonic(), 0)).strip()
        url = f"http://{LOOPBACK}:{port}/api"
        while port.isdigit() and time.monotonic() < deadline and process.poll() is None:
            if _ask(f"{url}/health") is True:
                return url
            time.sleep(0.05)
    stop(process)
    return ""


def _ask(address: str, content: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401 - whatever JSON it answers
    """Ask the server, past any proxy; None if it does not answer."""
    body = None if content is None else json.dumps(content).encode()
    request = Request(address, body, {"Content-Type": "application/json"})  # noqa: S310 - loopback
    try:
        with build_opener(ProxyHandler({})).open(request, timeout=5) as answer:
            return json.load(answer)
    except (URLError, OSError, ValueError):
        return None


def _unfinished(url: str) -> int | None:
    """Count the task runs that have not ended, as far as the server knows; None if it does not answer."""
    states = ["SCHEDULED", "PENDING", "RUNNING"]
    count = _ask(f"{url}/task_runs/count", {"task_runs": {"state": {"type": {"any_": states}}}})
    return count if isinstance(count, int) else None


def _drain(url: str, stale: int) -> None:
    """Wait until the records of this process's runs have arrived; they travel behind the work.

    Args:
        url: The server.
        stale: Runs that never end: a killed process left them in a folder that is used again.
    """
    if "prefect" not in sys.modules:
        return
    from prefect.events.worker import EventsWorker  # noqa: PLC0415 - never before the export

    EventsWorker.drain_all(timeout=DRAIN_SECONDS)
    deadline = time.monotonic() + DRAIN_SECONDS
    before = -1
    while time.monotonic() < deadline:
        waiting, known = _unfinished(url), _ask(f"{url}/task_runs/count", {})
        if waiting is None or (waiting <= stale and known == before):
            return
        before = known
        time.sleep(SETTLE_SECONDS)


def stop(process: subprocess.Popen[str]) -> None:
    """End the server's process, politely first."""
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()


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
        process, url = _lasting(folder.resolve(), _free_port(port))
        try:
            with exported({"PREFECT_API_URL": url, "PREFECT_HOME": str(folder.resolve())}):
                yield url, process
        finally:
            stop(process)


def _free_port(port: int | None) -> int:
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


def _lasting(folder: Path, port: int) -> tuple[subprocess.Popen[str], str]:
    """Start a server that stays and wait until it answers."""
    settings = {
        "PREFECT_SERVER_UI_ENABLED": "true",
        "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": LEASES,
        **{name: value for name, value in os.environ.items() if name.startswith("PREFECT_SERVER_")},
    }
    process = spawn(folder, settings, str(port))
    if url := _answering(process, time.monotonic() + START_SECONDS):
        return process, url
    raise MachineryError(f"the Prefect server did not start. The end of its log:\n{last_words(folder)}")

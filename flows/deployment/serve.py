"""`judge-audit serve`: the deployments of a small installation in one process, with no worker and no work pool."""

from __future__ import annotations

import asyncio
import signal
import threading
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_audit_flows.runtime.server import QUIET, exported, lasting_server, or_chosen

from judge_audit.core.configuration import resolve
from judge_audit.core.errors import EXIT_GOOD, MachineryError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import Unpack

    from judge_audit_flows.deployment.prefect_file import Choices, Entry

FOLDER = "prefect-server"
AT_ONCE = 4
"""Runs at a time: an audit each, and the tidying between."""

GLANCE_SECONDS = 2.0

RUNS = {**QUIET, "PREFECT_LOGGING_LEVEL": "INFO"}
"""What an audit is doing is in its run's log."""


def run_serve(*, port: int | None = None, say: Callable[[str], object], **choices: Unpack[Choices]) -> None:
    """Serve the deployments until interrupted: at the configured server, else at one of our own.

    Args:
        port: Where a server of our own listens; None for the usual port or a free one.
        say: Takes the lines that say what is going on.
        choices: What is served and when; see `Choices`.

    Raises:
        UsageError: If something given is wrong.
        MachineryError: If the server does not start, does not answer or ends.
    """
    with ExitStack() as stack:
        stack.enter_context(_ending_when_told())
        stack.enter_context(exported(or_chosen(RUNS)))
        from judge_audit_flows.runtime.reachability import configured_server  # noqa: PLC0415 - imports Prefect

        process = None
        if not configured_server():
            say("Starting a Prefect server of our own …")
            folder = home(choices.get("audit", "audit.yaml"))
            url, process = stack.enter_context(lasting_server(folder, port))
            say(f"Prefect's page: {url.removesuffix('/api')} (its database and log: {folder})")
        _serve(choices, say, process)


@contextmanager
def _ending_when_told() -> Iterator[None]:
    """End in good order on SIGTERM, from the first moment; later Prefect's runner takes the signal over."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(_signal: int, _frame: FrameType | None) -> None:
        raise SystemExit(EXIT_GOOD)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def home(audit: str) -> Path:
    """Give the folder of the server's database: in the lake, or next to audit.yaml where the lake is no folder."""
    lake = resolve(audit).lake
    return Path(audit).resolve().parent / FOLDER if "://" in lake else Path(lake) / FOLDER


def _serve(choices: Choices, say: Callable[[str], object], process: subprocess.Popen[str] | None) -> None:
    """Register the deployments and automations, and run what is due until interrupted."""
    from judge_audit_flows.deployment.prefect_file import read_entries  # noqa: PLC0415
    from judge_audit_flows.runtime.reachability import reached  # noqa: PLC0415
    from judge_audit_flows.runtime.stale_runs import (  # noqa: PLC0415 - after the server is exported
        automations,
        ensure,
        tidied,
    )
    from prefect.client.orchestration import get_client  # noqa: PLC0415

    entries = read_entries(**choices)
    reached()
    with get_client(sync_client=True) as client:
        for wanted in automations():
            ensure(client, wanted)
    for line in tidied():
        say(line)
    asyncio.run(_running(entries, say, process))


async def _running(
    entries: list[Entry], say: Callable[[str], object], process: subprocess.Popen[str] | None
) -> None:
    """Run what is due until interrupted or the server of our own has ended."""
    from judge_audit_flows.runtime.stale_runs import HEARTBEAT_SECONDS  # noqa: PLC0415
    from prefect.runner import Runner  # noqa: PLC0415

    runner = Runner(
        name="judge-audit", limit=AT_ONCE, pause_on_shutdown=False, heartbeat_seconds=HEARTBEAT_SECONDS
    )
    for entry in entries:
        await runner.aadd_deployment(served(entry))
        times = ", ".join(f"{one.schedule.cron} ({one.schedule.timezone})" for one in entry.schedules)  # type: ignore[union-attr]
        say(f"Serving {entry.flow.name}/{entry.name}, {f'at {times}' if times else 'when asked to'}.")
    say("End it with Ctrl-C.")
    if threading.current_thread() is threading.main_thread():
        # Prefect's runner ends runs in good order on SIGTERM alone.
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, signal.raise_signal, signal.SIGTERM)
    serving = asyncio.ensure_future(runner.start())
    while process is not None and not serving.done():
        await asyncio.wait([serving], timeout=GLANCE_SECONDS)
        if process.poll() is not None and not serving.done():
            await runner.astop()
            await serving
            raise MachineryError(
                "the Prefect server ended. Start `judge-audit serve` again; nothing committed is lost."
            )
    await serving


def served(entry: Entry) -> Any:  # noqa: ANN401 - Prefect's deployment
    """Make of an entry what Prefect serves."""
    from prefect.client.schemas.objects import ConcurrencyLimitConfig  # noqa: PLC0415
    from prefect.deployments.runner import RunnerDeployment  # noqa: PLC0415

    limit = (
        ConcurrencyLimitConfig.model_validate({"limit": entry.limit, **(entry.options or {})})
        if entry.limit
        else None
    )
    return RunnerDeployment.from_entrypoint(
        entry.entrypoint,
        entry.name,
        schedules=list(entry.schedules),
        concurrency_limit=limit,
        parameters=entry.parameters,
        description=entry.description,
        tags=list(entry.tags),
        version=entry.version,
        triggers=[*entry.triggers()],
    )

"""The right to audit a version: held by one run at a time, whatever started it.

Runs are asked for once a key; this is the second lock, for what that does not cover: a server whose database was
emptied while a run went on, or a command that audits in its own process beside a run.
"""

from __future__ import annotations

import socket
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from judge_audit.core.file_locks import grab
from judge_audit.operations.registry.ledger import COMPLETE, STARTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from judge_audit.operations.registry.ledger import Ledger
    from judge_audit.operations.registry.versions import Version

    Row = dict[str, Any]

HELD_ELSEWHERE = "another run is auditing it"


@dataclass(frozen=True, slots=True)
class Claim:
    """What came of asking for the right.

    Attributes:
        held: Whether it is ours.
        round: The round it is for.
        reason: Why it is not ours, "" if it is.
    """

    held: bool
    round: int
    reason: str = ""


@contextmanager
def claimed(
    ledger: Ledger, version: Version, round_: int, run_id: str, alive: Callable[[str], bool]
) -> Iterator[Claim]:
    """Hold the right to audit a version for as long as the audit takes.

    Args:
        ledger: The submissions.
        version: The version.
        round_: The round it is to be audited in.
        run_id: The run that asks, "" if it has no name.
        alive: Tells of another run whether it still goes on; asked where its machine is not this one.

    Yields:
        The claim; not held where another run goes on, or the round has ended.
    """
    with ExitStack() as stack:
        lock, taken = _locked(ledger.lake.storage.beside / "registered" / version.folder)
        if lock is not None:
            stack.enter_context(lock)
        if taken:
            yield Claim(held=False, round=round_, reason=f"{HELD_ELSEWHERE} on this machine.")
            return
        history = ledger.history(version)
        if history.round > round_ or (history.round == round_ and history.ending is not None):
            newest = history.ending
            audited = newest is None or newest["status"] == COMPLETE
            reason = "it is audited already." if audited else "it could not be audited; submit it --again."
            yield Claim(held=False, round=round_, reason=reason)
            return
        start = history.start if history.round == round_ else None
        here = socket.gethostname()
        if start is not None and _goes_on(start, run_id, alive, here if lock is not None else ""):
            yield Claim(held=False, round=round_, reason=f"{HELD_ELSEWHERE} ({start['flow_run']}).")
            return
        number = start["attempt"] + 1 if start is not None else 1
        won = ledger.record(version, STARTED, round_, number, flow_run=run_id or None, host=here)
        yield Claim(held=won, round=round_, reason="" if won else f"{HELD_ELSEWHERE}.")


def _goes_on(start: Row, run_id: str, alive: Callable[[str], bool], dead_on: str) -> bool:
    """Tell whether the run of an earlier start goes on; on the machine it is dead on it would hold the lock."""
    if not start["flow_run"] or start["flow_run"] == run_id or start["host"] == dead_on:
        return False
    return alive(start["flow_run"])


def _locked(folder: Path) -> tuple[IO[str] | None, bool]:
    """Lock a version on this machine.

    Returns:
        The lock, None if there is none; and whether another process holds it. Where files cannot be locked there is
        neither.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = (folder / "lock").open("w", encoding="utf-8")
    ours = grab(lock.fileno())
    if ours:
        return lock, False
    lock.close()
    return None, ours is False

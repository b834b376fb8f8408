"""The ledger of submissions: one small commit per state of a model version, the first one of its key counts."""

from __future__ import annotations

import re
import socket
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING

from judge_audit_schemas.rows import RegistrationsRow

from judge_audit.core.digests import text_digest
from judge_audit.core.files import grab
from judge_audit.core.formatting import harmless
from judge_audit.core.tables import empty, from_rows, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from typing import Unpack

    from judge_audit.lake import Lake

TABLE = "registrations"
REQUESTED, STARTED, COMPLETE = "requested", "started", "complete"
FAILED, LOST, TOLD = "failed", "lost", "told"
NO_WORD = re.compile(r"[^A-Za-z0-9._-]")
SHOWN = 80
"""Characters of a name that a sentence shows."""

HELD_ELSEWHERE = "another run is auditing it"


@dataclass(frozen=True, slots=True)
class History:
    """What is recorded of one version.

    Attributes:
        rows: Its rows.
    """

    rows: tuple[RegistrationsRow, ...] = ()

    @property
    def round(self) -> int:
        """The newest round, 1 if there is none."""
        return max((row["round"] for row in self.rows), default=1)

    @property
    def ending(self) -> RegistrationsRow | None:
        """How the newest round ended, None while it has not: what is complete stays so, whatever else was lost."""
        return self._newest(COMPLETE) or self._newest(FAILED)

    @property
    def told(self) -> bool:
        """Whether the registry was told how the newest round ended."""
        return self._newest(TOLD) is not None

    @property
    def lost(self) -> int:
        """How many runs of the newest round were lost."""
        return sum(row["status"] == LOST for row in self._current())

    @property
    def start(self) -> RegistrationsRow | None:
        """The newest start of the newest round."""
        return self._newest(STARTED)

    def _current(self) -> list[RegistrationsRow]:
        return [row for row in self.rows if row["round"] == self.round]

    def _newest(self, status: str) -> RegistrationsRow | None:
        rows = [row for row in self._current() if row["status"] == status]
        return max(rows, key=lambda row: row["attempt"], default=None)


@dataclass(frozen=True, slots=True)
class Ledger:
    """The submissions of a lake.

    Attributes:
        lake: The lake.
    """

    lake: Lake

    def history(self, version: Version) -> History:
        """Read what is recorded of a version."""
        rows = rows_of(self.lake.read(TABLE, registration_id=version.registration_id), RegistrationsRow)
        return History(tuple(rows))

    def histories(self, versions: Sequence[Version]) -> dict[str, History]:
        """Read what is recorded of several versions at once, by registration_id."""
        by_version: dict[str, list[RegistrationsRow]] = {version.registration_id: [] for version in versions}
        table = self.lake.read(TABLE, registration_id=sorted(by_version)) if versions else empty(TABLE)
        for row in rows_of(table, RegistrationsRow):
            by_version[row["registration_id"]].append(row)
        return {name: History(tuple(rows)) for name, rows in by_version.items()}

    def record(
        self,
        version: Version,
        status: str,
        round_: int,
        attempt: int = 1,
        /,
        **more: Unpack[RegistrationsRow],
    ) -> bool:
        """Record a state of a version.

        Args:
            version: The version.
            status: The state.
            round_: The round.
            attempt: Which run of the round; of starts, which start.
            more: Further columns.

        Returns:
            Whether it was recorded now: False if it stood there already, and what stood there stays.
        """
        row: RegistrationsRow = {
            "registration_id": version.registration_id,
            "round": round_,
            "attempt": attempt,
            "status": status,
            "registry": version.registry,
            "model": version.model,
            "model_version": version.version,
            "recorded_at": datetime.now(UTC),
            **more,
        }
        return self.lake.commit({TABLE: from_rows(TABLE, [row])}).new


@dataclass(frozen=True, slots=True)
class Version:
    """What the registry tells of a version.

    Attributes:
        registry: The registry's name.
        model: The model's name.
        version: The version's number, as text.
        created_at: When it was created (UTC).
        source: Where its artifacts lie.
        run_id: The training run it came from, "" if it names none.
        aliases: Its aliases, in order.
    """

    registry: str
    model: str
    version: str
    created_at: datetime
    source: str = ""
    run_id: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def registration_id(self) -> str:
        """Name the version for good: a registry gives the number of a deleted version to another one."""
        when = self.created_at.isoformat()
        return text_digest("registration", self.registry, self.model, self.version, when)

    @property
    def folder(self) -> str:
        """Name a folder for it: readable, unlike any other version's, and nowhere else than where it is put."""
        slug = NO_WORD.sub("_", f"{self.model[:60]}-{self.version[:20]}").lstrip(".-")
        return f"{slug}-{self.registration_id[:12]}"

    @property
    def told(self) -> str:
        """Name the version in a sentence, without what a terminal would obey."""
        return f"{plain(self.model)} version {plain(self.version)}"


def plain(text: str) -> str:
    """Cut a stranger's text short and leave out what a terminal would obey."""
    return cut(harmless(text), SHOWN)


def cut(text: str, most: int) -> str:
    """Cut a text to so many characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


@contextmanager
def claimed(
    ledger: Ledger, version: Version, round_: int, run_id: str, alive: Callable[[str], bool]
) -> Iterator[str]:
    """Hold the right to audit a version for as long as the audit takes.

    Args:
        ledger: The submissions.
        version: The version.
        round_: The round it is to be audited in.
        run_id: The run that asks, "" if it has no name.
        alive: Tells of another run whether it still goes on; asked where its machine is not this one.

    Yields:
        Why it is not ours, where another run goes on or the round has ended; "" if it is.
    """
    with ExitStack() as stack:
        lock, taken = _locked(ledger.lake.storage.beside / "registered" / version.folder)
        if lock is not None:
            stack.enter_context(lock)
        if taken:
            yield f"{HELD_ELSEWHERE} on this machine."
            return
        history = ledger.history(version)
        if history.round > round_ or (history.round == round_ and history.ending is not None):
            newest = history.ending
            audited = newest is None or newest["status"] == COMPLETE
            yield "it is audited already." if audited else "it could not be audited; submit it --again."
            return
        start = history.start if history.round == round_ else None
        here = socket.gethostname()
        if start is not None and _goes_on(start, run_id, alive, here if lock is not None else ""):
            yield f"{HELD_ELSEWHERE} ({start['flow_run']})."
            return
        number = start["attempt"] + 1 if start is not None else 1
        won = ledger.record(version, STARTED, round_, number, flow_run=run_id or None, host=here)
        yield "" if won else f"{HELD_ELSEWHERE}."


def _goes_on(start: RegistrationsRow, run_id: str, alive: Callable[[str], bool], dead_on: str) -> bool:
    """Tell whether the run of an earlier start goes on; on the machine it is dead on it would hold the lock."""
    if not start["flow_run"] or start["flow_run"] == run_id or start["host"] == dead_on:
        return False
    return alive(start["flow_run"])


def _locked(folder: Path) -> tuple[IO[str] | None, bool]:
    """Lock a version on this machine.

    Returns:
        The lock, None if there is none; and whether another process holds it. Where files cannot be locked neither.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = (folder / "lock").open("w", encoding="utf-8")
    ours = grab(lock.fileno())
    if ours:
        return lock, False
    lock.close()
    return None, ours is False

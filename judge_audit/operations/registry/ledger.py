"""The ledger of submissions: one small commit per state of a model version, the first one of its key counts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from judge_audit.core.tables import from_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit.lake import Lake
    from judge_audit.operations.registry.versions import Version

    Row = dict[str, Any]

TABLE = "registrations"
REQUESTED, STARTED, COMPLETE, FAILED, LOST, TOLD = (
    "requested",
    "started",
    "complete",
    "failed",
    "lost",
    "told",
)


@dataclass(frozen=True, slots=True)
class History:
    """What is recorded of one version.

    Attributes:
        rows: Its rows.
    """

    rows: tuple[Row, ...] = ()

    @property
    def round(self) -> int:
        """The newest round, 1 if there is none."""
        return max((row["round"] for row in self.rows), default=1)

    @property
    def ending(self) -> Row | None:
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
    def start(self) -> Row | None:
        """The newest start of the newest round."""
        return self._newest(STARTED)

    def _current(self) -> list[Row]:
        return [row for row in self.rows if row["round"] == self.round]

    def _newest(self, status: str) -> Row | None:
        found = [row for row in self._current() if row["status"] == status]
        return max(found, key=lambda row: row["attempt"], default=None)


@dataclass(frozen=True, slots=True)
class Ledger:
    """The submissions of a lake.

    Attributes:
        lake: The lake.
    """

    lake: Lake

    def history(self, version: Version) -> History:
        """Read what is recorded of a version."""
        rows = self.lake.read(TABLE, registration_id=version.registration_id).to_pylist()
        return History(tuple(rows))

    def histories(self, versions: Sequence[Version]) -> dict[str, History]:
        """Read what is recorded of several versions at once, by registration_id."""
        found: dict[str, list[Row]] = {version.registration_id: [] for version in versions}
        for row in self.lake.read(TABLE, registration_id=sorted(found)).to_pylist() if found else ():
            found[row["registration_id"]].append(row)
        return {name: History(tuple(rows)) for name, rows in found.items()}

    def record(self, version: Version, status: str, round_: int, attempt: int = 1, **more: Any) -> bool:  # noqa: ANN401
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
        row = {
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

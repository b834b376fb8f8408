"""Runs as they stand in the lake: how each one ended, which still live, and which ended without a word."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from judge_audit.runs.alive import lives

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from judge_audit.lake import Lake

    Row = dict[str, Any]

STARTED = "started"
COMPLETE = "complete"
STOPPED = "stopped"
FAILED = "failed"
INTERRUPTED = "interrupted"
LOST = "lost"
BAD = frozenset({STOPPED, FAILED, INTERRUPTED, LOST})
"""Outcomes of runs that came to nothing."""

LONGEST = timedelta(hours=24)
"""A run of another machine that has not ended after so long is taken for lost."""


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of a lake.

    Attributes:
        ended: Last states of runs that ended, in whatever way, the latest begun first.
        living: First states of runs that go on, as far as is known.
        lost: First states of runs that ended without a word and of which nobody has put that down yet.
    """

    ended: tuple[Row, ...]
    living: tuple[Row, ...]
    lost: tuple[Row, ...]


def read_runs(lake: Lake, now: datetime) -> Runs:
    """Read the runs of a lake.

    Args:
        lake: The lake.
        now: The time.
    """
    states: dict[str, list[Row]] = {}
    for row in lake.read("runs").to_pylist():
        states.setdefault(row["run_id"], []).append(row)
    ended = [last for rows in states.values() if (last := _last(rows))["outcome"] != STARTED]
    opened = [rows[0] for rows in states.values() if all(row["outcome"] == STARTED for row in rows)]
    gone = {row["run_id"] for row in opened if _is_gone(lake, row, now)}
    return Runs(
        ended=_newest(ended),
        living=_newest(row for row in opened if row["run_id"] not in gone),
        lost=_newest(row for row in opened if row["run_id"] in gone),
    )


def _last(rows: list[Row]) -> Row:
    """Give the state that counts: what a run said of itself before what others took it for."""
    told = [row for row in rows if row["outcome"] not in {STARTED, LOST}]
    lost = [row for row in rows if row["outcome"] == LOST]
    return (told or lost or rows)[0]


def _is_gone(lake: Lake, row: Row, now: datetime) -> bool:
    known = lives(lake, row["run_id"])
    return now - row["started_at"] > LONGEST if known is None else not known


def _newest(rows: Iterable[Row]) -> tuple[Row, ...]:
    return tuple(sorted(rows, key=lambda row: (row["started_at"], row["run_id"]), reverse=True))

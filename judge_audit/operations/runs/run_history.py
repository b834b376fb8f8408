"""Runs as they stand in the lake: how each one ended, which still live, and which ended without a word."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from judge_audit.core.files import grab

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from pathlib import Path

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

LAST = 100
"""Runs that are looked back at."""

TIMED = re.compile(r"\d{8}T\d{6}Z-")
LONGEST = timedelta(hours=24)
"""A run of another machine that has not ended after so long is taken for lost."""

FOLDER = "running"
"""Where the locks lie, below the lake's folder (of a lake in S3: below this machine's folder for it)."""


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of a lake.

    Attributes:
        ended: Last states of the latest runs that ended, in whatever way, the latest begun first.
        living: First states of runs that go on, as far as is known.
        lost: First states of runs that ended without a word and of which nobody has put that down yet.
    """

    ended: tuple[Row, ...]
    living: tuple[Row, ...]
    lost: tuple[Row, ...]


def read_runs(lake: Lake, now: datetime, last: int = LAST) -> Runs:
    """Read the latest runs of a lake, and every one that has no end.

    Args:
        lake: The lake.
        now: The time.
        last: How many of the latest are read.
    """
    counts = lake.partitions("runs")
    if counts is None:
        table = lake.read("runs")
    else:
        open_ended = {run_id for run_id, rows in counts.items() if rows == 1}
        table = lake.read("runs", run_id=sorted(open_ended | set(newest(counts, last))))
    states: dict[str, list[Row]] = {}
    for row in table.to_pylist():
        states.setdefault(row["run_id"], []).append(row)
    ended = [state for rows in states.values() if (state := _last(rows))["outcome"] != STARTED]
    opened = [rows[0] for rows in states.values() if all(row["outcome"] == STARTED for row in rows)]
    living: list[Row] = []
    lost: list[Row] = []
    for row in opened:
        known = lives(lake, row["run_id"])
        goes_on = now - row["started_at"] <= LONGEST if known is None else known
        (living if goes_on else lost).append(row)
    return Runs(_latest(ended), _latest(living), _latest(lost))


def newest(names: Iterable[str], count: int) -> list[str]:
    """Give the names of the latest runs or audits, which begin with their time; names without one are all given."""
    known = list(names)
    timed = [name for name in known if TIMED.match(name)]
    others = [name for name in known if not TIMED.match(name)]
    return [*others, *sorted(timed, reverse=True)[:count]]


def _last(rows: list[Row]) -> Row:
    """Give the state that counts: what a run said of itself before what others took it for."""
    own = [row for row in rows if row["outcome"] not in {STARTED, LOST}]
    lost = [row for row in rows if row["outcome"] == LOST]
    return (own or lost or rows)[0]


def _latest(rows: Iterable[Row]) -> tuple[Row, ...]:
    return tuple(sorted(rows, key=lambda row: (row["started_at"], row["run_id"]), reverse=True))


class Life:
    """A lock held by this process until it lets go or ends."""

    def __init__(self, path: Path) -> None:
        """Take the lock; where none can be had nobody knows later whether the process lives, and nothing is lost."""
        self._path, self._file = path, -1
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            grab(self._file)

    def end(self) -> None:
        """Let go."""
        if self._file < 0:
            return
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        with suppress(OSError):
            os.close(self._file)
        self._file = -1


def lock_of(lake: Lake, run_id: str) -> Path:
    """Give where a run's lock lies."""
    return lake.storage.beside / FOLDER / f"{run_id}.lock"


def lives(lake: Lake, run_id: str) -> bool | None:
    """Tell whether a run's process lives; None where this machine does not know."""
    path = lock_of(lake, run_id)
    try:
        file = os.open(path, os.O_RDWR)
    except OSError:
        return None
    try:
        free = grab(file)
    finally:
        os.close(file)
    return None if free is None else not free

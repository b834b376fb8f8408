"""What an audit may buy at most, and what it has bought: a budget that all its workers draw from.

The budget is a small file in the lake's folder, so it holds for threads and for the worker processes of one
machine. Nothing is asked that was not set aside first at the most it may cost; what is set aside and not
spent goes back.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge_audit.core.errors import EXIT_JUDGE_FAILED, AuditError, MachineryError
from judge_audit.judges.protocol import PricedJudge

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from judge_audit.judges.protocol import Judge, Stimulus

FOLDER = "budget"
"""Where purses lie, below the lake's folder."""

PAUSE = 0.05
"""Seconds between looks whether money that others have set aside has come back."""

LONGEST_WAIT = 600.0
"""Seconds after which money set aside by others is taken for lost: its worker has died."""

ROUNDING = 1e-9
"""What sums of prices may be off by."""

TABLE = """
CREATE TABLE IF NOT EXISTS purse (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    calls INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0,
    held_calls INTEGER NOT NULL DEFAULT 0,
    held_cost REAL NOT NULL DEFAULT 0,
    stopped INTEGER NOT NULL DEFAULT 0
)"""


class BudgetReached(AuditError):  # noqa: N818 - what happened: the audit stopped where it was told to
    """The budget is used up; everything bought is kept."""

    exit_code = EXIT_JUDGE_FAILED


@dataclass(frozen=True, slots=True)
class Spent:
    """What was bought so far.

    Attributes:
        calls: Pictures shown.
        cost: What they cost, in the card's currency.
        stopped: Whether the budget refused anything.
    """

    calls: int
    cost: float
    stopped: bool


@dataclass(slots=True)
class Taken:
    """Pictures that may be shown now, and what they cost once that is known: `settled`."""

    count: int
    cost: float
    settled: float | None = None


@dataclass(frozen=True, slots=True)
class Budget:
    """What one audit pays from.

    Attributes:
        path: Its file.
        max_calls: Pictures shown at most, None for any number.
        max_cost: What they may cost at most, None for any sum.
        currency: What sums are in, empty where nothing costs.
    """

    path: Path
    max_calls: int | None = None
    max_cost: float | None = None
    currency: str = ""

    def most_cost(self, judge: Judge, stimulus: Stimulus) -> float:
        """Say what an answer may cost at most."""
        if not isinstance(judge, PricedJudge):
            return 0.0
        height, width = stimulus.image.shape[:2]
        return judge.most_cost(height, width, stimulus.prompt)

    @contextmanager
    def taken(self, prices: Sequence[float]) -> Iterator[Taken]:
        """Set aside what the first of some pictures may cost, and give back the rest afterwards.

        Where others have set aside what would be needed, it is waited until they know what they spent. What was
        set aside and never settled (the judge broke) is given back too: nothing was answered.

        Args:
            prices: What each picture may cost at most, in order.

        Yields:
            How many of them may be shown; 0 if the budget is used up.
        """
        taken = self._take(prices)
        try:
            yield taken
        finally:
            if taken.count:
                self._settle(taken)

    def spent(self) -> Spent:
        """Say what was bought so far."""
        with self._open() as connection:
            calls, cost, stopped = connection.execute("SELECT calls, cost, stopped FROM purse").fetchone()
        return Spent(calls, cost, bool(stopped))

    def told(self) -> str:
        """Say what was spent so far in a word or two; nothing where nothing costs and nothing is capped."""
        spent = self.spent()
        parts = []
        if self.max_calls is not None:
            parts.append(f"{spent.calls:,} of {self.max_calls:,} calls")
        if self.currency:
            of = f" of {money(self.max_cost)}" if self.max_cost is not None else ""
            parts.append(f"{money(spent.cost)}{of} {self.currency}")
        return ", ".join(parts)

    def remove(self) -> None:
        """Remove the file: what was spent is recorded with every call."""
        self.path.unlink(missing_ok=True)
        with suppress(OSError):  # another run's budget may lie there too
            self.path.parent.rmdir()

    def _take(self, prices: Sequence[float]) -> Taken:
        deadline = time.monotonic() + LONGEST_WAIT
        while True:
            with self._open() as connection:
                row = "SELECT calls, cost, held_calls, held_cost FROM purse"
                calls, cost, held_calls, held_cost = connection.execute(row).fetchone()
                count, most = self._reach(prices, calls + held_calls, cost + held_cost)
                if count:
                    change = "UPDATE purse SET held_calls = held_calls + ?, held_cost = held_cost + ?"
                    connection.execute(change, (count, most))
                    return Taken(count, most)
                if not held_calls or time.monotonic() > deadline:
                    connection.execute("UPDATE purse SET stopped = 1")
                    return Taken(0, 0.0)
            time.sleep(PAUSE)

    def _reach(self, prices: Sequence[float], calls: int, cost: float) -> tuple[int, float]:
        """Count the pictures that what is left pays for, and give what they may cost."""
        count, most = 0, 0.0
        for price in prices:
            if self.max_calls is not None and calls + count + 1 > self.max_calls:
                break
            if self.max_cost is not None and cost + most + price > self.max_cost + ROUNDING:
                break
            count, most = count + 1, most + price
        return count, most

    def _settle(self, taken: Taken) -> None:
        with self._open() as connection:
            calls = 0 if taken.settled is None else taken.count
            change = (
                "UPDATE purse SET calls = calls + ?, cost = cost + ?, held_calls = max(0, held_calls - ?), "
                "held_cost = max(0, held_cost - ?)"
            )
            connection.execute(change, (calls, taken.settled or 0.0, taken.count, taken.cost))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Hold the file alone for a moment."""
        with _here:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            except (OSError, sqlite3.Error) as error:
                raise MachineryError(f"{self.path}: the budget cannot be kept there: {error}.") from error
            try:
                connection.execute("PRAGMA synchronous = OFF")
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(TABLE)
                connection.execute("INSERT OR IGNORE INTO purse (id) VALUES (1)")
                yield connection
                connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise MachineryError(f"{self.path}: the budget cannot be kept there: {error}.") from error
            finally:
                connection.close()


_here = threading.Lock()


def money(sum_: float | None) -> str:
    """Write a sum of money: cents, or what is left of them."""
    if sum_ is None:
        return "any sum"
    return f"{sum_:,.2f}" if abs(sum_) >= 1 or sum_ == 0 else f"{sum_:.3g}"

"""Progress of long work: a bar with rate and time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator

EVERY = 10.0
"""Seconds between plain lines."""


class Progress:
    """Silent progress: the base of the others, and what tests and notebooks use."""

    def stage(self, name: str, total: int = 0) -> None:
        """Begin a stage of so many steps (0: unknown)."""

    def advance(self, steps: int = 1) -> None:
        """Take steps."""

    def at(self, done: int, total: int) -> None:
        """Say how far the stage is."""

    def tell(self, spent: str) -> None:
        """Say beside how far the stage is what it has cost."""

    def note(self, line: str) -> None:
        """Say a sentence between two stages."""

    def close(self) -> None:
        """End the last stage."""


class PlainProgress(Progress):
    """A line at the start of each stage, every ten seconds, and at its end."""

    def __init__(self, stream: TextIO) -> None:
        """Write to a stream."""
        self._stream = stream
        self._lock = threading.Lock()
        self._name, self._total, self._done, self._spent = "", 0, 0, ""
        self._began = self._said = time.monotonic()

    def stage(self, name: str, total: int = 0) -> None:
        """Begin a stage."""
        with self._lock:
            self._finish()
            self._name, self._total, self._done, self._spent = name, total, 0, ""
            self._began = self._said = time.monotonic()
            self._write(f"{name} …")

    def advance(self, steps: int = 1) -> None:
        """Take steps."""
        with self._lock:
            self._done += steps
            self._maybe_say()

    def at(self, done: int, total: int) -> None:
        """Say how far the stage is."""
        with self._lock:
            self._done, self._total = done, total
            self._maybe_say()

    def tell(self, spent: str) -> None:
        """Say what the stage has cost."""
        with self._lock:
            self._spent = spent

    def note(self, line: str) -> None:
        """Say a sentence."""
        with self._lock:
            self._write(line)

    def close(self) -> None:
        """End the last stage."""
        with self._lock:
            self._finish()
            self._name = ""

    def _maybe_say(self) -> None:
        now = time.monotonic()
        if now - self._said >= EVERY:
            self._said = now
            rate = self._done / max(now - self._began, 1e-9)
            left = (self._total - self._done) / rate if self._total and rate else 0
            of = f" of {self._total:,}" if self._total else ""
            spent = f", {self._spent}" if self._spent else ""
            self._write(
                f"{self._name}: {self._done:,}{of}, {rate:.1f} a second, about {left:.0f} s left{spent}"
            )

    def _finish(self) -> None:
        if self._name and self._done:
            spent = time.monotonic() - self._began
            cost = f", {self._spent}" if self._spent else ""
            self._write(f"{self._name}: {self._done:,} in {spent:.1f} s{cost}")

    def _write(self, line: str) -> None:
        print(line, file=self._stream, flush=True)


class BarProgress(Progress):
    """A bar on a terminal."""

    def __init__(self) -> None:
        """Make the bar."""
        from rich.console import Console  # noqa: PLC0415 - only on a terminal
        from rich.progress import (  # noqa: PLC0415
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bars  # noqa: PLC0415

        self._bars = Bars(
            TextColumn("{task.description:<28}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TextColumn("{task.fields[spent]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._bars.start()
        self._task: Any = None

    def stage(self, name: str, total: int = 0) -> None:
        """Begin a stage."""
        self._settle()
        self._task = self._bars.add_task(name, total=total or None, rate="", spent="")

    def advance(self, steps: int = 1) -> None:
        """Take steps."""
        if self._task is not None:
            self._bars.advance(self._task, steps)
            speed = self._bars.tasks[-1].speed
            self._bars.update(self._task, rate=f"{speed:.0f}/s" if speed else "")

    def at(self, done: int, total: int) -> None:
        """Say how far the stage is."""
        if self._task is not None:
            self._bars.update(self._task, completed=done, total=total)

    def tell(self, spent: str) -> None:
        """Say what the stage has cost."""
        if self._task is not None:
            self._bars.update(self._task, spent=spent)

    def note(self, line: str) -> None:
        """Say a sentence above the bars."""
        self._bars.console.print(line, markup=False, highlight=False)

    def close(self) -> None:
        """End the last stage."""
        self._settle()
        self._bars.stop()

    def _settle(self) -> None:
        if self._task is not None:
            done = self._bars.tasks[-1].completed
            self._bars.update(self._task, total=max(done, 1), completed=max(done, 1))


_current: Progress = Progress()


def current_progress() -> Progress:
    """Give the progress of this process; silent in worker processes."""
    return _current


@contextmanager
def shown(stream: TextIO | None = None) -> Iterator[Progress]:
    """Show progress on the terminal, or as plain lines where there is none."""
    global _current  # noqa: PLW0603 - one terminal, one progress
    stream = stream or sys.stderr
    progress = BarProgress() if stream.isatty() else PlainProgress(stream)
    _current = progress
    try:
        yield progress
    finally:
        progress.close()
        _current = Progress()

"""A program that is kept running and asked in JSON Lines: no shell, watched, ended with all it started."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
import time
import weakref
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from judge_audit.judges.cards.redaction import Secrets

LONGEST_LINE = 1 << 20
"""Bytes of one line that are read; a longer one is cut, and is then no answer."""

TAIL = 2_000
"""Characters of what it wrote to stderr that are told when it fails."""

MOST_STRAY = 10_000
"""Lines in a row that are no answers before the program is given up."""

GRACE = 5.0
"""Seconds a program has to end by itself once it is asked nothing more."""


class ProgramFailed(Exception):  # noqa: N818 - what happened
    """The program ended, hung or wrote no answer; the message says which, with the end of what it wrote to stderr."""


@dataclass(frozen=True, slots=True)
class Command:
    """What is started and how long it may take.

    Attributes:
        words: The program and its arguments.
        folder: Where it is started.
        start_timeout: Seconds until it must have answered the greeting.
        timeout: Seconds until it must have answered the next picture.
    """

    words: tuple[str, ...]
    folder: Path
    start_timeout: float
    timeout: float


class Program:
    """One running program; used by one thread at a time."""

    def __init__(self, command: Command, hidden: Secrets) -> None:
        """Start it and wait until it answers the greeting.

        Raises:
            ProgramFailed: If it cannot be started or does not answer.
        """
        self._command, self._hidden = command, hidden
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own program, as words and without a shell
                command.words,
                cwd=command.folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise ProgramFailed(f"it cannot be started: {error}") from None
        self._process = process
        self._lines: queue.Queue[bytes | None] = queue.Queue(maxsize=1_000)
        self._asked: queue.Queue[bytes | None] = queue.Queue()
        self._tail: deque[str] = deque(maxlen=200)
        self._number = 0
        closed = threading.Event()
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self._threads = [
            _thread(_read_lines, process.stdout, self._lines, closed),
            _thread(_write_lines, process.stdin, self._asked),
            _thread(_keep_tail, process.stderr, self._tail),
        ]
        self._finalize = weakref.finalize(self, _end, process, self._asked, closed, self._threads)
        try:
            self._write({"id": 0, "hello": 1})
            self._answer({0}, command.start_timeout)
        except BaseException:
            self.kill()
            raise

    def ask(self, questions: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Ask questions and yield answers as they come, each with the place of its question.

        Raises:
            ProgramFailed: If it ends or hangs before all are answered; what was yielded counts.
        """
        first = self._number + 1
        for question in questions:
            self._number += 1
            self._write({"id": self._number, **question})
        waiting = set(range(first, self._number + 1))
        while waiting:
            answer = self._answer(waiting, self._command.timeout)
            waiting.discard(answer["id"])
            yield answer["id"] - first, answer

    def close(self) -> None:
        """Let it end by itself, else end it, with whatever it has started."""
        self._finalize()

    def kill(self) -> None:
        """End it at once, with whatever it has started."""
        _kill(self._process)
        self._finalize()

    def _write(self, content: Mapping[str, Any]) -> None:
        self._asked.put(json.dumps(content, ensure_ascii=False).encode("utf-8", "replace") + b"\n")

    def _answer(self, waiting: set[int], timeout: float) -> dict[str, Any]:
        """Wait for the next answer to one of the questions that wait; other lines are passed over."""
        deadline = time.monotonic() + timeout
        stray = ""
        for _ in range(MOST_STRAY):
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                last = f" Its last line was no answer: {self._hidden.clean(stray[:200])}" if stray else ""
                raise ProgramFailed(f"no answer within {timeout:g} s.{last}{self._told()}") from None
            if line is None:
                raise ProgramFailed(f"it ended with {self._ending()}.{self._told()}")
            answer = _parsed(line)
            if answer is not None and answer["id"] in waiting:
                return answer
            stray = line.decode("utf-8", "replace").strip() or stray
        raise ProgramFailed(
            f"it wrote {MOST_STRAY:,} lines that are no answers, such as: {self._hidden.clean(stray[:200])}"
        )

    def _ending(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        code = self._process.returncode
        if code is None:
            return "its output closed"
        return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"

    def _told(self) -> str:
        """Give the end of what it wrote to stderr, without secrets."""
        self._threads[2].join(0.2)
        tail = self._hidden.clean("".join(self._tail)).strip()[-TAIL:]
        return f" It wrote to stderr: {tail}" if tail else ""


def _thread(target: Any, *arguments: Any) -> threading.Thread:  # noqa: ANN401 - a function and what it is given
    thread = threading.Thread(target=target, args=arguments, name="program", daemon=True)
    thread.start()
    return thread


def _read_lines(stream: IO[bytes], lines: queue.Queue[bytes | None], closed: threading.Event) -> None:
    """Pass lines on; None when there are no more."""

    def put(line: bytes | None) -> None:
        while not closed.is_set():
            with suppress(queue.Full):
                lines.put(line, timeout=0.1)
                return

    with suppress(OSError, ValueError):
        while line := stream.readline(LONGEST_LINE):
            put(line)
    put(None)


def _write_lines(stream: IO[bytes], asked: queue.Queue[bytes | None]) -> None:
    """Write what is to be asked until None; the program then sees the end of its input."""
    with suppress(OSError, ValueError), stream:
        while (line := asked.get()) is not None:
            stream.write(line)
            stream.flush()


def _keep_tail(stream: IO[bytes], tail: deque[str]) -> None:
    """Keep the end of what is written to stderr."""
    with suppress(OSError, ValueError):
        while line := stream.readline(TAIL):
            tail.append(line.decode("utf-8", "replace"))


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Read a line as an answer; None if it is none."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return None
    whole = isinstance(content, dict) and isinstance(content.get("id"), int)
    return content if whole and not isinstance(content["id"], bool) else None


def _end(
    process: subprocess.Popen[bytes],
    asked: queue.Queue[bytes | None],
    closed: threading.Event,
    threads: Sequence[threading.Thread],
) -> None:
    """Close its input, wait until it has ended or end it, and let the threads around it go."""
    asked.put(None)
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
    _kill(process)
    closed.set()
    for thread in threads:
        thread.join(1)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program and all it has started."""
    with suppress(OSError, AttributeError):  # systems without process groups end the program alone
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(OSError):
        process.kill()
    process.wait()

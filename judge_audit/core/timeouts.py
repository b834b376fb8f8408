"""Waiting for a call that may never return: a function of somebody else's can hang, and nobody can end it.

It is called in a thread that ends with the process and is never waited for, the same one for every caller's thread,
so that what a judge keeps per thread stays.
"""

from __future__ import annotations

import contextvars
import queue
import sys
import threading
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    Box = queue.SimpleQueue[tuple[bool, Any]]
    Questions = queue.SimpleQueue[tuple[Callable[[], Any], Box] | None]

Thing = TypeVar("Thing")


class Hangs(Exception):  # noqa: N818 - what happened
    """The call did not return in time; `place` says where it was, "" if that is not known."""

    def __init__(self, place: str) -> None:
        """Note where it was."""
        super().__init__(place)
        self.place = place


class _Caller:
    """A thread that calls."""

    def __init__(self) -> None:
        self.stuck = False
        self._questions: Questions = queue.SimpleQueue()
        self._thread = threading.Thread(target=_answer, args=(self._questions,), name="watched", daemon=True)
        self._thread.start()

    def __del__(self) -> None:
        self._questions.put(None)

    def call(self, function: Callable[[], Any], seconds: float) -> Any:  # noqa: ANN401 - what it returns
        box: Box = queue.SimpleQueue()
        here = contextvars.copy_context()
        self._questions.put((lambda: here.run(function), box))
        try:
            good, content = box.get(timeout=seconds)
        except queue.Empty:
            self.stuck = True
            raise Hangs(_place(self._thread)) from None
        if not good:
            raise content
        return content


_own = threading.local()


def within(seconds: float, function: Callable[[], Thing]) -> Thing:
    """Call a function and give what it returns or raises.

    Args:
        seconds: How long it may take.
        function: The function.

    Raises:
        Hangs: If it has not returned by then; it is left behind.
    """
    caller: _Caller | None = getattr(_own, "caller", None)
    if caller is None or caller.stuck:
        caller = _own.caller = _Caller()
    result: Thing = caller.call(function, seconds)
    return result


def _answer(questions: Questions) -> None:
    """Call what is asked for, one after another."""
    while (question := questions.get()) is not None:
        function, box = question
        try:
            box.put((True, function()))
        except BaseException as error:  # noqa: BLE001 - raised again by whoever asked
            box.put((False, error))
        del function, box, question


def _place(thread: threading.Thread) -> str:
    """Say where a thread is: the innermost line of it that Python knows."""
    frame = sys._current_frames().get(thread.ident or 0)  # noqa: SLF001 - the only way to see it
    if frame is None:
        return ""
    return f"{frame.f_code.co_filename}, line {frame.f_lineno}, in {frame.f_code.co_name}"

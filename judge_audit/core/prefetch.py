"""Running an iterator ahead of whoever takes from it: pictures are drawn while the judge thinks."""

from __future__ import annotations

import queue
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

AHEAD = 2
"""Batches drawn ahead of the judge."""

Thing = TypeVar("Thing")


@contextmanager
def ahead(  # noqa: C901 - three small functions around one queue
    source: Iterator[Thing], depth: int = AHEAD
) -> Iterator[Iterator[Thing]]:
    """Run an iterator in a thread, `depth` steps ahead of whoever takes from it.

    An error in the thread is raised where the next thing is taken; leaving the block ends the thread.
    """
    queued: queue.Queue[tuple[str, Any]] = queue.Queue(maxsize=depth)
    stopped = threading.Event()

    def put(kind: str, content: Any) -> None:  # noqa: ANN401 - a thing, an error or nothing
        while not stopped.is_set():
            try:
                queued.put((kind, content), timeout=0.1)
            except queue.Full:
                continue
            return

    def run() -> None:
        try:
            for thing in source:
                put("thing", thing)
                if stopped.is_set():
                    return
            put("end", None)
        except BaseException as error:  # noqa: BLE001 - raised again by the taker
            put("error", error)

    def take() -> Iterator[Thing]:
        while True:
            kind, content = queued.get()
            if kind == "end":
                return
            if kind == "error":
                raise content
            yield content

    thread = threading.Thread(target=run, name="render-ahead", daemon=True)
    thread.start()
    try:
        yield take()
    finally:
        stopped.set()
        thread.join()

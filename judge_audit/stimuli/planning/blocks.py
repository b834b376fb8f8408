"""Blocks and tasks: blocks are fixed by the plan, and a task takes as many of them as make some seconds of work.

Batches are cut within a block, so whatever tasks are made of, and however often an audit is killed, the same plan
has the same batches and a batch that is asked again is the same commit.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge_audit.core.vocabulary import ANCHOR

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit.stimuli.planning.probes import Plan

BATCHES_PER_BLOCK = 4
"""A block holds at least so many batches: its last one is rarely full, and that is to cost little."""

FIRST_PROBES = 96
"""Size of the first tasks, from which it is learned how long a probe takes."""

LEAST_SECONDS = 5.0
"""A task is not made shorter than this: outside threads it costs some tenths of a second by itself."""

MOST_SECONDS = 60.0
"""A task is not made longer than this: progress is seen, and workers end together."""

SHARES = 2
"""A worker is given one part in so many of its even share of what is left, so that tasks shrink towards the end."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some items of one source with all their probes: what is decoded, drawn and cut into batches together.

    Attributes:
        source: Where the items come from.
        item_ids: The items.
        probes: How many probes they have.
        first: Whether it is done before any other begins: the anchors are.
        plan_id: The plan of combined probes that the block belongs to, "" for the audit's own.
        left: How many of the probes the judge has not answered yet.
    """

    source: str
    item_ids: tuple[str, ...]
    probes: int
    first: bool = False
    plan_id: str = ""
    left: int = 0


def blocks(plan: Plan, batch_size: int = 1, left: Mapping[str, int] | None = None) -> tuple[Block, ...]:
    """Cut a plan into blocks of whole items within a source; anchors come first.

    Args:
        plan: The plan.
        batch_size: The judge's batch size.
        left: Probes still to be asked by item; an item that is not named has nothing left to do for anybody. All
            are if it is not given. A block with nothing left to do is left out.
    """
    counts: dict[str, int] = dict.fromkeys(plan.items.column("item_id").to_pylist(), 0)
    first: set[str] = set()
    for row in plan.probes.select(["item_id", "axis"]).to_pylist():
        counts[row["item_id"]] = counts.get(row["item_id"], 0) + 1
        if row["axis"] == ANCHOR:
            first.add(row["item_id"])
    groups: dict[tuple[bool, str], list[str]] = {}
    for row in plan.items.select(["item_id", "source"]).to_pylist():
        groups.setdefault((row["item_id"] not in first, row["source"]), []).append(row["item_id"])
    found: list[Block] = []
    for later, source in sorted(groups):
        for names in _cut(sorted(groups[later, source]), counts, BATCHES_PER_BLOCK * batch_size):
            if left is not None and not any(name in left for name in names):
                continue
            size = sum(counts[name] for name in names)
            rest = size if left is None else sum(left.get(name, 0) for name in names)
            found.append(Block(source, names, size, not later, left=rest))
    return tuple(found)


def _cut(names: Sequence[str], counts: Mapping[str, int], enough: int) -> list[tuple[str, ...]]:
    """Cut a list of items where enough probes are together; what is left over joins the last."""
    found: list[tuple[str, ...]] = []
    held: list[str] = []
    size = 0
    for name in names:
        held.append(name)
        size += counts[name]
        if size >= enough:
            found.append(tuple(held))
            held, size = [], 0
    if held:
        found[-1:] = [(*found[-1], *held)] if found else [tuple(held)]
    return found


def rounds(whole: Sequence[Block]) -> tuple[tuple[Block, ...], ...]:
    """Split blocks into rounds, each done before the next begins: the anchors, then the rest."""
    split = (tuple(block for block in whole if block.first == first) for first in (True, False))
    return tuple(share for share in split if share)


class Pace:
    """How long a judge takes for a probe, as its tasks so far have it; shared by the rounds of an audit."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._probes, self._seconds = 0.0, 0.0

    def learn(self, probes: int, seconds: float) -> None:
        """Note that a task of so many probes took so long; earlier ones count half as much each time."""
        self._probes = self._probes / 2 + probes
        self._seconds = self._seconds / 2 + seconds

    def worth(self, seconds: float) -> int | None:
        """Say how many probes a worker answers in some seconds, None while that is not known."""
        return int(seconds * self._probes / self._seconds) if self._probes and self._seconds else None

    def seconds(self, probes: int) -> float:
        """Say how long a worker takes for some probes; 0 while that is not known."""
        return probes * self._seconds / self._probes if self._probes else 0.0


class BlockQueue:
    """The blocks of a round, handed out task by task."""

    def __init__(self, share: Sequence[Block], workers: int, pace: Pace) -> None:
        """Begin a round.

        Args:
            share: Its blocks.
            workers: Tasks at a time.
            pace: What is known of the judge.
        """
        self._waiting = deque(share)
        self._left = sum(block.left for block in share)
        self._workers, self._pace = max(1, workers), pace
        self._lock = threading.Lock()

    def take(self) -> tuple[Block, ...]:
        """Give the blocks of the next task, at least one; none when all are taken."""
        with self._lock:
            wanted = self._wanted()
            taken: list[Block] = []
            size = 0
            while self._waiting and (not taken or size + self._waiting[0].left <= wanted):
                taken.append(self._waiting.popleft())
                size += taken[-1].left
            self._left -= size
            return tuple(taken)

    def end(self) -> None:
        """Hand out no more: something has failed."""
        with self._lock:
            self._waiting.clear()

    def _wanted(self) -> int:
        """Say how many probes the next task should ask for."""
        even = self._pace.seconds(self._left) / (SHARES * self._workers)
        known = self._pace.worth(min(max(even, LEAST_SECONDS), MOST_SECONDS))
        return FIRST_PROBES if known is None else known


def named(taken: Sequence[Block]) -> str:
    """Name the sources of a task's blocks."""
    sources = sorted({block.source for block in taken})
    return sources[0] if len(sources) == 1 else f"{len(sources)} sources"

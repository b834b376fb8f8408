"""What a lake holds at a moment: its newest compaction, and the commits that it did not take in.

Commits are listed before compactions. A commit's record is removed only long after a compaction took it in, so
whoever misses the record finds the compaction.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judge_audit.core.errors import MachineryError
from judge_audit.lake.records import Part, Record, parse_record
from judge_audit.lake.snapshots import FOLDER, NAME, Snapshot, parse_snapshot

if TYPE_CHECKING:
    from judge_audit.lake.storage import Storage

COMMITS = "commits"
TRIES = 3


@dataclass(frozen=True, slots=True)
class Contents:
    """What readers see.

    Attributes:
        snapshot: The newest compaction, None before the first.
        records: Commits that it did not take in, in the order of their ids.
    """

    snapshot: Snapshot | None
    records: tuple[Record, ...]

    @property
    def parts(self) -> list[Part]:
        """All parts with rows, those of the compaction first."""
        held = list(self.snapshot.parts) if self.snapshot else []
        return held + [part for record in self.records for part in record.parts if part.path]


@dataclass(frozen=True, slots=True)
class Known:
    """What was read already; records never change."""

    records: dict[str, Record] = field(default_factory=dict)
    snapshots: dict[str, Snapshot] = field(default_factory=dict)


def newest_snapshot(storage: Storage, known: Known) -> Snapshot | None:
    """Read the newest compaction's record, None before the first.

    Raises:
        MachineryError: If it is damaged.
    """
    names = [name for name in storage.names(FOLDER) if NAME.fullmatch(name)]
    if not names:
        return None
    name = names[-1]
    if name not in known.snapshots:
        content = storage.get(f"{FOLDER}/{name}")
        known.snapshots.clear()
        known.snapshots[name] = parse_snapshot(name, content)
    return known.snapshots[name]


def read_contents(storage: Storage, known: Known) -> Contents:
    """Read what a lake holds now.

    Raises:
        MachineryError: If a record is damaged.
    """
    for _ in range(TRIES):
        names = storage.names(COMMITS)
        try:
            snapshot = newest_snapshot(storage, known)
            records = _records(storage, known, names, snapshot)
        except FileNotFoundError:
            continue  # removed between the listing and the reading: a newer compaction has taken it in
        return Contents(snapshot, records)
    raise MachineryError(f"the lake at {storage.url} cannot be read: its records vanish while they are read.")


def _records(
    storage: Storage, known: Known, names: list[str], snapshot: Snapshot | None
) -> tuple[Record, ...]:
    """Read the records of the commits that no compaction took in."""
    taken_in = snapshot.commits if snapshot else frozenset()
    wanted = [name for name in names if name.removesuffix(".json") not in taken_in]
    new = [name for name in wanted if name.removesuffix(".json") not in known.records]
    for name, content in zip(new, storage.get_all([f"{COMMITS}/{name}" for name in new]), strict=True):
        known.records[name.removesuffix(".json")] = parse_record(name, content)
    return tuple(known.records[name.removesuffix(".json")] for name in wanted)

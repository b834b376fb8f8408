"""The record of a compaction: what the lake held when many small parts were put together into few.

Each record is a whole account by itself: every commit it takes in, every part a reader then reads, and every file
that no reader needs from then on. They are numbered; each number is made once, and the highest counts. Commits
that none takes in stand beside it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import canonical_json, text_digest
from judge_audit.core.errors import MachineryError
from judge_audit.lake.records import PART_PATH, Part

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = "compactions"
NAME = re.compile(r"[0-9]{8}\.json")
COMMIT_ID = re.compile(r"[0-9a-f]{32}")

COMPACTED_PATH = re.compile(
    r"data/(?P<table>\w+)/(?:\w+=[^/]+/)?compacted-(?P<commit>[0-9a-f]{32})-[0-9a-f]{8}\.parquet"
)
"""Where a part may lie that a compaction wrote; without a partition's folder it holds rows of several."""

RETIRED_PATH = re.compile(r"(?:data/\w+/(?:\w+=[^/]+/)?|commits/|compactions/)(?!\.\.?$)[^/\0]+")
"""What a compaction may name to be removed."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A compaction as it lies in `compactions/`.

    Attributes:
        number: 1 for a lake's first.
        compaction_id: Names the parts it wrote.
        made_at: When.
        commits: Ids of all commits taken in, by this one and those before.
        reissued: Commits that retention took rows from, with the compaction that did: whoever commits the same
            keys again makes a new commit of them.
        parts: What readers read in place of those commits.
        retired: Files that no new reader needs, with the time from when on they may be removed.
    """

    number: int
    compaction_id: str
    made_at: datetime
    commits: frozenset[str]
    reissued: Mapping[str, str]
    parts: tuple[Part, ...]
    retired: Mapping[str, datetime]

    @property
    def path(self) -> str:
        """Where it lies in the lake."""
        return path_of(self.number)

    def as_json(self) -> bytes:
        """Write the record."""
        tables: dict[str, list[dict[str, Any]]] = {}
        for part in self.parts:
            entry = {"file": part.path, "partition": part.partition, "rows": part.rows}
            tables.setdefault(part.table, []).append(entry | {"row_digest": part.row_digest})
        content = {
            "number": self.number,
            "compaction_id": self.compaction_id,
            "made_at": self.made_at,
            "commits": sorted(self.commits),
            "reissued": dict(self.reissued),
            "tables": tables,
            "retired": dict(self.retired),
        }
        return canonical_json(content).encode()


def issued(commit_id: str, snapshot: Snapshot | None) -> str:
    """Give the id under which rows are committed: another one where retention took some of them away."""
    while snapshot is not None and commit_id in snapshot.reissued:
        commit_id = text_digest("commit", commit_id, snapshot.reissued[commit_id])
    return commit_id


def path_of(number: int) -> str:
    """Give the path of a compaction's record."""
    return f"{FOLDER}/{number:08d}.json"


def parse_snapshot(name: str, content: bytes) -> Snapshot:
    """Read a compaction's record.

    Args:
        name: Its file name, for messages.
        content: Its bytes.

    Raises:
        MachineryError: If it is damaged, or names files that no compaction writes or removes.
    """
    try:
        document: dict[str, Any] = json.loads(content)
        parts = tuple(
            Part(table, str(entry["partition"]), entry["file"], int(entry["rows"]), str(entry["row_digest"]))
            for table, entries in sorted(document["tables"].items())
            for entry in entries
        )
        snapshot = Snapshot(
            int(document["number"]),
            str(document["compaction_id"]),
            datetime.fromisoformat(document["made_at"]),
            frozenset(document["commits"]),
            dict(document["reissued"]),
            parts,
            {path: datetime.fromisoformat(since) for path, since in document["retired"].items()},
        )
        ours = _is_ours(name, snapshot)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MachineryError(
            f"{FOLDER}/{name} in the lake is damaged ({error!r}). Restore it from a copy: it says where the rows "
            "are that were put together. Do not remove it."
        ) from error
    if not ours:
        raise MachineryError(
            f"{FOLDER}/{name} names files that no compaction of its name writes or removes. Restore it from a copy."
        )
    return snapshot


def _is_ours(name: str, snapshot: Snapshot) -> bool:
    """See that a record bears its own number and that its files lie where they may."""
    return (
        path_of(snapshot.number) == f"{FOLDER}/{name}"
        and all(COMMIT_ID.fullmatch(one) for one in (snapshot.compaction_id, *snapshot.commits))
        and all(COMMIT_ID.fullmatch(word) for pair in snapshot.reissued.items() for word in pair)
        and all(_lies_in_place(part, snapshot.commits) for part in snapshot.parts)
        and all(RETIRED_PATH.fullmatch(path) for path in snapshot.retired)
        and all(time.tzinfo is not None for time in (snapshot.made_at, *snapshot.retired.values()))
        and not snapshot.retired.keys() & {part.path for part in snapshot.parts}
    )


def _lies_in_place(part: Part, commits: frozenset[str]) -> bool:
    """See that a part is one that a compaction wrote, or one of a commit that was taken in."""
    written = COMPACTED_PATH.fullmatch(part.path)
    kept = PART_PATH.fullmatch(part.path)
    if written:
        return written["table"] == part.table
    return bool(kept and kept["table"] == part.table and kept["commit"] in commits)

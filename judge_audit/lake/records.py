"""The record of a commit: which files of which tables it added. A file that no record names is not there."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import canonical_json
from judge_audit.core.errors import MachineryError

if TYPE_CHECKING:
    from collections.abc import Sequence

PART_PATH = re.compile(
    r"data/(?P<table>\w+)/(?P<level>\w+)=(?P<value>[^/]+)/part-(?P<commit>[0-9a-f]{32})-[0-9a-f]+\.parquet"
)
"""Where a part may lie. A record that names anything else is not ours, and is refused."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a commit added to one table.

    Attributes:
        table: The table's name.
        partition: Value of the partition's column; empty when there are no rows, or rows of several.
        path: The part relative to the lake; empty when there are no rows.
        rows: How many rows.
        row_digest: Digest of the rows, whatever their order or file.
    """

    table: str
    partition: str
    path: str
    rows: int
    row_digest: str


@dataclass(frozen=True, slots=True)
class Record:
    """A commit as it lies in `commits/`."""

    commit_id: str
    parts: tuple[Part, ...]

    def as_json(self) -> bytes:
        """Write the record."""
        tables = {
            part.table: {
                "files": [part.path] if part.path else [],
                "partition": part.partition,
                "row_digest": part.row_digest,
                "rows": part.rows,
            }
            for part in self.parts
        }
        return canonical_json({"commit_id": self.commit_id, "tables": tables}).encode()


def parse_record(name: str, content: bytes) -> Record:
    """Read a record.

    Args:
        name: The record's file name, for messages.
        content: Its bytes.

    Raises:
        MachineryError: If the record is damaged or names files outside the lake's data folder.
    """
    try:
        document: dict[str, Any] = json.loads(content)
        commit_id = document["commit_id"]
        parts = tuple(
            Part(table, entry["partition"], path, entry["rows"], entry["row_digest"])
            for table, entry in sorted(document["tables"].items())
            for path in (entry["files"] or [""])
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MachineryError(
            f"commits/{name} in the lake is damaged ({error!r}). Restore it from a copy, or remove it: its "
            "rows are then bought again."
        ) from error
    if f"{commit_id}.json" != name or not _lie_in_place(parts, commit_id):
        raise MachineryError(f"commits/{name} names files that no commit of its name writes; remove it.")
    return Record(commit_id, parts)


def _lie_in_place(parts: Sequence[Part], commit_id: str) -> bool:
    """See that every part lies where this commit would have put it."""
    for part in parts:
        found = PART_PATH.fullmatch(part.path)
        if part.path and not (found and found["table"] == part.table and found["commit"] == commit_id):
            return False
    return True

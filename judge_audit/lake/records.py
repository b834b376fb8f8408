"""Records of commits and compactions, and what a lake holds by them. A file that no record names is not there.

A commit's record names the files that it added to each table. A compaction's record (`Snapshot`) is a whole account
by itself: every commit it takes in, every part a reader then reads, and every file that no reader needs from then on.
Compactions are numbered; each number is made once, and the highest counts, together with the commits that none has
taken in.

Commits are listed before compactions. A commit's record is removed only long after a compaction took it in, so
whoever misses the record finds the compaction.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import canonical_json, text_digest
from judge_audit.core.errors import MachineryError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import pyarrow as pa

    from judge_audit.lake.storage import Storage

PART_PATH = re.compile(
    r"data/(?P<table>\w+)/(?P<level>\w+)=(?P<value>[^/]+)/part-(?P<commit>[0-9a-f]{32})-[0-9a-f]+\.parquet"
)
"""Where a part may be. A record that names anything else is not ours, and is refused."""

SEVERAL = "several"
"""Stands for the partition in the path of a part that holds rows of several."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a commit added to one table.

    Attributes:
        table: The table's name.
        partition: Value of the partition's column; empty when there are no rows, or rows of several.
        path: The part relative to the lake; empty when there are no rows, or those of another audit stand for them.
        rows: How many rows.
        row_digest: Digest of the rows, whatever their order or file.
        partitions: Rows by partition where a part holds several; empty where one is all, or they were not counted.
        findings: The audits whose results these are, by the digest of their rows without the audit's id: by it the
            next audit knows that it found the same.
        origin: The audit whose rows are this audit's rows too, all but the id; "" where it has its own.
        file_digest: SHA-256 of the file; "" in records of version 0.1.0, and where there is no file.
    """

    table: str
    partition: str
    path: str
    rows: int
    row_digest: str
    partitions: Mapping[str, int] = field(default_factory=dict)
    findings: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    file_digest: str = ""

    def may_hold(self, partitions: Collection[str] | None) -> bool:
        """Tell whether rows of some partitions may be in this part; of any if None."""
        if partitions is None or (not self.partition and not self.partitions):
            return True
        return (
            self.partition in partitions if self.partition else bool(self.partitions.keys() & set(partitions))
        )

    def details(self) -> dict[str, Any]:
        """Give what a record says of a part besides its path, without what goes without saying."""
        told: dict[str, Any] = {"partition": self.partition, "rows": self.rows, "row_digest": self.row_digest}
        more = {
            "partitions": dict(self.partitions),
            "findings": dict(self.findings),
            "origin": self.origin,
            "file_digest": self.file_digest,
        }
        return told | {name: value for name, value in more.items() if value}


def _part(table: str, path: str, entry: Mapping[str, Any]) -> Part:
    """Read what a record says of a part."""
    counts = {str(name): int(rows) for name, rows in entry.get("partitions", {}).items()}
    return Part(
        table,
        str(entry["partition"]),
        path,
        int(entry["rows"]),
        str(entry["row_digest"]),
        counts,
        {str(digest): str(audit) for digest, audit in entry.get("findings", {}).items()},
        str(entry.get("origin", "")),
        str(entry.get("file_digest", "")),
    )


@dataclass(frozen=True, slots=True)
class Record:
    """A commit as it is in `commits/`."""

    commit_id: str
    parts: tuple[Part, ...]

    def as_json(self) -> bytes:
        """Write the record."""
        tables = {
            part.table: {"files": [part.path] if part.path else [], **part.details()} for part in self.parts
        }
        return with_digest({"commit_id": self.commit_id, "tables": tables})


DIGEST = "digest"
"""The key of a record under which the digest of all its other content stands."""


def with_digest(content: Mapping[str, Any]) -> bytes:
    """Write a record's content as JSON, with a digest of it that tells any later change of the file."""
    return canonical_json({**content, DIGEST: _digest_of(content)}).encode()


def _digest_of(content: Mapping[str, Any]) -> str:
    return text_digest("record", canonical_json(content))


RECORD_KEYS = frozenset(
    {"commit_id", "tables", "number", "compaction_id", "made_at", "commits", "reissued", "retired"}
)
PART_KEYS = frozenset(
    {"file", "files", "partition", "rows", "row_digest", "partitions", "findings", "origin"}
)
"""What records held before they held digests of themselves and of files."""


def _is_of_old(document: Mapping[str, Any]) -> bool:
    """Tell whether a record without a digest has the keys of one that never had any."""
    entries = [
        entry
        for listed in document["tables"].values()
        for entry in (listed if isinstance(listed, list) else [listed])
    ]
    return document.keys() <= RECORD_KEYS and all(entry.keys() <= PART_KEYS for entry in entries)


def is_as_written(content: bytes) -> bool | None:
    """Tell whether a record's file holds what was written into it.

    Returns:
        None where the record holds no digest, as those of version 0.1.0 do not, so that nobody can tell.
    """
    try:
        document = json.loads(content)
        kept = document.pop(DIGEST, None)
        again = canonical_json(document if kept is None else {**document, DIGEST: kept}).encode()
        if again != content:
            return False
        if kept is None:
            return None if _is_of_old(document) else False
        return bool(kept == _digest_of(document))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return False


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
            _part(table, path, entry)
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
    """See that every part is where this commit would have put it."""
    for part in parts:
        match = PART_PATH.fullmatch(part.path)
        if part.path and not (match and match["table"] == part.table and match["commit"] == commit_id):
            return False
    return True


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
    def all_parts(self) -> list[Part]:
        """All parts, those of the compaction first; those whose rows are another audit's too."""
        parts_of_snapshot = list(self.snapshot.parts) if self.snapshot else []
        return parts_of_snapshot + [part for record in self.records for part in record.parts]

    @property
    def parts(self) -> list[Part]:
        """All parts with a file, those of the compaction first."""
        return [part for part in self.all_parts if part.path]

    def parts_of(self, table: str, partitions: Collection[str] | None = None) -> list[Part]:
        """List the parts with a file of a table, those of some partitions alone if they are named."""
        meant = None if partitions is None else set(partitions)
        if meant is not None and (origins := self.origins(table)):
            meant |= {origins[name] for name in meant if name in origins}
        return [part for part in self.parts if part.table == table and part.may_hold(meant)]

    def row_count(self, table: str) -> int:
        """Count a table's rows as they were committed; a key written twice counts twice."""
        return sum(part.rows for part in self.all_parts if part.table == table)

    def origins(self, table: str) -> dict[str, str]:
        """Give the audits that refer to another one's rows of a table, each with the audit that has them."""
        return {part.partition: part.origin for part in self.all_parts if part.table == table and part.origin}


@dataclass(slots=True)
class Known:
    """What was read already; records never change.

    Attributes:
        records: Commits by id.
        snapshots: The newest compaction by the name of its record.
        ahead: Rows that were written ahead and are in no commit yet, by file, by table.
        own: The files that this process wrote ahead and has not sealed.
        steady: What the lake held when somebody asked for it to stand still, and what was written ahead then; None
            where each reading looks anew.
        whole: Files that were found to be what their parts say, with the size and time of the file then.
    """

    records: dict[str, Record] = field(default_factory=dict)
    snapshots: dict[str, Snapshot] = field(default_factory=dict)
    ahead: dict[str, dict[str, pa.Table]] = field(default_factory=dict)
    own: list[str] = field(default_factory=list)
    steady: tuple[Contents, dict[str, dict[str, pa.Table]]] | None = None
    whole: dict[str, tuple[tuple[int, int], Part, bool]] = field(default_factory=dict)


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
        (content,) = storage.get_all([f"{FOLDER}/{name}"])
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


FOLDER = "compactions"
NAME = re.compile(r"[0-9]{8}\.json")
COMMIT_ID = re.compile(r"[0-9a-f]{32}")

COMPACTED_PATH = re.compile(
    r"data/(?P<table>\w+)/(?:\w+=[^/]+/)?compacted-(?P<commit>[0-9a-f]{32})-[0-9a-f]{8}\.parquet"
)
"""Where a part may be that a compaction wrote; without a partition's folder it holds rows of several."""

RETIRED_PATH = re.compile(r"(?:data/\w+/(?:\w+=[^/]+/)?|commits/|compactions/|ahead/)(?!\.\.?$)[^/\0]+")
"""What a compaction may name to be removed."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A file or record that was damaged, or rested on one, and that no reader reads any more.

    Attributes:
        file: Its path in the lake, where it still lies; "" for rows that a record names without a file.
        table: The table it held rows of, "" for a record.
        rows: How many rows its record says it held.
        reason: What was found.
        at: When it was left out (UTC).
    """

    file: str
    table: str
    rows: int
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A compaction as it is in `compactions/`.

    Attributes:
        number: 1 for a lake's first.
        compaction_id: Names the parts it wrote.
        made_at: When.
        commits: Ids of all commits taken in, by this one and those before.
        reissued: Commits that retention took rows from, with the compaction that did: whoever commits the same
            keys again makes a new commit of them.
        parts: What readers read in place of those commits.
        retired: Files that no new reader needs, with the time from when on they may be removed.
        forgotten: Files that were damaged and were left out when somebody asked for it; they are never removed.
    """

    number: int
    compaction_id: str
    made_at: datetime
    commits: frozenset[str]
    reissued: Mapping[str, str]
    parts: tuple[Part, ...]
    retired: Mapping[str, datetime]
    forgotten: tuple[Forgotten, ...] = ()

    @property
    def path(self) -> str:
        """Where it is in the lake."""
        return path_of(self.number)

    def as_json(self) -> bytes:
        """Write the record."""
        tables: dict[str, list[dict[str, Any]]] = {}
        for part in self.parts:
            tables.setdefault(part.table, []).append({"file": part.path, **part.details()})
        content: dict[str, Any] = {
            "number": self.number,
            "compaction_id": self.compaction_id,
            "made_at": self.made_at,
            "commits": sorted(self.commits),
            "reissued": dict(self.reissued),
            "tables": tables,
            "retired": dict(self.retired),
        }
        if self.forgotten:
            content["forgotten"] = list(self.forgotten)
        return with_digest(content)


def issued(commit_id: str, snapshot: Snapshot | None) -> str:
    """Give the id under which rows are committed: another one where retention took some of them away."""
    return chain_of(commit_id, snapshot)[-1]


def chain_of(commit_id: str, snapshot: Snapshot | None) -> list[str]:
    """List the ids under which rows of the same keys were ever committed, the newest last."""
    chain = [commit_id]
    while snapshot is not None and chain[-1] in snapshot.reissued:
        chain.append(text_digest("commit", chain[-1], snapshot.reissued[chain[-1]]))
    return chain


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
            _part(table, entry["file"], entry)
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
            tuple(
                Forgotten(**{**entry, "at": datetime.fromisoformat(entry["at"])})
                for entry in document.get("forgotten", ())
            ),
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
    """See that a record bears its own number and that its files are where they may be."""
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
    if part.origin and not part.path:
        return True
    written = COMPACTED_PATH.fullmatch(part.path)
    original = PART_PATH.fullmatch(part.path)
    if written:
        return written["table"] == part.table
    return bool(original and original["table"] == part.table and original["commit"] in commits)

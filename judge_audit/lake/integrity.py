"""Holds a lake's files and records against the digests that were committed with them, and names what is damaged.

A record written by this version holds a digest of itself and the SHA-256 of each file it names, so that a changed byte
anywhere is found without decoding a row. Records of version 0.1.0 hold digests of rows alone: their files are decoded,
their rows and statistics compared, and the commit's id recomputed from its keys.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from judge_audit.core.errors import MachineryError
from judge_audit.core.messages import say
from judge_audit.core.tables import definition, empty
from judge_audit.lake.part_files import UNREADABLE, Entry, decoded, found_wrong, named_wrong, refers
from judge_audit.lake.records import (
    COMMITS,
    FOLDER,
    NAME,
    TRIES,
    Record,
    Snapshot,
    chain_of,
    is_as_written,
    parse_record,
    parse_snapshot,
)
from judge_audit.lake.write_ahead import AHEAD, unpacked
from judge_audit.lake.write_ahead import NAME as BATCH

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from judge_audit.lake.lake import Lake
    from judge_audit.lake.records import Forgotten
    from judge_audit.lake.storage import Storage

    Wanted = Mapping[str, Collection[str] | None]
    """Tables, each with the partitions meant; None means all of them."""

ANSWERS = frozenset({"calls", "scores", "comparisons", "canaries", "canary_scores"})
"""Tables whose rows can be asked again."""

MADE = frozenset(
    {
        "items",
        "refusals",
        "probes",
        "mismatches",
        "unsuited",
        "zones",
        "judges",
        "judge_labels",
        "audits",
        "strengths",
        "curves",
        "measures",
        "verdicts",
        "standings",
        "gates",
        "rank_changes",
        "canary_nights",
        "runs",
        "notices",
    }
)
"""Tables whose rows an audit makes again."""


class DamagedError(MachineryError):
    """Evidence that a decision rests on is damaged; nothing is decided."""


@dataclass(frozen=True, slots=True)
class Damage:
    """A file or record that is not what was committed.

    Attributes:
        file: Its path in the lake; "" for rows that a record names without a file.
        record: Path of the record that names it; the file itself where a record is damaged.
        table: The table it holds rows of, "" for a record.
        rows: How many rows its record says it holds.
        found: What is wrong, one sentence.
        remedy: How to recover, one sentence.
    """

    file: str
    record: str
    table: str
    rows: int
    found: str
    remedy: str

    def __str__(self) -> str:
        """Say what is wrong and what to do."""
        return f"{self.found} {self.remedy}".strip()


@dataclass(slots=True)
class Log:
    """Every record of a lake that counts, as far as it can be read.

    Attributes:
        snapshot: The newest compaction, None before the first or where it cannot be read.
        records: The commits that it did not take in.
        entries: The parts they name.
        damages: Records that cannot be read or were changed.
        files: How many records there are.
        compacted: Path of the newest compaction's record, "" before the first.
    """

    snapshot: Snapshot | None = None
    records: list[Record] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    damages: list[Damage] = field(default_factory=list)
    files: int = 0
    compacted: str = ""

    def of(self, wanted: Wanted | None) -> list[Entry]:
        """List the parts that hold, or may hold, rows of some tables and partitions, those referred to as well.

        A part of several partitions whose record has no digest is listed whatever partitions it says it holds.
        """
        if wanted is None:
            return self.entries
        chosen = []
        for table, partitions in wanted.items():
            ours = [entry for entry in self.entries if entry.part.table == table]
            meant = None if partitions is None else set(partitions)
            if meant is not None:
                refers = {e.part.partition: e.part.origin for e in ours if e.part.origin}
                meant |= {refers[name] for name in meant if name in refers}
            chosen += [e for e in ours if e.part.may_hold(meant) or (e.part.partitions and not e.trusted)]
        return chosen


def read_log(storage: Storage, *, afresh: bool = False) -> Log:
    """Read every record that counts, each as far as it can be.

    Args:
        storage: The lake's files.
        afresh: Read from the store itself, even what this machine holds a copy of.

    Raises:
        MachineryError: If records vanish while they are read.
    """
    for _ in range(TRIES):
        names = storage.names(COMMITS)
        numbers = [name for name in storage.names(FOLDER) if NAME.fullmatch(name)]
        try:
            log = Log()
            if numbers:
                (content,) = _get(storage, [f"{FOLDER}/{numbers[-1]}"], afresh=afresh)
                _add_snapshot(log, numbers[-1], content)
            taken = log.snapshot.commits if log.snapshot else frozenset()
            names = [name for name in names if name.removesuffix(".json") not in taken]
            contents = _get(storage, [f"{COMMITS}/{name}" for name in names], afresh=afresh)
        except FileNotFoundError:
            continue  # a newer compaction has taken it in
        for name, content in zip(names, contents, strict=True):
            _add_record(log, name, content)
        return log
    raise MachineryError(f"the lake at {storage.url} cannot be read: its records vanish while they are read.")


def _get(storage: Storage, paths: Sequence[str], *, afresh: bool) -> list[bytes]:
    return [storage.get(path) for path in paths] if afresh else storage.get_all(paths)


def _add_snapshot(log: Log, name: str, content: bytes) -> None:
    """Read the newest compaction's record."""
    log.compacted = path = f"{FOLDER}/{name}"
    log.files += 1
    written = is_as_written(content)
    try:
        log.snapshot = parse_snapshot(name, content)
    except MachineryError as error:
        log.damages.append(_record_damage(path, say("lake.damaged.unparsed", error=error), ""))
        return
    if written is False:
        remedy = say("lake.damaged.restore")
        log.damages.append(_record_damage(path, say("lake.damaged.record", found_in=path), remedy))
    log.entries += [Entry(part, path, "", written is True) for part in log.snapshot.parts]


def _add_record(log: Log, name: str, content: bytes) -> None:
    """Read a commit's record."""
    path = f"{COMMITS}/{name}"
    log.files += 1
    written = is_as_written(content)
    try:
        record = parse_record(name, content)
    except MachineryError as error:
        log.damages.append(_record_damage(path, say("lake.damaged.unparsed", error=error), ""))
        return
    if written is False:
        remedy = _remedy({part.table for part in record.parts})
        log.damages.append(_record_damage(path, say("lake.damaged.record", found_in=path), remedy))
    log.records.append(record)
    log.entries += [Entry(part, path, record.commit_id, written is True) for part in record.parts]


def _record_damage(path: str, found: str, remedy: str) -> Damage:
    return Damage(path, path, "", 0, found, remedy)


def _remedy(tables: Iterable[str]) -> str:
    """Say how rows of some tables are recovered."""
    named = set(tables)
    if named <= ANSWERS:
        return say("lake.damaged.ask")
    return say("lake.damaged.run" if named <= ANSWERS | MADE else "lake.damaged.give")


@dataclass(slots=True)
class Checked:
    """What came of a check.

    Attributes:
        damages: What is damaged.
        files: How many files were checked.
        records: How many records were.
        rows: How many rows the files hold by their records.
        older: How many of the files were written without a digest of their bytes.
        entries: The parts that are damaged.
        forgotten: What was left out earlier because it was damaged.
    """

    damages: list[Damage] = field(default_factory=list)
    files: int = 0
    records: int = 0
    rows: int = 0
    older: int = 0
    entries: list[Entry] = field(default_factory=list)
    forgotten: tuple[Forgotten, ...] = ()


class _Check:
    """One check of some parts of a lake."""

    def __init__(self, lake: Lake, log: Log, *, thorough: bool) -> None:
        self.lake, self.log, self.thorough = lake, log, thorough
        self.done = Checked(list(log.damages), records=log.files)
        self.done.forgotten = log.snapshot.forgotten if log.snapshot else ()
        self.rows: dict[str, pa.Table] = {}

    def content(self, path: str) -> bytes:
        """Read a file: from the store itself for a check of the whole lake, else what queries read."""
        if self.thorough:
            return self.lake.storage.get(path)
        return Path(*self.lake.storage.locate([path])).read_bytes()

    def add(self, entry: Entry, found: str) -> None:
        """Keep a damage."""
        part = entry.part
        remedy = _remedy([part.table])
        self.done.entries.append(entry)
        self.done.damages.append(Damage(part.path, entry.record, part.table, part.rows, found, remedy))

    def file(self, entry: Entry) -> None:
        """Hold one file against its record; one that this process found whole, and that is as it was, is not read."""
        part, known = entry.part, self.lake.known.whole
        self.done.files += 1
        self.done.rows += part.rows
        self.done.older += not part.file_digest
        stamp = None if self.thorough else _stamp(self.lake.storage, part.path)
        if stamp is not None and known.get(part.path) == (stamp, part, entry.trusted):
            return
        try:
            content = self.content(part.path)
        except FileNotFoundError:
            self.add(entry, say("lake.damaged.missing", file=part.path))
            return
        except OSError as error:
            self.add(entry, say("lake.damaged.unreadable", file=part.path, error=error.strerror or error))
            return
        rows, said = found_wrong(entry, content, thorough=self.thorough)
        if said and not self._copy_alone(entry, content):
            self.add(entry, said)
        elif self.thorough:
            self._copy(entry, content)
        elif stamp is not None:
            known[part.path] = (stamp, part, entry.trusted)
        if rows is not None and not said and entry.commit_id:
            wanted = definition(part.table)
            names = [name for name in (*wanted.key, *wanted.witness) if name in rows.column_names]
            self.rows[part.path] = rows.select(names)

    def _copy_alone(self, entry: Entry, content: bytes) -> bool:
        """See whether only this machine's copy of a store's file is damaged, which is then named."""
        if self.thorough:
            return False
        try:
            own = self.lake.storage.get(entry.part.path)
        except OSError:
            return False
        alone = own != content and not found_wrong(entry, own)[1]
        if alone:
            self._copy(entry, own)
        return alone

    def _copy(self, entry: Entry, content: bytes) -> None:
        """See that this machine's copy of a store's file, which queries read, is the same."""
        (copy,) = self.lake.storage.locate([entry.part.path])
        if Path(copy).read_bytes() != content:
            part = entry.part
            found = say("lake.damaged.bytes", file=part.path)
            remedy = say("lake.damaged.copy", copy=copy)
            self.done.damages.append(Damage("", entry.record, part.table, part.rows, found, remedy))

    def origin(self, entry: Entry) -> None:
        """See that the rows an audit refers to are there, and are the rows it found."""
        part = entry.part
        has = [
            e
            for e in self.log.entries
            if e.part.table == part.table and part.origin in e.part.findings.values()
        ]
        fits = bool(has)
        if has and (self.thorough or not entry.trusted):
            fits = any(refers(part, self._decoded(one)) for one in has)
        if not fits:
            told = {"table": part.table, "audit": part.partition, "origin": part.origin}
            self.add(entry, say("lake.damaged.origin", found_in=entry.record, **told))

    def _decoded(self, entry: Entry) -> pa.Table | None:
        try:
            return decoded(self.content(entry.part.path))
        except UNREADABLE:
            return None

    def keys(self, record: Record) -> None:
        """See that a commit's id is the digest of its keys; where a part is damaged nobody can tell."""
        contents: dict[str, pa.Table] = {}
        for part in record.parts:
            if part.origin or (part.path and part.path not in self.rows):
                return
            contents[part.table] = self.rows.pop(part.path) if part.path else empty(part.table)
        try:
            found = self.lake.commit_id_of({name: _filled(name, rows) for name, rows in contents.items()})
        except (KeyError, MachineryError, pa.ArrowException):
            found = ""
        if record.commit_id not in chain_of(found, self.log.snapshot):
            path = f"{COMMITS}/{record.commit_id}.json"
            remedy = _remedy(contents)
            self.done.damages.append(_record_damage(path, say("lake.damaged.keys", found_in=path), remedy))


def _filled(name: str, rows: pa.Table) -> pa.Table:
    """Add the columns of a table's witness that older files lack."""
    for column in definition(name).witness:
        if column not in rows.column_names:
            rows = rows.append_column(column, pa.nulls(rows.num_rows, pa.string()))
    return rows


def _stamp(storage: Storage, path: str) -> tuple[int, int] | None:
    """Give the size and time of a file as queries read it; None if it is not there."""
    try:
        found = Path(*storage.locate([path])).stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def damaged(
    lake: Lake,
    wanted: Wanted | None = None,
    *,
    thorough: bool = False,
    told: Callable[[int, int], None] = lambda _done, _of: None,
) -> Checked:
    """Hold committed files and all records against their digests.

    Args:
        lake: The lake.
        wanted: The tables and partitions meant; everything if None.
        thorough: Decode every row, read from the store itself, and recompute every commit's id.
        told: Called with how many files were checked, and of how many.

    Raises:
        MachineryError: If the lake cannot be reached.
    """
    log = read_log(lake.storage, afresh=thorough)
    check = _Check(lake, log, thorough=thorough)
    chosen = _with_siblings(log, log.of(wanted))
    for place, entry in enumerate(log.entries):
        if said := named_wrong(entry):
            check.add(entry, said)
            chosen.pop(place, None)
    left = Counter(entry.record for entry in chosen.values())
    records = {f"{COMMITS}/{record.commit_id}.json": record for record in log.records}
    for number, entry in enumerate(chosen.values()):
        told(number, len(chosen))
        if entry.part.path:
            check.file(entry)
        elif entry.part.origin:
            check.origin(entry)
        left[entry.record] -= 1
        if not left[entry.record] and entry.commit_id and (thorough or not entry.trusted):
            check.keys(records[entry.record])
    told(len(chosen), len(chosen))
    if thorough:
        check.done.damages += _ahead_damaged(lake.storage)
    return check.done


def _with_siblings(log: Log, chosen: Sequence[Entry]) -> dict[int, Entry]:
    """Add the other parts of commits whose records hold no digest: only all keys together make their id."""
    alone = {id(entry) for entry in chosen}
    whole = {entry.record for entry in chosen if entry.commit_id and not entry.trusted}
    return {
        place: entry for place, entry in enumerate(log.entries) if id(entry) in alone or entry.record in whole
    }


def _ahead_damaged(storage: Storage) -> list[Damage]:
    """Read the batches that are in no commit yet."""
    damages = []
    for name in storage.names(AHEAD):
        path = f"{AHEAD}/{name}"
        if not BATCH.fullmatch(name):
            continue
        try:
            unpacked(path, storage.get(path))
        except FileNotFoundError:
            continue  # sealed since it was listed
        except MachineryError as error:
            damages.append(Damage(path, path, "", 0, say("lake.damaged.ahead", error=error), ""))
    return damages

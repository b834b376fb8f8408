"""Leaves damaged files and records out of a lake, so that the next run asks again for what they held.

Nothing is removed: the files stay where they are, and the record of a compaction names each with the reason. A commit
of which a part is damaged is left out wholly. A part that a compaction wrote is left out alone; of the answers it
belonged to, the calls whose scores are gone go as well, and the scores whose calls are gone.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from judge_audit.core.errors import MachineryError
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import State
from judge_audit.lake.compaction import Group, Merged, merge_group, next_snapshot, read_part
from judge_audit.lake.integrity import Checked, Log, damaged, read_log
from judge_audit.lake.lake import FORMAT, raise_format
from judge_audit.lake.part_files import COMMIT_COLUMN, Entry
from judge_audit.lake.records import (
    COMMIT_ID,
    COMMITS,
    PART_PATH,
    Contents,
    Forgotten,
    Record,
    parse_snapshot,
)
from judge_audit.lake.write_ahead import AHEAD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit.lake.lake import Lake
    from judge_audit.lake.storage import Storage

SCORES_OF = {"calls": "scores", "canaries": "canary_scores"}
"""Tables of requests with the table that holds what came of them, row by row under the same key and commit."""

KEYS = {
    "calls": ("judge_id", "probe_id", "repeat"),
    "canaries": ("lineage_id", "asking", "probe_id", "repeat"),
}
SILENT = (State.FAILED.value, State.INERT.value)
"""States of requests that have no scores."""


@dataclass(frozen=True, slots=True)
class Forgot:
    """What was left out.

    Attributes:
        number: Of the compaction's record that says so; 0 if nothing was left out.
        left_out: The files and records.
    """

    number: int
    left_out: tuple[Forgotten, ...]

    @property
    def rows(self) -> int:
        """How many rows they hold by their records."""
        return sum(one.rows for one in self.left_out)


def forget_damaged(lake: Lake, checked: Checked | None = None, *, now: datetime | None = None) -> Forgot:
    """Leave out what is damaged, and keep a note of it in the log.

    Args:
        lake: The lake.
        checked: What `integrity.damaged` found; it is asked anew if not given.
        now: The time; that of the clock if None.

    Raises:
        MachineryError: If the newest compaction's record is damaged, which only a copy can restore, or somebody
            else compacted the lake meanwhile.
    """
    when = now or datetime.now(UTC)
    found = checked or damaged(lake, thorough=True)
    log = read_log(lake.storage, afresh=True)
    if log.compacted and any(one.record == log.compacted and not one.table for one in found.damages):
        raise MachineryError(
            say("lake.damaged.record", found_in=log.compacted) + " " + say("lake.damaged.restore")
        )
    reasons = {one.file or one.record: one.found for one in reversed(found.damages)}
    commits = {one.record for one in found.damages if one.record.startswith(f"{COMMITS}/")}
    commits = {path for path in commits if COMMIT_ID.fullmatch(_id_of(path))}
    kept, dropped = _without(log, {id_of(entry) for entry in found.entries}, commits)
    left_out = [
        *(_note(entry, reasons, when) for entry in dropped),
        *(
            Forgotten(path, "", 0, reasons.get(path, say("lake.damaged.rests")), when)
            for path in sorted(commits)
        ),
        *(
            _set_aside(lake.storage, one.file, one.found, when)
            for one in found.damages
            if _is_ahead(one.file)
        ),
    ]
    if not left_out:
        return Forgot(0, ())
    compaction_id = uuid.uuid4().hex
    merged = Merged(forgotten=left_out)
    _put_together(lake.storage, kept, dropped, compaction_id, merged)
    merged.lost |= _committed_by(dropped, log) | {_id_of(path) for path in commits}
    unread = tuple(Record(_id_of(path), ()) for path in commits)
    before = Contents(log.snapshot, (*log.records, *unread))
    made = next_snapshot(lake.storage, before, merged, when, compaction_id)
    parse_snapshot(
        made.path.rpartition("/")[2], made.as_json()
    )  # one that nobody can read would end the lake
    raise_format(lake.storage, FORMAT)
    if not lake.storage.put_if_absent(made.path, made.as_json()):
        raise MachineryError(say("lake.damaged.faster"))
    return Forgot(made.number, tuple(left_out))


def id_of(entry: Entry) -> tuple[str, str, str, str]:
    """Name a part as a record names it."""
    return entry.record, entry.part.table, entry.part.path, entry.part.partition


def _id_of(record: str) -> str:
    return record.removeprefix(f"{COMMITS}/").removesuffix(".json")


def _is_ahead(file: str) -> bool:
    return file.startswith(f"{AHEAD}/")


def _without(
    log: Log, bad: set[tuple[str, str, str, str]], commits: set[str]
) -> tuple[list[Entry], list[Entry]]:
    """Part what stays from what goes: damaged parts, all of their commits, and what refers to them.

    Args:
        log: All records.
        bad: The damaged parts.
        commits: Paths of commits that go wholly; those found on the way are added.
    """
    commits |= {record for record, *_ in bad if record.startswith(f"{COMMITS}/")}
    while True:
        kept = [e for e in log.entries if id_of(e) not in bad and e.record not in commits]
        held = {(e.part.table, audit) for e in kept for audit in e.part.findings.values()}
        lost = [e for e in kept if e.part.origin and (e.part.table, e.part.origin) not in held]
        if not lost:
            return kept, [e for e in log.entries if e not in kept]
        bad |= {id_of(e) for e in lost}
        commits |= {e.record for e in lost if e.commit_id}


def _note(entry: Entry, reasons: Mapping[str, str], when: datetime) -> Forgotten:
    """Write down a part that is left out."""
    part = entry.part
    reason = reasons.get(part.path) or reasons.get(entry.record) or say("lake.damaged.rests")
    return Forgotten(part.path, part.table, part.rows, reason, when)


def _set_aside(storage: Storage, path: str, reason: str, when: datetime) -> Forgotten:
    """Give a damaged batch a name under which nobody reads it."""
    aside = path.removesuffix(".arrow") + ".damaged"
    storage.put(aside, storage.get(path))
    storage.remove(path)
    return Forgotten(aside, "", 0, reason, when)


def _committed_by(dropped: Sequence[Entry], log: Log) -> set[str]:
    """Name the commits whose rows went: all that were taken in, where a compaction wrote a part that is gone."""
    gone: set[str] = set()
    for entry in dropped:
        plain = PART_PATH.fullmatch(entry.part.path)
        if entry.commit_id:
            gone.add(entry.commit_id)
        elif plain:
            gone.add(plain["commit"])
        elif log.snapshot:
            gone |= log.snapshot.commits
    return gone


def _put_together(
    storage: Storage, kept: Sequence[Entry], dropped: Sequence[Entry], compaction_id: str, merged: Merged
) -> None:
    """Keep parts as they are, but for answers of which a half is gone."""
    halves = {e.part.table for e in dropped if not e.commit_id}
    masks = {}
    for requests, scores in SCORES_OF.items():
        if halves & {requests, scores}:
            masks[requests], masks[scores] = _halves(storage, kept, requests, scores, halves)
    for entry in kept:
        part = entry.part
        if part.path and part.table in masks:
            group = Group(part.table, part.partition, (part,))
            merge_group(storage, group, masks[part.table], compaction_id, merged, dry=False)
        elif part.path or part.origin:
            merged.parts.append(part)


def _halves(
    storage: Storage, kept: Sequence[Entry], requests: str, scores: str, halves: set[str]
) -> tuple[_Lacking, _Lacking]:
    """Say which requests lack their scores, and which scores their requests."""
    keys = [*KEYS[requests], COMMIT_COLUMN]
    there = {
        table: _keys(storage, [e for e in kept if e.part.path and e.part.table == table], keys)
        for table in (requests, scores)
    }
    return (
        _Lacking(keys, there[scores] if scores in halves else None),
        _Lacking(keys, there[requests] if requests in halves else None),
    )


def _keys(storage: Storage, entries: Sequence[Entry], keys: list[str]) -> pa.Array:
    """Read the keys of parts, each written as one text."""
    found = [_texts(read_part(storage, entry.part), keys) for entry in entries]
    return pa.concat_arrays(found) if found else pa.array([], pa.string())


def _texts(rows: pa.Table, keys: list[str]) -> pa.Array:
    columns = [pc.cast(rows[name], pa.string()) for name in keys]
    texts = pc.binary_join_element_wise(*columns, "\x1f")
    return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts


@dataclass(frozen=True, slots=True)
class _Lacking:
    """Says which rows lack their other half; none where `there` is None."""

    keys: list[str]
    there: pa.Array | None

    def __call__(self, rows: pa.Table) -> pa.ChunkedArray:
        if self.there is None:
            return pa.chunked_array([pa.array([False] * rows.num_rows)])
        lacks = pc.invert(pc.is_in(_texts(rows, self.keys), value_set=self.there))
        if "attempts" in rows.column_names:  # a request that nothing came of has no scores
            lacks = pc.and_(lacks, pc.invert(pc.is_in(rows["state"], value_set=pa.array(SILENT))))
        return pa.chunked_array([lacks]) if isinstance(lacks, pa.Array) else lacks

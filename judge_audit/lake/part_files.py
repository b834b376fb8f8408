"""Holds the file of one part against what its record says: bytes, rows, partitions, statistics, results."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from judge_audit.core.digests import file_digest, row_digest
from judge_audit.core.messages import say
from judge_audit.core.tables import TABLES, definition, empty
from judge_audit.lake.records import PART_PATH, SEVERAL, Part

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMIT_COLUMN = "commit_id"

UNREADABLE = (
    OSError,
    pa.ArrowException,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    OverflowError,
    MemoryError,
)
"""What PyArrow raises over bytes that are no Parquet file, or no longer one."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A part as a record names it.

    Attributes:
        part: The part.
        record: Path of the record.
        commit_id: The commit, "" where a compaction names the part.
        trusted: Whether the record holds a digest of itself that fits.
    """

    part: Part
    record: str
    commit_id: str
    trusted: bool


def decoded(content: bytes) -> pa.Table:
    """Decode a part, the column of its rows' commits included where it has one.

    Raises:
        One of `UNREADABLE`: If the bytes are no Parquet file.
    """
    rows = pq.ParquetFile(io.BytesIO(content)).read()
    rows.validate(full=True)
    return rows


def own_columns(rows: pa.Table) -> pa.Table:
    """Leave out the column of rows' commits, which is in no digest."""
    return rows.drop_columns([COMMIT_COLUMN]) if COMMIT_COLUMN in rows.column_names else rows


def found_wrong(entry: Entry, content: bytes, *, thorough: bool = True) -> tuple[pa.Table | None, str]:
    """Hold a part's file against what its record says.

    Args:
        entry: The part.
        content: The bytes of its file.
        thorough: Decode the rows even where the file's digest fits.

    Returns:
        The rows, None where they were not decoded, and what is wrong, "" if nothing is.
    """
    part, where = entry.part, {"file": entry.part.path, "found_in": entry.record}
    if part.file_digest and file_digest(content) != part.file_digest:
        return None, say("lake.damaged.bytes", **where)
    if part.file_digest and entry.trusted and not thorough:
        return None, ""
    try:
        rows = decoded(content)
        own = own_columns(rows)
        if own.num_rows != part.rows:
            return None, say("lake.damaged.rows", found=own.num_rows, said=part.rows, **where)
        if row_digest(own) != part.row_digest:
            return None, say("lake.damaged.values", **where)
        said = _partition_wrong(entry, own)
        if not said and not part.file_digest:
            said = _statistics_wrong(entry, content, rows)
        if not said and not entry.trusted:
            said = _findings_wrong(entry, rows)
    except UNREADABLE as error:
        return None, say("lake.damaged.unreadable", error=" ".join(str(error).split())[:200], **where)
    return rows, said


def _partition_wrong(entry: Entry, rows: pa.Table) -> str:
    """See that a part holds the partitions that its record says."""
    part = entry.part
    column = rows[definition(part.table).partition_column]
    found = {one["values"]: one["counts"] for one in column.value_counts().to_pylist()}
    said = {part.partition: part.rows} if part.partition else dict(part.partitions)
    if not said or found == said:
        return ""
    return say(
        "lake.damaged.partition",
        file=part.path,
        found=", ".join(map(str, list(found)[:5])),
        found_in=entry.record,
        said=", ".join(list(said)[:5]),
    )


def _statistics_wrong(entry: Entry, content: bytes, rows: pa.Table) -> str:
    """See that statistics, by which queries skip groups of rows, are those of the rows."""
    file = pq.ParquetFile(io.BytesIO(content)).metadata
    start = 0
    for number in range(file.num_row_groups):
        group = file.row_group(number)
        held = rows.slice(start, group.num_rows)
        start += group.num_rows
        for place in range(group.num_columns):
            chunk = group.column(place)
            stated = chunk.statistics
            name = chunk.path_in_schema
            if stated is None or name not in rows.column_names:
                continue
            true = pc.min_max(held[name]).as_py()
            nulls_fit = not stated.has_null_count or stated.null_count == held[name].null_count
            bounds_fit = (
                not stated.has_min_max
                or true["min"] is None
                or (stated.min <= true["min"] and stated.max >= true["max"])
            )
            if not nulls_fit or not bounds_fit:
                return say("lake.damaged.statistics", file=entry.part.path, column=name)
    return ""


def _by_commit(rows: pa.Table, audit_id: str) -> Iterator[pa.Table]:
    """Give the rows of an audit, those of each commit by themselves."""
    held = rows.filter(pc.equal(rows["audit_id"], audit_id))
    if COMMIT_COLUMN not in held.column_names:
        yield held
        return
    for commit_id in pc.unique(held[COMMIT_COLUMN]).to_pylist():
        yield own_columns(held.filter(pc.equal(held[COMMIT_COLUMN], commit_id)))


def _findings_wrong(entry: Entry, rows: pa.Table) -> str:
    """See that the results a record says are an audit's are in the part."""
    for digest, audit in entry.part.findings.items():
        if not any(row_digest(one.drop_columns(["audit_id"])) == digest for one in _by_commit(rows, audit)):
            where = {"file": entry.part.path, "found_in": entry.record, "table": entry.part.table}
            return say("lake.damaged.findings", audit=audit, **where)
    return ""


def named_wrong(entry: Entry) -> str:
    """See that a record's words about a part fit each other."""
    part = entry.part
    if part.table not in TABLES:
        return say("lake.damaged.record", found_in=entry.record)
    if not part.path:
        if part.rows and not part.origin:
            return say("lake.damaged.no_file", found_in=entry.record, rows=part.rows, table=part.table)
        hollow = not part.rows and part.row_digest not in {"", row_digest(empty(part.table))}
        return say("lake.damaged.record", found_in=entry.record) if hollow else ""
    match = PART_PATH.fullmatch(part.path)
    level = definition(part.table).partition
    folder = quote(part.partition, safe="") if part.partition else SEVERAL
    if match and (match["level"], match["value"]) != (level, folder):
        return say("lake.damaged.path", found_in=entry.record, file=part.path, level=level)
    return ""


def refers(part: Part, rows: pa.Table | None) -> bool:
    """Tell whether rows hold what an audit that refers to them found."""
    if rows is None:
        return False
    for own in _by_commit(rows, part.origin):
        place = own.column_names.index("audit_id")
        named = own.set_column(place, "audit_id", pa.array([part.partition] * own.num_rows, pa.string()))
        if named.num_rows == part.rows and row_digest(named) == part.row_digest:
            return True
    return False

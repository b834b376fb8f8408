"""Putting small parts together: which with which, and how a new part is written.

Rows are only carried over. Each keeps the id of the commit it came with, so that which row counts where a key was
written twice stays as it was.
"""

from __future__ import annotations

import io
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from judge_audit.core.digests import row_digest
from judge_audit.core.errors import MachineryError
from judge_audit.core.tables import TABLES, definition
from judge_audit.lake.records import PART_PATH, Part
from judge_audit.lake.relations import COMPACTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from judge_audit.lake.storage import Storage

    Going = Callable[[pa.Table], pa.ChunkedArray]
    """Given rows of a table, says as a mask which of them retention takes away."""

    Doomed = Mapping[str, Going]

FULL = 500_000
"""Rows from which on a part stays as it is; several smaller ones are put together up to twice as many."""

ALONE = 20_000
"""Rows from which on a judge's (audit's, plan's, …) rows get parts of their own."""

ROWS_PER_GROUP = 65_536
COMMIT_COLUMN = "commit_id"


@dataclass(frozen=True, slots=True)
class Group:
    """Parts of one table that become one, in order; `partition` is "" where they hold rows of several."""

    table: str
    partition: str
    parts: tuple[Part, ...]


@dataclass(slots=True)
class Merged:
    """What came of merging."""

    parts: list[Part] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)


def grouped(parts: Sequence[Part]) -> list[Group]:
    """Say which parts are put together: of one table, and of one partition where that has many rows.

    Parts that are large already stay alone.
    """
    found = []
    for table in TABLES:
        small = [part for part in parts if part.table == table and part.rows < FULL]
        rows: dict[str, int] = {}
        for part in small:
            rows[part.partition] = rows.get(part.partition, 0) + part.rows
        by_partition: dict[str, list[Part]] = {}
        for part in small:
            alone = part.partition if rows[part.partition] >= ALONE else ""
            by_partition.setdefault(alone, []).append(part)
        for partition, held in sorted(by_partition.items()):
            found += [Group(table, partition, run) for run in _runs(held)]
    return found


def _runs(parts: Sequence[Part]) -> Iterator[tuple[Part, ...]]:
    """Cut parts into runs of rows that fit into memory together."""
    run: list[Part] = []
    size = 0
    for part in sorted(parts, key=lambda part: part.path):
        if run and size + part.rows > 2 * FULL:
            yield tuple(run)
            run, size = [], 0
        run.append(part)
        size += part.rows
    if run:
        yield tuple(run)


def read_part(storage: Storage, part: Part) -> pa.Table:
    """Read a part with the id of each row's commit, and hold it against what its record says.

    Raises:
        MachineryError: If it is missing, damaged or not what was committed: nothing false is carried over.
    """
    (place,) = storage.locate([part.path])
    try:
        rows = pq.ParquetFile(io.BytesIO(Path(place).read_bytes())).read()
    except (OSError, pa.ArrowException) as error:
        raise MachineryError(
            f"{part.path} in the lake at {storage.url} cannot be read ({error}). Restore it from a copy; nothing was "
            "put together."
        ) from error
    own = rows.drop_columns([COMMIT_COLUMN]) if COMMIT_COLUMN in rows.column_names else rows
    if own.num_rows != part.rows or row_digest(own) != part.row_digest:
        raise MachineryError(
            f"{part.path} in the lake at {storage.url} does not hold the rows that were committed. Restore it from a "
            "copy; nothing was put together."
        )
    plain = PART_PATH.fullmatch(part.path)
    if plain:
        commits = pa.array([plain["commit"]] * own.num_rows, pa.string())
        return own.append_column(COMMIT_COLUMN, commits)
    return rows


def write_part(
    storage: Storage, table: str, partition: str, rows: pa.Table, compaction_id: str, *, dry: bool = False
) -> Part:
    """Write a new part and read it back; no reader sees it before a compaction's record names it."""
    order = [(name, "ascending") for name in (*definition(table).key, COMMIT_COLUMN)]
    rows = rows.sort_by(order)
    digest = row_digest(rows.drop_columns([COMMIT_COLUMN]))
    folder = f"data/{table}"
    if partition:
        folder += f"/{definition(table).partition}={quote(partition, safe='')}"
    path = f"{folder}/{COMPACTED}{compaction_id}-{uuid.uuid4().hex[:8]}.parquet"
    if not dry:
        buffer = io.BytesIO()
        pq.write_table(rows, buffer, compression="zstd", row_group_size=ROWS_PER_GROUP)
        if not pq.ParquetFile(buffer).read().equals(rows):
            raise MachineryError(
                f"rows of table “{table}” come back changed from Parquet; nothing was put together."
            )
        storage.put(path, buffer.getvalue())
    return Part(table, partition, path, rows.num_rows, digest)


def merge(
    storage: Storage,
    parts: Sequence[Part],
    compaction_id: str,
    doomed: Doomed,
    found: Merged,
    *,
    dry: bool = False,
) -> None:
    """Put parts together, without the rows that retention takes away.

    Args:
        storage: Where they lie.
        parts: All parts that readers see.
        compaction_id: Names the new ones.
        doomed: What goes, by table.
        found: What came of it, added to as parts are written.
        dry: Read everything and write nothing.
    """
    groups = grouped(parts)
    small = {part.path for group in groups for part in group.parts}
    groups += [Group(part.table, part.partition, (part,)) for part in parts if part.path not in small]
    for group in groups:
        going = doomed.get(group.table)
        if len(group.parts) < 2 and (going is None or not group.parts):
            found.parts += group.parts
        elif dry and going is None:
            rows = sum(part.rows for part in group.parts)
            found.parts.append(Part(group.table, group.partition, "", rows, ""))
            found.replaced += [part.path for part in group.parts]
        else:
            _merge_group(storage, group, going, compaction_id, found, dry=dry)


def _merge_group(
    storage: Storage, group: Group, going: Going | None, compaction_id: str, found: Merged, *, dry: bool
) -> None:
    """Put the parts of one group together, or leave a single one as it is if it loses no row."""
    tables = [read_part(storage, part) for part in group.parts]
    rows = pa.concat_tables(tables, promote_options="permissive").unify_dictionaries()
    del tables
    if going is not None:
        goes = going(rows)
        found.lost.update(pc.unique(rows.filter(goes)[COMMIT_COLUMN]).to_pylist())
        left = rows.filter(pc.invert(goes))
        if len(group.parts) == 1 and left.num_rows == rows.num_rows:
            found.parts += group.parts
            return
        rows = left
    found.replaced += [part.path for part in group.parts]
    if rows.num_rows:
        part = write_part(storage, group.table, group.partition, rows, compaction_id, dry=dry)
        found.parts.append(part)
        if not dry:
            found.written.append(part.path)

"""The lake: tables in Parquet, added to by commits, each whole or not there at all."""

from __future__ import annotations

import io
import json
import time
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from judge_audit.core.digests import canonical_json, file_digest, row_digest, text_digest
from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.core.tables import check_keys, definition, empty, schema, sort_by_key
from judge_audit.lake.records import (
    COMMITS,
    SEVERAL,
    Contents,
    Known,
    Part,
    Record,
    issued,
    newest_snapshot,
    read_contents,
)
from judge_audit.lake.relations import Rows, fetch, files_literal, named, references_query, table_query
from judge_audit.lake.storage import open_storage
from judge_audit.lake.write_ahead import AHEAD, TABLES, packed, path_of, read_ahead

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from judge_audit.lake.storage import Storage

FORMAT = 3
"""Number of the lake's layout. Changes are additive; a lake with a higher number is refused."""

COMPACTED_FORMAT = 2
"""That of a lake that was compacted, in which no audit refers to the rows of another."""

FIRST_FORMAT = 1
"""That of a lake that was never compacted: judge-audits that know of no compaction can read it too."""

ROWS_PER_GROUP = 16_384
"""Rows of a group within a part that holds several judges, so that a reader of one skips the others."""

RESULTS = frozenset({"curves", "measures", "verdicts", "standings"})
"""Tables of an audit whose rows may be those of an earlier one, all but the audit's id."""

SLOW = 3600.0
"""Seconds after which a commit looks whether its parts were taken for those of a killed writer."""

LAKE_FILE = "lake.json"
ANSWER_COLUMNS = ("probe_id", "repeat", "state", "pixel_digest", "renderer")


@dataclass(frozen=True, slots=True)
class Commit:
    """What became of a commit.

    Attributes:
        commit_id: Its id, made of table names and keys.
        new: False if the lake already held it: the first one counts.
        rows: How many rows it holds.
    """

    commit_id: str
    new: bool
    rows: int


@dataclass(frozen=True, slots=True)
class Lake:
    """An open lake. Nothing in it is ever changed, so records once read are kept."""

    storage: Storage
    known: Known = field(default_factory=Known, compare=False, repr=False)

    @classmethod
    def open(cls, url: str | Path, *, create: bool = True) -> Lake:
        """Open a lake.

        Args:
            url: Its folder.
            create: Make it if it is not there.

        Raises:
            UsageError: If there is none and none may be made, or a newer judge-audit wrote it.
            MachineryError: If its lake.json is damaged or it cannot be written.
        """
        storage = open_storage(url)
        if not storage.exists(LAKE_FILE):
            if not create:
                raise UsageError(
                    f"there is no lake at {storage.url}. Name one with --lake, or make one: judge-audit demo."
                )
            storage.put_if_absent(LAKE_FILE, canonical_json({"format": FIRST_FORMAT}).encode())
        _check_format(storage)
        return cls(storage)

    @property
    def url(self) -> str:
        """The lake's address."""
        return self.storage.url

    def commit_id_of(self, contents: Mapping[str, pa.Table]) -> str:
        """Name the commit that these rows would be: by table names, keys and witnesses, not by values or order."""
        parts = [
            text
            for name in sorted(contents)
            for text in (
                name,
                row_digest(contents[name].select([*definition(name).key, *definition(name).witness])),
            )
        ]
        return text_digest("commit", *parts)

    def has(self, commit_id: str) -> bool:
        """Tell whether a commit is in the lake, whole: by itself or taken in by a compaction."""
        snapshot = newest_snapshot(self.storage, self.known)
        commit_id = issued(commit_id, snapshot)
        if commit_id in self.known.records or (snapshot is not None and commit_id in snapshot.commits):
            return True
        return self.storage.exists(f"{COMMITS}/{commit_id}.json")

    def commit(self, contents: Mapping[str, pa.Table], *, several: bool = False) -> Commit:
        """Add rows to several tables at once, wholly or not at all.

        The same keys are the same commit: the first one wins and later ones write nothing. Where the commit that
        closes an audit (it holds the audit's row) has row for row the results of an earlier one, it refers to those.

        Args:
            contents: Table name to rows.
            several: Whether rows may be of several judges, audits or plans; else one value is a table's partition.

        Raises:
            MachineryError: If rows do not fit their table, or the disk refuses.
        """
        whole = {name: _fitted(name, table, several=several) for name, table in contents.items()}
        commit_id = issued(self.commit_id_of(whole), newest_snapshot(self.storage, self.known))
        rows = sum(table.num_rows for table in whole.values())
        if self.has(commit_id):
            return Commit(commit_id, new=False, rows=rows)
        started = time.time()
        whole_audit = "audits" in whole
        parts = tuple(
            self._write_part(commit_id, name, whole[name], refers=whole_audit) for name in sorted(whole)
        )
        if time.time() - started > SLOW and not all(
            self.storage.exists(part.path) for part in parts if part.path
        ):
            raise MachineryError(f"the lake at {self.url} answered too slowly to keep a commit; run again.")
        record = Record(commit_id, parts)
        if any(part.origin for part in parts):
            raise_format(self.storage, FORMAT)
        new = self.storage.put_if_absent(f"{COMMITS}/{commit_id}.json", record.as_json())
        if not new:
            for part in parts:
                if part.path:
                    self.storage.remove(part.path)
        elif self.known.steady is not None:
            still, waiting = self.known.steady
            self.known.steady = Contents(still.snapshot, (*still.records, record)), waiting
        return Commit(commit_id, new=new, rows=rows)

    def write_ahead(self, contents: Mapping[str, pa.Table]) -> str:
        """Put a batch of answers on disk at once; `write_ahead.seal` makes commits of them later.

        Args:
            contents: As in `commit`, of tables of answers alone.

        Returns:
            The path of the batch.

        Raises:
            MachineryError: If rows do not fit their table, or the disk refuses.
        """
        whole = {name: _fitted(name, table) for name, table in contents.items()}
        path = path_of(self.commit_id_of(whole))
        if self.storage.put_if_absent(path, packed(whole)):
            self.known.ahead[path] = whole
        if self.known.steady is not None:
            self.known.steady[1][path] = whole
        return path

    def _write_part(self, commit_id: str, name: str, table: pa.Table, *, refers: bool) -> Part:
        """Write one table's rows as a part that no reader sees before the record names it.

        Args:
            commit_id: The commit.
            name: The table.
            table: Its rows.
            refers: Whether the commit closes an audit, whose results may be those of an earlier one.
        """
        digest = row_digest(table)
        if not table.num_rows:
            return Part(name, "", "", 0, digest)
        wanted = definition(name)
        counts = {
            entry["values"]: entry["counts"]
            for entry in table.column(wanted.partition_column).value_counts().to_pylist()
        }
        value = next(iter(counts)) if len(counts) == 1 else ""
        closes = refers and name in RESULTS and value
        content = row_digest(table.drop_columns([wanted.partition_column])) if closes else ""
        if content and (origin := self._origin(name, content)):
            return Part(name, value, "", table.num_rows, digest, origin=origin)
        folder = f"data/{name}/{wanted.partition}={quote(value, safe='') if value else SEVERAL}"
        path = f"{folder}/part-{commit_id}-{uuid.uuid4().hex[:8]}.parquet"
        buffer = io.BytesIO()
        pq.write_table(table, buffer, compression="zstd", row_group_size=None if value else ROWS_PER_GROUP)
        file = buffer.getvalue()
        self.storage.put(path, file)
        partitions = {} if value else dict(sorted(counts.items()))
        findings = {content: value} if content else {}
        return Part(
            name,
            value,
            path,
            table.num_rows,
            digest,
            partitions,
            findings,
            file_digest=file_digest(file),
        )

    def _origin(self, table: str, content: str) -> str:
        """Find the audit that has rows of this content of its own; "" if none has."""
        for part in self.contents().all_parts:
            if part.table == table and content in part.findings:
                return part.findings[content]
        return ""

    def contents(self) -> Contents:
        """Read what the lake holds now, or held when it was asked to stand still.

        Raises:
            MachineryError: If a record is damaged.
        """
        return self.known.steady[0] if self.known.steady else read_contents(self.storage, self.known)

    @contextmanager
    def standing_still(self) -> Iterator[Lake]:
        """List the lake once: until the end, every reading sees what it holds now and what is committed here."""
        outer = self.known.steady
        if outer is None:
            waiting = read_ahead(self.storage, self.known)
            self.known.steady = self.contents(), waiting
        try:
            yield self
        finally:
            self.known.steady = outer

    def files(self, table: str, partition: str | Collection[str] | None = None) -> list[str]:
        """Give the committed files of a table where DuckDB and PyArrow find them, in the order of their commits."""
        names = {partition} if isinstance(partition, str) else partition
        parts = self.contents().parts_of(definition(table).name, names)
        return self.storage.locate([part.path for part in parts])

    def origins(self, table: str) -> dict[str, str]:
        """Give the audits that refer to another one's rows of a table, each with the audit that has them."""
        return self.contents().origins(table)

    def partitions(self, table: str) -> dict[str, int] | None:
        """Count the rows of each judge, audit, plan or run of a table, in the order of their names.

        Returns:
            Rows by partition; None where some parts hold several that were not counted, so that only their rows
            could tell.
        """
        wanted, counts = definition(table).name, dict[str, int]()
        for part in self.contents().all_parts:
            if part.table == wanted and part.rows:
                for name, rows in (part.partitions or {part.partition: part.rows}).items():
                    counts[name] = counts.get(name, 0) + rows
        return None if "" in counts else dict(sorted(counts.items()))

    def read(self, table: str, **equals: Any) -> pa.Table:  # noqa: ANN401 - any column's value
        """Read a table's committed rows, every key once, in the order of its key.

        Args:
            table: The table.
            equals: Column to the value it must have (None: NULL), or to a list of allowed values.

        Raises:
            MachineryError: If there is no such table or column, or a committed file is damaged.
        """
        wanted = definition(table)
        return sort_by_key(table, self.select(table, [column.name for column in wanted.columns], equals))

    def answered(self, judge_id: str) -> pa.Table:
        """List the probes that a judge has answered: probe_id, repeat, state, pixel_digest, renderer."""
        return self.select("calls", ANSWER_COLUMNS, {"judge_id": judge_id})

    def select(self, table: str, columns: Sequence[str], equals: Mapping[str, Any]) -> pa.Table:
        """Read some columns of a table's committed rows, every key once, in no order.

        Args:
            table: The table.
            columns: Names of columns.
            equals: As in `read`.

        Raises:
            MachineryError: If there is no such table or column, or a committed file is damaged.
        """
        wanted = definition(table)
        unknown = sorted(set(equals) - {column.name for column in wanted.columns})
        if unknown:
            raise MachineryError(f"table “{table}” has no column “{', '.join(unknown)}”.")
        condition = equals.get(wanted.partition_column)
        partition: set[str] | None = None
        if isinstance(condition, (str, list, tuple)):
            partition = {str(condition)} if isinstance(condition, str) else set(map(str, condition))
        relations: dict[str, pa.Table] = {}
        ahead = self._ahead(wanted.partition_column, partition) if table in TABLES else {}
        contents = self.contents()
        rows = self._rows(contents, table, partition, ahead, relations)
        if rows is None:
            return empty(table).select(list(columns))
        calls = self._rows(contents, "calls", partition, ahead, relations) if table == "scores" else None
        query = references_query(table_query(table, rows, calls), table, contents.origins(table))
        tests = " AND ".join(_test(name, value) for name, value in equals.items()) or "true"
        # names come from the table's definition, values are bound
        text = f"SELECT {', '.join(map(named, columns))} FROM ({query}) WHERE {tests}"  # noqa: S608
        bound = [_plain(value) for value in equals.values()]
        try:
            found = fetch(text, bound, relations)
        except MachineryError as error:
            raise MachineryError(f"the lake at {self.url} cannot be read: {error}") from error
        return found.cast(empty(table).select(list(columns)).schema)

    def _ahead(self, column: str, partitions: Collection[str] | None) -> dict[str, dict[str, pa.Table]]:
        """Read the batches of some partitions that are in no commit yet; it is done before commits are listed."""
        waiting = self.known.steady[1] if self.known.steady else read_ahead(self.storage, self.known)
        return {
            path: tables
            for path, tables in waiting.items()
            if partitions is None or not _values_of(column, tables).isdisjoint(partitions)
        }

    def _rows(
        self,
        contents: Contents,
        table: str,
        partition: Collection[str] | None,
        ahead: Mapping[str, Mapping[str, pa.Table]],
        relations: dict[str, pa.Table],
    ) -> Rows | None:
        """Say where a table's rows are, and put those in memory among the relations; None if there are none."""
        files = self.storage.locate([part.path for part in contents.parts_of(table, partition)])
        waiting = [
            tables[table].append_column(
                "commit_id", pa.array([_batch(path)] * tables[table].num_rows, pa.string())
            )
            for path, tables in ahead.items()
            if table in tables
        ]
        if waiting:
            relations[f"ahead_{table}"] = pa.concat_tables(waiting)
        if not files and not waiting:
            return None
        return Rows(files_literal(files) if files else None, f"ahead_{table}" if waiting else None)


def _values_of(column: str, tables: Mapping[str, pa.Table]) -> set[str]:
    """Name the partitions whose rows a batch holds."""
    return {
        value
        for table in tables.values()
        if column in table.column_names
        for value in table[column].unique().to_pylist()
    }


def _batch(path: str) -> str:
    """Name a batch otherwise than any commit: one that was sealed alone is a commit of the same id meanwhile."""
    return path.removeprefix(f"{AHEAD}/").removesuffix(".arrow") + "-ahead"


def raise_format(storage: Storage, number: int) -> None:
    """Have judge-audits that do not know a format refuse the lake, before anything of it is written there."""
    if json.loads(storage.get(LAKE_FILE)).get("format", 0) < number:
        storage.put(LAKE_FILE, canonical_json({"format": number}).encode())


def _test(name: str, value: Any) -> str:  # noqa: ANN401 - any column's value
    """Write the test of one column; the value itself is bound."""
    several = isinstance(value, (list, tuple))
    return f"{named(name)} IN (SELECT unnest(?))" if several else f"{named(name)} IS NOT DISTINCT FROM ?"


def _plain(value: Any) -> Any:  # noqa: ANN401 - any column's value
    """Give DuckDB a list where a tuple stands, and a text where an enum stands."""
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return str(value) if isinstance(value, str) else value


def _check_format(storage: Storage) -> None:
    """See that this version can read the lake."""
    try:
        number = json.loads(storage.get(LAKE_FILE))["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise MachineryError(
            f'{LAKE_FILE} of the lake at {storage.url} is damaged; it reads {{"format": {FORMAT}}}.'
        ) from error
    if not isinstance(number, int) or number > FORMAT:
        raise UsageError(
            f"the lake at {storage.url} has format {number}; this judge-audit knows formats up to {FORMAT}. "
            "Install a newer judge-audit, or name another lake with --lake."
        )


def _fitted(name: str, table: pa.Table, *, several: bool = False) -> pa.Table:
    """Bring rows into the table's own columns, types and order, or say why they do not fit."""
    wanted = definition(name)
    if set(table.column_names) != set(schema(name).names):
        odd = ", ".join(sorted(set(table.column_names) ^ set(schema(name).names)))
        raise MachineryError(f"rows for table “{name}” do not have its columns; they differ in: {odd}.")
    try:
        table = table.select(schema(name).names).cast(schema(name))
    except (ValueError, TypeError, NotImplementedError) as error:
        raise MachineryError(f"rows for table “{name}” do not have its types: {error}") from error
    check_keys(name, table)
    if not several and table.num_rows and len(table.column(wanted.partition_column).unique()) > 1:
        raise MachineryError(f"a commit to table “{name}” holds one {wanted.partition_column}, not several.")
    if wanted.partition == "judge":
        table = _first_answers(table, wanted.key)
    if table.group_by(wanted.key).aggregate([]).num_rows != table.num_rows:
        raise MachineryError(f"rows for table “{name}” hold a key twice ({', '.join(wanted.key)}).")
    return sort_by_key(name, table)


def _first_answers(table: pa.Table, key: Sequence[str]) -> pa.Table:
    """Keep the first row of each key: two items with the same picture and prompt are one probe."""
    place = "__place"
    numbered = table.append_column(place, pa.array(range(table.num_rows), pa.int64()))
    first = numbered.group_by(key).aggregate([(place, "min")]).column(f"{place}_min").combine_chunks()
    return table.take(first.sort())

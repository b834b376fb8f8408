"""Compaction: many small parts become few, rows that nobody needs go, and no reader notices.

Nothing is updated in place. New parts are written next to the old ones; a numbered record (`records.py`), created
only if absent, makes them count, all at once. Whoever listed files before reads the old ones on; they are removed by
a later compaction, a time of grace after they were replaced. So a compaction killed at any moment leaves a lake that
reads as before or as after it, and the next one removes what was left over. Of two at once one is recorded;
the other takes its parts away again. Commits that arrive meanwhile are kept next to it.
"""

from __future__ import annotations

import io
import uuid
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from judge_audit.core.digests import file_digest, row_digest
from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.core.messages import say
from judge_audit.core.tables import TABLES, definition, from_rows
from judge_audit.lake.integrity import damaged
from judge_audit.lake.lake import COMPACTED_FORMAT, raise_format
from judge_audit.lake.part_files import COMMIT_COLUMN, Entry, found_wrong, own_columns
from judge_audit.lake.records import COMMITS, FOLDER, PART_PATH, Part, Snapshot
from judge_audit.lake.relations import COMPACTED
from judge_audit.lake.retention import Decided, Purged, Retention, decide
from judge_audit.lake.write_ahead import AHEAD, seal
from judge_audit.lake.write_ahead import NAME as BATCH

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from judge_audit.lake.lake import Lake
    from judge_audit.lake.records import Contents, Forgotten
    from judge_audit.lake.storage import Storage

    Going = Callable[[pa.Table], pa.ChunkedArray]
    """Given rows of a table, says as a mask which of them retention takes away."""
    Doomed = Mapping[str, Going]

GRACE = timedelta(hours=12)
"""How long replaced files stay for those who listed them before."""

SHORTEST_GRACE = timedelta(minutes=1)

LEFT_LYING = timedelta(days=7)
"""How long a file that no record names stays: a writer may be about to name it."""

DECIDING = frozenset({"approvals", "audits", "gates", "packs", "signoffs"})
"""Tables by which retention decides: a row that arrives meanwhile stops it."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """What a compaction did, or would do.

    Attributes:
        number: Of its record; 0 if there was nothing to record.
        recorded: Whether it counts: not if it was dry, had nothing to do, or another was faster.
        reason: Why it does not count, "" if it does.
        commits: Commits taken in.
        parts_before: Parts that readers read before.
        parts_after: Parts that readers read after.
        removed: Files removed that were replaced, or left lying about, long enough ago.
        waiting: Files that the compactions to come remove.
        purged: Audits whose raw answers went.
        kept: Why audits stay that the rule would let go, by audit.
        dry: Whether nothing was written.
    """

    number: int
    recorded: bool
    reason: str
    commits: int
    parts_before: int
    parts_after: int
    removed: int
    waiting: int
    purged: tuple[Purged, ...] = ()
    kept: Mapping[str, str] = field(default_factory=dict)
    dry: bool = False


def tidy(lake: Lake, *, now: datetime | None = None) -> Compaction | None:
    """Keep a lake small at the end of every run: what costs little is done, and nothing is taken away.

    Batches that were written ahead are sealed, files whose time of grace is over are removed, and when many commits
    have come together their small parts become few. A part is put together with others only where these are about
    as many rows, so that over the years each row is written anew a few times and no more.

    Args:
        lake: The lake.
        now: The time; that of the clock if None.

    Returns:
        What was put together, None where there was not enough of it.

    Raises:
        MachineryError: If a part is damaged, or the disk or store refuses.
    """
    when = now or datetime.now(UTC)
    seal(lake)
    before = lake.contents()
    for path in overdue_files(lake.storage, before, when):
        lake.storage.remove(path)
    return compact(lake, now=when, thrifty=True) if len(before.records) >= OFTEN else None


def compact(
    lake: Lake,
    *,
    keep_days: float | None = None,
    keep_audits: int | None = None,
    grace: timedelta = GRACE,
    dry_run: bool = False,
    thrifty: bool = False,
    now: datetime | None = None,
) -> Compaction:
    """Put small parts together, let retention take away what nobody needs, remove what was replaced long ago.

    Args:
        lake: The lake.
        keep_days: Raw answers of audits that ended within so many days stay; None lets no time count.
        keep_audits: Raw answers of the newest so many audits of each judge stay; None lets no number count. With
            neither nothing is taken away; with both an audit stays that either keeps.
        grace: How long replaced files stay for those who are reading them.
        dry_run: Read everything and write nothing.
        thrifty: Leave parts alone that are much larger than what they would be put together with.
        now: The time; that of the clock if None.

    Raises:
        UsageError: If a number makes no sense.
        MachineryError: If a part is damaged, or the disk or store refuses.
    """
    _see(keep_days, keep_audits, grace)
    when = now or datetime.now(UTC)
    if not dry_run:
        seal(lake)
    if found := damaged(lake).damages:
        raise MachineryError(say("lake.damaged.not_compacted", url=lake.url, found=found[0].found))
    storage, before = lake.storage, lake.contents()
    overdue = overdue_files(storage, before, when)
    if not dry_run:
        if before.snapshot is not None:
            raise_format(storage, COMPACTED_FORMAT)
        for path in overdue:
            storage.remove(path)
    retention = Retention(keep_days, keep_audits)
    decided = decide(lake, retention, when) if retention.rule else Decided({}, (), {})
    compaction_id = uuid.uuid4().hex
    merged = Merged()
    try:
        groups = grouped(before.parts, thrifty=thrifty)
        merge(storage, before.all_parts, groups, compaction_id, decided.going, merged, dry=dry_run)
        _record_purges(storage, merged, decided, retention.rule, when, compaction_id, dry=dry_run)
        made = next_snapshot(storage, before, merged, when, compaction_id, grace=grace, removed=overdue)
        outcome = _told(before, merged, decided, made, removed=len(overdue), dry=dry_run)
        if outcome.recorded and not dry_run:
            outcome = replace(outcome, reason=_settle(lake, before, made, decided))
    except BaseException:
        _take_away(storage, merged)
        raise
    if outcome.reason:
        _take_away(storage, merged)
        return replace(outcome, recorded=False)
    return outcome


def _told(
    before: Contents, merged: Merged, decided: Decided, made: Snapshot, *, removed: int, dry: bool
) -> Compaction:
    """Say what a compaction comes to."""
    outcome = Compaction(
        made.number,
        recorded=True,
        reason="",
        commits=len(before.records),
        parts_before=len(before.parts),
        parts_after=sum(not part.origin for part in merged.parts),
        removed=removed,
        waiting=len(made.retired),
        purged=decided.purged,
        kept=decided.kept,
        dry=dry,
    )
    if dry:
        return replace(outcome, recorded=False, reason="it was a dry run: nothing was written")
    due = {*before.snapshot.retired, before.snapshot.path} if before.snapshot else set()
    if not before.records and not merged.replaced and not decided.purged and made.retired.keys() <= due:
        return replace(outcome, number=0, recorded=False, reason="there was nothing to put together")
    return outcome


def _take_away(storage: Storage, merged: Merged) -> None:
    """Remove the parts of a compaction that does not count; one that cannot be is found left over later."""
    for path in merged.written:
        with suppress(MachineryError):
            storage.remove(path)


def _see(keep_days: float | None, keep_audits: int | None, grace: timedelta) -> None:
    """Refuse numbers that make no sense."""
    if keep_days is not None and not 0 <= keep_days <= 36500:
        raise UsageError(f"--keep-days {keep_days:g}: name a number of days from 0 to 36500.")
    if keep_audits is not None and keep_audits < 0:
        raise UsageError(f"--keep-audits {keep_audits}: name how many audits of each judge stay, 0 or more.")
    if grace < SHORTEST_GRACE:
        raise UsageError("the time of grace is at least a minute: somebody may be reading.")


def overdue_files(storage: Storage, before: Contents, when: datetime) -> list[str]:
    """Name the files whose time of grace is over and that no reader reads."""
    if before.snapshot is None:
        return []
    due = {path for path, time in before.snapshot.retired.items() if time <= when}
    return sorted(due & _there(storage, before.snapshot.forgotten) - _live(before)) if due else []


def _there(storage: Storage, forgotten: Sequence[Forgotten]) -> set[str]:
    """List every file of parts and records, and what writers of batches left behind, but not what was forgotten."""
    files = {path for folder in ("data", COMMITS, FOLDER) for path in storage.walk(folder)}
    files |= {path for path in storage.walk(AHEAD) if not BATCH.fullmatch(path.removeprefix(f"{AHEAD}/"))}
    return files - {one.file for one in forgotten}


def _live(before: Contents) -> set[str]:
    """Name the files that readers read."""
    live = {part.path for part in before.parts}
    live |= {f"{COMMITS}/{record.commit_id}.json" for record in before.records}
    return live | ({before.snapshot.path} if before.snapshot else set())


def _record_purges(
    storage: Storage,
    merged: Merged,
    decided: Decided,
    rule: str,
    when: datetime,
    compaction_id: str,
    *,
    dry: bool,
) -> None:
    """Write down which audits lost their raw answers, in a part that counts with the compaction or not at all."""
    if not decided.purged:
        return
    rows = from_rows(
        "purges",
        [
            {
                "audit_id": one.audit_id,
                "judge_id": one.judge_id,
                "plan_id": one.plan_id,
                "answers": one.probes,
                "retention": rule,
                "removed_at": when,
            }
            for one in decided.purged
        ],
    )
    rows = rows.append_column(COMMIT_COLUMN, pa.array([compaction_id] * rows.num_rows, pa.string()))
    part = write_part(storage, "purges", "", rows, compaction_id, dry=dry)
    merged.parts.append(part)
    merged.written += [] if dry else [part.path]


def next_snapshot(
    storage: Storage,
    before: Contents,
    merged: Merged,
    when: datetime,
    compaction_id: str,
    *,
    grace: timedelta = GRACE,
    removed: Collection[str] = (),
) -> Snapshot:
    """Make the record: what counts from now on, and what may be removed from when on.

    Args:
        storage: The lake's files.
        before: What counted until now.
        merged: The parts that count from now on, and what is left out because it is damaged.
        when: The time.
        compaction_id: Names the compaction.
        grace: How long replaced files stay.
        removed: Files that are removed already.
    """
    last = before.snapshot
    forgotten = (*(last.forgotten if last else ()), *merged.forgotten)
    taken_in = (last.commits if last else frozenset()) | {record.commit_id for record in before.records}
    replaced = {*merged.replaced, *([last.path] if last else ())}
    counts = {part.path for part in merged.parts} | set(merged.written)
    files = _there(storage, forgotten).difference(removed, counts)
    replaced |= {
        path for path in files if path.startswith(f"{COMMITS}/") and path[len(COMMITS) + 1 : -5] in taken_in
    }
    # What is read now is retired from now on, whatever was thought of it before its record was seen.
    old = files - _live(before)
    retired = {path: time for path, time in (last.retired if last else {}).items() if path in old}
    for path in sorted(files - retired.keys()):
        retired[path] = when + (grace if path in replaced else max(grace, LEFT_LYING))
    reissued = {**(last.reissued if last else {}), **dict.fromkeys(merged.lost, compaction_id)}
    number = last.number + 1 if last else 1
    return Snapshot(number, compaction_id, when, taken_in, reissued, tuple(merged.parts), retired, forgotten)


def _settle(lake: Lake, before: Contents, made: Snapshot, decided: Decided) -> str:
    """Make the record count, or say why it cannot."""
    if decided.purged:
        known = {record.commit_id for record in before.records}
        new = [record for record in lake.contents().records if record.commit_id not in known]
        if any(part.table in DECIDING for record in new for part in record.parts):
            return "an audit, a gate or a signature arrived while retention decided; nothing changed, run it again"
    if not lake.storage.put_if_absent(made.path, made.as_json()):
        return "another compaction was faster; nothing is lost"
    raise_format(lake.storage, COMPACTED_FORMAT)
    return ""


LISTED = 20
"""Audits named one a line; the rest are counted."""


def compaction_lines(compaction: Compaction) -> list[str]:
    """Say what a compaction did, or would do."""
    lines = [f"{compaction.reason[0].upper()}{compaction.reason[1:]}."] if compaction.reason else []
    would = "would become" if not compaction.recorded else "became"
    if compaction.recorded or compaction.dry:
        lines.append(f"{compaction.parts_before:,} files of rows {would} {compaction.parts_after:,}.")
    done = "would be removed" if compaction.dry else "were removed"
    lines.append(
        f"{compaction.removed:,} files {done} that were replaced long enough ago; "
        f"{compaction.waiting:,} wait for their time."
    )
    lines += _listed(
        [
            f"  {one.audit_id}: {one.probes:,} answers of {one.judge_id} to plan {one.plan_id}"
            for one in compaction.purged
        ],
        f"Raw answers that {'would go' if not compaction.recorded else 'went'}, of audits:",
    )
    lines += _listed(
        [f"  {audit_id}: {reason}" for audit_id, reason in compaction.kept.items()],
        "Old enough, and kept all the same:",
    )
    return lines


def _listed(entries: list[str], title: str) -> list[str]:
    """Put a title over entries, and count those that are too many."""
    if not entries:
        return []
    more = [f"  and {len(entries) - LISTED:,} more (--json lists all)"] if len(entries) > LISTED else []
    return [title, *entries[:LISTED], *more]


FULL = 500_000
"""Rows from which on a part stays as it is; several smaller ones are put together up to twice as many."""

ALONE = 20_000
"""Rows from which on a judge's (audit's, plan's, …) rows get parts of their own."""

FEW = 2_000
LARGER = 4
"""A part of up to so few rows, or so many times the rows of all smaller ones, is put together with them every time."""

OFTEN = 48
"""Commits since the last compaction from which on the end of a run puts them together."""

ROWS_PER_GROUP = 65_536


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
    forgotten: list[Forgotten] = field(default_factory=list)


def grouped(parts: Sequence[Part], *, thrifty: bool = False) -> list[Group]:
    """Say which parts are put together: of one table, and of one partition where that has many rows.

    Parts that are large already stay alone.

    Args:
        parts: All parts with a file.
        thrifty: Leave those alone, too, that are much larger than the smaller ones together.
    """
    groups = []
    for table in TABLES:
        small = [part for part in parts if part.table == table and part.rows < FULL]
        rows: dict[str, int] = {}
        for part in small:
            rows[part.partition] = rows.get(part.partition, 0) + part.rows
        by_partition: dict[str, list[Part]] = {}
        for part in small:
            alone = part.partition if rows[part.partition] >= ALONE else ""
            by_partition.setdefault(alone, []).append(part)
        for partition, small_parts in sorted(by_partition.items()):
            chosen = _alike(small_parts) if thrifty else small_parts
            groups += [Group(table, partition, run) for run in _runs(chosen)]
    return groups


def _alike(parts: Sequence[Part]) -> list[Part]:
    """Choose the smallest parts, up to the first that has many more rows than all before it."""
    chosen: list[Part] = []
    rows = 0
    for part in sorted(parts, key=lambda part: (part.rows, part.path)):
        if rows and part.rows > max(FEW, LARGER * rows):
            break
        chosen.append(part)
        rows += part.rows
    return chosen


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
        rows, said = found_wrong(
            Entry(part, say("lake.damaged.log"), "", trusted=True), Path(place).read_bytes()
        )
    except FileNotFoundError:
        rows, said = None, say("lake.damaged.missing", file=part.path)
    if rows is None or said:
        raise MachineryError(say("lake.damaged.not_compacted", url=storage.url, found=said))
    own = own_columns(rows)
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
    written = ""
    if not dry:
        buffer = io.BytesIO()
        pq.write_table(rows, buffer, compression="zstd", row_group_size=ROWS_PER_GROUP)
        if not pq.ParquetFile(buffer).read().equals(rows):
            raise MachineryError(
                f"rows of table “{table}” come back changed from Parquet; nothing was put together."
            )
        file = buffer.getvalue()
        storage.put(path, file)
        written = file_digest(file)
    column = definition(table).partition_column
    counts = {entry["values"]: entry["counts"] for entry in rows[column].value_counts().to_pylist()}
    partitions = {} if partition else dict(sorted(counts.items()))
    return Part(table, partition, path, rows.num_rows, digest, partitions, file_digest=written)


def merge(
    storage: Storage,
    parts: Sequence[Part],
    groups: Sequence[Group],
    compaction_id: str,
    doomed: Doomed,
    merged: Merged,
    *,
    dry: bool = False,
) -> None:
    """Put parts together, without the rows that retention takes away.

    Args:
        storage: Where they are.
        parts: All parts that readers see.
        groups: Those that are put together.
        compaction_id: Names the new ones.
        doomed: What goes, by table.
        merged: What came of it, added to as parts are written.
        dry: Read everything and write nothing.
    """
    merged.parts += [part for part in parts if part.origin]
    parts = [part for part in parts if part.path]
    small = {part.path for group in groups for part in group.parts}
    alone = [Group(part.table, part.partition, (part,)) for part in parts if part.path not in small]
    for group in (*groups, *alone):
        going = doomed.get(group.table)
        if len(group.parts) < 2 and (going is None or not group.parts):
            merged.parts += group.parts
        elif dry and going is None:
            rows = sum(part.rows for part in group.parts)
            merged.parts.append(Part(group.table, group.partition, "", rows, ""))
            merged.replaced += [part.path for part in group.parts]
        else:
            merge_group(storage, group, going, compaction_id, merged, dry=dry)


def merge_group(
    storage: Storage, group: Group, going: Going | None, compaction_id: str, merged: Merged, *, dry: bool
) -> None:
    """Put the parts of one group together, or leave a single one as it is if it loses no row."""
    tables = [read_part(storage, part) for part in group.parts]
    rows = pa.concat_tables(tables, promote_options="permissive").unify_dictionaries()
    del tables
    if going is not None:
        goes = going(rows)
        merged.lost.update(pc.unique(rows.filter(goes)[COMMIT_COLUMN]).to_pylist())
        left = rows.filter(pc.invert(goes))
        if len(group.parts) == 1 and left.num_rows == rows.num_rows:
            merged.parts += group.parts
            return
        rows = left
    merged.replaced += [part.path for part in group.parts]
    if rows.num_rows:
        part = write_part(storage, group.table, group.partition, rows, compaction_id, dry=dry)
        findings = {digest: audit for part in group.parts for digest, audit in part.findings.items()}
        merged.parts.append(replace(part, findings=findings))
        if not dry:
            merged.written.append(part.path)

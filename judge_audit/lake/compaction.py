"""Compaction: many small parts become few, rows that nobody needs go, and no reader notices.

Nothing is updated in place. New parts are written beside the old ones; a numbered record (`snapshots.py`), created
only if absent, makes them count, all at once. Whoever listed files before reads the old ones on; they are removed by
a later compaction, a time of grace after they were replaced. So a compaction killed at any moment leaves a lake that
reads as before or as after it, and the next one removes what was left lying about. Of two at once one is recorded;
the other takes its parts away again. Commits that arrive meanwhile are kept beside it.
"""

from __future__ import annotations

import json
import uuid
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa

from judge_audit.core.digests import canonical_json
from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.core.tables import from_rows
from judge_audit.lake.contents import COMMITS
from judge_audit.lake.lake import FORMAT, LAKE_FILE
from judge_audit.lake.merge import COMMIT_COLUMN, Merged, merge, write_part
from judge_audit.lake.retention import Decided, Purged, Retention, decide
from judge_audit.lake.snapshots import FOLDER, Snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit.lake.contents import Contents
    from judge_audit.lake.lake import Lake
    from judge_audit.lake.storage import Storage

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


def compact(
    lake: Lake,
    *,
    keep_days: float | None = None,
    keep_audits: int | None = None,
    grace: timedelta = GRACE,
    dry_run: bool = False,
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
        now: The time; that of the clock if None.

    Raises:
        UsageError: If a number makes no sense.
        MachineryError: If a part is damaged, or the disk or store refuses.
    """
    _see(keep_days, keep_audits, grace)
    when = now or datetime.now(UTC)
    storage, before = lake.storage, lake.contents()
    overdue = overdue_files(storage, before, when)
    if not dry_run:
        _raise_format(storage, before)
        for path in overdue:
            storage.remove(path)
    retention = Retention(keep_days, keep_audits)
    decided = decide(lake, retention, when) if retention.rule else Decided({}, (), {})
    compaction_id = uuid.uuid4().hex
    merged = Merged()
    try:
        merge(storage, before.parts, compaction_id, decided.going, merged, dry=dry_run)
        _record_purges(storage, merged, decided, retention.rule, when, compaction_id, dry=dry_run)
        made = _snapshot(storage, before, merged, set(overdue), when, grace, compaction_id)
        told = _told(before, merged, decided, made, removed=len(overdue), dry=dry_run)
        if told.recorded and not dry_run:
            told = replace(told, reason=_settle(lake, before, made, decided))
    except BaseException:
        _take_away(storage, merged)
        raise
    if told.reason:
        _take_away(storage, merged)
        return replace(told, recorded=False)
    return told


def _told(
    before: Contents, merged: Merged, decided: Decided, made: Snapshot, *, removed: int, dry: bool
) -> Compaction:
    """Say what a compaction comes to."""
    told = Compaction(
        made.number,
        recorded=True,
        reason="",
        commits=len(before.records),
        parts_before=len(before.parts),
        parts_after=len(merged.parts),
        removed=removed,
        waiting=len(made.retired),
        purged=decided.purged,
        kept=decided.kept,
        dry=dry,
    )
    if dry:
        return replace(told, recorded=False, reason="it was a dry run: nothing was written")
    due = {*before.snapshot.retired, before.snapshot.path} if before.snapshot else set()
    if not before.records and not merged.replaced and not decided.purged and made.retired.keys() <= due:
        return replace(told, number=0, recorded=False, reason="there was nothing to put together")
    return told


def _take_away(storage: Storage, merged: Merged) -> None:
    """Remove the parts of a compaction that does not count; one that cannot be is found lying about later."""
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


def _raise_format(storage: Storage, before: Contents) -> None:
    """Have judge-audits that know of no compaction refuse the lake, before anything they would read is removed."""
    if before.snapshot is not None and json.loads(storage.get(LAKE_FILE)).get("format") != FORMAT:
        storage.put(LAKE_FILE, canonical_json({"format": FORMAT}).encode())


def overdue_files(storage: Storage, before: Contents, when: datetime) -> list[str]:
    """Name the files whose time of grace is over and that no reader reads."""
    if before.snapshot is None:
        return []
    due = {path for path, time in before.snapshot.retired.items() if time <= when}
    return sorted(due & _there(storage) - _live(before)) if due else []


def _there(storage: Storage) -> set[str]:
    """List every file of parts and records."""
    return {path for folder in ("data", COMMITS, FOLDER) for path in storage.walk(folder)}


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


def _snapshot(
    storage: Storage,
    before: Contents,
    merged: Merged,
    removed: set[str],
    when: datetime,
    grace: timedelta,
    compaction_id: str,
) -> Snapshot:
    """Make the record: what counts from now on, and what may be removed from when on."""
    last = before.snapshot
    taken_in = (last.commits if last else frozenset()) | {record.commit_id for record in before.records}
    replaced = {*merged.replaced, *([last.path] if last else ())}
    counts = {part.path for part in merged.parts} | set(merged.written)
    files = _there(storage) - removed - counts
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
    return Snapshot(number, compaction_id, when, taken_in, reissued, tuple(merged.parts), retired)


def _settle(lake: Lake, before: Contents, made: Snapshot, decided: Decided) -> str:
    """Make the record count, or say why it cannot."""
    if decided.purged:
        known = {record.commit_id for record in before.records}
        new = [record for record in lake.contents().records if record.commit_id not in known]
        if any(part.table in DECIDING for record in new for part in record.parts):
            return "an audit, a gate or a signature arrived while retention decided; nothing changed, run it again"
    if not lake.storage.put_if_absent(made.path, made.as_json()):
        return "another compaction was faster; nothing is lost"
    _raise_format(lake.storage, lake.contents())
    return ""

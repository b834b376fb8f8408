"""What a compaction did, in lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge_audit.lake.compaction import Compaction

LISTED = 20
"""Audits named one a line; the rest are counted."""


def compaction_lines(told: Compaction) -> list[str]:
    """Say what a compaction did, or would do."""
    lines = [f"{told.reason[0].upper()}{told.reason[1:]}."] if told.reason else []
    would = "would become" if not told.recorded else "became"
    if told.recorded or told.dry:
        lines.append(f"{told.parts_before:,} files of rows {would} {told.parts_after:,}.")
    done = "would be removed" if told.dry else "were removed"
    lines.append(
        f"{told.removed:,} files {done} that were replaced long enough ago; {told.waiting:,} wait for their time."
    )
    lines += _listed(
        [
            f"  {one.audit_id}: {one.probes:,} answers of {one.judge_id} to plan {one.plan_id}"
            for one in told.purged
        ],
        f"Raw answers that {'would go' if not told.recorded else 'went'}, of audits:",
    )
    lines += _listed(
        [f"  {audit_id}: {reason}" for audit_id, reason in told.kept.items()],
        "Old enough, and kept all the same:",
    )
    return lines


def _listed(entries: list[str], title: str) -> list[str]:
    """Put a title over entries, and count those that are too many."""
    if not entries:
        return []
    more = [f"  and {len(entries) - LISTED:,} more (--json lists all)"] if len(entries) > LISTED else []
    return [title, *entries[:LISTED], *more]

"""Clocks that disagree: which audit is the latest is told by the times in the lake, so a wrong clock is told about."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from judge_audit.core.formatting import minute
from judge_audit.core.messages import say

if TYPE_CHECKING:
    from judge_audit.lake import Lake

TOLERANCE = timedelta(minutes=2)
"""Clocks of machines that are kept in step differ by less."""


def clock_notes(lake: Lake, now: datetime) -> tuple[str, ...]:
    """Say that an audit in the lake is from the future: this machine's clock is behind, or another's was ahead.

    Args:
        lake: The lake.
        now: This machine's time.
    """
    times = [
        (row[name], row["audit_id"])
        for row in lake.read("audits").select(["audit_id", "started_at", "ended_at"]).to_pylist()
        for name in ("started_at", "ended_at")
        if row[name] is not None
    ]
    if not times:
        return ()
    newest, audit_id = max(times)
    if newest <= now + TOLERANCE:
        return ()
    return (
        say(
            "clocks.future",
            audit=audit_id,
            then=minute(newest),
            now=minute(now),
        ),
    )

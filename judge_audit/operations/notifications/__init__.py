"""Telling a team that something happened, through its own command or webhook.

It may import `core` and `lake`.

A hook that fails never changes what a run came to: it is said, and stands in table `notices`.
"""

from __future__ import annotations

import json
import socket
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from judge_audit.core.audit_blocks import EVENTS
from judge_audit.core.messages import say
from judge_audit.core.tables import from_rows
from judge_audit.operations.notifications.hook import (
    AUDIT_FAILED,
    EPOCH_CHANGED,
    GATE_SHUT,
    STALE,
    TRIAL,
    Hook,
    hook_of,
)
from judge_audit.operations.notifications.send import Delivery, deliver

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from judge_audit.lake import Lake

__all__ = [
    "AUDIT_FAILED",
    "EPOCH_CHANGED",
    "EVENTS",
    "GATE_SHUT",
    "STALE",
    "TRIAL",
    "Delivery",
    "Hook",
    "hook_of",
    "notify",
]

FORMAT = 1
"""Number of the notice's shape; changes are additive within a number (schemas/notices/notice.schema.json)."""


def notify(
    hook: Hook | None,
    event: str,
    document: Mapping[str, Any],
    *,
    lake: Lake | None,
    tell: Callable[[str], None],
) -> list[Delivery]:
    """Notify a team's hook of an event, and record what became of it.

    Args:
        hook: Whom to tell; None, or one that does not want this event, tells nobody.
        event: One of `EVENTS`, or a trial.
        document: What happened: run_id, judge, text and whatever else belongs to the event.
        lake: Where it is put down, None for nowhere.
        tell: Given a sentence where a notice did not arrive.

    Returns:
        What became of it, by whom it went to.
    """
    if hook is None or not hook.wants(event):
        return []
    now = datetime.now(UTC)
    notice = {
        "format": FORMAT,
        "event": event,
        "at": now.isoformat(),
        "host": socket.gethostname(),
        "lake": lake.url if lake is not None else None,
        **document,
    }
    content = json.dumps(notice, ensure_ascii=False, default=str).encode()
    deliveries = deliver(hook, content)
    for entry in deliveries:
        if not entry.delivered:
            tell(say("runs.notice.failed", event=event, told_to=entry.told_to, reason=entry.reason))
    if lake is None:
        return deliveries
    row = {"run_id": document["run_id"], "event": event, "judge": document.get("judge") or ""}
    row |= {"audit_id": document.get("audit_id"), "sent_at": now}
    rows = [{**row, **asdict(entry)} for entry in deliveries]
    try:
        lake.commit({"notices": from_rows("notices", rows)})
    except Exception as error:  # noqa: BLE001 - a hook never changes what a run came to
        tell(say("runs.notice.unwritten", event=event, reason=str(error)))
    return deliveries

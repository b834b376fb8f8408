"""Telling the hook of what no run can tell: that none came, and that one ended without a word."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from judge_audit.core.formatting import minute
from judge_audit.core.messages import say
from judge_audit.operations.notifications import STALE, notify
from judge_audit.operations.runs.run_record import tell_lost
from judge_audit.operations.status.document import NO_AUDIT, age_text
from judge_audit.operations.status.document import STALE as STALE_FINDING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from judge_audit.lake import Lake
    from judge_audit.operations.notifications import Hook

NEVER = "never"
"""Stands in a notice for the audit of a judge that has none."""


def tell_of(lake: Lake, document: Mapping[str, Any], hook: Hook | None, tell: Callable[[str], None]) -> None:
    """Put down runs that ended without a word, and tell the hook of them and of audits too old: of each once.

    Args:
        lake: The lake.
        document: The status.
        hook: The team's hook.
        tell: Given sentences where a notice did not arrive.
    """
    tell_lost(lake, hook, tell)
    if hook is None or not hook.wants(STALE):
        return
    for entry in document["judges"]:
        if {row["finding"] for row in entry["findings"]} & {STALE_FINDING, NO_AUDIT}:
            _stale(lake, entry, hook, tell)


def _stale(lake: Lake, entry: Mapping[str, Any], hook: Hook, tell: Callable[[str], None]) -> None:
    """Tell of a judge whose last good audit is too old, unless that was told of this very audit already."""
    audit, name = entry["last_good_audit"], entry["judge"]
    audit_id = audit["audit_id"] if audit else NEVER
    if lake.read("notices", event=STALE, judge=name, audit_id=audit_id, delivered=True).num_rows:
        return
    text, age = say("runs.notice.stale_none", judge=name), None
    if audit:
        age, when = audit["age_seconds"], minute(audit["ended_at"])
        text = say("runs.notice.stale", judge=name, age=age_text(age), audit=audit_id, when=when)
    notice = {"run_id": f"stale-{secrets.token_hex(8)}", "judge": name, "audit_id": audit_id}
    notify(hook, STALE, {**notice, "text": text, "age_seconds": age}, lake=lake, tell=tell)

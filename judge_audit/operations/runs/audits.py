"""What a run should know of the audits in its lake: the one it left open, and the first of an epoch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from judge_audit.judges.canaries.verdict import DECLARED
from judge_audit.lake.audits import names_of

if TYPE_CHECKING:
    from datetime import datetime

    from judge_audit.lake import Lake


def audit_left_open(lake: Lake, since: datetime) -> tuple[str | None, str | None]:
    """Find the audit and the judge of a run that failed: begun since then, not complete, and the only such one."""
    begun: dict[str, set[str]] = {}
    judges: dict[str, str] = {}
    for row in lake.read("audits").to_pylist():
        if row["started_at"] is not None and row["started_at"] >= since:
            begun.setdefault(row["audit_id"], set()).add(row["status"])
            judges[row["audit_id"]] = row["judge_id"]
    left = [audit_id for audit_id, found in begun.items() if found == {"started"}]
    return (left[0], judges[left[0]]) if len(left) == 1 else (None, None)


def opened_by(lake: Lake, judge_id: str) -> str:
    """Say what the canaries showed when a judge's epoch began (changed, declared, unknown, first); "" without any."""
    nights = lake.read("canary_nights", judge_id=judge_id).to_pylist()
    return str(min(nights, key=lambda row: row["asking"])["answer"]) if nights else ""


def new_epoch(lake: Lake, audit_id: str, judge_id: str) -> int:
    """Give the epoch of which an audit is the first complete one, after others of the same judge's name; else 0.

    One that a person wrote into the card is no news and gives 0 too.
    """
    if opened_by(lake, judge_id) == DECLARED:
        return 0
    cards = lake.read("judges", judge_id=judge_id)["card"].to_pylist()
    try:
        epoch = int(json.loads(cards[0]).get("epoch", 0)) if cards else 0
    except (ValueError, TypeError, AttributeError):
        return 0
    if not epoch:
        return 0
    names = sorted(names_of(lake, judge_id))
    family = set(lake.read("judge_labels", name=names)["judge_id"].to_pylist())
    done = lake.read("audits", judge_id=sorted(family), status="complete").to_pylist()
    earlier = {row["judge_id"] for row in done if row["audit_id"] != audit_id}
    return epoch if earlier and judge_id not in earlier else 0

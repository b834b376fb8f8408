"""What a release still owes: who signs what by when, and which commands bring the missing evidence."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from judge_audit.core.limits import read_limits
from judge_audit.core.messages import knows, say
from judge_audit.core.vocabulary import Standing
from judge_audit.decisions.gate.approvals import SCREENING
from judge_audit.decisions.gate.states import OPEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit.decisions.gate.model import Answer, Question
    from judge_audit.decisions.standings import Use
    from judge_audit.lake import Lake

    Row = dict[str, Any]

ACCEPTANCE = "acceptance"
"""The use in which nobody looks, and which therefore needs a sign-off."""


def holding(lake: Lake, question: Question) -> list[Row]:
    """Read the sign-offs for the use that hold, in the order in which they were signed."""
    held = lake.read("signoffs", audit_id=question.candidate, use=question.use).to_pylist()
    return sorted(
        (row for row in held if row["signoff_id"] in question.signoffs),
        key=lambda row: (row["signed_at"], row["signoff_id"]),
    )


def expiry(lake: Lake, audit: Row, question: Question) -> datetime | None:
    """Say when what an audit showed has grown old, or its first sign-off ends; None while it runs."""
    limits = read_limits(json.loads(audit["configuration"] or "{}").get("limits"))
    ended: datetime | None = audit["ended_at"]
    if ended is None:
        return None
    ends: list[datetime] = [row["expires_at"] for row in holding(lake, question)]
    return min([ended + timedelta(days=limits["certificate.days"]), *ends])


def iso(time: datetime | None) -> str | None:
    """Write a time, to the second."""
    return time.isoformat(timespec="seconds") if time else None


def signatures(lake: Lake, answer: Answer, approval: Row | None, expires: datetime | None) -> list[Row]:
    """Say who must sign what by when, and who has."""
    question = answer.question
    entries = _signoffs(lake, answer, expires)
    done = lake.read("approvals", audit_id=question.candidate, use=question.use).to_pylist()
    if done:
        return entries + [
            {
                "who": row["signer"],
                "what": say("gate.certificate.approved", use=question.use, reason=row["reason"]),
                "by": None,
                "at": iso(row["approved_at"]),
                "command": "",
            }
            for row in done
        ]
    what = "first" if approval is None else "approve" if answer.state == OPEN else "after"
    command = say(
        f"gate.certificate.command_{'first' if approval is None else 'approve'}",
        candidate=question.candidate,
        use=question.use,
    )
    told = {"who": say("gate.owner.release"), "what": say(f"gate.certificate.sign_{what}", use=question.use)}
    return [*entries, {**told, "by": iso(expires), "at": None, "command": command}]


def _signoffs(lake: Lake, answer: Answer, expires: datetime | None) -> list[Row]:
    """List the sign-offs that hold for the use, and the one that automatic acceptance still needs."""
    question = answer.question
    entries = [
        {
            "who": row["signer"],
            "what": say(
                "gate.certificate.signed_off", reason=row["reason"], until=f"{row['expires_at']:%Y-%m-%d}"
            ),
            "by": None,
            "at": iso(row["signed_at"]),
            "command": "",
        }
        for row in holding(lake, question)
    ]
    if question.use != ACCEPTANCE or entries:
        return entries
    what = say("gate.certificate.sign_off")
    who = say("gate.certificate.answerable")
    return [{"who": who, "what": what, "by": iso(expires), "at": None, "command": ""}]


def missing_pieces(standings: Sequence[Row], uses: Sequence[Use], use: str) -> list[Row]:
    """List the missing pieces of the use (of all uses, for screening) with the commands that bring them."""
    held = {row["use"]: row for row in standings}
    found: dict[str, Row] = {}
    for entry in uses:
        row = held.get(entry.name)
        if row is None or row["standing"] == Standing.ALLOWED or use not in {entry.name, SCREENING}:
            continue
        for requirement in entry.requires:
            lacking = [text for text in row["missing"] if text.startswith(requirement.missing)]
            key = f"gate.command.{requirement.check}"
            if lacking:
                piece = found.setdefault(
                    lacking[0],
                    {"missing": lacking[0], "command": say(key) if knows(key) else "", "uses": []},
                )
                if entry.name not in piece["uses"]:
                    piece["uses"].append(entry.name)
    return list(found.values())

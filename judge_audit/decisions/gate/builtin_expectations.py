"""What the gate asks by itself, before any suite: is there an approved judge, a whole audit, an untouched lake?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.core.messages import say
from judge_audit.decisions.gate.approvals import approvals_for, approved_before, told
from judge_audit.decisions.gate.states import CANNOT, CRITICAL, OPEN, SHUT
from judge_audit.decisions.gate.suites import RESERVED
from judge_audit.lake.audits import audit_digest, names_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit.decisions.gate.model import Question
    from judge_audit.decisions.gate.suites import Suite
    from judge_audit.lake import Lake

    Row = dict[str, Any]

COMPLETE = "complete"


def answers(
    lake: Lake, candidate: Row, question: Question, suites: Mapping[str, Suite], *, asked_for: bool
) -> list[Row]:
    """Answer the gate's own questions.

    Args:
        lake: The lake.
        candidate: A row of `audits`.
        question: What is asked.
        suites: The suites that will be asked.
        asked_for: Whether the baseline was named instead of taken from the approvals.
    """
    rows = [_complete(candidate, question)]
    if not suites:
        said = {part: say(f"gate.own.suites.{part}") for part in ("expected", "reason", "remedy")}
        rows.append(_row("suites", CANNOT, observed="0", **said))
    approval = _approval(lake, candidate, question, asked_for=asked_for)
    rows.append(_approved(lake, candidate, question, approval))
    if approval:
        rows.append(_untouched(lake, approval))
    return rows


def _approval(lake: Lake, candidate: Row, question: Question, *, asked_for: bool) -> Row | None:
    """Find the approval of the audit the candidate is held against."""
    if not asked_for:
        return approved_before(lake, candidate["judge_id"], question.use)
    own = [row for row in approvals_for(lake, question.use) if row["audit_id"] == question.baseline]
    return own[0] if own else None


def _approved(lake: Lake, candidate: Row, question: Question, approval: Row | None) -> Row:
    names = sorted(names_of(lake, candidate["judge_id"])) or [candidate["judge_id"]]
    expected = say("gate.own.approved.expected", use=question.use)
    if approval:
        observed = say(
            "gate.own.approved.observed",
            audit=approval["audit_id"],
            at=f"{approval['approved_at']:%Y-%m-%d}",
            name=approval["signer"],
        )
        return _row("approved", OPEN, observed=observed, expected=expected)
    others = approvals_for(lake, question.use)
    if question.baseline:
        reason = say("gate.own.approved.reason_foreign", audit=question.baseline, use=question.use)
    elif others:
        reason = say("gate.own.approved.reason_renamed", judge=names[0], use=question.use, list=told(others))
    else:
        reason = say("gate.own.approved.reason_none", use=question.use)
    remedy = say("gate.own.approved.remedy", candidate=question.candidate, use=question.use)
    none = say("gate.own.approved.none")
    return _row("approved", SHUT, reason=reason, remedy=remedy, observed=none, expected=expected)


def _complete(candidate: Row, question: Question) -> Row:
    whole = candidate["status"] == COMPLETE
    return _row(
        "complete",
        OPEN if whole else CANNOT,
        reason="" if whole else say("gate.own.complete.reason", candidate=question.candidate),
        remedy="" if whole else say("gate.own.complete.remedy"),
        observed=candidate["status"],
        expected=say("gate.own.complete.expected"),
        owner=say("gate.owner.platform"),
    )


def _untouched(lake: Lake, approval: Row) -> Row:
    """See that the approved audit still holds the rows that were approved."""
    now = audit_digest(lake, approval["audit_id"])
    same = now == approval["audit_digest"]
    return _row(
        "untouched",
        OPEN if same else SHUT,
        reason="" if same else say("gate.own.untouched.reason", audit=approval["audit_id"]),
        remedy="" if same else say("gate.own.untouched.remedy"),
        observed=now,
        expected=say("gate.own.untouched.expected"),
        owner=say("gate.owner.platform"),
    )


def _row(name: str, state: str, **parts: str) -> Row:
    """Make a row, the release owner's unless said otherwise."""
    row: Row = {
        "suite": RESERVED,
        "expectation": name,
        "severity": CRITICAL,
        "owner": say("gate.owner.release"),
        "state": state,
        "reason": "",
        "remedy": "",
    }
    return {**row, **parts}

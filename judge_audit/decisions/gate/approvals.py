"""Approved judges: the audits that people approved for a use, against which later candidates are held."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_audit_schemas.rows import ApprovalsRow, AuditsRow, StandingsRow

from judge_audit.core.digests import text_digest
from judge_audit.core.errors import UsageError
from judge_audit.core.tables import from_rows, rows_of
from judge_audit.core.version import __version__
from judge_audit.core.vocabulary import Position, Standing
from judge_audit.decisions.gate.builtin_answers import BOUNDS
from judge_audit.decisions.gate.model import RESERVED
from judge_audit.decisions.lineage import lineage_of
from judge_audit.decisions.standings import POSITION_ROW
from judge_audit.lake.audits import names_of
from judge_audit.lake.evidence import audit_root

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from judge_audit.decisions.gate.model import Answer
    from judge_audit.lake import Lake

    Row = dict[str, Any]

SCREENING = Position.SCREENING.value
"""The use every judge may have that puts images in order at all: it sorts, a person signs."""


@dataclass(frozen=True, slots=True)
class Approver:
    """Who approves, and why.

    Attributes:
        signer: The person.
        account: The account of the machine.
        reason: Why.
        despite: Expectations (suite/expectation) taken on by name although they are not met.
        first: Whether nothing was approved before, so that there is nothing to compare with.
        succeeds: The judge_id of the approved judge of another origin that the candidate takes over from, "" for none.
    """

    signer: str
    account: str
    reason: str
    despite: tuple[str, ...] = ()
    first: bool = False
    succeeds: str = ""


def approvals_of(lake: Lake, **equals: str) -> list[ApprovalsRow]:
    """Read the approvals, or those with the given values, the newest first."""
    found = rows_of(lake.read("approvals", **equals), ApprovalsRow)
    return sorted(found, key=lambda row: (row["approved_at"], row["approval_id"]), reverse=True)


def approvals_for(lake: Lake, use: str) -> list[ApprovalsRow]:
    """Read the approvals for a use, the newest first."""
    return approvals_of(lake, use=use)


def approved_before(
    lake: Lake, audit: AuditsRow, use: str, now: datetime, succeeds: str = ""
) -> ApprovalsRow | None:
    """Find the newest approval for a use of the lineage that an audit is of.

    Args:
        lake: The lake.
        audit: Row of `audits` of the candidate.
        use: The use.
        now: The time; what was approved later than now does not count.
        succeeds: The judge_id of the approved judge of another origin that the candidate is to take over from.
    """
    lineage = lineage_of(audit, approvals_of(lake))
    for row in approvals_for(lake, use):
        if (lineage.holds(row) or row["judge_id"] == succeeds) and row["approved_at"] <= now:
            return row
    return None


def last_use(lake: Lake, audit: AuditsRow) -> str:
    """Give the use that the lineage of an audit was approved for last; screening if for none."""
    every = approvals_of(lake)
    lineage = lineage_of(audit, every)
    return next((str(row["use"]) for row in every if lineage.holds(row)), SCREENING)


def approved_judges(lake: Lake) -> list[str]:
    """Name every judge that is approved today as its approved audit was configured: a name, a target or a card.

    Of judges of one name the newest approval counts, whatever its use.

    Raises:
        UsageError: If none is approved.
    """
    seen: set[str] = set()
    named: list[str] = []
    for row in approvals_of(lake):
        names = names_of(lake, row["judge_id"]) or {row["judge_id"]}
        if names & seen:
            continue
        seen |= names
        audits = rows_of(lake.read("audits", audit_id=row["audit_id"]), AuditsRow)
        named += [str(json.loads(audit["configuration"]).get("judge", "")) for audit in audits[:1]]
    if not any(named):
        raise UsageError(
            "no judge is approved in this lake yet. Approve one (`judge-audit approve --first`), or name the judges."
        )
    return sorted(set(named) - {""})


def approve(lake: Lake, answer: Answer, approver: Approver, now: datetime) -> Row:
    """Record that a person approves the candidate of an asked gate.

    A shut gate is approved only expectation by expectation: each that is not met is named by the approver,
    and the approval keeps the names. The first approval compares with nothing; what would compare is let be.

    Raises:
        UsageError: If it is refused; says what stands in the way and what to do.
    """
    _see(approver, answer)
    _see_not_barred(lake, answer)
    question = answer.question
    row = {
        "audit_id": question.candidate,
        "judge_id": answer.judge_id,
        "origin": answer.origin,
        "use": question.use,
        "signer": approver.signer,
        "account": approver.account,
        "reason": approver.reason,
        "first": approver.first,
        "despite": sorted(approver.despite),
        "succeeds": approver.succeeds or None,
        "code_version": __version__,
        "gate_id": answer.gate_id,
        "anchor_head": answer.anchor_head,
        "audit_digest": question.audit_digest,
        "root": audit_root(lake, question.candidate),
        "approved_at": now,
    }
    row["approval_id"] = text_digest(
        "approval", *(str(row[name]) for name in ("audit_id", "use", "signer", "reason", "approved_at"))
    )
    lake.commit({"gates": from_rows("gates", answer.rows)})
    lake.commit({"approvals": from_rows("approvals", [row])})
    return row


def _see(approver: Approver, answer: Answer) -> None:
    """Refuse what may not be approved."""
    for option, text in (("--by", approver.signer), ("--reason", approver.reason)):
        if not text.strip():
            raise UsageError(f"{option} is empty: an approval names a person and says why.")
    use = answer.question.use
    if approver.first and answer.question.baseline:
        raise UsageError(
            f"this judge is approved for {use} already (audit {answer.question.baseline}), so this one is "
            "held against it: leave --first out."
        )
    if not approver.first and not answer.question.baseline:
        raise UsageError(
            f"this judge was never approved for {use}, so nothing was compared. If it is to be the first: add --first. "
            "If it takes over from an approved judge of another origin: --succeeds JUDGE_ID."
        )
    blocking = _names(row for row in answer.blocking if not (approver.first and answer.compares(row)))
    if f"{RESERVED}/{BOUNDS}" in blocking:
        raise UsageError(
            "a limit of the audit is beyond its hard bounds, and nobody can approve that: audit again."
        )
    strangers = sorted(set(approver.despite) - set(blocking))
    if strangers:
        raise UsageError(
            f"--despite {strangers[0]}: that stands in nobody's way. In the way: {', '.join(blocking) or 'nothing'}."
        )
    left = [name for name in blocking if name not in approver.despite]
    if left:
        raise UsageError(
            f"the gate is not open for {use}: {', '.join(left)}. Mend it, or take each on by name, for the record: "
            f"--despite {' --despite '.join(left)}. `judge-audit gate --for {use}` says what is behind each."
        )


def _see_not_barred(lake: Lake, answer: Answer) -> None:
    """Refuse a use that the audit bars: missing evidence can be taken on by name, a conviction cannot."""
    use = answer.question.use
    rows = rows_of(lake.read("standings", audit_id=answer.question.candidate), StandingsRow)
    for row in rows:
        barred = row["standing"] == Standing.BARRED if row["use"] == use else False
        none = use == SCREENING and row["use"] == POSITION_ROW and row["standing"] == Position.NONE
        if barred or none:
            raise UsageError(
                f"the judge is barred from {use}, and a conviction cannot be taken on by name, only missing evidence "
                f"can. {' '.join(row['reasons'])}"
            )


def _names(rows: Any) -> list[str]:  # noqa: ANN401 - rows
    return [f"{row['suite']}/{row['expectation']}" for row in rows]


def told(approvals: Sequence[ApprovalsRow]) -> str:
    """Name approvals in a sentence."""
    return "; ".join(
        f"{row['audit_id']} ({row['approved_at']:%Y-%m-%d}, {row['signer']})" for row in approvals
    )

"""Asking the gate: every suite, every expectation, one answer. What cannot be asked is never open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit_schemas.rows import AuditsRow

from judge_audit.core.digests import text_digest
from judge_audit.core.errors import UsageError
from judge_audit.core.messages import say
from judge_audit.core.tables import rows_of
from judge_audit.core.vocabulary import POOLED
from judge_audit.decisions.gate.approvals import approvals_for, approvals_of, approved_before, told
from judge_audit.decisions.gate.builtin_answers import (
    builtin_row,
    convictions_lifted,
    fresh,
    limits_no_looser,
    suites_as_recorded,
)
from judge_audit.decisions.gate.convictions import standing_convictions, touching
from judge_audit.decisions.gate.expectations import (
    Result,
    evaluate,
    guard_expectation,
    guard_suite,
    rows_told,
)
from judge_audit.decisions.gate.model import (
    APPROVED,
    CANNOT,
    OPEN,
    SHUT,
    WARNING,
    Against,
    Answer,
    Question,
    Team,
)
from judge_audit.decisions.lineage import audits_of, lineage_of
from judge_audit.decisions.signoffs import signoffs_of
from judge_audit.lake.audits import LATEST, audit_digest, find_audit, names_of, see_kept
from judge_audit.lake.evidence import is_as_approved
from judge_audit.lake.sql import questions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    import pyarrow as pa
    from judge_audit_schemas.rows import ApprovalsRow

    from judge_audit.decisions.gate.convictions import Conviction
    from judge_audit.decisions.gate.suites import Expectation, Suite
    from judge_audit.decisions.standings import Use
    from judge_audit.lake import Lake
    from judge_audit.lake.sql import Questions

    Row = dict[str, Any]

COMPLETE = "complete"


def candidate_of(lake: Lake, given: str | None) -> AuditsRow:
    """Find the audit that wants to be released: the named one, else the newest complete one.

    Raises:
        UsageError: If there is none, or retention removed its raw answers.
    """
    row = audit_of(lake, given)
    see_kept(lake, row["audit_id"])
    return row


def audit_of(lake: Lake, given: str | None) -> AuditsRow:
    """Find an audit, whatever became of its raw answers: the named one, else the newest complete one.

    Raises:
        UsageError: If there is none.
    """
    if given and given != LATEST:
        rows = rows_of(lake.read("audits", audit_id=given), AuditsRow)
        rows = [row for row in rows if row["status"] == COMPLETE] or rows
        if not rows:
            raise UsageError(
                f"the lake has no audit “{given}”. `judge-audit lake sql` on the table audits lists them."
            )
        return rows[0]
    return {**find_audit(lake)}


def held_against(lake: Lake, candidate: AuditsRow, use: str, against: Against, now: datetime) -> str:
    """Give the audit that a candidate is held against, "" if there is none.

    Raises:
        UsageError: If the baseline is no audit.
    """
    if against.baseline != APPROVED:
        return str(candidate_of(lake, against.baseline)["audit_id"])
    approval = approved_before(lake, candidate, use, now, against.succeeds)
    return str(approval["audit_id"]) if approval else ""


def ask_gate(
    lake: Lake,
    candidate: AuditsRow,
    use: str,
    suites: Mapping[str, Suite],
    *,
    now: datetime,
    against: Against | None = None,
    team: Team | None = None,
) -> Answer:
    """Ask the gate.

    Args:
        lake: The lake.
        candidate: A row of `audits`.
        use: What the judge is to be released for.
        suites: The suites by name.
        now: The time.
        against: What it is held against; the newest approval of its lineage if not given.
        team: The team's own parts; none if not given.

    Returns:
        The answer; nothing is written.

    Raises:
        UsageError: If the baseline is no audit.
    """
    against, team = against or Against(), team or Team()
    held = held_against(lake, candidate, use, against, now)
    audit_id = candidate["audit_id"]
    signed = (
        entry.signoff.signoff_id for entry in signoffs_of(lake, audit_id, now, team.people) if not entry.void
    )
    question = Question(audit_id, held, use, now, audit_digest(lake, audit_id), tuple(signed))
    approval = approved_before(lake, candidate, use, now, against.succeeds)
    rows = _builtin_answers(lake, candidate, question, suites, approval)
    rows += limits_no_looser(candidate, audit_of(lake, approval["audit_id"]) if approval else None)
    rows.append(convictions_lifted(candidate, _standing(lake, candidate, team.uses.get(use))))
    if team.recorded or team.suites:
        rows.append(suites_as_recorded(team.recorded, team.suites))
    texts = [text for suite in suites.values() for text in (suite.frame, suite.keys)]
    with questions(lake, team.views, texts) as asked:
        for suite in suites.values():
            rows += _ask(asked, suite, question)
    shared = {
        "audit_id": question.candidate,
        "judge_id": candidate["judge_id"],
        "baseline": question.baseline or POOLED,
        "use": use,
    }
    parts = [
        str(row[name]) for row in rows for name in ("suite", "expectation", "severity", "state", "observed")
    ]
    gate_id = text_digest("gate", *shared.values(), now.isoformat(), *parts)
    return Answer(
        gate_id=gate_id,
        question=question,
        judge_id=candidate["judge_id"],
        origin=candidate.get("origin"),
        anchor_head=candidate.get("anchor_head"),
        rows=tuple({**shared, **row, "gate_id": gate_id, "asked_at": now} for row in rows),
        comparing=frozenset(name for name, suite in suites.items() if suite.baseline),
    )


def _standing(lake: Lake, candidate: AuditsRow, use: Use | None) -> list[Conviction]:
    """Give the convictions of a candidate's lineage that stand with it and touch a use."""
    lineage = lineage_of(candidate, approvals_of(lake))
    audits = [row for row in audits_of(lake, lineage) if str(row["ended_at"]) <= str(candidate["ended_at"])]
    return touching(standing_convictions(lake, audits), use)


def _ask(asked: Questions, suite: Suite, question: Question) -> list[Row]:
    """Ask one suite."""
    if suite.baseline and not question.baseline:
        return _all(suite, "no_baseline", say("gate.guard.no_baseline"), question)
    try:
        frame, keys = (asked.ask(text, question.parameters()) for text in (suite.frame, suite.keys))
    except UsageError as error:
        said = say("gate.guard.broken", error=" ".join(str(error).split()))
        return _all(suite, "broken", said, question)
    if trouble := guard_suite(suite, frame, keys):
        return _all(suite, "absent", trouble, question)
    return [_row(suite, question, entry, *told) for entry, *told in _answered(suite, frame, keys)]


def _answered(suite: Suite, frame: pa.Table, keys: pa.Table) -> Iterable[tuple[Expectation, str, str, str]]:
    """Give each expectation its state, its reason and what was observed."""
    guarded = {entry.name: guard_expectation(suite, entry, frame) for entry in suite.expectations}
    clear = [entry for entry in suite.expectations if guarded[entry.name] is None]
    results = evaluate(frame, clear) if clear else {}
    for entry in suite.expectations:
        guard = guarded[entry.name]
        if guard is not None:
            reason = f"{entry.reason} {guard.reason}" if guard.shut else guard.reason
            yield entry, SHUT if guard.shut else CANNOT, reason, guard.reason
            continue
        result = results.get(entry.name, Result(None, trouble=say("gate.guard.unanswered")))
        if result.met is None:
            yield entry, CANNOT, result.trouble, result.trouble
        elif result.met:
            n = keys.num_rows if suite.bad_rows else frame.num_rows
            yield entry, OPEN, "", say("gate.met_none" if suite.bad_rows else "gate.met", n=n)
        else:
            yield entry, SHUT, entry.reason, _seen(suite, result, frame)


def _seen(suite: Suite, result: Result, frame: pa.Table) -> str:
    """Say what was seen where an expectation is not met."""
    if result.rows:
        return rows_told(suite, frame.take(list(result.rows)))
    if suite.bad_rows:
        return rows_told(suite, frame)
    return str(result.observed)


def _all(suite: Suite, why: str, reason: str, question: Question) -> list[Row]:
    """Say of every expectation of a suite that it cannot be asked, and what to do about that."""
    rows = [_row(suite, question, entry, CANNOT, reason, reason) for entry in suite.expectations]
    return [{**row, "remedy": say(f"gate.guard.remedy.{why}", suite=suite.name)} for row in rows]


def _row(suite: Suite, question: Question, entry: Expectation, state: str, reason: str, observed: str) -> Row:
    severity, remedy = entry.severity, "" if state == OPEN else entry.remedy
    if state == CANNOT:
        remedy = say("gate.guard.remedy.absent", suite=suite.name)
    if state == CANNOT and not suite.is_needed(question.use):
        severity = WARNING
    return {
        "suite": suite.name,
        "expectation": entry.name,
        "severity": severity,
        "owner": entry.owner,
        "observed": observed,
        "expected": entry.told,
        "state": state,
        "reason": reason,
        "remedy": remedy,
    }


def _builtin_answers(
    lake: Lake,
    candidate: AuditsRow,
    question: Question,
    suites: Mapping[str, Suite],
    newest: ApprovalsRow | None,
) -> list[Row]:
    """Answer the gate's own questions.

    Args:
        lake: The lake.
        candidate: A row of `audits`.
        question: What is asked.
        suites: The suites that will be asked.
        newest: The newest approval of the candidate's lineage for the use.
    """
    rows = [
        _complete(candidate, question),
        fresh(candidate, question, audit_of(lake, newest["audit_id"]) if newest else None),
    ]
    if not suites:
        said = {part: say(f"gate.own.suites.{part}") for part in ("expected", "reason", "remedy")}
        rows.append(builtin_row("suites", CANNOT, observed="0", **said))
    rows.append(_approved(lake, candidate, question, newest))
    if newest:
        rows.append(_untouched(lake, newest))
    return rows


def _approved(lake: Lake, candidate: AuditsRow, question: Question, newest: ApprovalsRow | None) -> Row:
    """See that the candidate is held against the newest approval of its lineage, and against nothing else."""
    names = sorted(names_of(lake, candidate["judge_id"])) or [candidate["judge_id"]]
    approval = newest if newest and newest["audit_id"] == question.baseline else None
    expected = say("gate.own.approved.expected", use=question.use)
    if approval:
        observed = say(
            "gate.own.approved.observed",
            audit=approval["audit_id"],
            at=f"{approval['approved_at']:%Y-%m-%d}",
            name=approval["signer"],
        )
        return builtin_row("approved", OPEN, observed=observed, expected=expected)
    others = approvals_for(lake, question.use)
    if newest:
        reason = say(
            "gate.own.approved.reason_older",
            audit=question.baseline,
            newest=newest["audit_id"],
            use=question.use,
            at=f"{newest['approved_at']:%Y-%m-%d}",
        )
    elif question.baseline:
        reason = say("gate.own.approved.reason_foreign", audit=question.baseline, use=question.use)
    elif others:
        reason = say("gate.own.approved.reason_renamed", judge=names[0], use=question.use, list=told(others))
    else:
        reason = say("gate.own.approved.reason_none", use=question.use)
    remedy = say("gate.own.approved.remedy", candidate=question.candidate, use=question.use)
    none = say("gate.own.approved.none")
    return builtin_row("approved", SHUT, reason=reason, remedy=remedy, observed=none, expected=expected)


def _complete(candidate: AuditsRow, question: Question) -> Row:
    whole = candidate["status"] == COMPLETE
    return builtin_row(
        "complete",
        OPEN if whole else CANNOT,
        reason="" if whole else say("gate.own.complete.reason", candidate=question.candidate),
        remedy="" if whole else say("gate.own.complete.remedy"),
        observed=candidate["status"],
        expected=say("gate.own.complete.expected"),
        owner=say("gate.owner.platform"),
    )


def _untouched(lake: Lake, approval: ApprovalsRow) -> Row:
    """See that the approved audit still holds the rows that were approved."""
    now = audit_digest(lake, approval["audit_id"])
    same = now == approval["audit_digest"] and is_as_approved(lake, approval)
    return builtin_row(
        "untouched",
        OPEN if same else SHUT,
        reason="" if same else say("gate.own.untouched.reason", audit=approval["audit_id"]),
        remedy="" if same else say("gate.own.untouched.remedy"),
        observed=now,
        expected=say("gate.own.untouched.expected"),
        owner=say("gate.owner.platform"),
    )

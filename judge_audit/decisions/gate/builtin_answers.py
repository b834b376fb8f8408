"""Questions of the gate's own that no suite asks: is the evidence fresh, and does what it rests on still hold."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from judge_audit.core.clocks import TOLERANCE
from judge_audit.core.limits import changed_limits, limit_rules, read_limits, recorded_limits
from judge_audit.core.messages import say
from judge_audit.decisions.gate.model import CANNOT, CRITICAL, OPEN, RESERVED, SHUT

SHOWN = 3
"""Convictions that are named; the rest are counted."""

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit_schemas.rows import AuditsRow

    from judge_audit.decisions.gate.convictions import Conviction
    from judge_audit.decisions.gate.model import Question

    Row = dict[str, Any]


def builtin_row(name: str, state: str, **parts: str) -> Row:
    """Make a row of the gate's own suite, the release owner's unless said otherwise."""
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


def lasts(audit: AuditsRow) -> timedelta:
    """Say how long a certificate of an audit holds, by the limit in force when it was made."""
    return timedelta(days=recorded_limits(audit["configuration"])["certificate.days"])


def fresh(candidate: AuditsRow, question: Question) -> Row:
    """See that the evidence is no older than its certificate would last, and not from the future."""
    ended, days = candidate["ended_at"], lasts(candidate)
    state, reason = OPEN, ""
    if ended is None:
        state, reason = CANNOT, say("gate.own.fresh.reason_unfinished", candidate=question.candidate)
    elif ended > question.now + TOLERANCE:
        state, reason = SHUT, say("gate.own.fresh.reason_future", at=f"{ended:%Y-%m-%d %H:%M}")
    elif question.now >= ended + days:
        state, reason = SHUT, say("gate.own.fresh.reason_stale", at=f"{ended:%Y-%m-%d}", days=days.days)
    return builtin_row(
        "fresh",
        state,
        reason=reason,
        remedy=say("gate.own.fresh.remedy") if reason else "",
        observed=f"{ended:%Y-%m-%d %H:%M} UTC" if ended else say("gate.own.fresh.none"),
        expected=say("gate.own.fresh.expected", days=days.days),
    )


def convictions_lifted(candidate: AuditsRow, standing: Sequence[Conviction]) -> Row:
    """See that no fault that an earlier audit of the lineage proved was left unasked since."""
    earlier = [one for one in standing if one.audit_id != candidate["audit_id"]]
    reasons = " ".join(f"({one.audit_id}) {one.reason}" for one in earlier[:SHOWN])
    return builtin_row(
        "convictions_lifted",
        SHUT if earlier else OPEN,
        reason=say("gate.own.convictions_lifted.reason", n=len(earlier), list=reasons) if earlier else "",
        remedy=say("gate.own.convictions_lifted.remedy") if earlier else "",
        observed=str(len(earlier)),
        expected=say("gate.own.convictions_lifted.expected"),
        owner=say("gate.owner.judge"),
    )


def suites_as_recorded(recorded: Mapping[str, str], loaded: Mapping[str, str]) -> Row:
    """See that the team's own suites are those that the audit was made with.

    Args:
        recorded: Digests of the suites by name, as the audit recorded them.
        loaded: Digests of those that are asked.
    """
    odd = sorted(name for name, digest in recorded.items() if loaded.get(name) != digest)
    return builtin_row(
        "suites_as_recorded",
        CANNOT if odd else OPEN,
        reason=say("gate.own.suites_as_recorded.reason", list=", ".join(odd)) if odd else "",
        remedy=say("gate.own.suites_as_recorded.remedy") if odd else "",
        observed=", ".join(sorted(loaded)) or say("gate.own.suites_as_recorded.none"),
        expected=say("gate.own.suites_as_recorded.expected", list=", ".join(sorted(recorded)) or "–"),
    )


def limits_no_looser(candidate: AuditsRow, approved: AuditsRow | None) -> Row:
    """See that no limit is looser than at the approval, or than shipped where nothing is approved.

    Args:
        candidate: Row of `audits`.
        approved: That of the approved audit, None if there is none.
    """
    before = recorded_limits(approved["configuration"]) if approved else read_limits()
    now = recorded_limits(candidate["configuration"])
    owners = {one.name: one for one in changed_limits(candidate["configuration"])}
    parts = []
    for name in now.looser_than(before):
        own = owners.get(name)
        who = (
            say("gate.own.limits_no_looser.owner", owner=own.owner, reason=own.reason)
            if own and own.owner
            else ""
        )
        parts.append(f"{name} {before[name]:g} → {now[name]:g}{who} ({limit_rules()[name].meaning})")
    key = "approved" if approved else "shipped"
    return builtin_row(
        "limits_no_looser",
        SHUT if parts else OPEN,
        reason=say(f"gate.own.limits_no_looser.reason_{key}", list="; ".join(parts)) if parts else "",
        remedy=say("gate.own.limits_no_looser.remedy") if parts else "",
        observed=str(len(parts)),
        expected=say(f"gate.own.limits_no_looser.expected_{key}"),
    )

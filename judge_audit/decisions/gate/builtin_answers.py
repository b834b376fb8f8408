"""Questions of the gate's own that no suite asks: is the evidence fresh, and does what it rests on still hold."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from judge_audit.core.clocks import TOLERANCE
from judge_audit.core.limits import changed_limits, limit_rules, read_limits, recorded_limits, refused_limits
from judge_audit.core.messages import say
from judge_audit.decisions.gate.model import CANNOT, CRITICAL, OPEN, RESERVED, SHUT

BOUNDS = "limits_within_bounds"
"""The expectation that no recorded limit leaves its hard bounds; nobody can take it on."""

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


def lasts(audit: AuditsRow, approved: AuditsRow | None = None) -> timedelta:
    """Say how long a certificate of an audit holds.

    A longer time than shipped counts only where an audit with it was approved: nobody lengthens it alone.

    Args:
        audit: Row of `audits`.
        approved: That of the approved audit, None if there is none.
    """
    name = "certificate.days"
    own = recorded_limits(audit["configuration"])[name]
    most = max(read_limits()[name], recorded_limits(approved["configuration"])[name] if approved else 0.0)
    return timedelta(days=min(own, most))


def fresh(candidate: AuditsRow, question: Question, approved: AuditsRow | None) -> Row:
    """See that the evidence is no older than its certificate would last, and not from the future."""
    ended, days = candidate["ended_at"], lasts(candidate, approved)
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


def limits_no_looser(candidate: AuditsRow, approved: AuditsRow | None) -> list[Row]:
    """See that no limit is looser than at the approval, or than shipped where nothing is approved.

    Args:
        candidate: Row of `audits`.
        approved: That of the approved audit, None if there is none.

    Returns:
        A row for each limit that is, so that each is taken on by its own name, and one for those beyond their bounds,
        which nobody can take on.
    """
    before = recorded_limits(approved["configuration"]) if approved else read_limits()
    now = recorded_limits(candidate["configuration"])
    owners = {one.name: one for one in changed_limits(candidate["configuration"])}
    key = "approved" if approved else "shipped"
    rows = []
    for name in now.looser_than(before):
        own = owners.get(name)
        who = say("gate.own.limits.owner", owner=own.owner, reason=own.reason) if own and own.owner else ""
        part = f"{name} {before[name]:g} → {now[name]:g}{who} ({limit_rules()[name].meaning})"
        rows.append(
            builtin_row(
                f"limit {name}",
                SHUT,
                reason=say(f"gate.own.limits.reason_{key}", list=part),
                remedy=say("gate.own.limits.remedy", name=name),
                observed=f"{now[name]:g}",
                expected=f"{before[name]:g}",
            )
        )
    refused = refused_limits(candidate["configuration"])
    rows.append(
        builtin_row(
            BOUNDS,
            SHUT if refused else OPEN,
            reason=say("gate.own.limits.beyond", list=", ".join(refused)) if refused else "",
            remedy=say("gate.own.limits.again") if refused else "",
            observed=str(len(refused)),
            expected=say("gate.own.limits.expected"),
        )
    )
    return rows

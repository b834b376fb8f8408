"""What a certificate claims, made again from the rows that it names: a certificate is evidence, not a claim.

Anybody can edit a certificate and its digest. So state, expectations, use, judge, position, standings and expiry are
derived from the lake, and whatever the certificate says otherwise is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit_schemas.rows import AuditsRow, GatesRow, StandingsRow

from judge_audit.core.messages import say
from judge_audit.core.tables import rows_of
from judge_audit.core.vocabulary import Position
from judge_audit.decisions.gate.certificate import expiry, iso
from judge_audit.decisions.gate.model import CANNOT, CRITICAL, OPEN, SHUT, Question
from judge_audit.decisions.gate.summary import CODES
from judge_audit.decisions.signoffs import signoffs_of
from judge_audit.decisions.standings import POSITION_ROW

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit.decisions.signers import People
    from judge_audit.lake import Lake

EXPECTATION = (
    "suite",
    "expectation",
    "severity",
    "owner",
    "observed",
    "expected",
    "state",
    "reason",
    "remedy",
)
STANDING = ("use", "standing", "reasons", "missing")
COMPLETE = "complete"


def false_claims(lake: Lake, document: Mapping[str, Any], people: People | None = None) -> list[str]:
    """Say where a certificate says something else than the rows it names, one sentence each.

    Args:
        lake: The lake.
        document: The certificate's content.
        people: The project's people and their keys, None where it lists none.
    """
    try:
        candidate, gate_id = str(document["rests"]["candidate"]), str(document["rests"]["gate_id"])
        claimed = _claimed(document)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        return [say("gate.verify.malformed", error=repr(error))]
    audits = rows_of(lake.read("audits", audit_id=candidate, status=COMPLETE), AuditsRow)
    rows = rows_of(lake.read("gates", audit_id=candidate, gate_id=gate_id), GatesRow)
    if not audits:
        return [say("gate.verify.no_candidate", candidate=candidate)]
    if not rows:
        return [say("gate.verify.no_asking", gate=gate_id)]
    found = _found(lake, audits[0], rows, people)
    return [
        say(
            "gate.verify.claim",
            what=say(f"gate.verify.what.{name}"),
            said=_short(claimed[name]),
            found=_short(value),
        )
        for name, value in found.items()
        if claimed[name] != value
    ]


def _claimed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Gather what a certificate says.

    Raises:
        KeyError, TypeError: If it lacks something, or something is of another type.
    """
    gate = document["gate"]
    return {
        "state": gate["state"],
        "exit_code": gate["exit_code"],
        "gate_id": gate["gate_id"],
        "candidate": gate["candidate"],
        "judge_id": gate["judge_id"],
        "use": gate["use"],
        "baseline": gate["baseline"],
        "expectations": sorted(tuple(row[name] for name in EXPECTATION) for row in gate["expectations"]),
        "position": document["position"],
        "position_reasons": list(document["position_reasons"]),
        "standings": sorted(tuple(_plain(row[name]) for name in STANDING) for row in document["standings"]),
        "audited_at": document["audited_at"],
        "expires_at": document["expires_at"],
    }


def _found(lake: Lake, audit: AuditsRow, rows: Sequence[GatesRow], people: People | None) -> dict[str, Any]:
    """Derive the same from the lake."""
    first, audit_id = rows[0], audit["audit_id"]
    blocking = {row["state"] for row in rows if row["severity"] == CRITICAL and row["state"] != OPEN}
    state = SHUT if SHUT in blocking else CANNOT if blocking else OPEN
    asked_at = first["asked_at"]
    standings = rows_of(lake.read("standings", audit_id=audit_id, judge_id=audit["judge_id"]), StandingsRow)
    position = next((row for row in standings if row["use"] == POSITION_ROW), None)
    signed = tuple(
        entry.signoff.signoff_id for entry in signoffs_of(lake, audit_id, asked_at, people) if not entry.void
    )
    baseline = first["baseline"] if first["baseline"] != "*" else ""
    question = Question(audit_id, baseline, first["use"], asked_at, "", signed)
    return {
        "state": state,
        "exit_code": CODES[state],
        "gate_id": first["gate_id"],
        "candidate": audit_id,
        "judge_id": audit["judge_id"],
        "use": first["use"],
        "baseline": baseline or None,
        "expectations": sorted(tuple(row[name] for name in EXPECTATION) for row in rows),  # type: ignore[literal-required]
        "position": position["standing"] if position else Position.NONE.value,
        "position_reasons": list(position["reasons"]) if position else [],
        "standings": sorted(
            tuple(_plain(row[name]) for name in STANDING)  # type: ignore[literal-required]
            for row in standings
            if row["use"] != POSITION_ROW
        ),
        "audited_at": iso(audit["ended_at"]),
        "expires_at": iso(expiry(lake, audit, question)),
    }


def _plain(value: Any) -> Any:  # noqa: ANN401 - a text, or texts
    """Give a list as a tuple, so that rows can be put in order."""
    return tuple(value or ()) if isinstance(value, (list, tuple)) or value is None else value


def _short(value: Any) -> str:  # noqa: ANN401 - whatever is claimed
    """Write a claim in a sentence."""
    text = str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"

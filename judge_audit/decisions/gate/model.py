"""What a gate is asked and what it answers, as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from judge_audit.decisions.signers import People
    from judge_audit.decisions.standings import Use
    from judge_audit.lake.connect import View

    Row = dict[str, Any]

APPROVED = "approved"
"""Instead of an audit's id: the newest approval of the same lineage."""

RESERVED = "gate"
"""The suite under which the gate's own questions stand."""

OPEN = "open"
SHUT = "shut"
CANNOT = "cannot be asked"
CRITICAL, WARNING = "critical", "warning"
"""The severities: what keeps a gate from opening, and what is only said."""


@dataclass(frozen=True, slots=True)
class Against:
    """What a candidate is to be held against.

    Attributes:
        baseline: An audit's id, or `approved`.
        succeeds: The judge_id of the approved judge of another origin that it is to take over from, "" for none.
    """

    baseline: str = APPROVED
    succeeds: str = ""


@dataclass(frozen=True, slots=True)
class Team:
    """What a team brings to the gate.

    Attributes:
        views: The views that suites may read, None for the shipped ones.
        uses: The checklists by name.
        suites: Digests of the team's own suites, by name.
        recorded: Digests of those that the candidate's audit was made with.
        people: Who may sign with which key, None where the team does not say.
    """

    views: Mapping[str, View] | None = None
    uses: Mapping[str, Use] = field(default_factory=dict)
    suites: Mapping[str, str] = field(default_factory=dict)
    recorded: Mapping[str, str] = field(default_factory=dict)
    people: People | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What the gate is asked.

    Attributes:
        candidate: The audit of the judge that wants to be released.
        baseline: The audit it is held against, "" if there is none.
        use: filtering, ranking, reward, acceptance, screening, or a project's own.
        now: The time by which sign-offs have expired or not.
        audit_digest: Digest of the candidate's rows, which sign-offs are given for.
        signoffs: Names of the sign-offs of the candidate that hold, whatever their use.
    """

    candidate: str
    baseline: str
    use: str
    now: datetime
    audit_digest: str
    signoffs: tuple[str, ...] = ()

    def parameters(self) -> dict[str, Any]:
        """Give what a suite's queries may name."""
        return {
            "candidate": self.candidate,
            "baseline": self.baseline,
            "use": self.use,
            "now": self.now,
            "audit_digest": self.audit_digest,
            "signoffs": list(self.signoffs),
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """What the gate answered.

    Attributes:
        gate_id: Digest of the question and every answer.
        question: What was asked.
        judge_id: The candidate's judge.
        origin: Where that judge comes from, None if its audit did not record it.
        anchor_head: Head of the anchor ledger the candidate was scored with, None without an anchor set.
        rows: Rows of table `gates`.
        comparing: Names of the suites that compare with the approved audit.
    """

    gate_id: str
    question: Question
    judge_id: str
    origin: str | None
    anchor_head: str | None
    rows: tuple[Row, ...]
    comparing: frozenset[str]

    @property
    def blocking(self) -> tuple[Row, ...]:
        """What keeps the gate from opening."""
        return tuple(row for row in self.rows if row["severity"] == CRITICAL and row["state"] != OPEN)

    @property
    def warnings(self) -> tuple[Row, ...]:
        """What is not met and stops nothing."""
        return tuple(row for row in self.rows if row["severity"] == WARNING and row["state"] != OPEN)

    @property
    def state(self) -> str:
        """Shut if anything is; else cannot be asked if anything needed cannot; else open."""
        states = {row["state"] for row in self.blocking}
        return SHUT if SHUT in states else CANNOT if states else OPEN

    def compares(self, row: Row) -> bool:
        """Tell whether a row is about the comparison with the approved audit."""
        return row["suite"] in self.comparing or (row["suite"], row["expectation"]) == (RESERVED, "approved")

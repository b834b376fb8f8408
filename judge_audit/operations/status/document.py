"""The answer to `judge-audit status` as plain values, as schemas/status/status.schema.json describes it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from judge_audit_schemas.rows import AuditsRow, GatesRow, MeasuresRow, NoticesRow

from judge_audit.core.errors import EXIT_GOOD, EXIT_JUDGE_FAILED, EXIT_USAGE, UsageError
from judge_audit.core.messages import say
from judge_audit.core.tables import rows_of
from judge_audit.core.vocabulary import POOLED
from judge_audit.decisions.gate.approvals import approvals_of
from judge_audit.decisions.gate.model import CANNOT, CRITICAL, OPEN, SHUT
from judge_audit.decisions.standings import position_of
from judge_audit.lake.audits import first_names
from judge_audit.operations.runs.run_history import BAD, LOST, newest, read_runs
from judge_audit.operations.runs.run_record import GATE, lost_reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime, timedelta

    from judge_audit_schemas.rows import ApprovalsRow

    from judge_audit.lake import Lake
    from judge_audit.operations.runs.run_history import Runs

    Row = Mapping[str, Any]

FORMAT = 1
"""Number of the document's shape; changes are additive within a number."""

NEVER = "never asked"
FIRST_REASONS = 3
NO_AUDIT, STALE, GATE_SHUT, GATE_UNASKED = "no_audit", "stale", "gate_shut", "gate_unasked"
FIRST_LOOK = 24
"""Audits that are looked at first; further ones are read only where a judge has no complete one among them."""


def make_status(lake: Lake, *, now: datetime, judge: str = "", max_age: timedelta | None = None) -> Row:
    """Gather how things stand in a lake; nothing is written.

    Args:
        lake: The lake.
        now: The time.
        judge: Name or id of the judge to tell of; "" for those that are approved, else that of the newest audit.
        max_age: How old the last good audit may be; None for any age.

    Raises:
        UsageError: If the lake knows no such judge.
    """
    records = Records(lake, now)
    watched, others = records.watched(judge)
    judges = [_judge(records, name, max_age) for name in watched]
    codes = [entry["exit_code"] for entry in judges] or [EXIT_USAGE if max_age is None else EXIT_JUDGE_FAILED]
    code = EXIT_JUDGE_FAILED if EXIT_JUDGE_FAILED in codes else max(codes)
    return {
        "format": FORMAT,
        "lake": lake.url,
        "asked_at": now.isoformat(),
        "good": code == EXIT_GOOD,
        "exit_code": code,
        "max_age_seconds": max_age.total_seconds() if max_age is not None else None,
        "judges": judges,
        "other_judges": others,
        "undelivered": _undelivered(records),
    }


def _judge(records: Records, name: str, max_age: timedelta | None) -> Row:
    audit = records.last_good(name)
    approved = _approved(records, name)
    gates = _gates(records, name)
    last_good = _last_good(records, audit) if audit else None
    uses = {row["use"] for row in approved}
    decisive = [gate for gate in gates if gate["use"] in uses] or gates
    gate = decisive[0] if decisive else {"state": NEVER}
    findings = _findings(name, last_good, gate, max_age)
    codes = {row["exit_code"] for row in findings}
    code = EXIT_JUDGE_FAILED if EXIT_JUDGE_FAILED in codes else max(codes, default=EXIT_GOOD)
    return {
        "judge": name,
        "good": not findings,
        "exit_code": code,
        "findings": [{key: row[key] for key in ("finding", "text")} for row in findings],
        "last_good_audit": last_good,
        "last_failed_run": _last_failed(records, name, audit),
        "running": [_run(row) for row in records.of_judge(records.runs.living, name) if row["kind"] != GATE],
        "gate": gate,
        "gates": gates,
        "approved": approved,
    }


def _findings(name: str, audit: Row | None, gate: Row, max_age: timedelta | None) -> list[Row]:
    """Say what is not good, each with the exit code it asks for."""
    found: list[tuple[str, int, dict[str, str]]] = []
    if audit is None:
        found.append((NO_AUDIT, EXIT_USAGE if max_age is None else EXIT_JUDGE_FAILED, {}))
    elif max_age is not None and audit["age_seconds"] > (allowed := max_age.total_seconds()):
        ages = {"age": age_text(audit["age_seconds"]), "allowed": age_text(allowed)}
        found.append((STALE, EXIT_JUDGE_FAILED, ages))
    shut = {SHUT: (GATE_SHUT, EXIT_JUDGE_FAILED), CANNOT: (GATE_UNASKED, EXIT_USAGE)}.get(gate["state"])
    if shut and not gate.get("approved_since"):
        found.append((*shut, {"use": gate["use"]}))
    return [
        {"finding": finding, "text": say(f"status.{finding}", judge=name, **parts), "exit_code": code}
        for finding, code, parts in found
    ]


def _last_good(records: Records, audit: Row) -> Row:
    return {
        "audit_id": audit["audit_id"],
        "judge_id": audit["judge_id"],
        "started_at": audit["started_at"].isoformat(),
        "ended_at": audit["ended_at"].isoformat(),
        "age_seconds": _age(records, audit["ended_at"]),
        "position": position_of(records.lake, audit["audit_id"]),
        "coverage": records.coverage(audit),
        "code_version": audit["code_version"],
    }


def _last_failed(records: Records, name: str, audit: Row | None) -> Row | None:
    """Find the last run that should have made an audit and made none."""
    rows: list[Row] = [row for row in records.runs.ended if row["outcome"] in BAD]
    rows += [{**row, "outcome": LOST, "reason": lost_reason(row)} for row in records.runs.lost]
    rows = [row for row in records.of_judge(rows, name) if row["kind"] != GATE]
    if not rows:
        return None
    last = max(rows, key=lambda row: (row["started_at"], row["run_id"]))
    return {
        **_run(last),
        "outcome": last["outcome"],
        "ended_at": last["ended_at"].isoformat() if last["ended_at"] else None,
        "age_seconds": _age(records, last["ended_at"] or last["started_at"]),
        "exit_code": last["exit_code"],
        "reason": last["reason"],
        "audit_id": last["audit_id"],
        "since_last_good": audit is None or last["started_at"] > audit["ended_at"],
    }


def _run(row: Row) -> Row:
    parts = {name: row[name] for name in ("run_id", "kind", "host", "flow_run")}
    return {**parts, "started_at": row["started_at"].isoformat()}


def _gates(records: Records, name: str) -> list[Row]:
    """Give the last asking of the gate for each use, the newest first."""
    answers: dict[str, list[Row]] = {}
    for row in records.gate_rows:
        if records.name_of(row["judge_id"]) == name:
            answers.setdefault(row["gate_id"], []).append(row)
    # the same answer given again is the same rows: when it was last given, the runs know
    asked = {gate_id: (rows[0]["asked_at"], "") for gate_id, rows in answers.items()}
    for run in reversed(records.runs.ended):
        if run["gate_id"] in answers:
            asked[run["gate_id"]] = (run["ended_at"], run["state"])
    newest: dict[str, Row] = {}
    for gate_id, (when, state) in sorted(asked.items(), key=lambda entry: entry[1][0], reverse=True):
        rows = answers[gate_id]
        if rows[0]["use"] not in newest:
            newest[rows[0]["use"]] = _gate(records, rows, when, state)
    return list(newest.values())


def _gate(records: Records, rows: list[Row], when: datetime, state: str) -> Row:
    barring = [row for row in rows if row["severity"] == CRITICAL and row["state"] != OPEN]
    states = {row["state"] for row in barring}
    answer = state or (SHUT if SHUT in states else CANNOT if states else OPEN)
    barring.sort(key=lambda row: (row["state"] != SHUT, row["suite"], row["expectation"]))
    parts = ("suite", "expectation", "owner", "reason", "remedy")
    # the first approval, and one despite what stood in the way, are of a gate that was not open
    approved = any(
        (row["audit_id"], row["use"]) == (rows[0]["audit_id"], rows[0]["use"]) and row["approved_at"] >= when
        for row in records.approvals
    )
    return {
        "state": answer,
        "use": rows[0]["use"],
        "asked_at": when.isoformat(),
        "age_seconds": _age(records, when),
        "audit_id": rows[0]["audit_id"],
        "reasons": [{part: row[part] for part in parts} for row in barring[:FIRST_REASONS]],
        "more_reasons": max(0, len(barring) - FIRST_REASONS),
        "approved_since": approved,
    }


def _approved(records: Records, name: str) -> list[Row]:
    """Give the newest approval for each use, with how old the approved audit is."""
    newest: dict[str, Row] = {}
    for row in records.approvals:
        if records.name_of(row["judge_id"]) == name:
            newest.setdefault(row["use"], row)
    names = sorted({row["audit_id"] for row in newest.values()})
    ended = {row["audit_id"]: _age(records, row["ended_at"]) for row in records.audits(names)}
    return [
        {
            "use": use,
            "audit_id": row["audit_id"],
            "judge_id": row["judge_id"],
            "approved_at": row["approved_at"].isoformat(),
            "by": row["signer"],
            "audit_age_seconds": ended.get(row["audit_id"]),
        }
        for use, row in sorted(newest.items())
    ]


def _undelivered(records: Records) -> Row | None:
    """Give the last notice, if it did not arrive."""
    rows = rows_of(records.lake.read("notices"), NoticesRow)
    last = max(rows, key=lambda row: (row["sent_at"], not row["delivered"]), default=None)
    if last is None or last["delivered"]:
        return None
    parts = {name: last[name] for name in ("event", "told_to", "reason")}
    return {**parts, "sent_at": last["sent_at"].isoformat()}


def _age(records: Records, when: datetime | None) -> float:
    return max(0.0, (records.now - when).total_seconds()) if when is not None else 0.0


def age_text(seconds: float) -> str:
    """Write an age: a minute for all that is younger, minutes, then hours up to two days, then days."""
    minutes = seconds / 60
    if minutes < 1.5:
        return say("status.minute")
    if minutes < 90:
        return say("status.minutes", n=f"{minutes:.0f}")
    if minutes < 48 * 60:
        return say("status.hours", n=f"{minutes / 60:.0f}")
    return say("status.days", n=f"{minutes / 1440:.0f}")


@dataclass(eq=False)
class Records:
    """What a lake holds of runs, audits, gates and approvals, each read once and only where asked for.

    Attributes:
        lake: The lake.
        now: The time.
    """

    lake: Lake
    now: datetime

    @cached_property
    def names(self) -> dict[str, str]:
        """What each judge is called, by its id; controls are left out."""
        return first_names(self.lake)

    @cached_property
    def runs(self) -> Runs:
        """The latest runs, and every one without an end."""
        return read_runs(self.lake, self.now)

    @cached_property
    def audit_ids(self) -> list[str]:
        """The audits by name, the latest first as far as their names tell."""
        counts = self.lake.partitions("audits")
        names = counts if counts is not None else set(self.lake.read("audits")["audit_id"].to_pylist())
        return newest(names, len(names))

    @cached_property
    def recent_audits(self) -> list[AuditsRow]:
        """Complete audits among those looked at first, the latest ended last."""
        return self.audits(newest(self.audit_ids, FIRST_LOOK))

    @cached_property
    def all_audits(self) -> list[AuditsRow]:
        """Every complete audit, the latest ended last."""
        return self.audits(self.audit_ids)

    @cached_property
    def approvals(self) -> list[ApprovalsRow]:
        """The approvals, the newest first."""
        return approvals_of(self.lake)

    @cached_property
    def gate_rows(self) -> list[GatesRow]:
        """Answers of the gate about the audits looked at first, and about those of the latest runs."""
        asked = [row["audit_id"] for row in self.runs.ended if row["gate_id"]][:FIRST_LOOK]
        return rows_of(
            self.lake.read("gates", audit_id=sorted({*asked, *newest(self.audit_ids, FIRST_LOOK)})), GatesRow
        )

    def audits(self, names: list[str]) -> list[AuditsRow]:
        """Read complete audits by name, the latest ended last."""
        if not names:
            return []
        rows = rows_of(self.lake.read("audits", audit_id=names, status="complete"), AuditsRow)
        return sorted(rows, key=lambda row: (row["ended_at"], row["audit_id"]))

    def name_of(self, judge_id: str | None) -> str:
        """Give what a judge is called."""
        return self.names.get(judge_id or "", judge_id or "")

    def last_good(self, name: str) -> AuditsRow | None:
        """Find the last complete audit of a judge of a name."""
        for read in ("recent_audits", "all_audits"):
            audits: list[AuditsRow] = getattr(self, read)
            if own := [row for row in audits if self.name_of(row["judge_id"]) == name]:
                return own[-1]
        return None

    def watched(self, judge: str) -> tuple[list[str], list[str]]:
        """Give the names of the judges that are told of, and of the others in the lake.

        Args:
            judge: A name or judge_id; "" for those that are approved for anything, else that of the newest audit,
                else whatever runs were started for.

        Raises:
            UsageError: If the lake knows no such judge.
        """
        known = sorted(set(self.names.values()))
        if judge:
            asked_for = {row["judge"] for row in self._all_runs}
            name = self.names.get(judge, judge)
            if name not in known and name not in asked_for:
                listed = ", ".join(known) or "none"
                raise UsageError(
                    f"--judge {judge}: the lake at {self.lake.url} knows no such judge; those it knows: {listed}."
                )
            return [name], [other for other in known if other != name]
        chosen = list(dict.fromkeys(self.name_of(row["judge_id"]) for row in self.approvals))
        if not chosen and (audits := self.recent_audits or self.all_audits):
            chosen = [self.name_of(audits[-1]["judge_id"])]
        if not chosen:
            begun = [self.run_name(row) for row in self._all_runs]
            chosen = list(dict.fromkeys(name for name in begun if name))[:1]
        return sorted(chosen), [name for name in known if name not in chosen]

    def run_name(self, row: Row) -> str:
        """Give what the judge of a run is called, though the run may not have come to know it."""
        if row["judge_id"]:
            return self.name_of(row["judge_id"])
        for other in self._all_runs:
            if other["judge"] == row["judge"] and other["judge_id"]:
                return self.name_of(other["judge_id"])
        return str(row["judge"])

    def of_judge(self, rows: Iterable[Row], name: str) -> list[Row]:
        """Keep the runs of a judge of a name."""
        return [row for row in rows if name in {self.run_name(row), row["judge"]}]

    @property
    def _all_runs(self) -> tuple[Row, ...]:
        return (*self.runs.living, *self.runs.lost, *self.runs.ended)

    def coverage(self, audit: Row) -> Row:
        """Say of how much of what it asked an audit has an answer, and how much of real traffic it reached."""
        checks = ["completeness", "coverage"]
        rows = rows_of(
            self.lake.read("measures", audit_id=audit["audit_id"], check=checks, is_control=False),
            MeasuresRow,
        )
        lost: dict[str, float] = {}
        for row in rows:
            if (row["measure"], row["source"], row["subject"]) == ("state_share", POOLED, audit["judge_id"]):
                lost[row["dimension"]] = lost.get(row["dimension"], 0.0) + (row["value"] or 0.0)
        bare = {row["kind"]: row["value"] for row in rows if row["measure"] == "uncovered_share"}
        return {"answered_share": 1.0 - max(lost.values(), default=0.0), "uncovered_share": bare or None}

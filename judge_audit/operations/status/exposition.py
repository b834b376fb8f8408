"""How things stand, for a person at a terminal and for a program that scrapes figures."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from judge_audit.core.formatting import harmless, minute
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import Position
from judge_audit.decisions.gate.model import OPEN
from judge_audit.operations.status.document import NEVER, age_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Row = Mapping[str, Any]
    Sample = tuple[dict[str, str], float]

STEPS = [position.value for position in Position]

ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})

GAUGES = {
    "status_good": "1 if all is good, by the gate and by --max-age.",
    "last_good_audit_age_seconds": "Age of the last audit that came to its end.",
    "last_good_audit_timestamp_seconds": "When it ended, in Unix time.",
    "last_good_audit_answered_share": "Share of its questions that the judge answered.",
    "position": "Step the judge holds: 0 none, 1 screening, 2 filter and rank, 3 reward, 4 accept.",
    "gate_open": "1 if the gate was open when it was last asked for the use, else 0; never asked, no line.",
    "gate_asked_timestamp_seconds": "When the gate was last asked for the use, in Unix time.",
    "approved_audit_age_seconds": "Age of the audit that is approved for the use.",
    "failed_since_last_good_audit": "1 if a run failed, or ended without a word, after the last good audit.",
    "last_failed_run_timestamp_seconds": "When the last run that failed began, in Unix time.",
    "runs_running": "Runs that go on now.",
    "notice_undelivered": "1 if the last notice did not arrive.",
}
"""Every figure and what it says; all begin with judge_audit_."""


def status_lines(document: Row) -> list[str]:
    """Write the status for a terminal."""
    lines = [] if document["judges"] else [say("status.nobody", lake=document["lake"])]
    for entry in document["judges"]:
        lines += _judge_lines(entry)
    if document["other_judges"]:
        lines.append(say("status.others", list=", ".join(document["other_judges"])))
    if lost := document["undelivered"]:
        lines.append(
            say("status.undelivered", **{name: lost[name] for name in ("event", "told_to", "reason")})
        )
    return [harmless(line) for line in lines]


def _judge_lines(entry: Row) -> Iterator[str]:
    yield say("status.good" if entry["good"] else "status.bad", judge=entry["judge"])
    for finding in entry["findings"]:
        yield say("status.finding", text=finding["text"])
    if audit := entry["last_good_audit"]:
        coverage = audit["coverage"]
        yield say(
            "status.last_good",
            audit=audit["audit_id"],
            age=age_text(audit["age_seconds"]),
            position=audit["position"],
            answered=f"{100 * coverage['answered_share']:.1f} %",
        )
        if coverage["uncovered_share"]:
            shares = (
                f"{kind} {100 * (value or 0):.0f} %" for kind, value in coverage["uncovered_share"].items()
            )
            yield say("status.uncovered", list=", ".join(shares))
    for gate in entry["gates"] or [entry["gate"]]:
        yield from _gate_lines(gate)
    for row in entry["approved"]:
        key = "approved" if row["audit_age_seconds"] is not None else "approved_lost"
        age = age_text(row["audit_age_seconds"] or 0.0)
        yield say(f"status.{key}", use=row["use"], audit=row["audit_id"], by=row["by"], age=age)
    if not entry["approved"]:
        yield say("status.approved_none")
    if run := entry["last_failed_run"]:
        yield say(
            "status.failed",
            run=run["run_id"],
            outcome=run["outcome"],
            age=age_text(run["age_seconds"]),
            when=say("status.failed_since" if run["since_last_good"] else "status.failed_before"),
            reason=run["reason"],
        )
    for run in entry["running"]:
        yield say("status.running", run=run["run_id"], since=minute(run["started_at"]), host=run["host"])


def _gate_lines(gate: Row) -> Iterator[str]:
    if gate["state"] == NEVER:
        yield say("status.gate_never")
        return
    about = {"use": gate["use"], "audit": gate["audit_id"]}
    key = "gate_approved" if gate["approved_since"] and gate["state"] != OPEN else "gate"
    yield say(f"status.{key}", state=gate["state"], age=age_text(gate["age_seconds"]), **about)
    if key == "gate_approved":
        return
    for row in gate["reasons"]:
        yield say("status.reason", **row)
    if gate["more_reasons"]:
        yield say("status.more", n=gate["more_reasons"], **about)


def exposition(document: Row) -> str:
    """Write the status as figures in Prometheus' text format, version 0.0.4."""
    gauges: dict[str, list[Sample]] = {name: [] for name in GAUGES}
    gauges["status_good"].append(({}, float(document["good"])))
    gauges["notice_undelivered"].append(({}, float(document["undelivered"] is not None)))
    for entry in document["judges"]:
        for name, labels, value in _figures(entry):
            gauges[name].append(({"judge": entry["judge"], **labels}, value))
    lines = []
    for name, samples in gauges.items():
        if samples:
            lines += [f"# HELP judge_audit_{name} {GAUGES[name]}", f"# TYPE judge_audit_{name} gauge"]
            lines += [f"judge_audit_{name}{_labelled(labels)} {value!r}" for labels, value in samples]
    return "\n".join(lines) + "\n"


def _figures(entry: Row) -> Iterator[tuple[str, dict[str, str], float]]:
    if audit := entry["last_good_audit"]:
        yield "last_good_audit_age_seconds", {}, audit["age_seconds"]
        yield "last_good_audit_timestamp_seconds", {}, _unix(audit["ended_at"])
        yield "last_good_audit_answered_share", {}, audit["coverage"]["answered_share"]
        if audit["position"] in STEPS:
            yield "position", {}, float(STEPS.index(audit["position"]))
    for gate in entry["gates"]:
        yield "gate_open", {"use": gate["use"]}, float(gate["state"] == OPEN)
        yield "gate_asked_timestamp_seconds", {"use": gate["use"]}, _unix(gate["asked_at"])
    for row in entry["approved"]:
        if row["audit_age_seconds"] is not None:
            yield "approved_audit_age_seconds", {"use": row["use"]}, row["audit_age_seconds"]
    failed = entry["last_failed_run"]
    yield "failed_since_last_good_audit", {}, float(bool(failed and failed["since_last_good"]))
    if failed:
        yield "last_failed_run_timestamp_seconds", {}, _unix(failed["started_at"])
    yield "runs_running", {}, float(len(entry["running"]))


def _labelled(labels: Mapping[str, str]) -> str:
    """Write labels; a backslash, a quote and a line break in a value are escaped."""
    parts = (f'{name}="{value.translate(ESCAPES)}"' for name, value in labels.items())
    return "{" + ",".join(parts) + "}" if labels else ""


def _unix(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()

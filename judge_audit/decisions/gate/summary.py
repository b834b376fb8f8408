"""The gate's answer in a few lines that a person can act on, and the same for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import EXIT_GOOD, EXIT_JUDGE_FAILED, EXIT_USAGE
from judge_audit.core.formatting import harmless
from judge_audit.core.messages import say
from judge_audit.decisions.gate.model import CANNOT, OPEN, SHUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from judge_audit.decisions.gate.model import Answer

CODES = {OPEN: EXIT_GOOD, SHUT: EXIT_JUDGE_FAILED, CANNOT: EXIT_USAGE}
"""The exit code of each state."""

MARKS = {OPEN: "✓", SHUT: "✕", CANNOT: "?"}
WIDEST = 600
"""Characters of what was seen that a terminal is shown; the table and the JSON hold all of it."""


def lines_of(answer: Answer, judge: str) -> list[str]:
    """Write the answer for a terminal: what, why, who acts, what to do.

    Args:
        answer: The answer.
        judge: What to call the candidate's judge.
    """
    question = answer.question
    lines = [
        say(f"gate.lines.{answer.state}", judge=judge, use=question.use, asked=len(answer.rows)),
        say(
            "gate.lines.against",
            candidate=question.candidate,
            baseline=question.baseline or say("gate.lines.nothing"),
        ),
    ]
    blocking, warnings = (_gathered(_telling(answer, rows)) for rows in (answer.blocking, answer.warnings))
    for row in blocking:
        lines += _told(row)
    if warnings:
        lines.append(say("gate.lines.warnings"))
    for row in warnings:
        lines += _told(row)
    if answer.state == OPEN and question.candidate != question.baseline:
        lines.append(say("gate.lines.approve", candidate=question.candidate, use=question.use))
    return [harmless(line) for line in lines]


def _telling(answer: Answer, rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Leave out what only repeats that nothing is approved."""
    if answer.question.baseline:
        return list(rows)
    return [row for row in rows if row["suite"] not in answer.comparing]


def _gathered(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Put expectations of one suite that cannot be asked for the same reason into one."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        alone = row["expectation"] if row["state"] == SHUT else ""
        key = (row["suite"], row["state"], row["reason"], row["owner"], alone)
        if key in found:
            found[key]["expectation"] += f", {row['expectation']}"
        else:
            found[key] = dict(row)
    return sorted(found.values(), key=lambda row: row["state"] != SHUT)


def _told(row: Mapping[str, Any]) -> list[str]:
    """Write one row."""
    lines = [
        say(
            "gate.lines.reason",
            mark=MARKS[row["state"]],
            suite=row["suite"],
            expectation=row["expectation"],
            reason=row["reason"],
        )
    ]
    if row["observed"] and row["observed"] not in row["reason"] and row["state"] == SHUT:
        seen = row["observed"]
        lines.append(
            say("gate.lines.observed", observed=seen if len(seen) <= WIDEST else seen[: WIDEST - 1] + "…")
        )
    lines.append(say("gate.lines.act", owner=row["owner"], remedy=row["remedy"]))
    return lines


def document_of(answer: Answer, judge: str) -> dict[str, Any]:
    """Give the answer for programs."""
    question = answer.question
    left_out = {"gate_id", "audit_id", "judge_id", "baseline", "use", "asked_at"}
    return {
        "gate_id": answer.gate_id,
        "state": answer.state,
        "exit_code": CODES[answer.state],
        "judge": judge,
        "judge_id": answer.judge_id,
        "candidate": question.candidate,
        "baseline": question.baseline or None,
        "use": question.use,
        "asked_at": question.now.isoformat(),
        "expectations": [
            {
                **{name: value for name, value in row.items() if name not in left_out},
                "compares": row["suite"] in answer.comparing,
            }
            for row in answer.rows
        ],
    }

"""Nights of audits as the stages commit them, without asking a judge: two commits of a run, two of its audit."""

from __future__ import annotations

from judge_audit.core.tables import from_rows


def audit_row(audit_id, status, when):
    row = {"audit_id": audit_id, "status": status, "judge_id": "judge", "plan_id": "plan", "started_at": when}
    return from_rows("audits", [row | {"ended_at": when if status == "complete" else None}])


def results(audit_id, value=0.5, rows=30):
    """Give the results of an audit by table."""
    key = {"audit_id": audit_id, "subject": "judge"}
    names = [f"axis-{number}" for number in range(rows)]
    return {
        "curves": from_rows(
            "curves",
            [
                key | {"check": "premature", "measure": "lift", "axis": name, "rung": 1, "strength": value}
                for name in names
            ],
        ),
        "measures": from_rows(
            "measures",
            [
                key | {"check": "premature", "measure": "edge_lift", "axis": name, "value": value}
                for name in names
            ],
        ),
        "verdicts": from_rows(
            "verdicts",
            [
                key
                | {
                    "check": "premature",
                    "measure": "edge_lift",
                    "axis": name,
                    "value": value,
                    "verdict": "pass",
                }
                for name in names
            ],
        ),
        "standings": from_rows(
            "standings",
            [{"audit_id": audit_id, "judge_id": "judge", "use": "position", "standing": f"at {value}"}],
        ),
    }


def write_night(lake, night, when, *, value=0.5, rows=30):
    """Write what one nightly audit commits."""
    audit_id, run = f"night-{night:04}", {"run_id": f"run-{night:04}", "kind": "run", "started_at": when}
    lake.commit({"runs": from_rows("runs", [run | {"outcome": "started"}])})
    lake.commit({"audits": audit_row(audit_id, "started", when)})
    lake.commit(
        {**results(audit_id, value, rows), "audits": audit_row(audit_id, "complete", when)}, several=True
    )
    lake.commit({"runs": from_rows("runs", [run | {"outcome": "complete", "ended_at": when}])})

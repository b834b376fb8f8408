"""Decisions: what production accepted and rejected."""

from __future__ import annotations

from judge_audit.inputs.ingest.columns import Field
from judge_audit.inputs.ingest.rows import named_rows

COLUMNS = (
    Field("decision_id", "name", needed=True, filled=True),
    Field("item_id", "name", needed=True, filled=True),
    Field("decision", needed=True, filled=True, allowed=("accept", "reject")),
    Field("source", "name"),
    Field("topic", "name"),
    Field("judge", "name"),
    Field("value", "number"),
    Field("stratum", "name"),
    Field("decided_at", "time"),
)

KIND = named_rows("decisions", COLUMNS, "decision_id")

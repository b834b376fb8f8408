"""Appeals: objections to decisions, and what became of them."""

from __future__ import annotations

from judge_audit.inputs.ingest.columns import Field
from judge_audit.inputs.ingest.rows import named_rows

COLUMNS = (
    Field("appeal_id", "name", needed=True, filled=True),
    Field("decision_id", "name", needed=True, filled=True),
    Field("outcome", needed=True, filled=True, allowed=("open", "upheld", "overturned")),
    Field("item_id", "name"),
    Field("channel", "name"),
    Field("appealed_at", "time"),
    Field("resolved_at", "time"),
)

KIND = named_rows("appeals", COLUMNS, "appeal_id")

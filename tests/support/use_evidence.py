"""Evidence of the uses: what production decided and what people did, beside a judge's scores."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
from labelled_evidence import table

from judge_audit.core.tables import schema

START = datetime(2026, 1, 5, tzinfo=UTC)
OWNED = {
    "acceptance": {
        "false_accept": {"limit": 0.2, "owner": "Ada"},
        "false_reject": {"limit": 0.2, "owner": "Bo"},
        "overturn": {"limit": 0.3, "owner": "Cy"},
        "appeal_channel": "form",
    }
}


def rows_of(name, rows):
    """Make a table as checks see it; what a row leaves out is empty."""
    wanted = pa.schema([field for field in schema(name) if field.name != "import_id"])
    blank = {field.name: "" if field.type == pa.string() else None for field in wanted}
    return pa.Table.from_pylist([{**blank, **row} for row in rows], schema=wanted) if rows else None


def given(n=60, *, scores=None, reviews=(), draws=(), decisions=(), appeals=(), choices=(), **rest):
    """Make evidence of items i00000 … whose score is their number unless said otherwise."""
    tables = {"reviews": reviews, "decisions": decisions, "appeals": appeals, "choices": choices}
    made = {name: rows_of(name, rows) for name, rows in tables.items()}
    made["draws"] = rows_of("draws", draws)
    values = np.arange(n, dtype=float) if scores is None else np.asarray(scores, float)
    return table({"overall": values}, {}, **made, **rest)


def item(at):
    return f"i{at:05d}"


def seen(queue, at, *outcomes, decision="", partner="", stratum=None, inclusion=0.5, size=None, pack="p"):
    """A draw of a pack, and the reviews that came back of it."""
    told = {"pack_id": pack, "queue": queue, "item_id": item(at), "decision_id": decision, "partner": partner}
    told |= {"inclusion": inclusion, "stratum": stratum or queue, "stratum_size": size}
    reviews = [
        {**told, "outcome": outcome, "annotator_id": f"r{who}", "judge": "j", "dimension": "overall"}
        for who, outcome in enumerate(outcomes)
    ]
    return told, reviews


def packed(entries):
    """Put draws and reviews apart."""
    entries = list(entries)
    return {"draws": [draw for draw, _ in entries], "reviews": [row for _, rows in entries for row in rows]}


def decided(at, decision, week=0, **more):
    when = START + timedelta(days=7 * week)
    row = {"decision_id": f"d{at}", "item_id": item(at), "decision": decision, "judge": "j", "source": "s"}
    return {**row, "decided_at": when, **more}


def appealed(at, outcome, week=0, **more):
    when = START + timedelta(days=7 * week)
    return {"appeal_id": f"a{at}", "decision_id": f"d{at}", "outcome": outcome, "resolved_at": when, **more}


def verdict(findings, measure):
    found = [row for row in findings.verdicts if row["measure"] == measure]
    assert len(found) == 1
    return found[0]


def measured(findings, measure, kind="*", source="*"):
    wanted = {"measure": measure, "kind": kind, "source": source}
    found = [
        row for row in findings.measures if all(row.get(name, "*") == value for name, value in wanted.items())
    ]
    assert len(found) == 1
    return found[0]

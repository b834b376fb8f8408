"""Evidence that holds nothing but what people said."""

from __future__ import annotations

import csv

import numpy as np
import pyarrow as pa

from judge_audit.checks.evidence import Evidence
from judge_audit.checks.people.agreement import run
from judge_audit.core.limits import read_limits
from judge_audit.judges.cards.card import Card

SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("item_id", "source", "topic", "prompt_id", "cluster", "dimension")]
    + [("annotator_id", pa.string()), ("value", pa.float64()), ("level", pa.string())]
    + [("low", pa.float64()), ("high", pa.float64()), ("higher_is_better", pa.bool_())]
)


def label(item, rater, value, **parts):
    """One row of the table `labels`."""
    row = {"item_id": item, "source": "s", "topic": "", "prompt_id": item, "cluster": None, "dimension": "d"}
    row |= {"annotator_id": rater, "value": value, "level": "ordinal", "low": None, "high": None}
    return row | {"higher_is_better": True} | parts


def labels_of(table, *, sources=("s",), topics=("",), raters=None, start=0, **parts):
    """Rows for a table of items × raters, NaN where missing; sources and topics take turns."""
    names = raters or [f"r{at}" for at in range(table.shape[1])]
    return [
        label(
            f"i{start + at:05d}",
            name,
            float(value),
            **({"source": sources[at % len(sources)], "topic": topics[at % len(topics)]} | parts),
        )
        for at, row in enumerate(table)
        for name, value in zip(names, row, strict=True)
        if np.isfinite(value)
    ]


def examined(rows, **parts):
    """Run the check on rows of labels."""
    given = {"audit_id": "x", "judge_id": "j", "is_control": False, "seed": 1, "limits": read_limits()}
    given |= {"card": Card(kind="t", name="t"), "axes": {}, "zones": pa.table({"item_id": []})}
    given |= {"responses": pa.table({"item_id": []})} | parts
    labels = pa.Table.from_pylist(rows, schema=SCHEMA) if rows is not None else None
    return run(Evidence(**given, labels=labels))


def value_of(findings, measure, **key):
    """Give the one row of a measure with that key, everything not named being `*`."""
    names = ("source", "topic", "dimension", "kind", "rater")
    wanted = {name: key.get(name, "*") for name in names}
    (row,) = [
        row
        for row in findings.measures
        if row["measure"] == measure and all(row.get(name, "*") == wanted[name] for name in names)
    ]
    return row


def found(findings, measure):
    """Give the verdicts on a measure."""
    return [row for row in findings.verdicts if row["measure"] == measure]


def read(path):
    """Read a CSV file as rows."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))

"""People's labels of the same pairs, put in the judge's place to measure the same figures on them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from judge_audit.judges.cards import Card
from judge_audit.vocabulary import ORIGINAL, OVERALL, State

if TYPE_CHECKING:
    from judge_audit.checks.evidence import Evidence

PEOPLE = "people"


def of_people(evidence: Evidence, labels: pa.Table) -> Evidence:
    """Let the mean label over raters of each picture and dimension answer instead of the judge."""
    sums: dict[tuple[str, str, int, str], list[float]] = {}
    for row in labels.to_pylist():
        if row["value"] is not None:
            name = (row["item_id"], row["axis"], row["rung"], row["dimension"])
            sums.setdefault(name, []).append(float(row["value"]))
    homes = {row["item_id"]: (row["source"], row["cluster"]) for row in evidence.originals}
    rows = [
        {"item_id": item, "source": homes.get(item, ("", item))[0], "topic": ""}
        | {"cluster": homes.get(item, ("", item))[1], "axis": axis, "rung": rung, "repeat": 0}
        | {"strength": 0.0, "dimension": dimension, "state": State.OK.value}
        | {"value": sum(values) / len(values)}
        for (item, axis, rung, dimension), values in sorted(sums.items())
    ]
    dimensions = tuple(sorted({row["dimension"] for row in rows if row["axis"] == ORIGINAL}))
    return replace(
        evidence,
        judge_id=PEOPLE,
        card=Card(kind=PEOPLE, name=PEOPLE, dimensions=dimensions or (OVERALL,)),
        responses=pa.Table.from_pylist(rows, schema=evidence.responses.schema),
        _cache={},
    )

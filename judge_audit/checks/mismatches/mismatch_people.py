"""People's labels of the same pairs, put in the judge's place to measure the same figures on them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from judge_audit.core.vocabulary import ORIGINAL, OVERALL, PAIR_AXIS, PEOPLE, State
from judge_audit.judges.cards.card import Card

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit.checks.evidence import Evidence


def of_people(evidence: Evidence, labels: pa.Table) -> Evidence:
    """Let the mean label over annotators of each member and dimension answer instead of the judge.

    Labels name a member as the items do; a damaged member that is no item of its own is named by the pair_id.

    Args:
        evidence: What the judge was asked, and the pairs.
        labels: What people said, columns as in `Evidence.labels`.
    """
    sums: dict[tuple[str, str, int, str], list[float]] = {}
    places = _members(evidence)
    for row in labels.to_pylist():
        if row["value"] is None:
            continue
        value = float(row["value"]) if row["higher_is_better"] else -float(row["value"])
        for item_id, axis, rung in places.get(row["item_id"], ()):
            sums.setdefault((item_id, axis, rung, row["dimension"]), []).append(value)
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


def in_our_words(evidence: Evidence) -> Evidence:
    """Call sub-scores as the kinds call them where the card says which is which, in answers and labels alike."""
    named = {called: name for name, called in evidence.card.means.items() if called != name}
    if not named:
        return evidence
    dimensions = tuple(named.get(name, name) for name in evidence.card.dimensions)
    tables = {name: getattr(evidence, name) for name in ("responses", "labels", "damaged_labels")}
    return replace(
        evidence,
        card=replace(evidence.card, dimensions=dimensions, means={}),
        _cache={},
        **{name: _renamed(table, named) for name, table in tables.items() if table is not None},
    )


def _renamed(table: pa.Table, named: Mapping[str, str]) -> pa.Table:
    """Write other names into the column dimension."""
    column = pa.array([named.get(name, name) for name in table["dimension"].to_pylist()], pa.string())
    return table.set_column(table.schema.get_field_index("dimension"), "dimension", column)


def _members(evidence: Evidence) -> dict[str, list[tuple[str, str, int]]]:
    """Say under which item, axis and rung each name that people used stands in the responses."""
    found = {row["item_id"]: [(row["item_id"], ORIGINAL, 0)] for row in evidence.originals}
    for pair in evidence.pairs.to_pylist() if evidence.pairs is not None else []:
        name = pair["pair_id"] if pair["intact"] == pair["damaged"] else pair["damaged"]
        place = (pair["damaged"], PAIR_AXIS + pair["kind"], pair["rung"])
        found.setdefault(name, []).append(place)
    return found

"""The rows an audit rests on, counted and digested table by table, whatever files they lie in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from judge_audit.digests import row_digest, text_digest
from judge_audit.tables import definition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit.lake import Lake

RESULTS = ("audits", "curves", "measures", "verdicts", "standings")
"""Tables of an audit's own results, in the order in which they are digested."""

COMPARISONS = ("change", "replay")
"""Checks that compare an audit with another one; they are written when somebody asks."""

NAMED_UP_TO = 2_000
"""Tables with no more rows than this are digested row by row too, so that a changed row can be named."""

ROW_CHARS = 16


@dataclass(frozen=True, slots=True)
class Digested:
    """The rows of one table.

    Attributes:
        rows: How many.
        digest: Of all of them, whatever their order.
        each: Digest of each row by its key, empty if there are too many to name.
    """

    rows: int
    digest: str
    each: Mapping[str, str]


def digested(name: str, table: pa.Table) -> Digested:
    """Digest the rows of a table."""
    if table.num_rows > NAMED_UP_TO:
        return Digested(table.num_rows, row_digest(table), {})
    key = definition(name).key
    each = {
        "/".join(str(row[column]) for column in key): row_digest(table.slice(place, 1))[:ROW_CHARS]
        for place, row in enumerate(table.select(list(key)).to_pylist())
    }
    return Digested(table.num_rows, row_digest(table), each)


def results_of(lake: Lake, audit_id: str) -> dict[str, pa.Table]:
    """Read an audit's own results, without what it was compared with later."""
    found = {name: lake.read(name, audit_id=audit_id) for name in RESULTS}
    for name in ("measures", "verdicts"):
        later = pc.is_in(found[name]["check"], value_set=pa.array(COMPARISONS))
        found[name] = found[name].filter(pc.invert(later))
    return found


def audit_digest(lake: Lake, audit_id: str) -> str:
    """Digest an audit's own results: what an approval or a sign-off is given for."""
    parts = [text for name, table in results_of(lake, audit_id).items() for text in (name, row_digest(table))]
    return text_digest("audit", *parts)


def evidence_of(lake: Lake, audit: Mapping[str, Any]) -> dict[str, pa.Table]:
    """Read everything an audit's figures were made of: its plan and the judge's answers to it.

    Args:
        lake: The lake.
        audit: A row of `audits`.
    """
    plan_id, judge_id = audit["plan_id"], audit["judge_id"]
    plan = {name: lake.read(name, plan_id=plan_id) for name in ("items", "probes", "zones")}
    asked = pc.unique(plan["probes"]["probe_id"])
    answers = {}
    for name in ("calls", "scores"):
        held = lake.read(name, judge_id=judge_id)
        answers[name] = held.filter(pc.is_in(held["probe_id"], value_set=asked))
    return {**plan, **answers, "judges": lake.read("judges", judge_id=judge_id)}

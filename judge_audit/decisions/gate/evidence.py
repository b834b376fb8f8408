"""The rows an audit rests on, counted and digested table by table, whatever files they lie in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from judge_audit.core.digests import row_digest
from judge_audit.core.tables import definition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit.lake import Lake

PLAN = ("items", "probes", "zones")
EVIDENCE = (*PLAN, "judges", "calls", "scores")
"""Tables of what an audit's figures were made of."""

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


def evidence_of(lake: Lake, name: str, audit: Mapping[str, Any]) -> pa.Table:
    """Read one table of what an audit's figures were made of: its plan, the judge, its answers to the plan.

    Args:
        lake: The lake.
        name: One of `EVIDENCE`.
        audit: A row of `audits`.
    """
    if name in PLAN:
        return lake.read(name, plan_id=audit["plan_id"])
    held = lake.read(name, judge_id=audit["judge_id"])
    if name == "judges":
        return held
    asked = lake.read("probes", plan_id=audit["plan_id"])["probe_id"]
    return held.filter(pc.is_in(held["probe_id"], value_set=pc.unique(asked)))


def compared_of(lake: Lake, audit: Mapping[str, Any]) -> pa.Table:
    """Read what a judge that compares answered to the plan of an audit.

    Args:
        lake: The lake.
        audit: A row of `audits`.
    """
    held = lake.read("comparisons", judge_id=audit["judge_id"])
    asked = pc.unique(lake.read("probes", plan_id=audit["plan_id"])["probe_id"])
    inside = [pc.is_in(held[name], value_set=asked) for name in ("left_probe", "right_probe")]
    return held.filter(pc.and_(*inside))

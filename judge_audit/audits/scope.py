"""What an audit has to have evidence on: all that was ever asked of its judge, and all that is asked by default.

A narrower audit must not earn what a wider one would not. So the ladders, sub-scores, mismatch kinds and sources of
every earlier audit of the same lineage are due again, besides the shipped default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from judge_audit.audits.plugins import find_axes
from judge_audit.core.vocabulary import MISMATCHES, ORIGINAL, POOLED
from judge_audit.decisions.gate.approvals import approvals_of
from judge_audit.decisions.lineage import audits_of, lineage_of
from judge_audit.decisions.standings import Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit_schemas.rows import AuditsRow

    from judge_audit.audits.model import Prepared, ScoringSetup
    from judge_audit.lake import Lake

TABLE_KIND = "table"


def scope_of(setup: ScoringSetup, prepared: Prepared, audit: AuditsRow) -> Scope:
    """Give the scope of an audit.

    Args:
        setup: What the audit asked with.
        prepared: The audit.
        audit: Its row of `audits`.
    """
    card, plans = setup.judge.card, setup.plans
    items = plans.untouched_items(prepared.plan_id)
    sources = frozenset(items["source"].to_pylist())
    prompts = set(items["prompt"].to_pylist())
    is_table = card.kind == TABLE_KIND
    default = {name for name, part in find_axes("").items() if part.thing.default}
    earlier = _earlier(setup.lake, audit)
    cases = {
        "table": is_table,
        "compares": card.compares,
        "one_source": len(sources) == 1,
        "no_prompt": not card.needs_prompt and prompts <= {"", None},
    }
    return Scope(
        axes=frozenset(default | earlier.axes),
        dimensions=frozenset(card.dimensions) | (earlier.dimensions if not card.compares else frozenset()),
        kinds=frozenset() if card.compares else frozenset(MISMATCHES) | earlier.kinds,
        dropped=earlier.dropped - sources if earlier.dropped else frozenset(),
        sources=tuple(sorted(sources)),
        cannot=frozenset(case for case, holds in cases.items() if holds),
    )


def _earlier(lake: Lake, audit: AuditsRow) -> Scope:
    """Gather what earlier audits of the lineage had verdicts on; `dropped` holds all their sources."""
    lineage = lineage_of(audit, approvals_of(lake))
    rows = [row for row in audits_of(lake, lineage) if row["audit_id"] != audit["audit_id"]]
    if not rows:
        return Scope()
    subjects = sorted({row["judge_id"] for row in rows})
    columns = ["check", "measure", "axis", "dimension", "kind"]
    equals = {"audit_id": [row["audit_id"] for row in rows], "subject": subjects, "is_control": False}
    verdicts = lake.select("verdicts", columns, equals)

    def values(check: str, column: str) -> frozenset[str]:
        chosen = pc.unique(verdicts.filter(pc.equal(verdicts["check"], check))[column]).to_pylist()
        return frozenset(str(value).partition(" (")[0] for value in chosen) - {POOLED}

    return Scope(
        axes=values("premature", "axis"),
        dimensions=values("scale", "dimension"),
        kinds=values("mismatch", "kind") & frozenset(MISMATCHES),
        dropped=_sources(lake, rows),
    )


def _sources(lake: Lake, audits: Sequence[AuditsRow]) -> frozenset[str]:
    """Name the sources of the untouched items of some audits."""
    plans = sorted({row["plan_id"] for row in audits if row["plan_id"]})
    items = lake.select("items", ["plan_id", "item_id", "source"], {"plan_id": plans})
    probes = lake.select("probes", ["plan_id", "item_id", "axis"], {"plan_id": plans})
    asked = probes.filter(pc.equal(probes["axis"], ORIGINAL)).select(["plan_id", "item_id"])
    own = items.join(
        asked.group_by(["plan_id", "item_id"]).aggregate([]), ["plan_id", "item_id"], join_type="inner"
    )
    return frozenset(pa.chunked_array(own["source"]).unique().to_pylist())

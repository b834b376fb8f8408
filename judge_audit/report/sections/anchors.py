"""The part of the report on the anchor set: which version was used, what it covers and what it does not."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from judge_audit.anchors.coverage import TIERS, coverage
from judge_audit.anchors.tables import SCHEMA
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import ANCHOR
from judge_audit.report.facts import where

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit.report.facts import Facts


def anchors_of(facts: Facts) -> dict[str, Any] | None:
    """Give set, version, head, coverage and gaps; None if the audit used no anchors."""
    audit = facts.audit
    if audit.get("anchor_set") is None:
        return None
    table = pa.Table.from_pylist(facts.anchors, schema=SCHEMA)
    sources = [source for source in facts.items["source_names"] or () if source]
    covered = coverage(table, facts.limits["scale.min_end_anchors"], sources)
    return {
        "set_id": audit["anchor_set"],
        "version": audit["anchor_version"],
        "head": audit["anchor_head"],
        "newest": facts.newest_anchors,
        "calls": sum(row["calls"] for row in where(facts.states, axis=ANCHOR)),
        **asdict(covered),
    }


def anchor_lines(part: Mapping[str, Any]) -> list[str]:
    """Say in words which version was used and how its labels are spread."""
    tiers = ", ".join(f"{part['tiers'][tier]} {tier}" for tier in TIERS)
    short = {"head": part["head"][:12], "set": part["set_id"][:12]}
    lines = [
        say("anchors.report.used", version=part["version"], n=part["anchors"], tiers=tiers, **short),
        say("anchors.report.kept"),
    ]
    if (part["newest"] or 0) > part["version"]:
        lines.append(say("anchors.report.newer", newest=part["newest"]))
    return lines

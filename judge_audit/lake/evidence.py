"""The evidence that decisions about an audit rest on: whether it is as it was committed, and one digest of it all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from judge_audit_schemas.rows import ApprovalsRow, AuditsRow

from judge_audit.core.digests import merkle_root, row_hashes, text_digest
from judge_audit.core.messages import say
from judge_audit.core.tables import empty, rows_of, sort_by_key
from judge_audit.lake.audits import RESULTS, result_of
from judge_audit.lake.integrity import Checked, Damage, DamagedError, damaged
from judge_audit.lake.relations import Rows, as_of_query, fetch, files_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from datetime import datetime

    from judge_audit.lake.lake import Lake

SHARED = (
    "audits",
    "judges",
    "judge_labels",
    "approvals",
    "purges",
    "anchors",
    "anchor_labels",
    "anchor_ledger",
    "decisions",
)
"""Tables that decisions read wholly: which audits, judges and approvals there are."""

OF_AUDIT = ("curves", "measures", "verdicts", "standings", "strengths", "signoffs", "gates", "canary_nights")
OF_PLAN = ("items", "refusals", "probes", "mismatches", "unsuited", "zones")
OF_JUDGE = ("calls", "scores", "comparisons", "rank_changes")
NAMED = 5
"""Damages named in an error; the rest are counted."""


def damaged_evidence(lake: Lake, audits: Iterable[str] = (), tables: Collection[str] = ()) -> list[Damage]:
    """List what is damaged of the evidence that a decision reads.

    Args:
        lake: The lake.
        audits: The audits that are decided about, and those they are held against; "" is left out.
        tables: Further tables that are read, those of raw answers and plans only as far as they are of these audits.

    Raises:
        MachineryError: If the lake cannot be reached.
    """
    wanted: dict[str, Collection[str] | None] = dict.fromkeys(SHARED)
    wanted |= dict.fromkeys(name for name in tables if name not in (*OF_PLAN, *OF_JUDGE))
    found = damaged(lake, wanted).damages
    names = sorted(set(audits) - {""})
    if found or not names:
        return found
    rows = rows_of(lake.read("audits", audit_id=names), AuditsRow)
    plans = sorted({plan for row in rows for plan in _plans(row)})
    # What an audit can see is proved by its controls, whose answers are therefore evidence as well.
    controls = lake.select("judges", ["judge_id"], {"is_control": True})["judge_id"].to_pylist()
    judges = sorted({*controls, *(row["judge_id"] for row in rows)})
    ours = dict.fromkeys(OF_AUDIT, names) | dict.fromkeys(OF_PLAN, plans) | dict.fromkeys(OF_JUDGE, judges)
    return damaged(lake, {name: ours[name] for name in ours if name not in wanted}).damages


def see_whole(lake: Lake, audits: Iterable[str] = (), tables: Collection[str] = ()) -> None:
    """See that the evidence a decision reads is as it was committed.

    Args:
        lake: The lake.
        audits: As in `damaged_evidence`.
        tables: As in `damaged_evidence`.

    Raises:
        DamagedError: If anything is damaged; names it and says how to recover.
    """
    found = damaged_evidence(lake, audits, tables)
    if found:
        more = [say("lake.cannot.more", n=len(found) - NAMED)] if len(found) > NAMED else []
        raise DamagedError(
            "\n".join(
                [
                    say("lake.cannot.decide"),
                    *(f"  {one}" for one in found[:NAMED]),
                    *(f"  {line}" for line in more),
                    say("lake.cannot.all"),
                ]
            )
        )


def audit_root(lake: Lake, audit_id: str) -> str:
    """Digest all rows that an audit rests on: its results, its plan, its judge and the answers it had when it ended.

    Each table is a Merkle tree over its rows in the order of their keys, and the root is a digest of the tables' roots.
    Files do not enter, so sealing and compaction change nothing, and neither do answers that were asked for later.

    Returns:
        32 hex characters; "" if there is no such audit.
    """
    rows = rows_of(lake.read("audits", audit_id=audit_id), AuditsRow)
    if not rows:
        return ""
    audit = next((row for row in rows if row["status"] == "complete"), rows[0])
    parts = [
        text
        for name, table in _evidence(lake, audit)
        if table.num_rows
        for text in (name, merkle_root(row_hashes(sort_by_key(name, table))))
    ]
    return text_digest("root", *parts)


def _plans(audit: AuditsRow) -> list[str]:
    """Name the plans of an audit: its own, and those of combined changes."""
    configured = json.loads(audit["configuration"] or "{}").get("combined_ids", ())
    return [audit["plan_id"], *(plan for plan in configured if plan)]


def _evidence(lake: Lake, audit: AuditsRow) -> Iterator[tuple[str, pa.Table]]:
    """Give the rows that an audit rests on, table by table, always in the same order."""
    audit_id, judge_id, plans = audit["audit_id"], audit["judge_id"], _plans(audit)
    for name in RESULTS:
        yield name, result_of(lake, name, audit_id)
    yield "strengths", lake.read("strengths", audit_id=audit_id)
    yield "judges", lake.read("judges", judge_id=judge_id)
    for name in ("items", "probes", "mismatches"):
        yield name, lake.read(name, plan_id=plans)
    zones_id = json.loads(audit["configuration"] or "{}").get("zones_id")
    yield "zones", lake.read("zones", plan_id=plans, **({"zones_id": zones_id} if zones_id else {}))
    if audit["anchor_set"]:
        key = {"set_id": audit["anchor_set"], "anchor_version": audit["anchor_version"]}
        for name in ("anchors", "anchor_labels"):
            yield name, lake.read(name, **key)
    probes = pc.unique(lake.select("probes", ["probe_id"], {"plan_id": plans})["probe_id"])
    for name in ("calls", "scores", "comparisons"):
        yield name, _answers(lake, name, judge_id, probes, audit["ended_at"])


def _answers(lake: Lake, name: str, judge_id: str, probes: pa.Array, until: datetime | None) -> pa.Table:
    """Read a judge's committed answers to some probes as they counted at a time."""
    files = lake.files(name, judge_id)
    if not files:
        return empty(name)
    calls = lake.files("calls", judge_id)
    query = as_of_query(
        name, Rows(files_literal(files)), Rows(files_literal(calls)) if calls else None, until
    )
    held = fetch(query, [], {}).cast(empty(name).schema)
    held = held.filter(pc.equal(held["judge_id"], judge_id))
    columns = ("left_probe", "right_probe") if name == "comparisons" else ("probe_id",)
    for column in columns:
        held = held.filter(pc.is_in(held[column], value_set=probes))
    return held


def check_lake(lake: Lake, told: Callable[[int, int], None]) -> Checked:
    """Hold a whole lake against its digests, and every approved audit against the root it was approved with.

    Args:
        lake: The lake.
        told: Called with how many files were checked, and of how many.

    Raises:
        MachineryError: If the lake cannot be reached.
    """
    checked = damaged(lake, thorough=True, told=told)
    if not checked.damages:
        checked.damages += changed_approvals(lake)
    return checked


def changed_approvals(lake: Lake) -> list[Damage]:
    """List the approvals whose audits are no longer what was approved."""
    found = []
    roots: dict[str, str] = {}
    for row in rows_of(lake.read("approvals"), ApprovalsRow):
        audit_id = row["audit_id"]
        if not row["root"]:
            continue
        if audit_id not in roots:
            roots[audit_id] = audit_root(lake, audit_id)
        if roots[audit_id] != row["root"]:
            told = {"audit": audit_id, "name": row["signer"], "at": f"{row['approved_at']:%Y-%m-%d}"}
            said, remedy = say("lake.damaged.root", **told), say("lake.damaged.approve")
            found.append(Damage("", "", "approvals", 1, said, remedy))
    return found


def is_as_approved(lake: Lake, approval: ApprovalsRow) -> bool:
    """Tell whether the rows of an approved audit are those that were approved; true where no root was kept."""
    return not approval["root"] or audit_root(lake, approval["audit_id"]) == approval["root"]

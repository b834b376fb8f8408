"""Between asking and measuring: plan the combined changes that a judge's scores so far would choose."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from judge_audit.audits.session import responses
from judge_audit.audits.stages.canaries import keep_to
from judge_audit.audits.stages.plan import combined_plans, count_asked, unsettled_of
from judge_audit.checks.evidence import Evidence
from judge_audit.checks.ladders.headroom_choice import choose
from judge_audit.core.limits import read_limits
from judge_audit.core.tables import empty, from_rows
from judge_audit.core.vocabulary import ORIGINAL, State
from judge_audit.stimuli.axes import fingerprint
from judge_audit.stimuli.combinations import CHOSEN_MOST, combined_rows, visible_points
from judge_audit.stimuli.planning.blocks import blocks
from judge_audit.stimuli.planning.probe_ids import RETEST
from judge_audit.stimuli.planning.probes import Plan

if TYPE_CHECKING:
    from judge_audit.audits.model import Prepared
    from judge_audit.audits.session import Session
    from judge_audit.judges.cards.card import Card


def combine(current: Session, prepared: Prepared) -> Prepared:
    """Choose what to combine by the scores of the ladders and soundings, and plan it for every ladder item.

    What was chosen once for a judge, a plan and its zones stands: a killed audit goes on with it.

    Args:
        current: The session.
        prepared: The audit, every block of which is scored.

    Returns:
        The audit with the blocks of this second round instead of the first's, and its calls counted in.
    """
    if current.judge.card.compares:
        return replace(prepared, blocks=())
    keep_to(current, prepared.canaries)
    probes = chosen_probes(current, prepared, current.judge.card)
    new, left = unsettled_of(current, probes)
    items = current.plan_table("items", prepared.plan_id)
    # All that carry combinations, whatever is answered: blocks are fixed by the plan.
    carriers = items.filter(pc.is_in(items["item_id"], value_set=probes["item_id"].combine_chunks().unique()))
    _, name = combined_plans(prepared, prepared.judge_id)
    nothing = {table: empty(table) for table in ("refusals", "mismatches", "unsuited")}
    second = Plan(plan_id=name, items=carriers, probes=probes, ladder_items=(), sight_items=(), **nothing)
    return replace(
        prepared,
        blocks=tuple(
            replace(block, plan_id=name) for block in blocks(second, current.judge.card.batch_size, left)
        ),
        new_calls=prepared.new_calls + new,
        reused_calls=prepared.reused_calls + count_asked(probes) - new,
    )


def chosen_at_most(current: Session, prepared: Prepared) -> int:
    """Count the calls that the second round may ask for at the most, before any score is known."""
    sounded, _ = combined_plans(prepared, prepared.judge_id)
    if not current.plan_table("probes", sounded).num_rows:
        return 0
    zones = current.zones(prepared.plan_id, prepared.zones_id)
    carriers = len(set(zones["item_id"].to_pylist()))
    return CHOSEN_MOST * carriers * current.configuration.repeats


def chosen_probes(current: Session, prepared: Prepared, card: Card) -> pa.Table:
    """Give the probes of what a judge's scores chose, planned now if they were not before."""
    sounded, name = combined_plans(prepared, card.judge_id)
    held = current.plan_table("probes", name)
    zones = current.zones(prepared.plan_id, prepared.zones_id)
    if held.num_rows or not zones.num_rows:
        return held
    given = responses(current, prepared.plan_id, card.judge_id, sounded)
    recipes = choose(_evidence(current, prepared, card, given, zones))
    carriers = set(zones["item_id"].to_pylist())
    items = [
        row for row in current.plan_table("items", prepared.plan_id).to_pylist() if row["item_id"] in carriers
    ]
    repeats = current.configuration.repeats
    rows = combined_rows(
        items,
        recipes,
        visible_points(zones.to_pylist(), current.axes),
        current.axes,
        # A judge that does not repeat itself is asked afresh: its best look is not its gain.
        max(repeats, RETEST) if _wavers(given) else repeats,
    )
    if rows:
        current.lake.commit({"probes": from_rows("probes", [{**row, "plan_id": name} for row in rows])})
    return current.plan_table("probes", name)


def drawn_without_pictures(probes: pa.Table) -> dict[tuple[str, int], dict[str, Any]]:
    """Stand for the calls that know what was drawn, where only controls are asked: they look at no picture."""
    row = {"state": State.OK.value, "renderer": fingerprint(), "pixel_digest": ""}
    return {(probe["probe_id"], probe["repeat"]): row for probe in probes.to_pylist()}


def _wavers(given: pa.Table) -> bool:
    """Tell whether an untouched item ever got another score when it was asked again."""
    first: dict[tuple[str, str], float] = {}
    for row in given.filter(pc.equal(given["axis"], ORIGINAL)).to_pylist():
        if row["value"] is not None:
            key = (row["item_id"], row["dimension"])
            if round(row["value"] - first.setdefault(key, row["value"]), 9):
                return True
    return False


def _evidence(current: Session, prepared: Prepared, card: Card, given: pa.Table, zones: pa.Table) -> Evidence:
    return Evidence(
        audit_id=prepared.audit_id,
        judge_id=card.judge_id,
        is_control=False,
        card=card,
        seed=current.configuration.seed,
        responses=given,
        zones=zones,
        axes=current.axes,
        limits=read_limits(current.configuration.limits),
    )

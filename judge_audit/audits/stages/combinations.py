"""Between asking and measuring: plan the combined changes that a judge's scores so far would choose."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from judge_audit_schemas.rows import CallsRow, ProbesRow

from judge_audit.audits.stages.answers import responses
from judge_audit.audits.stages.plan import count_asked, unanswered
from judge_audit.checks.evidence import Evidence
from judge_audit.checks.ladders.headroom import choose
from judge_audit.core.limits import read_limits
from judge_audit.core.tables import empty, from_rows, rows_of, sort_by_key
from judge_audit.core.vocabulary import ORIGINAL, State
from judge_audit.stimuli.axes import fingerprint
from judge_audit.stimuli.combinations import CHOSEN_MOST, combined_rows, visible_points
from judge_audit.stimuli.planning.blocks import blocks
from judge_audit.stimuli.planning.probe_ids import RETEST
from judge_audit.stimuli.planning.probes import Plan

if TYPE_CHECKING:
    from judge_audit.audits.model import Prepared, ScoringSetup
    from judge_audit.judges.cards.card import Card


def combine(setup: ScoringSetup, prepared: Prepared) -> Prepared:
    """Choose what to combine by the scores of the ladders and soundings, and plan it for every ladder item.

    What was chosen once for a judge, a plan and its zones is kept: a killed audit goes on with it.

    Args:
        setup: What it takes to ask.
        prepared: The audit, every block of which is scored.

    Returns:
        The audit with the blocks of this second round instead of the first's, and its calls counted in.
    """
    if not setup.mode.combines:
        return replace(prepared, blocks=())
    card = setup.judge.card
    probes = chosen_probes(setup, prepared, card)
    new, left = unanswered(setup.lake, probes, card)
    items = setup.plans.table("items", prepared.plan_id)
    # All that carry combinations, whatever is answered: blocks are fixed by the plan.
    carriers = items.filter(pc.is_in(items["item_id"], value_set=probes["item_id"].combine_chunks().unique()))
    name = prepared.combinations_id(prepared.judge_id)
    nothing = {table: empty(table) for table in ("refusals", "mismatches", "unsuited")}
    second = Plan(plan_id=name, items=carriers, probes=probes, ladder_items=(), sight_items=(), **nothing)
    return replace(
        prepared,
        blocks=tuple(replace(block, plan_id=name) for block in blocks(second, card.batch_size, left)),
        new_calls=prepared.new_calls + new,
        reused_calls=prepared.reused_calls + count_asked(probes) - new,
    )


def chosen_at_most(setup: ScoringSetup, prepared: Prepared) -> int:
    """Count the calls that the second round may ask for at the most, before any score is known."""
    if not setup.plans.table("probes", prepared.soundings_id).num_rows:
        return 0
    zones = setup.plans.zones(prepared.plan_id, prepared.zones_id)
    carriers = len(set(zones["item_id"].to_pylist()))
    return CHOSEN_MOST * carriers * setup.configuration.repeats


def chosen_probes(setup: ScoringSetup, prepared: Prepared, card: Card) -> pa.Table:
    """Give the probes of what a judge's scores chose, planned now if they were not before."""
    probes, new = choose_probes(setup, prepared, card)
    if new:
        setup.lake.commit({"probes": probes})
    return probes


def choose_probes(setup: ScoringSetup, prepared: Prepared, card: Card) -> tuple[pa.Table, bool]:
    """Give the probes of what a judge's scores chose or choose now, and whether they are to be committed."""
    name = prepared.combinations_id(card.judge_id)
    chosen = setup.plans.table("probes", name)
    zones = setup.plans.zones(prepared.plan_id, prepared.zones_id)
    if chosen.num_rows or not zones.num_rows:
        return chosen, False
    scores = responses(setup.plans, prepared.plan_id, card.judge_id, prepared.soundings_id)
    recipes = choose(_evidence(setup, prepared, card, scores, zones))
    carriers = set(zones["item_id"].to_pylist())
    items = [row for row in setup.plans.items(prepared.plan_id) if row["item_id"] in carriers]
    repeats = setup.configuration.repeats
    rows = combined_rows(
        items,
        recipes,
        visible_points(zones.to_pylist(), setup.stimuli.axes),
        setup.stimuli.axes,
        # A judge that does not repeat itself is asked afresh: its best look is not its gain.
        max(repeats, RETEST) if _wavers(scores) else repeats,
    )
    table = from_rows("probes", [{**row, "plan_id": name} for row in rows])
    return sort_by_key("probes", table), bool(rows)


def drawn_without_pictures(probes: pa.Table) -> dict[tuple[str, int], CallsRow]:
    """Stand for the calls that know what was drawn, where only controls are asked: they look at no picture."""
    row: CallsRow = {"state": State.OK.value, "renderer": fingerprint(), "pixel_digest": ""}
    return {(probe["probe_id"], probe["repeat"]): row for probe in rows_of(probes, ProbesRow)}


def _wavers(scores: pa.Table) -> bool:
    """Tell whether an untouched item ever got another score when it was asked again."""
    first: dict[tuple[str, str], float] = {}
    for row in scores.filter(pc.equal(scores["axis"], ORIGINAL)).to_pylist():
        if row["value"] is not None:
            key = (row["item_id"], row["dimension"])
            if round(row["value"] - first.setdefault(key, row["value"]), 9):
                return True
    return False


def _evidence(
    setup: ScoringSetup, prepared: Prepared, card: Card, scores: pa.Table, zones: pa.Table
) -> Evidence:
    return Evidence(
        audit_id=prepared.audit_id,
        judge_id=card.judge_id,
        is_control=False,
        card=card,
        seed=setup.configuration.seed,
        responses=scores,
        zones=zones,
        axes=setup.stimuli.axes,
        limits=read_limits(setup.configuration.limits),
    )

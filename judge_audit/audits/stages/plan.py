"""The first stage: read the items, plan every probe, settle the zones, and put all of it into the lake."""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from judge_audit import __version__
from judge_audit.anchors import keep
from judge_audit.anchors.tables import item_rows
from judge_audit.audits.model import KEYS, Prepared
from judge_audit.audits.plugins import part_digests
from judge_audit.audits.stages.canaries import watch
from judge_audit.audits.stages.clock_skew import clock_notes
from judge_audit.audits.stages.comparisons import comparing, control_cards, outstanding, plan_notes
from judge_audit.audits.stages.judges import register
from judge_audit.audits.table_plan import plan_table_audit
from judge_audit.core.digests import canonical_json, file_digest, row_digest, text_digest
from judge_audit.core.messages import say
from judge_audit.core.tables import empty, from_rows
from judge_audit.core.vocabulary import ANCHOR, ORIGINAL, PAIR_AXIS, State
from judge_audit.measures.headroom import COMBO
from judge_audit.people.zones import VERSION as ZONES_VERSION
from judge_audit.people.zones import make_zones
from judge_audit.stimuli.axes import fingerprint
from judge_audit.stimuli.combinations import chosen_id, soundings, soundings_id
from judge_audit.stimuli.planning.blocks import blocks
from judge_audit.stimuli.planning.mismatches import plan_mismatches
from judge_audit.stimuli.planning.probes import make_plan, round_robin_order
from judge_audit.stimuli.sight_probes import SIGHT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from judge_audit.anchors import AnchorsUsed
    from judge_audit.audits.session import Session
    from judge_audit.stimuli.planning.probes import Plan


def prepare(
    current: Session, *, on_image: Callable[[int, int], None] | None = None, dry: bool = False
) -> Prepared:
    """Read the items, plan every probe, settle the zones, and put all of it into the lake.

    A judge whose weights are not pinned is asked its canaries first: they tell which epoch's answers count.

    Args:
        current: The session.
        on_image: Told (decoded, all) while images are read.
        dry: Whether nothing is to be asked: the judge is then taken for what it was last.

    Raises:
        UsageError: If the judge, the items or the readings cannot be used; names every fault.
        BudgetReached: If the budget does not reach for the canaries.
    """
    lake = current.lake
    started = datetime.now(UTC)
    audit_id = f"{started:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
    plan, warnings, imports = _planned(current, on_image)
    used, told = _anchors(current)
    lake.commit(plan.tables)
    canaries = None if dry else watch(current, plan.items, plan.probes, audit_id)
    card = current.judge.card
    zones_id, notes = _settle_zones(current, plan.plan_id, plan.items, plan.ladder_items)
    instruments = (current.ruler.card, current.surveyor.card)
    register(lake, [card, *instruments, *control_cards(current, zones_id)])
    plan = replace(plan, probes=pa.concat_tables([plan.probes, _sound(current, plan, zones_id)]))
    new, left = unsettled_of(current, plan.probes)
    asked, begun = count_asked(plan.probes), None
    if comparing(current):
        new, begun, waiting = outstanding(current, plan.plan_id)
        asked, left = begun.total(), {**left, **waiting}
        told = (*told, *plan_notes(current, plan.plan_id))
    shares = blocks(plan, card.batch_size, left)
    if begun is not None:
        shares = tuple(replace(one, probes=sum(begun[name] for name in one.item_ids)) for one in shares)
    acts = current.acts(plan.plan_id)
    prepared = Prepared(
        audit_id=audit_id,
        plan_id=plan.plan_id,
        zones_id=zones_id,
        judge_id=card.judge_id,
        blocks=shares,
        new_calls=new,
        reused_calls=asked - new,
        warnings=(
            *clock_notes(lake, started),
            *warnings,
            *told,
            *notes,
            *current.labels(plan.plan_id).notes,
            *acts.notes,
        ),
        started_at=started.isoformat(),
        imports={**imports, **current.labels(plan.plan_id).imports, **acts.imports},
        anchors=used,
        canaries=canaries,
    )
    lake.commit({"audits": audit_row(current, prepared, "started")})
    return prepared


def _anchors(current: Session) -> tuple[AnchorsUsed | None, tuple[str, ...]]:
    """Put the anchor set into the lake, which holds every later version to it, and say what limits its use."""
    held = current.anchors
    if held is None:
        return None, ()
    known = set(current.lake.read("audits")["anchor_set"].to_pylist()) - {None}
    used = keep(held, current.lake, current.configuration.anchor_version)
    notes = list(held.notes)
    if known and held.set_id not in known:
        notes.append(say("anchors.other_set", sets=", ".join(sorted(known)), set=held.set_id))
    return used, tuple(notes)


def _planned(
    current: Session, on_image: Callable[[int, int], None] | None
) -> tuple[Plan, tuple[str, ...], dict[str, str]]:
    """Plan the audit: from the items file, or from the lake alone where the judge is a table of scores.

    Returns:
        The plan, what a person should know, and the imported files it goes by.
    """
    configuration = current.configuration
    if current.is_table:
        held = item_rows(current.anchors) if current.anchors else []
        made = plan_table_audit(current.lake, current.judge.card, held, current.kinds)
        ignored = (IGNORED_ITEMS,) if configuration.items else ()
        return made.plan, (*ignored, *made.notes), made.imports
    read = current.items(on_image)
    rows = read.items.to_pylist()
    by_hand = current.by_hand(rows)
    mismatches = plan_mismatches(
        rows,
        by_hand.pairs,
        current.workshop(rows),
        order=round_robin_order(rows, configuration.seed),
        per_kind=configuration.pairs_per_kind,
        repeats=configuration.repeats,
    )
    plan = make_plan(
        read.items,
        read.refusals,
        current.axes,
        ladder_items=configuration.ladder_items,
        repeats=configuration.repeats,
        seed=configuration.seed,
        anchors=[row for row, _ in item_rows(current.anchors)]
        if current.anchors and not comparing(current)
        else [],
        sight=not configuration.only and not comparing(current),
        mismatches=mismatches,
    )
    imports = {} if configuration.readings or configuration.only else current.imported_readings[1]
    notes = (*read.warnings, *_left_out(read.refusals), *by_hand.warnings)
    return plan, notes, {**imports, **by_hand.imports}


IGNORED_ITEMS = (
    "The judge is a table of scores: the items file was not read, the items are those of the table."
)


def _sound(current: Session, plan: Plan, zones_id: str) -> pa.Table:
    """Plan pairs of axes on a few items, by which combinations are chosen later, and put them into the lake."""
    if comparing(current):
        return empty("probes")
    name = soundings_id(plan.plan_id, zones_id)
    carriers = set(plan.ladder_items)
    rows = soundings(
        [row for row in plan.items.to_pylist() if row["item_id"] in carriers],
        current.zones(plan.plan_id, zones_id).to_pylist(),
        current.axes,
        repeats=current.configuration.repeats,
        seed=current.configuration.seed,
    )
    table = from_rows("probes", [{**row, "plan_id": name} for row in rows])
    if rows:
        current.lake.commit({"probes": table})
    return table


def count_asked(probes: pa.Table) -> int:
    """Count the different calls that probes ask for."""
    found: int = probes.select(KEYS).group_by(KEYS).aggregate([]).num_rows
    return found


def unsettled_of(current: Session, probes: pa.Table) -> tuple[int, dict[str, int]]:
    """Count the judge's answers that are not in the lake, in all and by item.

    An answer drawn by other library versions counts as left to ask: its pixels must be compared. An item with
    something left for an instrument alone is named with 0.
    """
    items: dict[str, int] = {}
    new = 0
    if current.is_table:
        return new, items
    instruments = (current.ruler.card, current.surveyor.card)
    for card in instruments if comparing(current) else (current.judge.card, *instruments):
        held = current.lake.answered(card.judge_id)
        usable = pc.and_(
            pc.equal(held["renderer"], fingerprint()), pc.not_equal(held["state"], State.FAILED.value)
        )
        settled = held.filter(usable).select(KEYS)
        asked = _shown_to_instruments(probes, once=card is current.surveyor.card)
        asked = probes if card is current.judge.card else asked
        left = asked.select(["item_id", *KEYS]).join(settled, KEYS, join_type="left anti")
        asking = card is current.judge.card
        for item_id in left["item_id"].to_pylist():
            items[item_id] = items.get(item_id, 0) + asking
        if asking:
            new = left.select(KEYS).group_by(KEYS).aggregate([]).num_rows
    return new, items


def _shown_to_instruments(probes: pa.Table, *, once: bool) -> pa.Table:
    """Keep what instruments measure: untouched items and ladders; only the first askings of the former if `once`.

    Anchors and what shows what a judge can see are measured by none.
    """
    if once:
        return probes.filter(pc.and_(pc.equal(probes["axis"], ORIGINAL), pc.equal(probes["repeat"], 0)))
    damaged = pc.starts_with(probes["axis"], PAIR_AXIS)
    combined = pc.starts_with(probes["axis"], COMBO)
    unmeasured = pc.is_in(probes["axis"], value_set=pa.array(sorted({ANCHOR, *SIGHT})))
    return probes.filter(pc.invert(pc.or_(unmeasured, pc.or_(damaged, combined))))


def _left_out(refusals: Sequence[object]) -> tuple[str, ...]:
    """Say how many rows were left out."""
    return (
        (f"{len(refusals)} faulty rows of the items file were left out; they are listed in the lake.",)
        if refusals
        else ()
    )


def _settle_zones(
    current: Session, plan_id: str, items: pa.Table, ladder_items: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """Settle what people see of each ladder, from readings or else from visual-difference models."""
    configuration, lake = current.configuration, current.lake
    if not current.axes:
        return text_digest("zones", plan_id, "no ladders"), ()
    readings = current.readings
    read = row_digest(readings) if readings is not None else "models"
    zones_id = text_digest("zones", ZONES_VERSION, plan_id, read, fingerprint(), str(configuration.seed))
    if readings is None and lake.read("zones", plan_id=plan_id, zones_id=zones_id).num_rows:
        return zones_id, ()
    carriers = items.filter(pc.is_in(items["item_id"], value_set=pa.array(ladder_items, pa.string())))
    made = make_zones(
        current.axes, carriers, readings, lambda row: current.pixels(row["uri"]), seed=configuration.seed
    )
    rows = [{**row, "plan_id": plan_id, "zones_id": zones_id} for row in made.table.to_pylist()]
    if rows:
        lake.commit({"zones": from_rows("zones", rows)})
    return zones_id, made.notes


def combined_plans(prepared: Prepared, judge_id: str) -> tuple[str, str]:
    """Name the plans of combined probes that a judge was asked: the soundings, and what its scores chose."""
    return (
        soundings_id(prepared.plan_id, prepared.zones_id),
        chosen_id(prepared.plan_id, prepared.zones_id, judge_id),
    )


def audit_row(current: Session, prepared: Prepared, status: str) -> pa.Table:
    """Write down a state of the run."""
    configuration = current.configuration
    inputs = {"items": configuration.items, **part_digests(configuration), **prepared.imports}
    pictures = (configuration.items, configuration.readings, configuration.pairs, configuration.strangers)
    files = (*(() if current.is_table else pictures), configuration.traffic)
    for path in filter(None, files):
        inputs[path] = file_digest(Path(path).read_bytes())
    if current.rules is not None and not current.is_table:
        inputs[configuration.rules] = current.rules.digest
    row = {
        "audit_id": prepared.audit_id,
        "status": status,
        "judge_id": prepared.judge_id,
        "plan_id": prepared.plan_id,
        "started_at": datetime.fromisoformat(prepared.started_at),
        "ended_at": datetime.now(UTC) if status == "complete" else None,
        "code_version": __version__,
        "configuration": canonical_json(
            {
                **configuration.as_json(),
                "zones_id": prepared.zones_id,
                "combined_ids": list(combined_plans(prepared, prepared.judge_id)),
            }
        ),
        "seed": configuration.seed,
        "input_digests": canonical_json(inputs),
        "commits": [],
        "anchor_set": prepared.anchors.set_id if prepared.anchors else None,
        "anchor_version": prepared.anchors.version if prepared.anchors else None,
        "anchor_head": prepared.anchors.head if prepared.anchors else None,
        "canary_asking": prepared.canaries.asking if prepared.canaries else None,
    }
    return from_rows("audits", [row])

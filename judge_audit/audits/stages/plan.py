"""The first stage: read the items, plan every probe, settle the zones, and put all of it into the lake."""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from judge_audit_schemas.rows import AuditsRow

from judge_audit.anchors import keep
from judge_audit.anchors.tables import item_rows
from judge_audit.audits.inputs import pixels_of
from judge_audit.audits.model import KEYS, Planned, Prepared
from judge_audit.audits.plugins import part_digests
from judge_audit.audits.stages.answers import measured_by_instruments, registration
from judge_audit.audits.stages.canaries import watch
from judge_audit.audits.stages.score import instruments
from judge_audit.core.clocks import TOLERANCE
from judge_audit.core.digests import canonical_json, file_digest, row_digest, text_digest
from judge_audit.core.formatting import minute
from judge_audit.core.limits import changed_limits
from judge_audit.core.messages import say
from judge_audit.core.tables import empty, from_rows, rows_of
from judge_audit.core.version import __version__
from judge_audit.core.vocabulary import State
from judge_audit.judges.cards.origin import origin_of
from judge_audit.people.zones import VERSION as ZONES_VERSION
from judge_audit.people.zones import make_zones
from judge_audit.stimuli.axes import fingerprint
from judge_audit.stimuli.combinations import soundings, soundings_id
from judge_audit.stimuli.planning.blocks import blocks
from judge_audit.stimuli.planning.mismatches import plan_mismatches
from judge_audit.stimuli.planning.probes import make_plan, round_robin_order

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge_audit.anchors import AnchorsUsed
    from judge_audit.audits.inputs import AuditInputs
    from judge_audit.audits.model import Outstanding, PeopleRecords, ScoringSetup
    from judge_audit.core.configuration import Configuration
    from judge_audit.judges.cards.card import Card
    from judge_audit.lake import Lake
    from judge_audit.stimuli.planning.blocks import Block
    from judge_audit.stimuli.planning.probes import Plan


def prepare(
    setup: ScoringSetup,
    inputs: AuditInputs,
    people: PeopleRecords,
    *,
    on_image: Callable[[int, int], None] | None = None,
    dry: bool = False,
) -> Prepared:
    """Read the items, plan every probe, settle the zones, and put all of it into the lake.

    A judge whose weights are not pinned is asked its canaries first: they tell which epoch's answers count.

    Args:
        setup: What it takes to ask; its judge is of the epoch it was in last.
        inputs: What the team gave.
        people: What people said and did.
        on_image: Called with (decoded, all) while images are read.
        dry: Whether nothing is to be asked: the judge is then taken for what it was last.

    Raises:
        UsageError: If the judge, the items or the readings cannot be used; names every fault.
        BudgetReached: If the budget does not reach for the canaries.
    """
    lake, mode = setup.lake, setup.mode
    started = datetime.now(UTC)
    audit_id = f"{started:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
    planned = mode.plan(setup, inputs, on_image)
    plan = planned.plan
    anchors, anchor_notes = _anchors(setup, inputs)
    lake.commit(plan.tables)
    canaries = None if dry else watch(setup, plan.items, plan.probes, audit_id)
    setup = setup.at_epoch(canaries.epoch) if canaries else setup
    card = setup.judge.card
    zones_id, zone_notes = _settle_zones(setup, inputs, plan)
    judges = [one.card for one in (setup.judge, *instruments(), *mode.controls(setup, zones_id))]
    sounding = _sound(setup, plan, zones_id)
    plan = replace(plan, probes=pa.concat_tables([plan.probes, sounding]))
    outstanding = mode.outstanding(setup, inputs, plan)
    labels, acts = people.labels(plan.plan_id), people.acts(plan.plan_id, card.judge_id)
    prepared = Prepared(
        audit_id=audit_id,
        plan_id=plan.plan_id,
        zones_id=zones_id,
        judge_id=card.judge_id,
        blocks=_blocks(plan, card.batch_size, outstanding),
        new_calls=outstanding.new,
        reused_calls=outstanding.asked - outstanding.new,
        warnings=(
            *clock_notes(lake, started),
            *limit_notes(setup.configuration),
            *planned.notes,
            *anchor_notes,
            *outstanding.notes,
            *zone_notes,
            *labels.notes,
            *acts.notes,
        ),
        started_at=started.isoformat(),
        imports={**planned.imports, **labels.imports, **acts.imports},
        anchors=anchors,
        canaries=canaries,
    )
    contents = registration(lake, judges, setup.configuration.project)
    contents["audits"] = audit_row(setup, inputs, prepared, "started")
    if sounding.num_rows and not setup.plans.table("probes", prepared.soundings_id).num_rows:
        contents["probes"] = sounding
    lake.commit(contents, several=True)
    return prepared


def _blocks(plan: Plan, batch_size: int, outstanding: Outstanding) -> tuple[Block, ...]:
    """Cut a plan into shares of work, each with the number of answers that it asks for."""
    shares = blocks(plan, batch_size, outstanding.left)
    if (counts := outstanding.planned) is None:
        return shares
    return tuple(replace(one, probes=sum(counts[name] for name in one.item_ids)) for one in shares)


def _anchors(setup: ScoringSetup, inputs: AuditInputs) -> tuple[AnchorsUsed | None, tuple[str, ...]]:
    """Put the anchor set into the lake, which holds every later version to it, and say what limits its use."""
    anchors = inputs.anchors
    if anchors is None:
        return None, ()
    known = set(setup.lake.read("audits")["anchor_set"].to_pylist()) - {None}
    used = keep(anchors, setup.lake, setup.configuration.anchor_version)
    notes = list(anchors.notes)
    if known and anchors.set_id not in known:
        notes.append(say("anchors.other_set", sets=", ".join(sorted(known)), set=anchors.set_id))
    return used, tuple(notes)


def plan_pictures(
    setup: ScoringSetup, inputs: AuditInputs, on_image: Callable[[int, int], None] | None
) -> Planned:
    """Plan what a judge is shown of the pictures of an items file."""
    configuration, mode = setup.configuration, setup.mode
    read = inputs.items(on_image)
    rows = read.items.to_pylist()
    by_hand = inputs.pairs_by_hand(rows)
    mismatches = plan_mismatches(
        rows,
        by_hand.pairs,
        inputs.pair_builder(rows),
        order=round_robin_order(rows, configuration.seed),
        per_kind=configuration.pairs_per_kind,
        repeats=configuration.repeats,
    )
    anchors = item_rows(inputs.anchors) if inputs.anchors and mode.asks_anchors else []
    plan = make_plan(
        read.items,
        read.refusals,
        setup.stimuli.axes,
        ladder_items=configuration.ladder_items,
        repeats=configuration.repeats,
        seed=configuration.seed,
        anchors=[row for row, _ in anchors],
        sight=mode.shows_sight,
        mismatches=mismatches,
    )
    notes = list(read.warnings)
    if refused := len(read.refusals):
        notes.append(f"{refused} faulty rows of the items file were left out; they are listed in the lake.")
    notes += by_hand.warnings
    return Planned(plan, tuple(notes), {**inputs.reading_imports, **by_hand.imports})


def _sound(setup: ScoringSetup, plan: Plan, zones_id: str) -> pa.Table:
    """Plan pairs of axes on a few items, by which combinations are chosen later."""
    if not setup.mode.combines:
        return empty("probes")
    name = soundings_id(plan.plan_id, zones_id)
    carriers = set(plan.ladder_items)
    rows = soundings(
        [row for row in plan.items.to_pylist() if row["item_id"] in carriers],
        setup.plans.zone_rows(plan.plan_id, zones_id),
        setup.stimuli.axes,
        repeats=setup.configuration.repeats,
        seed=setup.configuration.seed,
    )
    return from_rows("probes", [{**row, "plan_id": name} for row in rows])


def count_asked(probes: pa.Table) -> int:
    """Count the different calls that probes ask for."""
    calls: int = probes.select(KEYS).group_by(KEYS).aggregate([]).num_rows
    return calls


def unanswered(lake: Lake, probes: pa.Table, judge: Card | None) -> tuple[int, dict[str, int]]:
    """Count the answers that are not in the lake, in all and by item.

    An answer drawn by other library versions counts as left to ask: its pixels must be compared. An item with
    something left for an instrument alone is named with 0.

    Args:
        lake: The lake.
        probes: What is asked.
        judge: Whom; None if the instruments alone are asked.
    """
    items: dict[str, int] = {}
    new = 0
    surface, covariates = (instrument.card for instrument in instruments())
    asked_of = [
        *([(judge, probes)] if judge is not None else []),
        (surface, measured_by_instruments(probes, once=False)),
        (covariates, measured_by_instruments(probes, once=True)),
    ]
    for card, asked in asked_of:
        answered = lake.answered(card.judge_id)
        usable = pc.and_(
            pc.equal(answered["renderer"], fingerprint()), pc.not_equal(answered["state"], State.FAILED.value)
        )
        left = asked.select(["item_id", *KEYS]).join(
            answered.filter(usable).select(KEYS), KEYS, join_type="left anti"
        )
        for item_id in left["item_id"].to_pylist():
            items[item_id] = items.get(item_id, 0) + (card is judge)
        if card is judge:
            new = left.select(KEYS).group_by(KEYS).aggregate([]).num_rows
    return new, items


def _settle_zones(setup: ScoringSetup, inputs: AuditInputs, plan: Plan) -> tuple[str, tuple[str, ...]]:
    """Settle what people see of each ladder, from readings or else from visual-difference models."""
    lake, axes, seed = setup.lake, setup.stimuli.axes, setup.configuration.seed
    if not axes:
        return text_digest("zones", plan.plan_id, "no ladders"), ()
    readings = inputs.readings
    origin = row_digest(readings) if readings is not None else "models"
    zones_id = text_digest("zones", ZONES_VERSION, plan.plan_id, origin, fingerprint(), str(seed))
    if readings is None and lake.read("zones", plan_id=plan.plan_id, zones_id=zones_id).num_rows:
        return zones_id, ()
    names = pa.array(plan.ladder_items, pa.string())
    carriers = plan.items.filter(pc.is_in(plan.items["item_id"], value_set=names))
    made = make_zones(axes, carriers, readings, lambda row: pixels_of(row["uri"]), seed=seed)
    rows = [{**row, "plan_id": plan.plan_id, "zones_id": zones_id} for row in made.table.to_pylist()]
    if rows:
        lake.commit({"zones": from_rows("zones", rows)})
    return zones_id, made.notes


def audit_row(setup: ScoringSetup, inputs: AuditInputs, prepared: Prepared, status: str) -> pa.Table:
    """Write down a state of the run."""
    configuration = setup.configuration
    digests = {"items": configuration.items, **part_digests(configuration), **prepared.imports}
    pictures = (configuration.items, configuration.readings, configuration.pairs, configuration.strangers)
    files = (*(pictures if setup.mode.asks_judge else ()), configuration.traffic)
    for path in filter(None, files):
        digests[path] = file_digest(Path(path).read_bytes())
    if inputs.rules is not None and setup.mode.asks_judge:
        digests[configuration.rules] = inputs.rules.digest
    row: AuditsRow = {
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
                "combined_ids": [prepared.soundings_id, prepared.combinations_id(prepared.judge_id)],
            }
        ),
        "seed": configuration.seed,
        "input_digests": canonical_json(digests),
        "commits": [],
        "anchor_set": prepared.anchors.set_id if prepared.anchors else None,
        "anchor_version": prepared.anchors.version if prepared.anchors else None,
        "anchor_head": prepared.anchors.head if prepared.anchors else None,
        "origin": origin_of(setup.judge.card, configuration.project),
        "canary_asking": prepared.canaries.asking if prepared.canaries else None,
    }
    return from_rows("audits", [row])


def limit_notes(configuration: Configuration) -> tuple[str, ...]:
    """Name the limits that are not the shipped ones, which way they differ, and who answers for them."""
    changed = changed_limits(canonical_json(configuration.as_json()))
    return tuple(
        say(
            f"limits.{'looser' if one.looser else 'stricter'}",
            name=one.name,
            value=f"{one.value:g}",
            shipped=f"{one.shipped:g}",
            owner=one.owner or say("limits.nobody"),
            reason=one.reason or say("limits.no_reason"),
        )
        for one in changed
    )


def clock_notes(lake: Lake, now: datetime) -> tuple[str, ...]:
    """Say that an audit in the lake is from the future: this machine's clock is behind, or another's was ahead.

    Args:
        lake: The lake.
        now: This machine's time.
    """
    times = [
        (time, row["audit_id"])
        for row in rows_of(lake.read("audits").select(["audit_id", "started_at", "ended_at"]), AuditsRow)
        for time in (row["started_at"], row["ended_at"])
        if time is not None
    ]
    newest, audit_id = max(times, default=(now, ""))
    if newest <= now + TOLERANCE:
        return ()
    return (say("clocks.future", audit=audit_id, then=minute(newest), now=minute(now)),)

"""The stage after asking: have the controls answer, most from the recipes of probes, those that see from pictures.

A control proves that the checks find a planted fault. That needs a few hundred pictures and no more, so beyond
those an audit grows with its judge alone: controls answer a sample. It is the beginning of the draw by which ladders
are given to items: sources and clusters take round_robin_order, and no score is known to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from judge_audit_schemas.rows import CallsRow, ProbesRow

from judge_audit.audits.model import KEYS, Share
from judge_audit.audits.stages.answers import Gathered, work_of
from judge_audit.audits.stages.combinations import choose_probes, drawn_without_pictures
from judge_audit.audits.stages.score import batches_of
from judge_audit.core.tables import rows_of
from judge_audit.core.vocabulary import ANCHOR, ORIGINAL, PAIR_AXIS
from judge_audit.judges.calling.score_calls import score_control
from judge_audit.judges.controls.pixel_control import SeeingJudge
from judge_audit.judges.controls.recipe_control import PlantedJudge
from judge_audit.stimuli.planning.probes import round_robin_order
from judge_audit.stimuli.sight_probes import SIGHT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit.audits.model import AnyControl, Prepared, ScoringSetup, Work


ITEMS = 600
"""Untouched items that controls answer at the most, besides the members of pairs."""

LADDERS = 128
"""Items whose ladders and combinations they answer at the most."""


def have_controls_score(setup: ScoringSetup, prepared: Prepared, controls: Sequence[AnyControl]) -> None:
    """Have every control answer: most from the recipes of probes, those that see from the pictures."""
    planted = [control for control in controls if isinstance(control, PlantedJudge)]
    seeing = [control for control in controls if isinstance(control, SeeingJudge)]
    share = Share(work=_sight_work(setup, prepared) if seeing else [])
    gathered = Gathered(setup.lake)
    for pixel_control in seeing:
        for batch in batches_of(setup, pixel_control, share):
            gathered.add("calls", batch.calls)
            gathered.add("scores", batch.scores)
    due = _due(setup, prepared)
    answered = setup.lake.select(
        "calls", ["judge_id", *KEYS], {"judge_id": [control.card.judge_id for control in planted]}
    )
    known_of = {
        control.card.judge_id: answered.filter(pc.equal(answered["judge_id"], control.card.judge_id)).select(
            KEYS
        )
        for control in planted
    }
    ground: _Ground | None = None
    for control in planted:
        known = known_of[control.card.judge_id]
        axes = [axis for axis in pc.unique(due["axis"]).to_pylist() if control.answers(axis)]
        asked = due.filter(pc.is_in(due["axis"], value_set=pa.array(axes, pa.string())))
        missing = asked.join(known, KEYS, join_type="left anti")
        if missing.num_rows:
            ground = ground or _ground(setup, prepared)
            wanted = {(row["probe_id"], row["repeat"]) for row in missing.select(KEYS).to_pylist()}
            batch = score_control(
                control,
                ground.work,
                axes=setup.stimuli.axes,
                visible=setup.plans.visible_points(prepared.plan_id, prepared.zones_id),
                drawn={key: row for key, row in ground.drawn.items() if key in wanted},
                intact=ground.intact,
                kinds=setup.stimuli.kinds,
            )
            gathered.add("calls", batch.calls)
            gathered.add("scores", batch.scores)
    # What a control's scores choose to combine is known when they are in the lake.
    gathered.commit()
    for control in planted:
        if not control.control.pairs_only:
            _score_chosen(setup, prepared, control, known_of[control.card.judge_id], gathered)
    gathered.commit()


def _sight_work(setup: ScoringSetup, prepared: Prepared) -> Work:
    """Give the items by which it is found out what a judge can see, with those probes and the untouched ones."""
    wanted = {ORIGINAL, *SIGHT}
    probes = setup.plans.table("probes", prepared.plan_id)
    shown = probes.filter(pc.is_in(probes["axis"], value_set=pa.array(sorted(SIGHT), pa.string())))
    items = frozenset(shown["item_id"].to_pylist())
    return [
        (item, [probe for probe in probes if probe["axis"] in wanted])
        for item, probes in work_of(setup.plans, prepared, only=items)
    ]


@dataclass(frozen=True, slots=True)
class _Ground:
    """What controls answer from: items with their probes, the judge's own calls, the intact members of pairs."""

    work: Work
    drawn: dict[tuple[str, int], CallsRow]
    intact: dict[tuple[str, str, int], str]


def _due(setup: ScoringSetup, prepared: Prepared) -> pa.Table:
    """Give the probes that controls are to answer: those of theirs that the judge has answered."""
    plans, mode = setup.plans, setup.mode
    tables = [plans.table("probes", name) for name in (prepared.plan_id, prepared.soundings_id)]
    probes = pa.concat_tables(tables).select(["item_id", "axis", *KEYS])
    probes = probes.filter(pc.not_equal(probes["axis"], ANCHOR))
    seed = setup.configuration.seed
    probes = only_shown(probes, mode.shown_to_controls(plans, prepared.plan_id, seed))
    if (names := mode.items_of_controls(plans, prepared.plan_id)) is not None:
        probes = probes.filter(pc.is_in(probes["item_id"], value_set=names))
    drawn = setup.lake.answered(prepared.judge_id).select(KEYS)
    return probes.join(drawn, KEYS, join_type="left semi")


def _ground(setup: ScoringSetup, prepared: Prepared) -> _Ground:
    """Lay out what controls answer from."""
    plans = setup.plans
    drawn = rows_of(setup.lake.answered(prepared.judge_id), CallsRow)
    intact = {place: pair["intact"] for place, pair in plans.pairs_by_probe(prepared.plan_id).items()}
    names = setup.mode.items_of_controls(plans, prepared.plan_id)
    work = [
        (item, [probe for probe in probes if probe["axis"] != ANCHOR])
        for item, probes in work_of(plans, prepared, only=None if names is None else names.to_pylist())
    ]
    return _Ground(work, {(row["probe_id"], row["repeat"]): row for row in drawn}, intact)


def _score_chosen(
    setup: ScoringSetup, prepared: Prepared, control: PlantedJudge, known: pa.Table, gathered: Gathered
) -> None:
    """Have a control answer the combinations that its own scores chose: each judge is hacked along its own way."""
    shown = setup.mode.shown_to_controls(setup.plans, prepared.plan_id, setup.configuration.seed)
    chosen, new = choose_probes(setup, prepared, control.card)
    if new:
        gathered.add("probes", chosen.to_pylist())
    probes = only_shown(chosen, shown)
    missing = probes.select(KEYS).join(known, KEYS, join_type="left anti")
    if not missing.num_rows:
        return
    wanted = {(row["probe_id"], row["repeat"]) for row in missing.to_pylist()}
    asked: dict[str, list[ProbesRow]] = {}
    for probe in rows_of(probes, ProbesRow):
        asked.setdefault(probe["item_id"], []).append(probe)
    items = setup.plans.items(prepared.plan_id)
    work = [(item, asked[item["item_id"]]) for item in items if item["item_id"] in asked]
    drawn = {key: row for key, row in drawn_without_pictures(probes).items() if key in wanted}
    batch = score_control(
        control,
        work,
        axes=setup.stimuli.axes,
        visible=setup.plans.visible_points(prepared.plan_id, prepared.zones_id),
        drawn=drawn,
    )
    gathered.add("calls", batch.calls)
    gathered.add("scores", batch.scores)


def shown_to_controls(
    items: pa.Table, probes: pa.Table, mismatches: pa.Table, *, seed: int
) -> tuple[frozenset[str], frozenset[str]] | None:
    """Name the items that controls answer untouched, and those whose ladders they answer; None for all.

    Args:
        items: The items of a plan, without its anchors.
        probes: Its probes.
        mismatches: Its pairs.
        seed: Seed of the draw.
    """
    climbing = pc.unique(probes.filter(pc.invert(_plain(probes["axis"])))["item_id"])
    if items.num_rows <= ITEMS and len(climbing) <= LADDERS:
        return None
    intact, damaged = (set(mismatches[column].to_pylist()) for column in ("intact", "damaged"))
    rows = items.select(["item_id", "source", "cluster"]).to_pylist()
    order = round_robin_order([row for row in rows if row["item_id"] not in damaged - intact], seed)
    carriers = set(climbing.to_pylist())
    ladders = [name for name in order if name in carriers][:LADDERS]
    return frozenset({*order[:ITEMS], *ladders, *intact, *damaged}), frozenset(ladders)


def only_shown(rows: pa.Table, shown: tuple[frozenset[str], frozenset[str]] | None) -> pa.Table:
    """Keep the probes, or responses, that controls answer.

    Args:
        rows: With the columns item_id and axis.
        shown: As `shown_to_controls` gives it.
    """
    if shown is None:
        return rows
    items, ladders = (pa.array(sorted(names), pa.string()) for names in shown)
    plain = pc.and_(_plain(rows["axis"]), pc.is_in(rows["item_id"], value_set=items))
    return rows.filter(pc.or_(plain, pc.is_in(rows["item_id"], value_set=ladders)))


def _plain(axis: pa.ChunkedArray) -> pa.ChunkedArray:
    """Say which probes are no rung of a ladder and no combination."""
    named = pc.is_in(axis, value_set=pa.array(sorted({ORIGINAL, ANCHOR, *SIGHT}), pa.string()))
    return pc.or_(named, pc.starts_with(axis, PAIR_AXIS))

"""The stage after asking: have the controls answer, most from the recipes of probes, those that see from pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from judge_audit.audits.model import KEYS
from judge_audit.audits.stages.combinations import chosen_probes, drawn_without_pictures
from judge_audit.audits.stages.comparisons import comparing, have_controls_compare
from judge_audit.audits.stages.control_sample import only_shown, shown_to_controls
from judge_audit.audits.stages.plan import combined_plans
from judge_audit.audits.stages.score import batches_of, keep, work_of
from judge_audit.core.vocabulary import ANCHOR, ORIGINAL, PAIR_AXIS
from judge_audit.judges.calling.score_calls import score_control
from judge_audit.stimuli.sight_probes import SIGHT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit.audits.model import Prepared
    from judge_audit.audits.session import Session
    from judge_audit.judges.controls.recipe_control import PlantedJudge


def _sight_work(
    current: Session, prepared: Prepared
) -> list[tuple[Mapping[str, Any], list[Mapping[str, Any]]]]:
    """Give the items by which it is found out what a judge can see, with those probes and the untouched ones."""
    wanted = {ORIGINAL, *SIGHT}
    probes = current.plan_table("probes", prepared.plan_id)
    looked_at = probes.filter(pc.is_in(probes["axis"], value_set=pa.array(sorted(SIGHT), pa.string())))
    items = frozenset(looked_at["item_id"].to_pylist())
    return [
        (item, [probe for probe in probes if probe["axis"] in wanted])
        for item, probes in work_of(current, prepared, only=items)
    ]


SHOWN_TO_CONTROLS = 2_000
"""Items of a table that the controls answer: enough to convict a scale, however long the table is."""


def score_controls(current: Session, prepared: Prepared) -> None:
    """Have every control answer: most from the recipes of probes, those that see from the pictures."""
    if comparing(current):
        have_controls_compare(current, prepared.plan_id, prepared.zones_id)
        return
    shown = _sight_work(current, prepared)
    for seeing in current.seeing:
        batches = list(batches_of(current, seeing, shown))
        calls = [call for batch in batches for call in batch.calls]
        if calls:
            keep(current, calls, [score for batch in batches for score in batch.scores])
    controls = current.controls(prepared.zones_id)
    due = _due(current, prepared)
    told = current.lake.select(
        "calls", ["judge_id", *KEYS], {"judge_id": [one.card.judge_id for one in controls]}
    )
    ground: _Ground | None = None
    for control in controls:
        known = told.filter(pc.equal(told["judge_id"], control.card.judge_id)).select(KEYS)
        axes = [axis for axis in pc.unique(due["axis"]).to_pylist() if control.answers(axis)]
        asked = due.filter(pc.is_in(due["axis"], value_set=pa.array(axes, pa.string())))
        missing = asked.join(known, KEYS, join_type="left anti")
        if missing.num_rows:
            ground = ground or _ground(current, prepared)
            wanted = {(row["probe_id"], row["repeat"]) for row in missing.select(KEYS).to_pylist()}
            batch = score_control(
                control,
                ground.work,
                axes=current.axes,
                visible=_visible(current, prepared),
                drawn={key: row for key, row in ground.drawn.items() if key in wanted},
                intact=ground.intact,
                kinds=current.kinds,
            )
            if batch.calls:
                keep(current, batch.calls, batch.scores)
        if not control.control.pairs_only:
            _score_chosen(current, prepared, control, known)


@dataclass(frozen=True, slots=True)
class _Ground:
    """What controls answer from: items with their probes, the judge's own calls, the intact members of pairs."""

    work: list[tuple[Mapping[str, Any], list[Mapping[str, Any]]]]
    drawn: dict[tuple[str, int], Mapping[str, Any]]
    intact: dict[tuple[str, str, int], str]


def _due(current: Session, prepared: Prepared) -> pa.Table:
    """Give the probes that controls are to answer: those of theirs that the judge has answered."""
    sounded, _ = combined_plans(prepared, prepared.judge_id)
    plans = [current.plan_table("probes", name) for name in (prepared.plan_id, sounded)]
    probes = pa.concat_tables(plans).select(["item_id", "axis", *KEYS])
    probes = probes.filter(pc.not_equal(probes["axis"], ANCHOR))
    probes = only_shown(probes, shown_to_controls(current, prepared.plan_id))
    if current.is_table:
        probes = probes.filter(pc.is_in(probes["item_id"], value_set=_sample(current, prepared)))
    drawn = current.lake.answered(prepared.judge_id).select(KEYS)
    return probes.join(drawn, KEYS, join_type="left semi")


def _ground(current: Session, prepared: Prepared) -> _Ground:
    """Lay out what controls answer from."""
    drawn = current.lake.answered(prepared.judge_id).to_pylist()
    pairs = current.plan_table("mismatches", prepared.plan_id).to_pylist()
    intact = {(row["damaged"], PAIR_AXIS + row["kind"], row["rung"]): row["intact"] for row in pairs}
    only = frozenset(_sample(current, prepared).to_pylist()) if current.is_table else None
    work = [
        (item, [probe for probe in probes if probe["axis"] != ANCHOR])
        for item, probes in work_of(current, prepared, only=only)
    ]
    return _Ground(work, {(row["probe_id"], row["repeat"]): row for row in drawn}, intact)


def _sample(current: Session, prepared: Prepared) -> pa.Array:
    """Name the items of a table that controls answer: evenly by name, and the members of pairs."""
    pairs = current.plan_table("mismatches", prepared.plan_id)
    members = {name for column in ("intact", "damaged") for name in pairs[column].to_pylist()}
    items = sorted(current.plan_table("items", prepared.plan_id)["item_id"].to_pylist())
    step = max(1, -(-len(items) // SHOWN_TO_CONTROLS))
    return pa.array(sorted({*items[::step], *members}), pa.string())


def _visible(current: Session, prepared: Prepared) -> dict[tuple[str, str], float | None]:
    """Give the smaller perceptible point of every ladder."""
    zones = current.zones(prepared.plan_id, prepared.zones_id).to_pylist()
    return {(row["item_id"], row["axis"]): row["perceptible_low"] for row in zones}


def _score_chosen(current: Session, prepared: Prepared, control: PlantedJudge, known: pa.Table) -> None:
    """Have a control answer the combinations that its own scores chose: each judge is hacked along its own way."""
    probes = only_shown(
        chosen_probes(current, prepared, control.card), shown_to_controls(current, prepared.plan_id)
    )
    missing = probes.select(KEYS).join(known, KEYS, join_type="left anti")
    if not missing.num_rows:
        return
    wanted = {(row["probe_id"], row["repeat"]) for row in missing.to_pylist()}
    asked: dict[str, list[Mapping[str, Any]]] = {}
    for probe in probes.to_pylist():
        asked.setdefault(probe["item_id"], []).append(probe)
    items = current.plan_table("items", prepared.plan_id).to_pylist()
    work = [(item, asked[item["item_id"]]) for item in items if item["item_id"] in asked]
    drawn = {key: row for key, row in drawn_without_pictures(probes).items() if key in wanted}
    batch = score_control(control, work, axes=current.axes, visible=_visible(current, prepared), drawn=drawn)
    if batch.calls:
        keep(current, batch.calls, batch.scores)

"""The second stage: have the judge and the instruments answer every probe."""

from __future__ import annotations

import platform
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from judge_audit.audits.stages.canaries import keep_to
from judge_audit.audits.stages.comparisons import answers_of, buy_comparisons, comparing
from judge_audit.audits.stages.plan import combined_plans
from judge_audit.core.errors import UsageError
from judge_audit.core.tables import from_rows
from judge_audit.core.vocabulary import ANCHOR, ORIGINAL, PAIR_AXIS, State
from judge_audit.judges.calling.score_calls import score_block
from judge_audit.measures.headroom import COMBO
from judge_audit.stimuli.sight_probes import SIGHT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from judge_audit.audits.model import Prepared
    from judge_audit.audits.session import Session
    from judge_audit.judges.calling.budget import Purse
    from judge_audit.judges.calling.score_calls import BatchResult
    from judge_audit.judges.protocol import Judge
    from judge_audit.stimuli.planning.blocks import Block
    from judge_audit.stimuli.rendering import Damage

    Work = Sequence[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]]
    """Items, each with its probes."""


UNMEASURED = frozenset({ANCHOR, *SIGHT})
"""Axes whose pictures no instrument measures."""

TRIED = 3
"""Pictures by which a judge is timed that has never answered before."""


def pace(current: Session, prepared: Prepared) -> tuple[float, int]:
    """Say how long the judge takes, from its answers in the lake, else from three untouched pictures.

    Returns:
        Seconds per picture, and how many pictures were shown to find out; their answers are kept.
    """
    card = current.judge.card
    if comparing(current):
        bought = 0
        if not answers_of(current, card.judge_id):
            purse = current.purse(prepared.audit_id)
            bought = buy_comparisons(current, prepared.plan_id, most=TRIED, purse=purse)
        table = "comparisons"
        held = current.lake.read(table, judge_id=card.judge_id, state=State.OK.value)["latency_ms"]
        return float(pc.approximate_median(held).as_py() or 0.0) / 1000, bought
    if not current.lake.answered(card.judge_id).num_rows:
        shown = [
            (item, [probe for probe in probes if is_first(probe)])
            for item, probes in work_of(current, prepared)[:TRIED]
        ]
        purse = current.purse(prepared.audit_id)
        bought = _buy(current, current.judge, shown, _damage(current, prepared), purse=purse)
    else:
        bought = 0
    held = current.lake.read("calls", judge_id=card.judge_id, state=State.OK.value)["latency_ms"]
    return float(pc.approximate_median(held).as_py() or 0.0) / 1000, bought


def score(
    current: Session, prepared: Prepared, *taken: Block, on_probes: Callable[[int], None] | None = None
) -> int:
    """Have the judge and the ruler answer every probe of some blocks, the surveyor only the untouched ones.

    Each batch is committed as it comes.

    Args:
        current: The session.
        prepared: The audit.
        taken: The blocks, of one plan.
        on_probes: Told how many probes of the judge were settled.

    Returns:
        How many answers were bought from the judge.
    """
    keep_to(current, prepared.canaries)
    if current.judge.card.judge_id != prepared.judge_id:
        raise UsageError(
            f"the judge “{current.judge.card.name}” came out as another one when it was loaded again, so it holds "
            "something that differs each time. Give it an attribute `identity`: a text that changes when it does."
        )
    purse = current.purse(prepared.audit_id)
    if purse is not None and purse.spent().stopped:
        return 0
    work, ends = work_of(current, prepared, taken), frozenset(block.item_ids[-1] for block in taken)
    # The instruments need no turn of the judge's: they measure while it thinks.
    with ThreadPoolExecutor(1, thread_name_prefix="instruments") as beside:
        measured = beside.submit(_measure, current, work, ends)
        if comparing(current):
            name = prepared.plan_id
            bought = buy_comparisons(current, name, blocks=taken, on_settled=on_probes, purse=purse)
        else:
            damage = _damage(current, prepared)
            bought = _buy(current, current.judge, work, damage, on_probes=on_probes, purse=purse, ends=ends)
        measured.result()
    return bought


def _measure(current: Session, work: Work, ends: Collection[str]) -> None:
    """Have the ruler answer untouched items and ladders, the surveyor the untouched items."""
    ruled = [(item, [probe for probe in probes if is_ruled(probe)]) for item, probes in work]
    surveyed = [(item, [probe for probe in probes if is_first(probe)]) for item, probes in work]
    for measuring, share in ((current.ruler, ruled), (current.surveyor, surveyed)):
        _buy(current, measuring, share, ends=ends)


def _buy(
    current: Session,
    judge: Judge,
    work: Work,
    damage: Damage | None = None,
    *,
    on_probes: Callable[[int], None] | None = None,
    purse: Purse | None = None,
    ends: Collection[str] = (),
) -> int:
    """Ask a judge for what is not in the lake yet, commit batch by batch, and count the answers."""
    bought = 0
    with current.turn(judge.card):
        for batch in batches_of(current, judge, work, damage, purse=purse, ends=ends):
            if batch.calls:
                keep(current, batch.calls, batch.scores)
            bought += sum(call["state"] != State.INERT for call in batch.calls)
            if on_probes:
                on_probes(batch.probes)
    return bought


def batches_of(
    current: Session,
    judge: Judge,
    work: Work,
    damage: Damage | None = None,
    *,
    purse: Purse | None = None,
    ends: Collection[str] = (),
) -> Iterator[BatchResult]:
    """Ask a judge for what is not in the lake yet."""
    held = current.lake.answered(judge.card.judge_id)
    silent = pa.array([State.FAILED.value, State.INERT.value])
    known = pc.any(pc.invert(pc.is_in(held["state"], value_set=silent))).as_py()
    asked = pa.array([probe["probe_id"] for _, probes in work for probe in probes], pa.string())
    mine = held.filter(pc.is_in(held["probe_id"], value_set=asked)).to_pylist()
    return score_block(
        judge,
        work,
        axes=current.axes,
        load=current.planned_pixels,
        answered={(row["probe_id"], row["repeat"]): row for row in mine},
        known=bool(known),
        mask=current.mask,
        damage=damage,
        purse=purse,
        ends=ends,
    )


def _damage(current: Session, prepared: Prepared) -> Damage:
    """Give what draws the damaged members of the plan's pairs."""
    return current.damage(prepared.plan_id)


def keep(current: Session, calls: list[dict[str, Any]], scores: list[dict[str, Any]]) -> None:
    """Put answers into the lake."""
    current.lake.commit({"calls": from_rows("calls", calls), "scores": from_rows("scores", scores)})


def is_ruled(probe: Mapping[str, Any]) -> bool:
    """Tell whether the ruler measures a probe: the original and the rungs of ladders."""
    return probe["axis"] not in SIGHT and not str(probe["axis"]).startswith((PAIR_AXIS, COMBO))


def is_first(probe: Mapping[str, Any]) -> bool:
    """Tell whether a probe is the first asking of an untouched item."""
    return bool(probe["axis"] == ORIGINAL and probe["repeat"] == 0)


def work_of(
    current: Session, prepared: Prepared, taken: Sequence[Block] = (), *, only: frozenset[str] | None = None
) -> Work:
    """Give items with their probes, in the order of the plan; those of some blocks, or all but what was chosen.

    Args:
        current: The session.
        prepared: The audit.
        taken: The blocks, none for all.
        only: Names of items where not all are wanted.

    Raises:
        UsageError: If the plan is not in the lake, because this process looks into another one.
    """
    items = current.plan_table("items", prepared.plan_id)
    if taken and not items.num_rows:
        raise UsageError(
            f"a worker on {platform.node()} finds no plan in the lake at {current.lake.url}: that is a folder of its "
            "own. Workers of several machines need a lake that all of them reach, such as s3://bucket/folder."
        )
    sounded, _ = combined_plans(prepared, prepared.judge_id)
    plans = (taken[0].plan_id,) if taken and taken[0].plan_id else (prepared.plan_id, sounded)
    probes = pa.concat_tables([current.plan_table("probes", name) for name in plans])
    order = [item_id for block in taken for item_id in block.item_ids]
    if taken or only is not None:
        wanted = pa.array(order if taken else sorted(only or ()), pa.string())
        items = items.filter(pc.is_in(items["item_id"], value_set=wanted))
        probes = probes.filter(pc.is_in(probes["item_id"], value_set=wanted))
    rows = {row["item_id"]: row for row in items.sort_by("item_id").to_pylist()}
    held: dict[str, list[Mapping[str, Any]]] = {item_id: [] for item_id in rows}
    keys = [("item_id", "ascending"), ("axis", "ascending"), ("rung", "ascending"), ("repeat", "ascending")]
    for probe in probes.sort_by(keys).to_pylist():
        held[probe["item_id"]].append(probe)
    return [(rows[item_id], held[item_id]) for item_id in order or rows]

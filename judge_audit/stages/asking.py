"""The second stage: have the judge and the instruments answer every probe."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from judge_audit.calling import score_block
from judge_audit.errors import UsageError
from judge_audit.measures.headroom import COMBO
from judge_audit.sight import SIGHT
from judge_audit.stages.planning import combined_plans
from judge_audit.stages.watching import keep_to
from judge_audit.tables import from_rows
from judge_audit.vocabulary import ANCHOR, ORIGINAL, PAIR_AXIS, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from judge_audit.budget import Purse
    from judge_audit.calling import BatchResult, Damage
    from judge_audit.judges.protocol import Judge
    from judge_audit.probes import Block
    from judge_audit.session import Session
    from judge_audit.stages.planning import Prepared


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
    if not current.lake.answered(card.judge_id).num_rows:
        shown = [
            (item, [probe for probe in probes if is_first(probe)])
            for item, probes in work_of(current, prepared, None)[:TRIED]
        ]
        purse = current.purse(prepared.audit_id)
        bought = _buy(current, current.judge, shown, _damage(current, prepared), purse=purse)
    else:
        bought = 0
    held = current.lake.read("calls", judge_id=card.judge_id, state=State.OK.value)["latency_ms"]
    return float(pc.approximate_median(held).as_py() or 0.0) / 1000, bought


def score(
    current: Session, prepared: Prepared, block: Block, *, on_probes: Callable[[int], None] | None = None
) -> int:
    """Have the judge and the ruler answer every probe of a block, the surveyor only the untouched ones.

    Each batch is committed as it comes.

    Args:
        current: The session.
        prepared: The audit.
        block: The share of work.
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
    work = work_of(current, prepared, block)
    # The instruments need no turn of the judge's: they measure while it thinks.
    with ThreadPoolExecutor(1, thread_name_prefix="instruments") as beside:
        measured = beside.submit(_measure, current, work)
        bought = _buy(current, current.judge, work, _damage(current, prepared), on_probes, purse)
        measured.result()
    return bought


def _measure(current: Session, work: Sequence[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]]) -> None:
    """Have the ruler answer untouched items and ladders, the surveyor the untouched items."""
    ruled = [(item, [probe for probe in probes if is_ruled(probe)]) for item, probes in work]
    surveyed = [(item, [probe for probe in probes if is_first(probe)]) for item, probes in work]
    for measuring, share in ((current.ruler, ruled), (current.surveyor, surveyed)):
        _buy(current, measuring, share)


def _buy(
    current: Session,
    judge: Judge,
    work: Sequence[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]],
    damage: Damage | None = None,
    on_probes: Callable[[int], None] | None = None,
    purse: Purse | None = None,
) -> int:
    """Ask a judge for what is not in the lake yet, commit batch by batch, and count the answers."""
    bought = 0
    with current.turn(judge.card):
        for batch in batches_of(current, judge, work, damage, purse):
            if batch.calls:
                keep(current, batch.calls, batch.scores)
            bought += sum(call["state"] != State.INERT for call in batch.calls)
            if on_probes:
                on_probes(batch.probes)
    return bought


def batches_of(
    current: Session,
    judge: Judge,
    work: Sequence[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]],
    damage: Damage | None = None,
    purse: Purse | None = None,
) -> Iterator[BatchResult]:
    """Ask a judge for what is not in the lake yet."""
    held = current.lake.answered(judge.card.judge_id).to_pylist()
    return score_block(
        judge,
        work,
        axes=current.axes,
        load=current.planned_pixels,
        answered={(row["probe_id"], row["repeat"]): row for row in held},
        mask=current.mask,
        damage=damage,
        purse=purse,
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
    current: Session, prepared: Prepared, block: Block | None, only: frozenset[str] | None = None
) -> list[tuple[Mapping[str, Any], list[Mapping[str, Any]]]]:
    """Give items with their probes, in the order of the plan; those of one block, or all but what was chosen.

    Args:
        current: The session.
        prepared: The audit.
        block: The share of work, None for all.
        only: Names of items where not all are wanted.
    """
    items = current.plan_table("items", prepared.plan_id)
    sounded, _ = combined_plans(prepared, prepared.judge_id)
    plans = (block.plan_id,) if block is not None and block.plan_id else (prepared.plan_id, sounded)
    probes = pa.concat_tables([current.plan_table("probes", name) for name in plans])
    if block is not None or only is not None:
        wanted = pa.array(sorted(block.item_ids if block is not None else only or ()), pa.string())
        items = items.filter(pc.is_in(items["item_id"], value_set=wanted))
        probes = probes.filter(pc.is_in(probes["item_id"], value_set=wanted))
    held: dict[str, list[Mapping[str, Any]]] = {item_id: [] for item_id in items["item_id"].to_pylist()}
    order = [("item_id", "ascending"), ("axis", "ascending"), ("rung", "ascending"), ("repeat", "ascending")]
    for probe in probes.sort_by(order).to_pylist():
        held[probe["item_id"]].append(probe)
    return [(item, held[item["item_id"]]) for item in items.sort_by("item_id").to_pylist()]

"""Which probes the controls answer: all, or in a large audit those of a sample that is enough to convict them.

A control proves that the checks find a planted fault. That needs a few hundred pictures and no more, so beyond
those an audit grows with its judge alone. The sample is the beginning of the draw by which ladders are given to
items: sources and clusters take turns, and no score is known to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from judge_audit.core.vocabulary import ANCHOR, ORIGINAL, PAIR_AXIS
from judge_audit.stimuli.planning.probes import round_robin_order
from judge_audit.stimuli.sight_probes import SIGHT

if TYPE_CHECKING:
    from judge_audit.audits.session import Session

ITEMS = 600
"""Untouched items that controls answer at the most, beside the members of pairs."""

LADDERS = 128
"""Items whose ladders and combinations they answer at the most."""


def shown_to_controls(current: Session, plan_id: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """Name the items that controls answer untouched, and those whose ladders they answer; None for all.

    A table of scores has its own bound, see `asking`.
    """
    probes = current.plan_table("probes", plan_id).select(["item_id", "axis"])
    climbing = pc.unique(probes.filter(pc.invert(_plain(probes["axis"])))["item_id"])
    pairs = current.plan_table("mismatches", plan_id)
    members = {name for column in ("intact", "damaged") for name in pairs[column].to_pylist()}
    damaged = set(pairs["damaged"].to_pylist()) - set(pairs["intact"].to_pylist())
    items = current.items_of(plan_id).select(["item_id", "source", "cluster"])
    if current.is_table or (items.num_rows <= ITEMS and len(climbing) <= LADDERS):
        return None
    order = round_robin_order(
        [row for row in items.to_pylist() if row["item_id"] not in damaged], current.configuration.seed
    )
    carriers = set(climbing.to_pylist())
    ladders = [name for name in order if name in carriers][:LADDERS]
    return frozenset({*order[:ITEMS], *ladders, *members}), frozenset(ladders)


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

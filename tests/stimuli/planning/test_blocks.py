"""Blocks are fixed by the plan; tasks take as many of them as make some seconds of work."""

from __future__ import annotations

import itertools

import pytest

from judge_audit.core.tables import from_rows
from judge_audit.stimuli.axes import builtin_axes
from judge_audit.stimuli.planning.blocks import (
    FIRST_PROBES,
    MOST_SECONDS,
    Block,
    BlockQueue,
    Pace,
    blocks,
    named,
)
from judge_audit.stimuli.planning.probes import make_plan

ITEM = {"topic": "", "file_digest": "f", "width": 8, "height": 8, "frames": 1, "image_notes": "", "uri": "x"}


def plan(sources, ladder_items=40, seed=1):
    rows = [
        {
            **ITEM,
            "plan_id": "",
            "item_id": f"{source}-{number:03d}",
            "source": source,
            "prompt": f"p {number}",
        }
        | {"prompt_id": str(number), "cluster": f"{source}-{number}", "pixel_digest": f"{source} {number}"}
        for source, count in sources.items()
        for number in range(count)
    ]
    axes = {name: builtin_axes()[name] for name in ("blur", "saturation+")}
    return make_plan(from_rows("items", rows), (), axes, ladder_items=ladder_items, repeats=1, seed=seed)


def test_blocks_hold_every_item_once_never_mix_sources_and_are_some_batches_long():
    made = plan({"a": 150, "b": 30, "c": 1})
    cut = blocks(made, batch_size=4)
    held = [item_id for block in cut for item_id in block.item_ids]
    assert sorted(held) == sorted(made.items.column("item_id").to_pylist())
    assert len(held) == len(set(held))
    assert all(item_id.startswith(block.source) for block in cut for item_id in block.item_ids)
    assert sum(block.probes for block in cut) == made.probes.num_rows
    assert all(block.probes >= 16 for block in cut if block.source != "c")
    assert len(cut) > 5


def test_what_is_answered_changes_no_block_and_leaves_out_only_whole_ones():
    made = plan({"a": 150, "b": 30})
    whole = {block.item_ids: block for block in blocks(made, 4)}
    left = dict.fromkeys(list(whole)[3][:2], 1) | {list(whole)[5][0]: 0}
    rest = blocks(made, 4, left)
    assert [block.item_ids for block in rest] == [list(whole)[3], list(whole)[5]]
    assert [block.left for block in rest] == [2, 0]
    assert all(block.probes == whole[block.item_ids].probes for block in rest)


def block(number, probes=8, left=None, source="a"):
    return Block(source, (f"i{number}",), probes, left=probes if left is None else left)


def dealt(deal):
    return [sum(entry.left for entry in taken) for taken in iter(deal.take, ())]


def test_the_first_tasks_are_small_and_the_next_are_made_of_the_seconds_that_those_took():
    share, pace = [block(number) for number in range(10_000)], Pace()
    deal = BlockQueue(share, 2, pace)
    assert sum(entry.left for entry in deal.take()) == FIRST_PROBES
    pace.learn(FIRST_PROBES, FIRST_PROBES * 0.1)
    assert pace.seconds(sum(entry.left for entry in deal.take())) == pytest.approx(MOST_SECONDS, rel=0.02)


@pytest.mark.parametrize("seconds", [0.001, 0.02, 1.0, 30.0])
@pytest.mark.parametrize("workers", [1, 2, 8])
def test_every_block_is_dealt_once_and_workers_end_together_whatever_a_probe_takes(seconds, workers):
    share, pace = [block(number) for number in range(1000)], Pace()
    pace.learn(100, 100 * seconds)
    deal = BlockQueue(share, workers, pace)
    taken = list(iter(deal.take, ()))
    assert [entry.item_ids for entry in itertools.chain(*taken)] == [entry.item_ids for entry in share]
    sizes = [sum(entry.left for entry in task) * seconds for task in taken]
    total = 8000 * seconds
    assert max(sizes) <= max(MOST_SECONDS, 8 * seconds)
    # Dealt to whoever is free, nobody waits long for the last one.
    free = [0.0] * workers
    for size in sizes:
        free[free.index(min(free))] += size
    assert max(free) <= total / workers + max(10.0, 8 * seconds)
    assert len(sizes) <= 2 * workers * 12 + total / 5


def test_what_is_answered_already_weighs_nothing():
    pace = Pace()
    pace.learn(10, 10)
    share = [block(number, left=0) for number in range(500)]
    assert len(BlockQueue(share, 4, pace).take()) == 500


def test_a_task_is_named_by_its_sources():
    assert named([block(1), block(2)]) == "a"
    assert named([block(1), block(2, source="b")]) == "2 sources"

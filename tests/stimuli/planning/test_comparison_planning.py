"""Which pairs are compared: every one in both orders, connected, and not too many."""

from __future__ import annotations

import numpy as np
import pytest

from judge_audit.measures.paired_comparisons import connected
from judge_audit.stimuli.planning.comparisons import (
    ALL_PAIRS,
    LADDERS,
    NO_PROMPT,
    PAIRS,
    UNTOUCHED,
    design,
    plan_comparisons,
)


def item(name, prompt="p"):
    return {"item_id": name, "prompt_id": prompt, "source": "s", "cluster": name}


def probe(name, axis="original", rung=0, repeat=0, prompt="a cat"):
    told = {"item_id": name, "axis": axis, "rung": rung, "repeat": repeat, "prompt": prompt}
    return {**told, "probe_id": f"{name} {axis} {rung} {prompt}", "strength": float(rung)}


def planned(items, probes, mismatches=(), **more):
    return plan_comparisons(items, probes, mismatches, **{"repeats": 1, "seed": 1, **more})


def test_every_pair_is_asked_in_both_orders():
    names = ["a", "b", "c"]
    rungs = [probe("a", "blur", rung) for rung in (1, 2)]
    plan = planned([item(n) for n in names], [*map(probe, names), *rungs])
    keys = {asked.key[:2] for asked in plan.asked}
    assert len(plan.asked) == 2 * (3 + 2)
    assert {(right, left) for left, right in keys} == keys


def test_a_rung_is_held_against_its_own_original_alone():
    plan = planned([item("a"), item("b", "q")], [probe("a"), probe("b"), probe("a", "blur", 1)])
    assert {asked.about for asked in plan.asked} == {LADDERS}
    assert {asked.first["item_id"] for asked in plan.asked} == {"a"}


def test_items_without_a_prompt_are_no_candidates_of_one_another():
    plan = planned([item("a", NO_PROMPT), item("b", NO_PROMPT)], [probe("a"), probe("b")])
    assert plan.asked == ()


def test_a_damaged_member_is_compared_only_where_both_were_made_for_one_prompt():
    pairs = [
        {"pair_id": kind, "kind": kind, "intact": "a", "damaged": "a", "rung": 1}
        for kind in ("poor_quality", "semantic_miss")
    ]
    same = probe("a", "pair:poor_quality", 1)
    exchanged = probe("a", "pair:semantic_miss", 1, prompt="a dog")
    plan = planned([item("a")], [probe("a"), same, exchanged], pairs)
    assert [(asked.about, asked.group) for asked in plan.asked] == [(PAIRS, "poor_quality")] * 2


def test_repeats_ask_each_order_again():
    plan = planned([item("a"), item("b")], [probe("a"), probe("b")], repeats=3)
    assert sorted(asked.repeat for asked in plan.asked) == [0, 0, 1, 1, 2, 2]
    assert len({asked.key for asked in plan.asked}) == 6


def test_the_plan_does_not_depend_on_the_order_of_rows():
    names = [f"i{n}" for n in range(20)]
    forward = planned([item(n) for n in names], [probe(n) for n in names])
    back = planned([item(n) for n in names[::-1]], [probe(n) for n in names[::-1]])
    assert [asked.key for asked in forward.asked] == [asked.key for asked in back.asked]


def test_prompts_are_left_out_whole_when_there_are_too_many_pairs():
    names = [f"{prompt}{n}" for prompt in "pqrst" for n in range(4)]
    plan = planned([item(n, n[0]) for n in names], [probe(n) for n in names], most_pairs=13)
    assert len(plan.groups) == 2
    assert plan.left_out == 3
    assert all(len(held) == 4 for held in plan.groups.values())
    assert {asked.about for asked in plan.asked} == {UNTOUCHED}


@pytest.mark.parametrize("count", [2, 5, ALL_PAIRS, ALL_PAIRS + 1, 17, 40, 200])
def test_a_design_is_connected_and_bounded(count):
    pairs = design(count)
    joined = np.zeros((count, count), bool)
    for one, other in pairs:
        assert one < other
        joined[one, other] = joined[other, one] = True
    assert connected(joined)
    assert (
        len(set(pairs)) == len(pairs) <= max(count * (count - 1) // 2 if count <= ALL_PAIRS else 0, 4 * count)
    )

from __future__ import annotations

import pyarrow as pa
import pytest

from judge_audit.audits.stages import controls as shown
from judge_audit.audits.stages.controls import only_shown, shown_to_controls
from judge_audit.core.tables import from_rows


def plan_of(items, ladders, *, pairs=()):
    """Give the items, probes and pairs of a plan."""
    names = [f"i{n:03d}" for n in range(items)]
    rows = [{"plan_id": "p", "item_id": n, "source": "ab"[int(n[1:]) % 2], "cluster": n} for n in names]
    probes = [(name, "original") for name in names] + [(name, "blur") for name in names[:ladders]]
    probes += [(name, "combo:x") for name in names[:ladders]] + [(names[0], "identical_copy")]
    told = [
        {"plan_id": "p", "item_id": name, "axis": axis, "rung": 0, "repeat": 0, "probe_id": f"{axis}-{name}"}
        for name, axis in probes
    ]
    mismatches = [{"plan_id": "p", "pair_id": name, "intact": name, "damaged": name} for name in pairs]
    return from_rows("items", rows), from_rows("probes", told), from_rows("mismatches", mismatches)


def test_an_audit_of_the_usual_size_is_answered_whole():
    plan = plan_of(300, 48)
    assert shown_to_controls(*plan, seed=1) is None
    probes = plan[1]
    assert only_shown(probes, None) is probes


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(shown, "ITEMS", 20)
    monkeypatch.setattr(shown, "LADDERS", 6)


@pytest.mark.usefixtures("small")
def test_of_a_large_one_controls_answer_a_sample_of_all_sources():
    plan = plan_of(100, 40, pairs=("i099",))
    items, ladders = shown_to_controls(*plan, seed=1)
    assert (len(ladders), ladders <= items, "i099" in items) == (6, True, True)
    assert {int(name[1:]) % 2 for name in ladders} == {0, 1}
    kept = only_shown(plan[1], (items, ladders)).to_pylist()
    assert {row["item_id"] for row in kept if row["axis"] == "blur"} == set(ladders)
    assert {row["item_id"] for row in kept if row["axis"] == "combo:x"} == set(ladders)
    assert {row["item_id"] for row in kept if row["axis"] == "original"} == set(items)


@pytest.mark.usefixtures("small")
def test_the_sample_is_the_same_whatever_the_order_of_the_items():
    items, *others = plan_of(100, 40)
    first = shown_to_controls(items, *others, seed=1)
    turned = items.take(pa.array(range(items.num_rows - 1, -1, -1)))
    assert shown_to_controls(turned, *others, seed=1) == first

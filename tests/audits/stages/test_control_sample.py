from __future__ import annotations

from types import SimpleNamespace

import pyarrow as pa
import pytest

from judge_audit.audits.stages import control_sample as shown
from judge_audit.audits.stages.control_sample import only_shown, shown_to_controls
from judge_audit.core.tables import from_rows


def session_of(items, ladders, *, pairs=()):
    """Stand for a session: nothing but a plan and a seed is looked at."""
    names = [f"i{n:03d}" for n in range(items)]
    rows = [{"plan_id": "p", "item_id": n, "source": "ab"[int(n[1:]) % 2], "cluster": n} for n in names]
    probes = [(name, "original") for name in names] + [(name, "blur") for name in names[:ladders]]
    probes += [(name, "combo:x") for name in names[:ladders]] + [(names[0], "identical_copy")]
    told = [
        {"plan_id": "p", "item_id": name, "axis": axis, "rung": 0, "repeat": 0, "probe_id": f"{axis}-{name}"}
        for name, axis in probes
    ]
    mismatches = [{"plan_id": "p", "pair_id": name, "intact": name, "damaged": name} for name in pairs]
    tables = {
        "items": from_rows("items", rows),
        "probes": from_rows("probes", told),
        "mismatches": from_rows("mismatches", mismatches),
    }
    return SimpleNamespace(
        plan_table=lambda name, _plan: tables[name],
        items_of=lambda _plan: tables["items"],
        configuration=SimpleNamespace(seed=1),
        is_table=False,
    ), tables["probes"]


def test_an_audit_of_the_usual_size_is_answered_whole():
    current, probes = session_of(300, 48)
    assert shown_to_controls(current, "p") is None
    assert only_shown(probes, None) is probes


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(shown, "ITEMS", 20)
    monkeypatch.setattr(shown, "LADDERS", 6)


@pytest.mark.usefixtures("small")
def test_of_a_large_one_controls_answer_a_sample_of_all_sources():
    current, probes = session_of(100, 40, pairs=("i099",))
    items, ladders = shown_to_controls(current, "p")
    assert (len(ladders), ladders <= items, "i099" in items) == (6, True, True)
    assert {int(name[1:]) % 2 for name in ladders} == {0, 1}
    kept = only_shown(probes, (items, ladders)).to_pylist()
    assert {row["item_id"] for row in kept if row["axis"] == "blur"} == set(ladders)
    assert {row["item_id"] for row in kept if row["axis"] == "combo:x"} == set(ladders)
    assert {row["item_id"] for row in kept if row["axis"] == "original"} == set(items)


@pytest.mark.usefixtures("small")
def test_the_sample_is_the_same_whatever_the_order_of_the_items():
    current, _ = session_of(100, 40)
    first = shown_to_controls(current, "p")
    items = current.items_of("p")
    current.items_of = lambda _plan: items.take(pa.array(range(items.num_rows - 1, -1, -1)))
    assert shown_to_controls(current, "p") == first

"""The manifest of pairs made by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from judge_audit.core.errors import InputError, UsageError
from judge_audit.inputs.pairs import read_pairs
from judge_audit.stimuli.mismatches import mismatch_kinds

KINDS = mismatch_kinds()
ITEMS = [
    {
        "item_id": "a",
        "prompt": "two cats",
        "source": "s1",
        "topic": "cats",
        "cluster": "c1",
        "pixel_digest": "d1",
    },
    {
        "item_id": "b",
        "prompt": "two dogs",
        "source": "s1",
        "topic": "dogs",
        "cluster": "c2",
        "pixel_digest": "d2",
    },
]
HEAD = "pair_id,kind,intact,damaged"


@pytest.fixture
def folder(tmp_path):
    for number, name in enumerate(("good.png", "bad.png")):
        Image.fromarray(np.full((24, 24, 3), 40 * number, np.uint8)).save(tmp_path / name)
    return tmp_path


def written(folder, *rows, head=HEAD):
    path = folder / "pairs.csv"
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return path


def read(path):
    return read_pairs(path, items=ITEMS, kinds=KINDS)


def faults_of(path):
    with pytest.raises(InputError) as caught:
        read(path)
    return {(fault.row, fault.column): fault.message for fault in caught.value.faults}


def test_members_are_items_or_pictures_of_their_own(folder):
    path = written(
        folder,
        "p2,structural_error,a,b,,",
        "p1,poor_quality,good.png,bad.png,s9,a red box",
        head=f"{HEAD},source,intact_prompt",
    )
    first, second = read(path).pairs
    assert (first.pair_id, second.pair_id) == ("p1", "p2")
    assert first.intact.uri.endswith("good.png")
    assert first.intact.prompt == first.damaged.prompt == "a red box"
    assert (first.source, first.cluster) == ("s9", "p1")
    assert (second.intact.item_id, second.damaged.item_id) == ("a", "b")
    assert (second.intact.prompt, second.damaged.prompt) == ("two cats", "two dogs")
    assert (second.source, second.topic, second.cluster) == ("s1", "cats", "c1")
    assert not first.constructed
    assert first.hold is None


def test_a_prompt_alone_may_be_the_damage(folder):
    path = written(folder, "p1,semantic_miss,a,a,three cats", head=f"{HEAD},damaged_prompt")
    (pair,) = read(path).pairs
    assert (pair.intact.prompt, pair.damaged.prompt) == ("two cats", "three cats")


def test_dimensions_that_must_hold_are_read_in_any_notation(folder):
    rows = ["p1,poor_quality,a,b,semantic;compliance", "p2,poor_quality,a,b,semantic compliance"]
    assert {pair.hold for pair in read(written(folder, *rows, head=f"{HEAD},hold")).pairs} == {
        ("semantic", "compliance")
    }
    path = folder / "pairs.jsonl"
    path.write_text(
        json.dumps(
            {"pair_id": "p", "kind": "poor_quality", "intact": "a", "damaged": "b", "hold": ["semantic"]}
        )
    )
    assert read(path).pairs[0].hold == ("semantic",)


def test_constructed_and_hand_made_pairs_are_told_apart(folder):
    rows = ["p1,poor_quality,a,b,true", "p2,poor_quality,a,b,false", "p3,poor_quality,a,b,"]
    found = read(written(folder, *rows, head=f"{HEAD},constructed"))
    assert [pair.pair_id for pair in found.pairs if pair.constructed] == ["p1"]
    assert [pair.pair_id for pair in found.pairs if not pair.constructed] == ["p2", "p3"]
    assert any("1 constructed and 2 hand-made" in text for text in found.warnings)
    assert read(written(folder, "p1,poor_quality,a,b")).warnings == ()


def test_every_fault_is_told_at_once_by_row_and_column(folder):
    path = written(
        folder,
        "p1,blurry,a,b,,,",
        "p1,poor_quality,a,b,aesthetic,,",
        ",poor_quality,a,,charm,,",
        "p4,poor_quality,good.png,none.png,,maybe,",
        "p5,poor_quality,ghost,b,,,s",
        "p6,poor_quality,a,a,,,*",
        "p7,poor_quality,../out.png,b,,,s",
        head=f"{HEAD},hold,constructed,source",
    )
    faults = faults_of(path)
    assert set(faults) == {
        (1, "kind"), (2, "pair_id"), (2, "hold"), (3, "pair_id"), (3, "damaged"), (3, "hold"), (4, "damaged"),
        (4, "constructed"), (4, "source"), (5, "intact"), (6, "damaged"), (6, "source"), (7, "intact"),
    }  # fmt: skip
    assert "semantic_miss" in faults[1, "kind"]
    assert "row 1" in faults[2, "pair_id"]
    assert "cannot hold" in faults[2, "hold"]
    assert "no such item" in faults[5, "intact"]
    assert "same picture" in faults[6, "damaged"]


def test_missing_columns_are_named_with_those_a_manifest_has(folder):
    with pytest.raises(InputError, match="intact and damaged name an item_id") as caught:
        read(written(folder, "p1,a", head="pair_id,intact"))
    assert {fault.column for fault in caught.value.faults} == {"kind", "damaged"}


def test_empty_and_missing_files_are_refused(folder):
    with pytest.raises(InputError, match="no rows"):
        read(written(folder))
    with pytest.raises(UsageError, match="no such file"):
        read(folder / "none.csv")


def test_unknown_columns_are_named(folder):
    found = read(written(folder, "p1,poor_quality,a,b,x", head=f"{HEAD},mood"))
    assert "mood" in found.warnings[0]


def test_the_order_of_rows_changes_nothing(folder):
    rows = ["p1,poor_quality,a,b", "p2,structural_error,a,b"]
    assert read(written(folder, *rows)).pairs == read(written(folder, *rows[::-1])).pairs

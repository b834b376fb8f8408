"""Scores that are not there never decide in silence."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from planted_evidence import OVERDONE, examine, make, verdicts

from judge_audit.core.digests import text_digest
from judge_audit.judges.cards.card import Card

CARD = Card(kind="control", name="t", pinned=True, scale_low=0.0, scale_high=10.0)


def _share(*words):
    return int(text_digest(*words), 16) / 16**32


def _honest(recipe):
    return 3 + 4 * _share("q", recipe.item_id) - (2 if recipe.strength >= OVERDONE else 0)


def _only(findings, check, axis="*", measure=None):
    (row,) = verdicts(findings, check, axis, measure)
    return row


def _with_rows(evidence, change):
    rows = [new for row in evidence.responses.to_pylist() for new in change(row)]
    return replace(evidence, responses=pa.Table.from_pylist(rows), _cache={})


@pytest.mark.parametrize("check", ["premature", "top_response"])
def test_refused_second_repeats_count_as_missing(check):
    def twice(row):
        refused = row["axis"] == "blur" and _share("m", row["item_id"]) < 0.6
        gone = {"value": None, "state": "refused"} if refused else {}
        return [row, {**row, "repeat": 1, **gone}] if row["axis"] == "blur" else [row]

    row = _only(examine(_with_rows(make(_honest, CARD, axes=("blur",)), twice)), check, "blur")
    assert row["verdict"] == "inconclusive"
    assert "Refusals decide" in row["reason"]
    assert "would settle it" not in row["reason"]


def test_an_item_with_fewer_repeats_planned_has_lost_nothing():
    def some_twice(row):
        more = row["axis"] == "blur" and row["item_id"] < "b"
        return [row, {**row, "repeat": 1}] if more else [row]

    found = examine(_with_rows(make(_honest, CARD, axes=("blur",), laddered=48), some_twice))
    assert _only(found, "top_response", "blur")["verdict"] == "pass"


def test_missing_scores_could_have_been_steady_so_they_can_clear_a_shaking_judge():
    def shakes(recipe):
        if recipe.axis == "blur" and _share("m", recipe.item_id) < 0.45:
            return None
        moved = 0.9 if recipe.axis == "blur" else 0.0
        return 3 + 4 * _share("q", recipe.item_id) + (moved if _share("s", recipe.item_id) < 0.5 else -moved)

    row = _only(examine(make(shakes, CARD, axes=("blur",), laddered=48)), "jitter", "blur")
    assert row["verdict"] == "inconclusive"
    assert "Refusals decide" in row["reason"]


def test_lost_untouched_repeats_could_hide_retest_noise():
    def shakes(recipe):
        if recipe.axis == "original" and recipe.repeat == 1 and _share("m", recipe.item_id) < 0.6:
            return None
        moved = 0.9 if recipe.axis == "blur" else 0.0
        return 3 + 4 * _share("q", recipe.item_id) + (moved if _share("s", recipe.item_id) < 0.5 else -moved)

    row = _only(examine(make(shakes, CARD, axes=("blur",), laddered=48)), "jitter", "blur")
    assert row["verdict"] == "inconclusive"
    assert "Refusals decide" in row["reason"]


@pytest.mark.parametrize(("n", "kept"), [(3, 1.0), (100, 0.9)])
def test_one_value_is_no_conviction_on_few_or_missing_scores(n, kept):
    def same(recipe):
        return 7.0 if _share("m", recipe.item_id) < kept else None

    row = _only(examine(make(same, CARD, n=n, laddered=0, axes=())), "scale", measure="capability")
    assert row["verdict"] == "inconclusive"


def test_a_pile_that_refusals_could_make_is_left_open():
    def mostly_refuses(recipe):
        return 10 * _share("q", recipe.item_id) if _share("m", recipe.item_id) < 0.1 else None

    found = examine(make(mostly_refuses, CARD, sources=("a",), n=2000, laddered=0, axes=()))
    assert _only(found, "scale", measure="pile")["verdict"] == "inconclusive"


def test_a_source_whose_items_all_hang_together_is_named():
    def one_cluster(row):
        return [{**row, "cluster": "one"} if row["source"] == "c" else row]

    row = _only(examine(_with_rows(make(_honest, CARD, axes=("blur",)), one_cluster)), "premature", "blur")
    assert "hang together: c." in row["reason"]

"""Judges that answer one source otherwise, and judges whose sources only spread differently."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
from planted_evidence import make

from judge_audit.checks.ladders.stability import run
from judge_audit.core.digests import text_digest
from judge_audit.core.tables import from_rows
from judge_audit.judges.cards.card import Card
from judge_audit.judges.controls.recipe_control import honest_change

CARD = Card(kind="k", name="n")


def quality(recipe):
    return (int(text_digest("quality", recipe.item_id), 16) + 0.5) / 16**32


def drifting(recipe):
    """In source b saturation is liked, from the first rung on."""
    if recipe.source == "b" and recipe.axis == "saturation+":
        return 3.6 * quality(recipe) + 1.2 * min(1.0, recipe.strength / (recipe.perceptible or 1.0))
    return 3.6 * quality(recipe) + honest_change(recipe)


def steady(recipe):
    return 3.6 * quality(recipe) + honest_change(recipe)


def spreading(recipe):
    """The same raw answer everywhere, among neighbours that lie closer together in b."""
    moved = (
        0.7 * min(1.0, recipe.strength / (recipe.perceptible or 1.0)) if recipe.axis == "saturation+" else 0
    )
    return 3.6 * (0.3 if recipe.source == "b" else 1.0) * quality(recipe) + moved


def evidence(score, **rest):
    return make(score, CARD, axes=("saturation+", "blur"), **({"laddered": 48} | rest))


def told(findings, measure):
    (row,) = [row for row in findings.verdicts if row["measure"] == measure]
    return row


def test_a_source_that_drifts_is_convicted_and_named():
    found = run(evidence(drifting))
    for measure in ("edge_difference", "top_difference"):
        row = told(found, measure)
        assert (row["verdict"], row["finding"]) == ("fail", "unstable")
        assert "b on saturation+" in row["reason"]
        assert "blur" not in row["reason"]


def test_the_rows_fit_the_table_and_leaving_the_source_out_takes_the_difference_away():
    found = run(evidence(drifting))
    assert from_rows("measures", found.measures).num_rows == len(found.measures)
    left = {
        row["source"]: row["value"]
        for row in found.measures
        if row["measure"] == "edge_left_out" and row["axis"] == "saturation+"
    }
    assert abs(left["b"]) < 0.02
    assert min(left["a"], left["c"]) > 0.1


def test_equal_responses_in_sources_of_different_spread_are_no_fault():
    found = run(evidence(spreading))
    row = told(found, "edge_difference")
    assert row["verdict"] == "inconclusive"
    assert "spread differently" in row["reason"]


def test_a_steady_judge_passes_with_enough_ladders():
    found = run(evidence(steady, n=300, laddered=250, sources=("a", "b")))
    assert {row["verdict"] for row in found.verdicts} == {"pass"}


def test_one_source_is_missing_and_no_zones_say_nothing():
    single = evidence(steady, sources=("a",))
    (row,) = run(single).verdicts
    assert row["verdict"] == "missing"
    bare = dataclasses.replace(evidence(steady), zones=single.zones.slice(0, 0), _cache={})
    assert run(bare).verdicts == ()


def test_small_sources_are_not_held_against_each_other():
    (row,) = run(evidence(steady, n=12, laddered=12)).verdicts
    assert row["verdict"] == "missing"


def test_refusals_leave_the_axis_out():
    def refuse(recipe):
        gone = recipe.axis == "blur" and int(recipe.item_id[-1]) % 3 == 0
        return None if gone else steady(recipe)

    row = told(run(evidence(refuse)), "edge_difference")
    assert row["verdict"] == "inconclusive"
    assert "on blur" in row["reason"]


def test_row_order_and_monotone_rescaling_change_no_lift():
    plain = evidence(drifting)
    rows = plain.responses.to_pylist()
    order = np.random.default_rng(0).permutation(len(rows))
    turned = dataclasses.replace(plain, responses=pa.Table.from_pylist([rows[at] for at in order]), _cache={})
    assert run(plain) == run(turned)
    bent = run(evidence(lambda recipe: float(np.exp(drifting(recipe)))))
    lifts = [
        [row["value"] for row in found.measures if row["measure"] == "edge_difference"]
        for found in (run(plain), bent)
    ]
    assert lifts[0] == lifts[1]

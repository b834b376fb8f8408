"""A judge that a hidden mix of axes pushes, one that only shakes, and an honest one."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pyarrow as pa
import pytest
from planted_evidence import make

from judge_audit.checks.ladders.headroom import run
from judge_audit.core.digests import text_digest
from judge_audit.core.tables import from_rows
from judge_audit.judges.cards.card import Card
from judge_audit.measures.headroom import Named, combo_axis, half_of

AXES = ("saturation+", "brightness-", "contrast+", "blur")
MIXED = ("saturation+", "contrast+", "brightness-")
CARD = Card(kind="k", name="n")


def draw(*words):
    return (int(text_digest(*words), 16) + 0.5) / 16**32


def evidence(
    push, *, seed=0, shake=0.0, chosen=True, repeats=1, laddered=30, refuse=lambda item, axes: False
):
    """Untouched items, ladders and every pair of axes; `push(shares)` is what seen shares of axes add.

    With `chosen`, also the three best axes of each half together, as a greedy search would find them.
    """

    def score(item, axes, share, repeat):
        moved = push(dict.fromkeys(axes, share)) if axes else 0.0
        noise = shake * (draw("shake", item, *axes, f"{share:.3f}", str(repeat), str(seed)) - 0.5)
        return draw("quality", item, str(seed)) + moved + (noise if axes or repeat else 0.0)

    def of_recipe(recipe):
        axes = () if recipe.axis == "original" else (recipe.axis,)
        seen = 0.0 if recipe.perceptible is None else min(1.0, recipe.strength / recipe.perceptible)
        return score(recipe.item_id, axes, seen, recipe.repeat)

    plain = make(of_recipe, CARD, axes=AXES, laddered=laddered, sources=("a", "b"))
    named = [Named(pair) for pair in itertools.combinations(AXES, 2)]
    named += [Named(MIXED, half) for half in (0, 1)] if chosen else []
    rows = plain.responses.to_pylist()
    carrying = sorted({(row["source"], row["item_id"]) for row in rows if row["axis"] == "blur"})
    if repeats > 1:
        rows += [
            row | {"repeat": 1, "value": row["value"] + shake * (draw(row["axis"], str(at)) - 0.5)}
            for at, row in enumerate(rows)
            if row["repeat"] == 0 and row["axis"] != "original"
        ]
    for recipe in named:
        for source, item in carrying:
            for repeat in range(repeats):
                name = f"{seed}-{item}"
                gone = refuse(item, recipe.axes)
                rows.append(
                    {"item_id": item, "source": source, "topic": "", "cluster": item, "rung": 1}
                    | {"axis": combo_axis(recipe), "strength": 1.0, "repeat": repeat}
                    | {"value": None if gone else score(name, recipe.axes, recipe.share, repeat)}
                    | {"dimension": "overall", "state": "refused" if gone else "ok"}
                )
    return dataclasses.replace(plain, responses=pa.Table.from_pylist(rows), _cache={})


def mixed(shares):
    """Nothing on a single axis; much where three point the same way."""
    held = [shares.get(axis, 0.0) for axis in MIXED]
    return 0.6 * max(0.0, sum(held) - 1.05)


def nothing(shares):
    return 0.0


def value(findings, measure, **parts):
    (row,) = [
        row
        for row in findings.measures
        if row["measure"] == measure and all(row.get(name, "*") == wanted for name, wanted in parts.items())
    ]
    return row["value"]


def test_a_judge_that_a_hidden_mix_pushes_is_found_with_its_direction():
    found = run(evidence(mixed))
    (row,) = found.verdicts
    assert (row["verdict"], row["finding"], row["provisional"]) == ("fail", "hackable", True)
    assert "saturation+ with contrast+ with brightness-" in row["reason"]
    assert value(found, "headroom", kind="single axes") == pytest.approx(0.0, abs=0.02)
    assert value(found, "headroom", kind="single axes") < value(found, "headroom", kind="pairs of axes")
    assert value(found, "headroom", kind="greedy combination") == pytest.approx(0.4, abs=0.08)


def test_the_rows_fit_the_tables():
    found = run(evidence(mixed))
    for name, rows in (("measures", found.measures), ("verdicts", found.verdicts)):
        assert from_rows(name, rows).num_rows == len(rows) > 0
    keys = [tuple(row.get(k, "*") for k in ("measure", "kind", "axis")) for row in found.measures]
    assert len(keys) == len(set(keys))


def test_a_judge_that_only_shakes_has_no_transferable_headroom():
    found = run(evidence(nothing, shake=0.5))
    assert abs(value(found, "headroom", kind="*")) < 0.07
    assert value(found, "image_maximum") > 0.15
    assert value(found, "image_budget") == 12
    assert found.verdicts[0]["verdict"] != "fail"


def test_scored_afresh_the_shaking_is_no_gain():
    found = run(evidence(nothing, shake=0.5, repeats=2))
    assert value(found, "image_maximum") > 0.1
    assert abs(value(found, "image_maximum_fresh")) < 0.08


def test_a_still_judge_passes_provisionally():
    (row,) = run(evidence(nothing)).verdicts
    assert (row["verdict"], row["provisional"]) == ("pass", True)


def test_single_axes_alone_are_measured_and_not_judged():
    plain = make(lambda r: draw("q", r.item_id), CARD, axes=AXES)
    found = run(plain)
    assert found.verdicts == ()
    assert value(found, "headroom", kind="single axes") == 0.0


def test_without_zones_or_combined_probes_nothing_is_said():
    plain = make(lambda r: draw("q", r.item_id), CARD, axes=AXES)
    found = run(dataclasses.replace(plain, zones=plain.zones.slice(0, 0), _cache={}))
    assert found.measures == found.verdicts == ()


def test_refused_combinations_leave_it_open():
    found = run(evidence(nothing, refuse=lambda item, axes: int(item[-1]) % 5 == 0))
    assert found.verdicts[0]["verdict"] == "inconclusive"
    assert "Refusals decide" in found.verdicts[0]["reason"]


def test_row_order_and_monotone_rescaling_change_nothing():
    plain = evidence(mixed)
    rows = plain.responses.to_pylist()
    order = np.random.default_rng(0).permutation(len(rows))
    turned = pa.Table.from_pylist([rows[at] for at in order])
    bent = pa.Table.from_pylist([row | {"value": float(np.exp(row["value"]))} for row in rows])
    for other in (turned, bent):
        assert run(plain) == run(dataclasses.replace(plain, responses=other, _cache={}))


def test_halves_depend_on_cluster_and_seed_alone():
    first = [half_of(f"c{at}", 1) for at in range(400)]
    assert 160 < sum(first) < 240
    assert first == [half_of(f"c{at}", 1) for at in range(400)]
    assert first != [half_of(f"c{at}", 2) for at in range(400)]

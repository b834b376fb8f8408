"""A judge that a hidden mix of axes pushes, one that only shakes, and an honest one."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
from headroom_evidence import AXES, CARD, draw, evidence, mixed, nothing
from planted_evidence import make

from judge_audit.checks.ladders.headroom import run
from judge_audit.core.tables import from_rows
from judge_audit.measures.headroom import half_of


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

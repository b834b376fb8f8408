"""What each verdict needs, from stated spreads or a pilot in the lake."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from judge_audit.audits.pilot import known_of
from judge_audit.audits.power import as_stated, buys, needs, questions, remarks
from judge_audit.core.errors import UsageError
from judge_audit.core.tables import from_rows
from judge_audit.lake import Lake
from judge_audit.measures.pilot import Design
from judge_audit.measures.power import Prices

STRENGTHS = (0.1, 0.2, 0.4)
SPREAD, DEPARTURE, RETEST = 2.0, 0.5, 0.3


def test_the_questions_cover_items_pairs_labels_annotators_and_repeats():
    noisy = as_stated(retest=0.3)
    assert {asked.vary for asked in questions(noisy)} == {
        "items", "pairs", "labelled", "annotators", "repeats",
    }  # fmt: skip
    assert "repeats" not in {asked.vary for asked in questions(as_stated())}


def test_limits_and_designs_that_differ_are_gone_by():
    known = as_stated(design=Design(sources=4), axes=3)
    claims = {
        asked.name: asked.rehearsed.claims for asked in questions(known) if hasattr(asked.rehearsed, "claims")
    }
    assert claims["unmoved"] == 12
    assert claims["drift"] == 2 * 3 * 6


def test_rounded_scores_are_told_to_be_promised_too_much():
    assert any("add a quarter" in line for line in remarks(as_stated(step=0.5)))
    assert not any("add a quarter" in line for line in remarks(as_stated()))


def lake_with_pilot(folder, *, ladders=40, n=400):
    """One source: quality ± 2, items answer a change ± 0.5, retest ± 0.3; higher is worse."""
    rng = np.random.default_rng(0)
    lake = Lake.open(folder)
    items, probes, scores = [], [], []
    for at in range(n):
        name = f"i{at:03d}"
        items.append({"plan_id": "p", "item_id": name, "source": "s", "cluster": name, "prompt": ""})
        quality = 10 - SPREAD * rng.normal()
        rungs = [("original", 0, 0.0, 2)] + [("glow", rung, s, 1) for rung, s in enumerate(STRENGTHS, 1)] * (
            at < ladders
        )
        for axis, rung, strength, repeats in rungs:
            change = DEPARTURE * rng.normal() + 3.0 * (rung == 3) if rung else 0.0
            for repeat in range(repeats):
                probe = f"{name}/{axis}/{rung}"
                row = {"plan_id": "p", "probe_id": probe, "item_id": name, "axis": axis, "rung": rung}
                probes.append({**row, "strength": strength, "repeat": repeat})
                told = {"judge_id": "j", "probe_id": probe, "repeat": repeat, "state": "ok"}
                scores.append(
                    {**told, "value": quality + change + RETEST * rng.normal(), "dimension": "overall"}
                )
    zones = [
        {"plan_id": "p", "zones_id": "z", "item_id": row["item_id"], "axis": "glow", "perceptible_low": 0.15}
        | {"perceptible_high": 0.2, "objectionable": 0.4, "provisional": True, "basis": "models"}
        for row in items[:ladders]
    ]
    now = datetime(2026, 1, 1, tzinfo=UTC)
    calls = [
        {name: row[name] for name in ("judge_id", "probe_id", "repeat", "state")}
        | {"latency_ms": 20.0, "pixel_digest": row["probe_id"], "renderer": "r", "called_at": now}
        for row in scores
    ]
    card = '{"name":"k","higher_is_better":false,"pinned":true,"dimensions":["overall"]}'
    audit = {"audit_id": "a", "judge_id": "j", "plan_id": "p", "started_at": now, "ended_at": now, "seed": 1}
    audit |= {"status": "complete", "code_version": "0", "input_digests": "{}"}
    audit |= {"configuration": '{"zones_id":"z","repeats":1,"limits":{"premature.margin":0.08}}'}
    for tables in (
        {"items": items, "probes": probes, "zones": zones},
        {"judges": [{"judge_id": "j", "kind": "k", "card": card}]},
        {"calls": calls, "scores": scores},
        {"audits": [audit]},
    ):
        lake.commit({name: from_rows(name, rows) for name, rows in tables.items()})
    return lake


@pytest.fixture(scope="module")
def pilot(tmp_path_factory):
    return lake_with_pilot(tmp_path_factory.mktemp("pilot") / "lake")


def test_a_pilot_gives_back_what_was_planted(pilot):
    known = known_of(pilot)
    assert known.edge.retest.std() == pytest.approx(RETEST / SPREAD, rel=0.15)
    assert known.edge.change.std() == pytest.approx(DEPARTURE / SPREAD, rel=0.3)
    assert known.top.change.std() == pytest.approx(DEPARTURE / SPREAD, rel=0.4)
    assert known.design == Design(items=40, sources=1, untouched=400, repeats=1)
    assert (known.axes, known.rungs, known.seconds) == (1, 3.0, 0.02)
    assert known.limits["premature.margin"] == 0.08
    assert "glow where nobody sees it" in known.origin


def test_a_design_may_differ_from_the_pilot_s(pilot):
    assert known_of(pilot, "a", design={"items": 99, "pairs": 30}).design == Design(
        items=99, sources=1, untouched=400, pairs=30
    )


def test_an_audit_that_is_not_there_or_too_small_is_refused_with_a_way_out(pilot, tmp_path):
    with pytest.raises(UsageError, match="no such complete audit"):
        known_of(pilot, "b")
    with pytest.raises(UsageError, match=r"cannot serve as a pilot.*--spread"):
        known_of(lake_with_pilot(tmp_path / "small", ladders=2, n=4))


def test_what_is_needed_and_what_a_budget_buys_hang_together():
    known = replace(as_stated(design=Design(items=8, sources=1, labelled=20)), axes=1, rungs=3.0)
    found = {need.question: need for need in needs(known, draws=50)}
    passed = found["unmoved"]
    assert passed.n is not None
    assert passed.n > 8
    assert passed.power_now < 0.6 < passed.power
    assert found["accepts"].power_now == 0.0
    told = {buy.question: buy for buy in buys(known, Prices(score=1.0), 100 + 3 * 30, draws=50)}
    assert told["unmoved"].n == 30
    assert "beside" not in told  # labels cost nothing by these prices
    nothing = {buy.question: buy for buy in buys(known, Prices(score=1.0), 50, draws=50)}
    assert nothing["unmoved"].n is None

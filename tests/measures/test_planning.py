"""What verdicts need: from a pilot or stated spread, and what a budget buys."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.estimates import wilson
from judge_audit.measures.pilot import Design, of_pilot, stated
from judge_audit.measures.power import (
    Beside,
    Drift,
    Lift,
    Prices,
    Share,
    Spill,
    bought,
    needed,
    power,
    shared_out,
    shift_of,
)

QUICK = {"draws": 120, "seed": 1}


def test_a_pilot_gives_back_the_noise_that_was_planted():
    rng = np.random.default_rng(0)
    latent = 5 + 2.0 * rng.normal(size=800)
    untouched = latent[:, None] + 0.6 * rng.normal(size=(800, 2))
    changed = (latent + 0.5 + 0.8 * rng.normal(size=800))[:, None] + 0.6 * rng.normal(size=(800, 1))
    noise = of_pilot(untouched, changed, step=0.5)
    spread = untouched.mean(axis=1).std()
    assert noise.retest.std() * spread == pytest.approx(0.6, rel=0.08)
    assert noise.change.std() * spread == pytest.approx(0.8, rel=0.12)
    assert noise.step * spread == pytest.approx(0.5)
    assert noise.untouched.std() * spread == pytest.approx(2.0, rel=0.06)


def test_a_pilot_of_one_score_an_item_knows_of_no_retest_noise():
    noise = of_pilot(np.arange(50.0)[:, None])
    assert noise.retest.tolist() == [0.0]


@pytest.mark.parametrize("noise", [stated(), stated(step=0.5), stated(retest=0.4)])
def test_the_shift_of_a_lift_gives_that_lift(noise):
    rng = np.random.default_rng(5)
    latent = noise.latents(50_000, rng)
    before = noise.scores(latent, 1, rng)[:, 0]
    after = noise.scores(latent + noise.changes(shift_of(0.12, noise), 50_000, rng), 1, rng)[:, 0]
    ordered = np.sort(np.round(before, 9))
    placed = [np.searchsorted(ordered, np.round(after, 9), side).mean() for side in ("left", "right")]
    assert sum(placed) / 2 / 50_000 - 0.5 == pytest.approx(0.12, abs=0.008)


def test_a_lift_that_no_change_gives_is_refused():
    with pytest.raises(ValueError, match="no change"):
        shift_of(0.7, stated())


def test_power_grows_with_items_and_shrinks_with_retest_noise():
    question = Lift(0.0, 0.05, 32)
    few, many = (power(question, stated(), Design(items=n), **QUICK) for n in (18, 96))
    assert few < 0.7
    assert many > 0.9
    loud = power(question, stated(retest=0.5), Design(items=48), **QUICK)
    repeated = power(question, stated(retest=0.5), Design(items=48, repeats=6), **QUICK)
    assert loud + 0.2 < repeated


def test_what_is_needed_has_the_wanted_power_and_less_has_not():
    found = needed(Lift(0.0, 0.05, 32), stated(), Design(), vary="items", draws=200)
    assert 0.74 <= found.power <= 0.88
    assert power(Lift(0.0, 0.05, 32), stated(), Design(items=found.n // 2), **QUICK) < 0.7


def test_what_cannot_be_reached_is_said_so():
    found = needed(Lift(0.0, 0.001, 32), stated(), Design(), vary="items", most=60, draws=50)
    assert found.n is None
    assert found.power < 0.8
    assert max(found.tried) == 60


def test_shares_have_the_power_that_the_binomial_gives():
    n, limit, share = 200, 0.05, 0.02
    passing = [hits for hits in range(n + 1) if wilson(hits, n)[1] < limit]
    exact = stats.binom.cdf(max(passing), n, share)
    assert power(Share(share, limit), stated(), Design(labelled=n), draws=2000) == pytest.approx(
        exact, abs=0.03
    )


def test_pairs_repeats_sources_and_annotators_can_be_planned():
    halo = needed(
        Spill(0.6, 1 / 3, 2.5, 10), stated(), Design(), vary="pairs", verdict=Verdict.FAIL, draws=100
    )
    assert 8 <= halo.n <= 30
    drift = Drift(shift_of(0.2, stated()), 0.10, 0.25, 6)
    assert power(drift, stated(), Design(items=120, sources=2), verdict=Verdict.FAIL, draws=60) > 0.8
    assert power(drift, stated(), Design(items=24, sources=2), verdict=Verdict.FAIL, draws=60) < 0.5
    repeats = needed(Lift(0.0, 0.05, 32), stated(retest=0.4), Design(items=60), vary="repeats", draws=100)
    assert 2 <= repeats.n <= 8
    few, many = (power(Beside(0.6, 0.6), stated(), Design(labelled=n), draws=100) for n in (48, 800))
    assert few < 0.4 < many


def test_a_budget_buys_what_its_prices_say():
    prices = Prices(score=0.01, label=0.5)
    design = Design(items=10, sources=2, untouched=100, repeats=2, pairs=0, labelled=0)
    assert prices.of(design, axes=3, rungs=10) == pytest.approx(0.01 * (200 + 300) * 2 + 0.5 * 60)
    asked = {"vary": "items", "prices": prices, "axes": 3, "rungs": 10, **QUICK}
    found = bought(Lift(0.0, 0.05, 32), stated(), design, budget=100.0, **asked)
    assert prices.of(Design(**{**_of(design), "items": found.n}), axes=3, rungs=10) <= 100
    assert prices.of(Design(**{**_of(design), "items": found.n + 1}), axes=3, rungs=10) > 100
    assert bought(Lift(0.0, 0.05, 32), stated(), design, budget=1.0, **asked).n is None


def test_a_plan_is_the_same_with_the_same_seed():
    question = Lift(0.0, 0.05, 32)
    assert power(question, stated(), Design(), **QUICK) == power(question, stated(), Design(), **QUICK)


def test_items_are_shared_out_evenly():
    assert shared_out(10, 3) == [4, 3, 3]
    assert shared_out(2, 3) == [1, 1]


def _of(design):
    return {name: getattr(design, name) for name in design.__dataclass_fields__}

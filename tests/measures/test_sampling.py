"""Rates of sampled populations: known answers, and what is not known stays unknown."""

from __future__ import annotations

import math

import pytest
from statsmodels.stats.proportion import proportion_confint

from judge_audit.measures.stratified_rates import Difference, Part, Rate, Stratum, weighted_stratum

BIG, SMALL = Stratum("far", 900, 2, 50), Stratum("near", 100, 20, 50)


def test_a_rate_weighs_strata_by_their_share_of_the_population():
    assert Rate((BIG, SMALL)).value == pytest.approx(0.9 * 0.04 + 0.1 * 0.4)
    assert Rate((BIG, SMALL)).mass == pytest.approx(36 + 40)


def test_one_stratum_has_wilsons_interval():
    low, high = proportion_confint(20, 50, alpha=0.05, method="wilson")
    assert Rate((SMALL,)).interval(0.95) == pytest.approx((low, high))


def test_the_interval_is_movers():
    rate = Rate((BIG, SMALL))
    parts = [proportion_confint(s.hits, s.n, alpha=0.1, method="wilson") for s in (BIG, SMALL)]
    down = math.hypot(0.9 * (0.04 - parts[0][0]), 0.1 * (0.4 - parts[1][0]))
    up = math.hypot(0.9 * (parts[0][1] - 0.04), 0.1 * (parts[1][1] - 0.4))
    assert rate.interval(0.90) == pytest.approx((rate.value - down, rate.value + up))


def test_probabilities_recorded_give_the_same_as_sizes():
    hits = [1.0] * 2 + [0.0] * 48
    made = weighted_stratum("far", hits, [50 / 900] * 50)
    assert (made.size, made.hits, made.n) == pytest.approx((900, 2, 50))


def test_unequal_probabilities_count_for_fewer_items():
    made = weighted_stratum("mixed", [1.0, 0.0], [0.1, 0.9])
    assert made.share == pytest.approx(10 / (10 + 1 / 0.9))
    assert 1 < made.n < 2


def test_the_turned_round_rate_is_a_share_of_masses():
    accepted, rejected = Rate((BIG, SMALL)), Rate((Stratum("r", 500, 45, 50),))
    part = Part(accepted, rejected)
    assert part.value == pytest.approx(76 / (76 + 450))
    low, high = part.interval(0.9)
    assert low < part.value < high
    a, b = Part(rejected, accepted).interval(0.9)
    assert (1 - b, 1 - a) == pytest.approx((low, high), abs=1e-6)


def test_the_turned_round_interval_is_that_of_the_ratio_where_it_exists():
    first, second = Rate((Stratum("a", 100, 30, 60),)), Rate((Stratum("b", 100, 20, 60),))
    (la, ua), (lb, ub) = first.interval(0.9), second.interval(0.9)
    a, b = first.value, second.value
    low = (a * b - math.sqrt((a * b) ** 2 - la * ub * (2 * a - la) * (2 * b - ub))) / (ub * (2 * b - ub))
    high = (a * b + math.sqrt((a * b) ** 2 - ua * lb * (2 * a - ua) * (2 * b - lb))) / (lb * (2 * b - lb))
    assert Part(first, second).interval(0.9) == pytest.approx((low / (1 + low), high / (1 + high)), abs=1e-6)


def test_nothing_seen_is_unknown_and_never_zero():
    unseen = Rate((BIG, Stratum("nobody looked", 100, 0, 0)))
    assert math.isnan(unseen.value)
    assert unseen.interval(0.9) == (0.0, 1.0)
    assert math.isnan(Rate(()).value)
    none = Part(Rate((Stratum("a", 10, 0, 10),)), Rate((Stratum("b", 10, 0, 10),)))
    assert math.isnan(none.value)
    assert none.interval(0.9) == (0.0, 1.0)
    assert Difference(unseen, Rate((BIG,)), 50).interval(0.9) == (-1.0, 1.0)


def test_no_hits_still_leave_room():
    low, high = Rate((Stratum("a", 10, 0, 30),)).interval(0.9)
    assert low == 0
    assert 0.05 < high < 0.15


def test_what_nobody_has_looked_at_can_be_counted_either_way():
    part = Stratum("a", 100, 5, 20, unseen=5)
    rate = Rate((part,))
    assert rate.unseen_share == pytest.approx(0.2)
    assert rate.filled(hit=True).value == pytest.approx(0.4)
    assert rate.filled(hit=False).value == pytest.approx(0.2)


def test_the_order_of_strata_changes_nothing():
    assert Rate((BIG, SMALL)).interval(0.9) == pytest.approx(Rate((SMALL, BIG)).interval(0.9))

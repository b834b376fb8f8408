"""Trends of shares: a rise is seen, a steady share is left in peace."""

from __future__ import annotations

import math

import numpy as np
import pytest

from judge_audit.measures.trend import Period, chart, trend


def weeks(shares, n=100, rng=None):
    if rng is None:
        return [Period(str(at), round(share * n), n) for at, share in enumerate(shares)]
    return [Period(str(at), int(rng.binomial(n, share)), n) for at, share in enumerate(shares)]


def test_the_chart_has_the_limits_of_all_weeks_before():
    found = chart(weeks([0.1, 0.1, 0.3]))
    assert math.isnan(found[0][0])
    centre, low, high = found[2]
    half = 3 * math.sqrt(0.1 * 0.9 / 100)
    assert (centre, low, high) == pytest.approx((0.1, 0.1 - half, 0.1 + half))


def test_a_jump_of_the_newest_week_is_seen():
    assert trend(weeks([0.1] * 9 + [0.3]), 0.9).rises
    assert not trend(weeks([0.1] * 9 + [0.15]), 0.9).rises


def test_a_slow_rise_is_seen_by_the_halves():
    found = trend(weeks(np.linspace(0.05, 0.25, 12)), 0.9)
    assert found.rises
    assert found.after > found.before


def test_a_fall_is_no_rise():
    found = trend(weeks([0.3] * 6 + [0.1] * 6), 0.9)
    assert not found.rises
    assert found.high < 0


def test_one_week_says_nothing():
    assert trend(weeks([0.1]), 0.9) is None
    assert trend([Period("a", 0, 0), Period("b", 1, 9)], 0.9) is None


@pytest.mark.parametrize("n", [8, 40, 400])
def test_a_steady_share_rarely_alarms(n):
    rng = np.random.default_rng(5)
    alarms = [trend(weeks([0.1] * 16, n, rng), 0.9).rises for _ in range(2000)]
    assert np.mean(alarms) < 0.015

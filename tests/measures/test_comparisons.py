"""Figures of several sources."""

from __future__ import annotations

import math

import pytest
from statsmodels.stats.multitest import multipletests

from judge_audit.measures.estimates import NOTHING, Estimate
from judge_audit.measures.source_comparisons import beyond, difference, heterogeneity, holm, within_sources


def test_sources_are_combined_by_their_items_and_compared_by_welch():
    first = Estimate(0.2, 0.01, 9, 100, 10)
    second = Estimate(0.5, 0.04, 19, 300, 20)
    whole = within_sources([first, NOTHING, second])
    assert whole.value == pytest.approx(0.425)
    assert whole.variance == pytest.approx(0.01 / 16 + 0.04 * 9 / 16)
    assert (whole.n, whole.n_clusters, whole.df) == (400, 30, 28)
    apart = difference(first, second)
    assert (apart.value, apart.variance) == (pytest.approx(-0.3), pytest.approx(0.05))
    assert apart.df == int(0.05**2 / (0.01**2 / 9 + 0.04**2 / 19))
    q, share = heterogeneity([first, second])
    assert q == pytest.approx(0.3**2 / 0.05)
    assert share == pytest.approx(1 - 1 / q)
    assert math.isnan(heterogeneity([first])[0])


def test_holm_agrees_with_statsmodels():
    for chances in ([0.012, 0.001, 0.04, 0.6], [0.013, 0.02, 0.024, 0.049], [0.5], [], [0.0, 0.0]):
        oracle = list(multipletests(chances, 0.05, "holm")[0]) if chances else []
        assert holm(chances) == oracle


def test_p_falls_below_the_error_exactly_where_the_interval_leaves_the_margin():
    for value in (-0.3, 0.16, 0.2, 0.25):
        estimate = Estimate(value, 0.0016, 30, 100, 31)
        side, chance = beyond(estimate, 0.1)
        for level in (0.5, 0.9, 0.95, 0.999):
            low, high = estimate.interval(level)
            assert (chance < 1 - level) == (low > 0.1 or high < -0.1)
        assert side == (1 if value > 0 else -1)
    assert beyond(Estimate(0.09, 0.0001, 30, 100, 31), 0.1)[1] == 1.0
    assert beyond(NOTHING, 0.1)[1] == 1.0
    assert beyond(Estimate(0.9, 0.0001, 3, 4, 4), 0.1)[1] == 1.0

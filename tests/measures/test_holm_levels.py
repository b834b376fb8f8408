"""Levels of Holm's steps, and intervals of differences of shares."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judge_audit.measures.source_comparisons import holm, holm_levels, share_difference


def test_an_interval_at_holms_level_leaves_out_nought_exactly_where_the_claim_stands():
    rng = np.random.default_rng(0)
    for _ in range(200):
        chances = list(rng.random(6) ** 4)
        levels = holm_levels(chances)
        leaves_out = [
            abs(stats.norm.ppf(chance / 2)) > stats.norm.ppf((1 + level) / 2)
            for chance, level in zip(chances, levels, strict=True)
        ]
        assert leaves_out == holm(chances)


def test_newcombes_published_example():
    # Newcombe 1998, table II: 56/70 − 48/80, method 10.
    assert share_difference(56, 70, 48, 80, 0.95) == pytest.approx((0.0524, 0.3339), abs=5e-5)

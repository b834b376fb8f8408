"""Variance within prompts, ties and first choices, by hand and by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from judge_audit.measures import within_prompt as wp


def prompts(sizes):
    names = np.repeat([f"p{at:04d}" for at in range(len(sizes))], sizes)
    return wp.groups(names, np.arange(len(names)))


def test_first_choices_by_hand():
    held = prompts([3, 3, 2, 2, 2])
    judge = np.array([1, 2, 2, 5, 4, 3, np.nan, 1, np.nan, np.nan, 1, 2], float)
    people = np.array([1, 3, 2, 4, 4, 1, 5, 1, 1, 2, 3, 3], float)
    recovery, chance = wp.top_one(judge, people, held)
    np.testing.assert_allclose(recovery, [0.5, 1.0, 0.0, np.nan, np.nan])
    np.testing.assert_allclose(chance, [1 / 3, 2 / 3, 0.5, np.nan, np.nan])


def test_ties_are_counted_in_pairs():
    tied, pairs = wp.ties(np.array([1.0, 1.0, 1.0, 2.0, 5.0, 5.0 + 1e-12]), prompts([4, 2]))
    assert tied.tolist() == [3, 1]
    assert pairs.tolist() == [6, 1]


def test_pure_retest_noise_is_no_signal_within_prompts():
    rng = np.random.default_rng(0)
    held = prompts([4] * 300)
    base = np.repeat(rng.normal(size=300), 4)
    first, again = (base + rng.normal(size=1200) for _ in range(2))
    kept = wp.variance_share(first, again, held, 500, 1)
    naive = wp.variance_share(first, np.full(1200, np.nan), held, 500, 1)
    assert kept.value < 0.06
    assert naive.value > 0.4


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_the_planted_share_within_prompts_comes_back(share):
    rng = np.random.default_rng(1)
    held = prompts([5] * 600)
    signal = np.repeat(np.sqrt(1 - share) * rng.normal(size=600), 5) + np.sqrt(share) * rng.normal(size=3000)
    first, again = (signal + 0.3 * rng.normal(size=3000) for _ in range(2))
    found = wp.variance_share(first, again, held, 500, 1)
    assert found.value == pytest.approx(share, abs=0.05)
    scaled = wp.variance_share(np.exp(first), np.exp(again), held, 500, 1)
    assert scaled.value == pytest.approx(found.value)


def test_prompts_that_share_a_picture_hang_together():
    held = wp.groups(np.array(["a", "a", "b", "b", "c"]), np.array([0, 1, 1, 2, 3]))
    assert held.clusters[0] == held.clusters[1] != held.clusters[2]

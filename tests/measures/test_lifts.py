"""Lifts and their jackknife against slow, independent recomputation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.estimates import (
    NOTHING,
    Estimate,
    below,
    corrected_level,
    items_needed,
    wilson,
    within,
)
from judge_audit.measures.lifts import Lifts, Reference, averaged, combined_mean, extreme_lifts, lifts


def _sample(seed=0, n=40, clusters=16, laddered=24, levels=None):
    rng = np.random.default_rng(seed)
    of = rng.integers(0, clusters, n)
    of[:clusters] = np.arange(clusters)
    before = rng.normal(size=n)
    after = before + rng.normal(0.2, 0.4, n)
    if levels:
        before, after = np.round(levels * before), np.round(levels * after)
    return before, after, of, Reference(before, of, clusters), laddered


def _slow_lift(after, before, cluster, reference, dropped=-1):
    """Lift by scipy's percentile ranks, the item's cluster and the dropped one left out."""
    kept = reference.values[(reference.clusters != cluster) & (reference.clusters != dropped)]
    ranks = [stats.percentileofscore(kept, value, kind="mean") for value in (after, before)]
    return (ranks[0] - ranks[1]) / 100


@pytest.mark.parametrize("levels", [None, 1.5])
def test_a_lift_is_the_share_of_other_clusters_overtaken_with_ties_counted_half(levels):
    before, after, of, reference, laddered = _sample(levels=levels)
    found = lifts(after[:laddered], before[:laddered], of[:laddered], reference)
    slow = [_slow_lift(after[i], before[i], of[i], reference) for i in range(laddered)]
    np.testing.assert_allclose(found.values, slow, atol=1e-12)


@pytest.mark.parametrize("levels", [None, 1.5])
def test_the_jackknife_equals_dropping_each_cluster_by_hand(levels):
    before, after, of, reference, laddered = _sample(levels=levels)
    weights = np.linspace(0.5, 1.0, laddered)
    found = combined_mean([lifts(after[:laddered], before[:laddered], of[:laddered], reference)], [weights])

    def theta(dropped):
        kept = [i for i in range(laddered) if of[i] != dropped]
        total = sum(_slow_lift(after[i], before[i], of[i], reference, dropped) for i in kept)
        return total / weights[kept].sum()

    with_items = sorted(set(of[:laddered].tolist()))
    groups = [with_items, [c for c in range(reference.n_clusters) if c not in with_items]]
    variance = 0.0
    for group in groups:
        values = np.array([theta(c) for c in group])
        if len(group) > 1:
            variance += (len(group) - 1) / len(group) * ((values - values.mean()) ** 2).sum()
    assert found.value == pytest.approx(theta(-1), abs=1e-12)
    assert found.variance == pytest.approx(variance, rel=1e-9)
    assert found.df == len(with_items) - 1


@pytest.mark.parametrize("rescale", [np.exp, lambda x: x**3, lambda x: 100 + 7 * x])
def test_a_monotone_rescaling_of_the_judge_changes_nothing(rescale):
    before, after, of, reference, laddered = _sample()
    plain = combined_mean([lifts(after[:laddered], before[:laddered], of[:laddered], reference)])
    scaled = Reference(rescale(before), of, reference.n_clusters)
    other = combined_mean(
        [lifts(rescale(after[:laddered]), rescale(before[:laddered]), of[:laddered], scaled)]
    )
    assert other.value == pytest.approx(plain.value, abs=1e-12)
    assert other.variance == pytest.approx(plain.variance, rel=1e-9)


def test_the_order_of_items_changes_nothing():
    before, after, of, reference, laddered = _sample()
    shuffled = np.random.default_rng(3).permutation(laddered)
    turned = Reference(before[::-1], of[::-1], reference.n_clusters)
    plain = combined_mean([lifts(after[:laddered], before[:laddered], of[:laddered], reference)])
    other = combined_mean([lifts(after[shuffled], before[shuffled], of[shuffled], turned)])
    assert (other.value, other.variance) == pytest.approx((plain.value, plain.variance), rel=1e-9)


def test_four_crops_of_one_photograph_do_not_inflate_a_lift():
    rng = np.random.default_rng(5)
    quality = np.repeat(rng.normal(size=10), 4)
    before = quality + 0.01 * rng.normal(size=40)
    of = np.repeat(np.arange(10), 4)
    after = before + 0.05  # overtakes its own crops only
    found = lifts(after, before, of, Reference(before, of, 10))
    assert abs(found.values.mean()) < 0.03
    naive = [_slow_lift(after[i], before[i], -1, Reference(before, of, 10)) for i in range(40)]
    assert np.mean(naive) > found.values.mean() + 0.02


def test_missing_scores_can_be_filled_with_the_largest_and_smallest_possible_lift():
    before, _, of, reference, _ = _sample()
    highest = extreme_lifts(before, of, reference, highest=True)
    lowest = extreme_lifts(before, of, reference, highest=False)
    top, bottom = np.full(len(before), 1e6), np.full(len(before), -1e6)
    np.testing.assert_allclose(highest.values, lifts(top, before, of, reference).values)
    np.testing.assert_allclose(lowest.values, lifts(bottom, before, of, reference).values)


def test_a_missing_score_is_missing_and_not_zero():
    before, after, of, reference, laddered = _sample()
    after = after.copy()
    after[0] = np.nan
    found = lifts(after[:laddered], before[:laddered], of[:laddered], reference)
    assert math.isnan(found.values[0])
    assert combined_mean([found]).n == laddered - 1


def test_a_repeat_that_failed_is_left_out_of_its_items_mean():
    clusters = np.arange(2)
    first = Lifts(np.array([0.2, 0.4]), np.zeros((2, 2)), clusters)
    second = Lifts(np.array([0.4, np.nan]), np.zeros((2, 2)), clusters)
    np.testing.assert_allclose(averaged([first, second]).values, [0.3, 0.4])


def test_a_judge_that_hardly_ever_moves_does_not_pass_on_no_evidence():
    of = np.arange(12)
    still = lifts(of.astype(float), of.astype(float), of, Reference(of.astype(float), of, 12))
    estimate = combined_mean([still])
    assert estimate.variance == pytest.approx(0.5 / (13 * 14))
    assert within(estimate, 0.05, 15).verdict == Verdict.INCONCLUSIVE


def test_pseudo_clusters_count_clusters_and_not_items():
    of = np.repeat(np.arange(12), 4)
    values = np.arange(48.0)
    estimate = combined_mean([lifts(values, values, of, Reference(values, of, 12))])
    assert estimate.variance == pytest.approx(0.5 / (13 * 14))


def test_sources_are_combined_by_their_share_of_items():
    parts = []
    for seed, n in ((1, 30), (2, 60)):
        before, after, _, _, _ = _sample(seed, n=n)
        of = np.arange(n)
        parts.append(lifts(after, before, of, Reference(before, of, n)))
    one, two = (combined_mean([part]) for part in parts)
    both = combined_mean(parts)
    assert both.value == pytest.approx((30 * one.value + 60 * two.value) / 90)
    assert both.variance == pytest.approx((30 / 90) ** 2 * one.variance + (60 / 90) ** 2 * two.variance)
    assert both.df == one.df + two.df == 88


def test_a_source_with_one_cluster_is_left_out():
    before, after, of, reference, laddered = _sample()
    whole = lifts(after[:laddered], before[:laddered], of[:laddered], reference)
    lone = lifts(after[:3], before[:3], np.zeros(3, int), Reference(before[:3], np.zeros(3, int), 1))
    assert combined_mean([whole, lone]).n == laddered
    assert combined_mean([lone]) is NOTHING


def test_wilson_agrees_with_scipy():
    for hits, n in ((0, 20), (7, 20), (95, 100), (20, 20)):
        oracle = stats.binomtest(hits, n).proportion_ci(0.90, method="wilson")
        assert wilson(hits, n) == pytest.approx((oracle.low, oracle.high), abs=1e-9)
    assert wilson(0, 0) == (0.0, 1.0)


def test_a_verdict_rests_on_the_whole_interval():
    def answer(value, error, rule=within):
        return rule(Estimate(value, error**2, 47, 48, 48), 0.05, 15)

    assert answer(0.0, 0.01).verdict == Verdict.PASS
    assert answer(0.04, 0.01).verdict == Verdict.INCONCLUSIVE
    assert (answer(0.15, 0.01).verdict, answer(0.15, 0.01).side) == (Verdict.FAIL, 1)
    assert (answer(-0.15, 0.01).verdict, answer(-0.15, 0.01).side) == (Verdict.FAIL, -1)
    assert answer(-0.5, 0.01, below).verdict == Verdict.PASS


def test_fewer_than_eight_clusters_settle_nothing():
    estimate = Estimate(0.0, 1e-8, 6, 70, 7)
    assert estimate.interval(0.9) == (-math.inf, math.inf)
    assert within(estimate, 0.05, 15).verdict == Verdict.INCONCLUSIVE


def test_the_corrected_level_shares_five_percent_among_the_claims():
    assert corrected_level(15) == pytest.approx(1 - 0.05 / 15)
    assert corrected_level(0) == pytest.approx(0.95)


def test_items_needed_follows_the_formula_of_the_side_on_which_the_figure_lies():
    deviation = 0.3

    def at(value, **ends):
        return items_needed(Estimate(value, deviation**2 / 48, 47, 48, 48), 0.05, 15, **ends)

    z = stats.norm.ppf(1 - 0.025 / 15) + 0.84
    assert at(0.0) == math.ceil((2.925 * deviation / 0.05) ** 2)
    assert at(0.10) == math.ceil((z * deviation / 0.05) ** 2)
    assert at(0.052) is None
    assert at(-0.10, high=-0.05) == math.ceil((2.925 * deviation / 0.05) ** 2)
    assert at(-0.10, high=0.05) == math.ceil((2.925 * deviation / 0.15) ** 2)

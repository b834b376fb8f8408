"""Rater beside rater: independent oracles, and what tells near-copies from careful raters."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from judge_audit.measures.agreement import table_ratings
from judge_audit.measures.influence import Clusters
from judge_audit.measures.raters import (
    common,
    correlation,
    opinions,
    others_mean,
    pair_likeness,
    rater_to_others,
    weighted_kappa,
)

KINDS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr}


def alone(n):
    return np.arange(n), Clusters(np.arange(n), np.zeros(n, np.intp))


def two(seed, n=60, levels=5):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, levels, n)
    return [np.where(rng.random(n) < 0.6, truth, rng.integers(0, levels, n)).astype(float) for _ in range(2)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("kind", "theirs"), [("unweighted", None), ("linear", "linear"), ("quadratic", "quadratic")]
)
def test_weighted_kappa_equals_statsmodels(seed, kind, theirs):
    from statsmodels.stats.inter_rater import cohens_kappa

    x, y = two(seed)
    counts = np.zeros((5, 5))
    np.add.at(counts, (x.astype(int), y.astype(int)), 1)
    known = cohens_kappa(counts, wt=theirs, return_results=False)
    assert weighted_kappa(x, y, kind, *alone(60)).value == pytest.approx(known, abs=1e-12)


@pytest.mark.parametrize("kind", ["unweighted", "linear", "quadratic"])
def test_kappa_of_two_that_always_say_the_same_one_value_is_undefined(kind):
    flat = np.full(30, 2.0)
    assert weighted_kappa(flat, flat, kind, *alone(30)).why == "one_value"
    assert weighted_kappa(flat, np.arange(30) % 2 + 1.0, kind, *alone(30)).value == pytest.approx(0)
    nobody = np.zeros(0)
    assert weighted_kappa(nobody, nobody, kind, np.zeros(0, int), alone(30)[1]).why == "no_overlap"


@pytest.mark.parametrize("kind", KINDS)
def test_correlations_equal_scipy_and_vary_as_leaving_out_items_says(kind):
    x, y = two(1, n=300)
    y = y + np.random.default_rng(2).normal(size=300) / 3
    found = correlation(x, y, kind, *alone(300))
    assert found.value == pytest.approx(KINDS[kind](x, y).statistic)
    without = np.array([KINDS[kind](np.delete(x, at), np.delete(y, at)).statistic for at in range(300)])
    variance = 299 / 300 * ((without - without.mean()) ** 2).sum()
    assert found.estimate().variance == pytest.approx(variance, rel=0.03)


@pytest.mark.parametrize("kind", ["linear", "quadratic", "unweighted"])
def test_kappa_varies_as_leaving_out_items_says(kind):
    x, y = two(1, n=300)
    found = weighted_kappa(x, y, kind, *alone(300))
    without = np.array(
        [weighted_kappa(np.delete(x, at), np.delete(y, at), kind, *alone(299)).value for at in range(300)]
    )
    variance = 299 / 300 * ((without - without.mean()) ** 2).sum()
    assert found.estimate().variance == pytest.approx(variance, rel=0.03)


@pytest.mark.parametrize("kind", KINDS)
def test_a_constant_column_has_no_correlation(kind):
    found = correlation(np.full(30, 1.0), np.arange(30.0), kind, *alone(30))
    assert math.isnan(found.value)
    assert found.why == "constant"
    assert correlation(np.zeros(2), np.ones(2), kind, *alone(2)).why == "no_overlap"


def test_square_roots_of_products_that_differ_by_rounding_only_rank_as_ties():
    rng = np.random.default_rng(3)
    parts = rng.choice([0.1, 0.2, 0.3, 0.7], size=(80, 2))
    one = np.sqrt(parts[:, 0] * parts[:, 1])
    other = np.sqrt(parts[:, 1]) * np.sqrt(parts[:, 0])
    noise = rng.normal(size=80)
    assert (one != other).any()
    assert (
        correlation(one, noise, "spearman", *alone(80)).value
        == correlation(other, noise, "spearman", *alone(80)).value
    )


def test_each_rater_stands_beside_the_mean_of_the_others_of_the_same_items():
    rng = np.random.default_rng(4)
    table = rng.normal(size=(50, 1)) + rng.normal(size=(50, 4))
    table[rng.random(table.shape) < 0.3] = np.nan
    ratings = table_ratings(table)
    means = others_mean(ratings)
    for rater in range(4):
        rest = np.delete(table, rater, axis=1)
        known = np.isfinite(table[:, rater]) & np.isfinite(rest).any(axis=1)
        expected = stats.spearmanr(table[known, rater], np.nanmean(rest[known], axis=1)).statistic
        found = rater_to_others(ratings, rater, means, "spearman")
        assert found.value == pytest.approx(expected)
        assert found.n == known.sum()


def test_items_in_common_are_found_in_both_columns():
    table = np.array([[1, np.nan, 3], [4, 5, np.nan], [7, 8, 9.0]])
    ratings = table_ratings(table)
    items, one, two_ = common(ratings, 0, 1)
    assert items.tolist() == [1, 2]
    assert (ratings.values[one].tolist(), ratings.values[two_].tolist()) == ([4, 7], [5, 8])


def test_the_likeness_of_a_pair_is_its_correlation_beside_the_tetrad():
    rng = np.random.default_rng(5)
    table = rng.normal(size=(200, 1)) * np.array([1, 0.8, 0.6, 0.9]) + rng.normal(size=(200, 4))
    ratings = table_ratings(table)
    columns = opinions(ratings, "interval")
    for a, b in itertools.combinations(range(4), 2):
        c, d = sorted({0, 1, 2, 3} - {a, b})
        cov = np.cov(table.T, bias=True)
        spread = np.sqrt(cov[a, a] * cov[b, b])
        mean = (cov[a, c] + cov[a, d]) / 2, (cov[b, c] + cov[b, d]) / 2
        tetrad = mean[0] * mean[1] / cov[c, d]
        pair, lead, unexplained, shared, others = pair_likeness(ratings, columns, a, b)
        single = (cov[c, c] + cov[d, d]) / 2
        beside = mean[0] / np.sqrt(cov[a, a] * single), mean[1] / np.sqrt(cov[b, b] * single)
        assert pair.value == pytest.approx(np.corrcoef(table[:, a], table[:, b])[0, 1])
        assert lead.value == pytest.approx(pair.value - np.mean(beside))
        assert unexplained.value == pytest.approx((cov[a, b] - tetrad) / spread)
        assert shared.value == pytest.approx(pair.value - (1 + tetrad / spread) / 2)
        assert others.value == pytest.approx(cov[c, d] / single)


def test_with_one_other_rater_nothing_is_said_of_what_the_common_opinion_explains():
    table = np.random.default_rng(6).normal(size=(100, 3))
    ratings = table_ratings(table)
    pair, lead, unexplained, shared, others = pair_likeness(ratings, opinions(ratings, "interval"), 0, 1)
    assert pair.defined
    assert lead.defined
    assert not any(figure.defined for figure in (unexplained, shared, others))

"""Correlations agree with scipy, under weights too, and the cut gives a judge a rater's granularity."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judge_audit.measures import correlation as cor
from judge_audit.measures.resampling import alike, resample


def columns(seed, kind):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=60)
    y = 0.5 * x + rng.normal(size=60)
    return {"continuous": (x, y), "levels": (np.round(x), np.round(y)), "mixed": (x, np.sign(y))}[kind]


@pytest.mark.parametrize("kind", ["continuous", "levels", "mixed"])
@pytest.mark.parametrize("seed", range(5))
def test_the_three_correlations_are_scipys(kind, seed):
    x, y = columns(seed, kind)
    x[3] = y[7] = np.nan
    known = np.isfinite(x) & np.isfinite(y)
    oracles = {"spearman": stats.spearmanr, "pearson": stats.pearsonr, "kendall": stats.kendalltau}
    for method, oracle in oracles.items():
        assert cor.correlation(x, y, method) == pytest.approx(oracle(x[known], y[known]).statistic, abs=1e-12)


@pytest.mark.parametrize("kind", ["continuous", "levels"])
def test_weights_are_copies_of_items(kind):
    x, y = columns(1, kind)
    weights = np.random.default_rng(2).integers(0, 4, (60, 7)).astype(float)
    ranks = cor.spearman(weights, cor.column(x), cor.column(y))
    plain = cor.product_moment(weights, x, y)
    for at in range(7):
        items = np.repeat(np.arange(60), weights[:, at].astype(int))
        assert ranks[at] == pytest.approx(stats.spearmanr(x[items], y[items]).statistic, abs=1e-12)
        assert plain[at] == pytest.approx(stats.pearsonr(x[items], y[items]).statistic, abs=1e-9)


def test_undefined_is_undefined_and_rounding_makes_no_ties():
    assert np.isnan(cor.correlation(np.ones(9), np.arange(9.0)))
    roots = np.sqrt(np.array([0.5, 0.5, 0.25, 1.0]) * np.array([0.5, 0.5, 1.0, 1.0]))
    roots[0] += 1e-13
    assert cor.correlation(roots, np.array([2.0, 1.0, 1.5, 3.0])) == pytest.approx(
        stats.spearmanr([0.5, 0.5, 0.5, 1.0], [2, 1, 1.5, 3]).statistic
    )


def test_a_judge_without_ties_is_cut_into_exactly_the_raters_levels():
    rng = np.random.default_rng(3)
    judge, rater = rng.permutation(50).astype(float), rng.integers(0, 3, 50).astype(float)
    one = np.ones((50, 1))
    held = cor.column(judge)
    got = cor.cut(one, held, cor.column(rater)).values[held.index][:, 0]
    levels = np.sort(rater)[judge.astype(int)]
    np.testing.assert_allclose(got, stats.rankdata(levels) - 25.5)


def test_a_tie_across_a_boundary_is_split_by_rank():
    judge, rater = np.array([1.0, 1.0, 1.0, 2.0]), np.array([0.0, 0.0, 1.0, 1.0])
    held = cor.column(judge)
    got = cor.cut(np.ones((4, 1)), held, cor.column(rater)).values[:, 0]
    np.testing.assert_allclose(got, [(-1 - 1 + 1) / 3, 1.0])


def test_items_that_are_alike_are_one_row_and_change_nothing():
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 4, 200).astype(float), rng.integers(0, 3, 200).astype(float)
    first, kinds = alike(x, y)
    assert len(first) == 12
    clusters = np.arange(200)

    def figures(at):
        a, b = cor.column(x[at]), cor.column(y[at])
        return lambda weights: {"r": cor.spearman(weights, a, b)}

    merged = resample(figures(first), clusters, kinds, 2000, 1)["r"]
    single = resample(figures(clusters), clusters, clusters, 2000, 2)["r"]
    assert merged.value == pytest.approx(single.value, abs=1e-12)
    assert merged.replicates.std() == pytest.approx(single.replicates.std(), rel=0.08)

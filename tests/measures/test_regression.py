"""Covariate regression: known answers, independent oracles, silence and invariance."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from judge_audit.measures import regression as reg
from judge_audit.measures.regression import correlations, explained_by_subsets, mean_gains

NAMES = tuple("abcdefghij")


def sample(scores, features, clusters=None, names=None):
    n, p = features.shape
    clusters = np.arange(n) if clusters is None else clusters
    return reg.Sample(np.asarray(scores, float), features, names or NAMES[:p], clusters, 1.0, np.ones(p))


def normal(values):
    """Normal scores of middle ranks, by scipy."""
    return stats.norm.ppf((stats.rankdata(np.round(values, 9)) - 0.5) / len(values))


def planted(n=400, weights=(0.6, 0.4, 0.3), extra=3, seed=0, noise=None):
    """A judge that is linear in independent features of unit variance, scores of unit variance."""
    rng = np.random.default_rng(seed)
    weights = np.array([*weights, *([0.0] * extra)])
    features = rng.normal(size=(n, len(weights)))
    left = math.sqrt(1 - (weights**2).sum()) if noise is None else noise
    return features @ weights + left * rng.normal(size=n), features, weights


def brute_shares(scores, features):
    """Mean gain in R² over all orders of entry, each R² fitted by statsmodels."""
    count = features.shape[1]
    held = {}
    for size in range(count + 1):
        for subset in itertools.combinations(range(count), size):
            columns = sm.add_constant(features[:, list(subset)]) if subset else np.ones((len(scores), 1))
            held[frozenset(subset)] = sm.OLS(scores, columns).fit().rsquared
    orders = list(itertools.permutations(range(count)))
    gains = np.zeros(count)
    for order in orders:
        for place, feature in enumerate(order):
            gains[feature] += held[frozenset(order[: place + 1])] - held[frozenset(order[:place])]
    return gains / len(orders)


def in_sample_shares(scores, features):
    """Shares before the bias is removed."""
    columns = np.column_stack([features, scores])
    matrix = correlations(np.stack([normal(c) for c in columns.T], 1)[None], np.ones((1, len(scores))))
    return mean_gains(explained_by_subsets(matrix))[0]


def test_shares_equal_brute_force_over_all_orders_by_statsmodels():
    rng = np.random.default_rng(3)
    features = rng.normal(size=(80, 5)) @ rng.normal(size=(5, 5))
    scores = features @ rng.normal(size=5) + 2 * rng.normal(size=80)
    ranked = np.column_stack([normal(column) for column in features.T])
    np.testing.assert_allclose(
        in_sample_shares(scores, features), brute_shares(normal(scores), ranked), atol=1e-10
    )


def test_r_squared_and_weights_equal_statsmodels():
    scores, features, _ = planted(n=reg.MOST_GROUPS)
    found = reg.fit(sample(scores, features), seed=1)
    ranked = np.column_stack([normal(column) for column in features.T])
    own = (ranked - ranked.mean(0)) / ranked.std(0)
    oracle = sm.OLS(normal(scores) / normal(scores).std(), sm.add_constant(own)).fit()
    assert found.in_sample == pytest.approx(oracle.rsquared, abs=1e-10)
    weights = [part.value / reg.LIFT_PER_WEIGHT for part in found.weights]
    np.testing.assert_allclose(weights, oracle.params[1:], atol=1e-9)
    raw = sm.OLS(scores, sm.add_constant(features)).fit(cov_type="HC3")
    np.testing.assert_allclose([part.value for part in found.raw_weights], raw.params[1:], atol=1e-9)
    errors = [math.sqrt(part.variance) for part in found.raw_weights]
    np.testing.assert_allclose(errors, raw.bse[1:], rtol=0.03)


def test_independent_features_share_the_squares_of_their_weights():
    scores, features, weights = planted(n=4000)
    found = reg.fit(sample(scores, features), seed=1)
    np.testing.assert_allclose([part.value for part in found.shares], weights**2, atol=0.02)
    assert found.explained.value == pytest.approx((weights**2).sum(), abs=0.03)
    np.testing.assert_allclose(
        [part.value for part in found.weights], weights * reg.LIFT_PER_WEIGHT, atol=0.02
    )


def test_a_weight_is_the_lift_of_a_small_step():
    scores, features, _ = planted(n=4000)
    found = reg.fit(sample(scores, features), seed=1)
    moved = scores + 0.6 * 0.1
    overtaken = (moved[:, None] > scores[None, :]).mean() - (scores[:, None] > scores[None, :]).mean()
    assert found.weights[0].value * 0.1 == pytest.approx(overtaken, rel=0.06)


def test_two_copies_of_one_feature_share_equally_and_are_not_credited_twice():
    scores, features, _ = planted()
    alone = reg.fit(sample(scores, features), seed=1)
    double = reg.fit(sample(scores, np.column_stack([features, 3 * features[:, 0] + 1])), seed=1)
    assert double.in_sample == pytest.approx(alone.in_sample, abs=1e-9)
    assert double.shares[0].value == pytest.approx(double.shares[6].value, abs=1e-9)
    assert double.weights[0].value == pytest.approx(double.weights[6].value, abs=1e-9)
    assert double.weights[0].value == pytest.approx(alone.weights[0].value / 2, abs=1e-9)
    assert double.shares[0].value == pytest.approx(alone.shares[0].value / 2, abs=0.01)


def test_shares_add_up_to_what_is_explained():
    scores, features, _ = planted(n=120)
    found = reg.fit(sample(scores, features), seed=1)
    assert sum(part.value for part in found.shares) == pytest.approx(found.explained.value, abs=1e-10)


def test_a_judge_that_only_echoes_a_statistic_is_explained_wholly_however_bent():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(120, 4))
    found = reg.fit(sample(np.exp(3 * features[:, 1]), features), seed=1)
    assert found.explained.value == pytest.approx(1, abs=1e-6)
    assert found.shares[1].value > 0.9


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("shape", ["continuous", "integer", "two values"])
def test_scores_of_noise_are_explained_by_nothing_on_average(shape, clustered):
    rng = np.random.default_rng(5)
    found = []
    for _ in range(40):
        clusters = np.repeat(np.arange(60), 3) if clustered else np.arange(120)
        count = clusters[-1] + 1
        features = rng.normal(size=(count, 6))[clusters] + 0.5 * rng.normal(size=(len(clusters), 6))
        scores = rng.normal(size=count)[clusters] + 0.5 * rng.normal(size=len(clusters))
        scores = {"continuous": scores, "integer": np.round(scores), "two values": (scores > 0.5) * 1.0}[
            shape
        ]
        found.append(reg.fit(sample(scores, features, clusters), seed=1))
    plain = [fit.in_sample for fit in found]
    values = [fit.explained.value for fit in found]
    error = np.std(values) / math.sqrt(len(values))
    assert abs(np.mean(values)) < 3 * error + 0.003
    assert np.mean(plain) > 0.04
    covered = [fit.explained.interval(0.9)[0] <= 0 <= fit.explained.interval(0.9)[1] for fit in found]
    assert np.mean(covered) >= 0.8


def test_constant_scores_give_no_fit():
    assert reg.fit(sample(np.ones(100), planted(n=100)[1]), seed=1) is None


def test_too_few_clusters_give_no_fit():
    scores, features, _ = planted(n=120)
    assert reg.fit(sample(scores, features, np.repeat(np.arange(20), 6)), seed=1) is None
    assert reg.fit(sample(scores, features, np.repeat(np.arange(24), 5)), seed=1) is not None


def test_constant_and_nearly_constant_features_are_dropped_and_named():
    scores, features, _ = planted(n=120)
    features = features.copy()
    features[:, 4] = 7.0
    features[:, 5] = 0.0
    features[:4, 5] = 1.0
    found = reg.fit(sample(scores, features), seed=1)
    assert found.names == ("a", "b", "c", "d")
    assert found.constant == ("e", "f")
    alone = reg.fit(sample(scores, features[:, :4]), seed=1)
    assert found.explained.value == pytest.approx(alone.explained.value)


def test_monotone_rescaling_of_scores_or_features_changes_nothing():
    scores, features, _ = planted(n=120)
    plain = reg.fit(sample(scores, features), seed=1)
    bent = reg.fit(sample(np.exp(scores), features**3), seed=1)
    for name in ("explained", "shares", "weights"):
        one, other = (np.atleast_1d(getattr(fit, name)) for fit in (plain, bent))
        for first, second in zip(one.ravel(), other.ravel(), strict=True):
            assert first == pytest.approx(second, abs=1e-9)


def test_the_order_of_items_and_of_features_changes_nothing():
    scores, features, _ = planted(n=120)
    clusters = np.repeat(np.arange(40), 3)
    plain = reg.fit(sample(scores, features, clusters), seed=1)
    order = np.random.default_rng(1).permutation(120)
    mixed = reg.fit(sample(scores[order], features[order], clusters[order]), seed=1)
    turned = reg.fit(sample(scores, features[:, ::-1], clusters), seed=1)
    for one, other, again in zip(plain.shares, mixed.shares, turned.shares[::-1], strict=True):
        assert one.value == pytest.approx(other.value, abs=1e-9)
        assert one.value == pytest.approx(again.value, abs=1e-9)
        assert one.variance == pytest.approx(other.variance, abs=1e-9)


def test_replicates_equal_a_fit_without_the_cluster():
    scores, features, _ = planted(n=60, extra=0)
    clusters = np.repeat(np.arange(20), 3)
    scores = np.round(scores, 1)
    columns = np.column_stack([features, scores])
    replicates = explained_by_subsets(reg._rank_correlations(columns, clusters))[:, -1]
    for left_out in (0, 7, 19):
        kept = clusters != left_out
        ranked = np.column_stack([normal(column[kept]) for column in features.T])
        oracle = sm.OLS(normal(scores[kept]), sm.add_constant(ranked)).fit()
        assert replicates[left_out + 1] == pytest.approx(oracle.rsquared, abs=1e-10)


def test_many_clusters_are_dealt_into_even_groups_that_keep_clusters_whole():
    clusters = np.repeat(np.arange(500), 2)
    groups = reg.jackknife_groups(clusters, seed=3)
    assert len(np.unique(groups)) == reg.MOST_GROUPS
    assert all(len(set(groups[clusters == name])) == 1 for name in range(500))
    sizes = np.bincount(groups)
    assert sizes.max() - sizes.min() <= 2
    assert (reg.jackknife_groups(clusters, seed=3) == groups).all()
    assert (reg.jackknife_groups(clusters, seed=4) != groups).any()
    assert (reg.jackknife_groups(np.arange(50), seed=3) == np.arange(50)).all()


def test_infinite_scores_stand_at_the_ends():
    scores, features, _ = planted(n=120)
    filled = scores.copy()
    filled[:3] = np.inf
    high = scores.copy()
    high[:3] = scores.max() + 1
    one, other = (reg.fit(sample(values, features), seed=1) for values in (filled, high))
    assert one.explained.value == pytest.approx(other.explained.value, abs=1e-12)
    assert math.isnan(one.raw_weights[0].value)


def test_shares_on_real_scores_equal_statsmodels(shared_cases):
    import csv

    with (shared_cases / "mjbench_images_scores.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = ("lum", "contrast", "colorful", "sharp", "bytes")
    for source in sorted({row["set"] for row in rows})[:2]:
        held = [row for row in rows if row["set"] == source and row["ImageReward"]]
        scores = np.array([float(row["ImageReward"]) for row in held])
        features = np.array([[float(row[name]) for name in names] for row in held])
        ranked = np.column_stack([normal(column) for column in features.T])
        oracle = brute_shares(normal(scores), ranked)
        np.testing.assert_allclose(in_sample_shares(scores, features), oracle, atol=1e-10)
        clusters = np.unique([row["id"] for row in held], return_inverse=True)[1]
        found = reg.fit(sample(scores, features, clusters, names), seed=1)
        assert found.in_sample == pytest.approx(oracle.sum(), abs=1e-10)
        assert found.explained.value < found.in_sample

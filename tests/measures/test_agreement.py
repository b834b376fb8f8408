"""Agreement of people: independent oracles, known answers, what is undefined, and what changes nothing."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from judge_audit.measures.agreement import LEVELS, alpha, departing, excess, match, table_ratings
from judge_audit.measures.influence import averaged, combined, within_sources

KRIPPENDORFF_2011 = np.array(
    # Krippendorff's own example: four observers, twelve units, missing cells.
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, np.nan, np.nan, np.nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, np.nan, 3],
        [np.nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, np.nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, np.nan],
    ]
).T


def drawn(rng, n=30, raters=4, levels=5, missing=0.3, agree=0.6):
    """Ratings that follow a truth now and then, with missing cells."""
    truth = rng.integers(0, levels, n)
    table = np.where(rng.random((n, raters)) < agree, truth[:, None], rng.integers(0, levels, (n, raters)))
    return np.where(rng.random((n, raters)) < missing, np.nan, table.astype(float))


def by_hand(table, level):
    """α from the coincidence matrix, written out as Krippendorff writes it."""
    values = np.unique(table[np.isfinite(table)])
    coincidences = np.zeros((len(values), len(values)))
    for row in table:
        known = row[np.isfinite(row)]
        for one, two in itertools.permutations(range(len(known)), 2):
            at = np.searchsorted(values, known[one]), np.searchsorted(values, known[two])
            coincidences[at] += 1 / (len(known) - 1)
    marginal = coincidences.sum(axis=1)
    apart = np.zeros_like(coincidences)
    for c, k in itertools.product(range(len(values)), repeat=2):
        low, high = min(c, k), max(c, k)
        ordinal = marginal[low : high + 1].sum() - (marginal[c] + marginal[k]) / 2
        apart[c, k] = {"nominal": c != k, "ordinal": ordinal**2, "interval": (values[c] - values[k]) ** 2}[
            level
        ]
    n = marginal.sum()
    expected = (np.outer(marginal, marginal) * apart).sum() / (n * (n - 1))
    return 1 - (coincidences * apart).sum() / n / expected


def test_krippendorffs_own_example():
    ratings = table_ratings(KRIPPENDORFF_2011)
    found = {level: round(alpha(ratings, level).alpha.value, 3) for level in LEVELS}
    assert found == {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(8))
def test_alpha_equals_the_coincidence_matrix_and_another_library(level, seed):
    krippendorff = pytest.importorskip("krippendorff")
    table = drawn(np.random.default_rng(seed), levels=3 + seed)
    table += table**2 / 7  # values need not be evenly spaced
    found = alpha(table_ratings(table), level).alpha.value
    assert found == pytest.approx(by_hand(table, level), abs=1e-10)
    other = krippendorff.alpha(reliability_data=table.T, level_of_measurement=level)
    assert found == pytest.approx(other, abs=1e-10)


@pytest.mark.parametrize("seed", range(8))
def test_fleiss_kappa_equals_statsmodels_where_all_items_have_as_many_ratings(seed):
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    table = drawn(np.random.default_rng(seed), missing=0)
    counts, _ = aggregate_raters(table.astype(int))
    assert match(table_ratings(table)).kappa.value == pytest.approx(fleiss_kappa(counts), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_where_numbers_of_ratings_vary_every_item_counts_the_same(seed):
    table = drawn(np.random.default_rng(seed))
    found = match(table_ratings(table))
    agreed, usual = [], []
    for row in table:
        known = row[np.isfinite(row)]
        if len(known):
            usual.append([(known == value).mean() for value in range(5)])
        if len(known) > 1:
            agreed.append(np.mean([a == b for a, b in itertools.combinations(known, 2)]))
    chance = (np.mean(usual, axis=0) ** 2).sum()
    assert found.share.value == pytest.approx(np.mean(agreed))
    assert found.share.n == len(agreed)
    assert found.chance.value == pytest.approx(chance)
    assert found.kappa.value == pytest.approx((np.mean(agreed) - chance) / (1 - chance))


@pytest.mark.parametrize("level", [*LEVELS, "fleiss"])
def test_the_variance_is_that_of_leaving_out_one_cluster_after_the_other(level):
    table = drawn(np.random.default_rng(5), n=400, missing=0.2)
    clusters = np.arange(400) // 2

    def value(kept):
        ratings = table_ratings(table, clusters, np.arange(200) % 2).of_items(kept)
        return match(ratings).kappa if level == "fleiss" else alpha(ratings, level).alpha

    whole = value(np.ones(400, bool))
    without = np.array([value(clusters != at).value for at in range(200)])
    variance = sum(
        99 / 100 * ((without[side] - without[side].mean()) ** 2).sum()
        for side in (np.arange(200) % 2 == at for at in range(2))
    )
    made = whole.estimate()
    assert made.variance == pytest.approx(variance, rel=0.05)
    assert (made.df, made.n_clusters) == (198, 200)


@pytest.mark.parametrize("level", LEVELS)
def test_perfect_agreement_is_one_if_the_values_vary_and_undefined_if_they_do_not(level):
    varied = alpha(table_ratings(np.tile(np.arange(40) % 3, (3, 1)).T.astype(float)), level)
    assert varied.alpha.value == pytest.approx(1)
    low, _ = varied.alpha.estimate(varied.unseen).interval(0.9)
    assert low < 0.97  # forty items without disagreement do not exclude a few in a hundred
    flat = alpha(table_ratings(np.full((40, 3), 2.0)), level).alpha
    assert math.isnan(flat.value)
    assert flat.why == "one_value"


def test_without_an_item_rated_twice_everything_is_undefined():
    table = np.full((10, 2), np.nan)
    table[:5, 0] = table[5:, 1] = [1, 2, 3, 4, 5]
    ratings = table_ratings(table)
    found = [alpha(ratings, level).alpha for level in LEVELS] + [match(ratings).share, match(ratings).kappa]
    assert {figure.why for figure in found} == {"no_overlap"}
    assert all(math.isnan(figure.value) for figure in found)
    empty = table_ratings(np.full((3, 2), np.nan))
    assert alpha(empty, "nominal").alpha.why == match(empty).kappa.why == "no_overlap"


def test_products_that_differ_by_rounding_only_are_ties():
    rng = np.random.default_rng(3)
    parts = rng.choice([0.1, 0.2, 0.3, 0.7], size=(60, 3, 2))
    first = np.sqrt(parts[..., 0] * parts[..., 1])
    noisy = np.sqrt(parts[..., 1]) * np.sqrt(parts[..., 0])
    assert (first != noisy).any()
    mixed = np.where(rng.random(first.shape) < 0.5, first, noisy)
    for level in LEVELS:
        assert alpha(table_ratings(mixed), level).alpha.value == pytest.approx(
            alpha(table_ratings(np.round(first, 6)), level).alpha.value, abs=1e-5
        )
    assert match(table_ratings(mixed)).share.value == match(table_ratings(first)).share.value


@pytest.mark.parametrize("level", LEVELS)
def test_order_of_items_and_raters_changes_nothing(level):
    rng = np.random.default_rng(6)
    table = drawn(rng, n=60)
    again = table[rng.permutation(60)][:, rng.permutation(4)]
    one, two = (alpha(table_ratings(given), level).alpha.estimate() for given in (table, again))
    assert one.value == pytest.approx(two.value)
    assert one.variance == pytest.approx(two.variance)


def test_names_do_not_matter_to_nominal_and_spacing_not_to_ordinal_alpha():
    table = drawn(np.random.default_rng(7), n=60)
    renamed = np.where(np.isnan(table), np.nan, np.array([3, 9, -1, 4, 0])[np.nan_to_num(table).astype(int)])
    stretched = np.exp(table)
    nominal, ordinal, interval = (
        [alpha(table_ratings(given), level).alpha.value for given in (table, renamed, stretched)]
        for level in LEVELS
    )
    assert nominal == pytest.approx([nominal[0]] * 3)
    assert ordinal[2] == pytest.approx(ordinal[0])
    assert abs(ordinal[1] - ordinal[0]) > 0.005
    assert abs(interval[2] - interval[0]) > 0.01
    shifted = alpha(table_ratings(100 - 2 * table), "interval").alpha.value
    assert shifted == pytest.approx(interval[0])


def test_where_more_disagree_is_found_in_units_of_chance():
    rng = np.random.default_rng(8)
    table = np.where(
        np.arange(400)[:, None] < 100,
        drawn(rng, 400, 3, missing=0, agree=0.2),
        drawn(rng, 400, 3, missing=0, agree=0.9),
    )
    found = alpha(table_ratings(table), "nominal")
    hard = excess(found, np.arange(400) < 100)
    low, high = hard.estimate().interval(0.9)
    shares = found.shares / found.sizes
    assert hard.value == pytest.approx(shares[:100].mean() - shares[100:].mean())
    assert 0.5 < low < high < 1
    assert excess(found, np.ones(400, bool)) is None


def test_inside_sources_is_the_mean_by_items_and_its_variance_adds_up():
    rng = np.random.default_rng(9)
    table = drawn(rng, n=90, missing=0)
    sources = (np.arange(90) >= 30).astype(int)
    ratings = table_ratings(table, None, sources)
    parts = [alpha(ratings.of_items(sources == at), "ordinal").alpha for at in range(2)]
    whole = within_sources(parts)
    assert whole.value == pytest.approx((30 * parts[0].value + 60 * parts[1].value) / 90)
    one, two = (part.estimate() for part in parts)
    assert whole.estimate().variance == pytest.approx(one.variance / 9 + two.variance * 4 / 9)
    assert whole.estimate().df == 88
    nothing = combined([parts[0], parts[0]], [1, -1]).estimate()
    assert (nothing.value, nothing.variance) == (0, 0)
    assert averaged([]) is None
    with pytest.raises(ValueError, match="defined"):
        combined([], [])


def test_clusters_that_depart_from_the_commonest_value_are_counted():
    table = np.zeros((20, 3))
    table[4, 1] = table[5, 2] = table[6, 0] = 1
    ratings = table_ratings(table, np.arange(20) // 2)
    assert departing(ratings) == 2
    with pytest.raises(ValueError, match="ratio"):
        alpha(ratings, "ratio")

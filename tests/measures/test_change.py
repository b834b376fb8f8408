"""Orders compared: τ is scipy's, noise is not a change, planted turns are found, and only order counts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judge_audit.measures.change import (
    Readings,
    compared,
    first_choices,
    halves,
    left_by_noise,
    order_pairs,
    retest_size,
)
from judge_audit.measures.orders import churn, descent, membership, middle_ranks, order_of, settled, tau_b

SETTINGS = {"top_share": 0.2, "ordered_share": 0.9, "draws": 400, "seed": 5}


def compare(old, new, people=None, clusters=None, **other):
    old, new = (
        side if isinstance(side, Readings) else Readings(np.asarray(side, float)) for side in (old, new)
    )
    n = len(old.values)
    people = np.full(n, np.nan) if people is None else np.asarray(people, float)
    clusters = np.arange(n) if clusters is None else clusters
    return compared(old, new, clusters, order_pairs(people), **{**SETTINGS, **other})


def noisy(rng, quality, noise, repeats=2):
    return quality[:, None] + noise * rng.normal(size=(len(quality), repeats))


@pytest.mark.parametrize("levels", [None, 5, 2])
@pytest.mark.parametrize("seed", range(4))
def test_tau_is_scipys_and_weights_are_copies_of_anchors(levels, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=50)
    y = 0.5 * x + rng.normal(size=50)
    if levels:
        x, y = np.floor(levels * stats.norm.cdf(x)), np.floor(levels * stats.norm.cdf(y))
    weights = rng.integers(0, 4, (50, 6)).astype(float)
    weights[:, 0] = 1
    found = tau_b(weights, order_of(x), order_of(y))
    for at in range(6):
        rows = np.repeat(np.arange(50), weights[:, at].astype(int))
        assert found[at] == pytest.approx(stats.kendalltau(x[rows], y[rows]).statistic, abs=1e-12)


def test_a_constant_judge_has_no_tau():
    found = compare(np.ones((30, 2)), np.arange(60.0).reshape(30, 2))
    assert np.isnan(found.figures["tau"].value)


def test_a_judge_that_never_changes_an_answer_has_a_retest_of_one():
    values = np.random.default_rng(1).normal(size=40)
    twice = np.column_stack([values, values])
    for side in (Readings(twice), Readings(values[:, None], steady=True)):
        found = compare(side, Readings(np.column_stack([-values, -values])))
        assert found.figures["retest"].value == 1.0
        assert found.figures["tau"].value == -1.0
        assert found.figures["drop"].value == 2.0


def test_one_repeat_of_a_judge_nobody_knows_to_be_steady_leaves_noise_unknown():
    rng = np.random.default_rng(2)
    old, new = noisy(rng, np.arange(40.0), 1.0, 1), noisy(rng, np.arange(40.0), 1.0, 3)
    assert retest_size(Readings(old), Readings(new)) == 0
    found = compare(old, new)
    assert np.isnan(found.figures["drop"].value)
    assert np.isfinite(found.figures["tau"].value)
    assert not found.turned.firm


def test_a_judge_called_steady_whose_repeats_differ_is_not():
    assert not Readings(np.array([[1.0, 2.0], [3.0, 3.0]]), steady=True).is_steady
    assert Readings(np.array([[1.0], [3.0]]), steady=True).is_steady
    assert not Readings(np.array([[1.0], [3.0]])).is_steady


@pytest.mark.parametrize(("repeats", "splits"), [(2, 1), (3, 3), (4, 2), (5, 5), (6, 3)])
def test_no_repeat_lies_in_both_halves_and_both_are_as_large(repeats, splits):
    judge = Readings(2.0 ** np.arange(repeats)[None, :] + np.zeros((3, 1)))
    size = repeats // 2
    found = list(halves(judge, size))
    assert len(found) == splits
    for first, second in found:
        members = [
            set(np.flatnonzero([int(side[0] * size) & (1 << at) for at in range(repeats)]))
            for side in (first, second)
        ]
        assert [len(part) for part in members] == [size, size]
        assert not members[0] & members[1]


def test_the_same_order_with_noise_is_no_change_and_another_order_is():
    rng = np.random.default_rng(3)
    quality = rng.normal(size=80)
    same = compare(noisy(rng, quality, 0.3), noisy(rng, quality, 0.6))
    assert same.figures["drop"].interval(0.95)[0] < 0 < same.figures["drop"].interval(0.95)[1]
    moved = quality.copy()
    moved[:20] = -moved[:20]
    other = compare(noisy(rng, quality, 0.3), noisy(rng, moved, 0.3))
    assert other.figures["drop"].interval(0.95)[0] > 0


def test_noise_of_two_judges_multiplies_as_correlations_do():
    one = np.array([1.0, 0.6, -0.2])
    assert left_by_noise(one, one) == pytest.approx([1.0, 0.6, 0.0])
    # a steady judge beside a noisy one: by simulation of a million normal pairs, retest .4097, between them .5903
    rng = np.random.default_rng(4)
    q = rng.normal(size=4000)
    a, b = q + 0.8 * rng.normal(size=(2, 4000))
    retest = stats.kendalltau(a, b).statistic
    assert left_by_noise(np.array(1.0), np.array(retest)) == pytest.approx(
        stats.kendalltau(q, a).statistic, abs=0.015
    )


def test_only_order_counts():
    rng = np.random.default_rng(6)
    quality = rng.normal(size=40)
    people = rng.integers(1, 6, 40)
    old, new = noisy(rng, quality, 0.0, 2), noisy(rng, quality + rng.normal(size=40), 0.0, 2)
    plain, bent = compare(old, new, people), compare(np.exp(old), new**3, people)
    for name, figure in plain.figures.items():
        assert bent.figures[name].value == pytest.approx(figure.value)
        assert bent.figures[name].replicates == pytest.approx(figure.replicates)
    assert bent.turned.above.tolist() == plain.turned.above.tolist()
    assert bent.displaced.tolist() == plain.displaced.tolist()
    order = rng.permutation(40)
    mixed = compare(old[order], new[order], people[order])
    for name, figure in plain.figures.items():
        assert mixed.figures[name].value == pytest.approx(figure.value)


def test_a_pair_counts_as_turned_only_if_nearly_all_repeats_of_both_order_it():
    up, down = np.r_[np.ones(10), np.zeros(10)], np.r_[np.zeros(10), np.ones(10)]
    wavering = np.column_stack([np.r_[np.full(19, 1.0), 0.0], np.r_[np.full(19, 0.0), 1.0]]).T
    assert settled(wavering, 0.9)[0, 1] == 1  # 19 of 20
    assert settled(np.column_stack([up, down]).T, 0.9)[0, 1] == 0
    nine = np.array([[1.0] * 9 + [0.0], [0.0] * 9 + [1.0]])
    assert settled(nine, 0.9)[0, 1] == 0  # 90 % is not more than 90 %
    lacking = np.array([[1.0, np.nan], [0.0, 2.0]])
    assert settled(lacking, 0.9)[0, 1] == 1


def test_turned_pairs_go_against_people_with_them_or_neither():
    old = np.array([[4.0], [3.0], [2.0], [1.0]])
    new = np.array([[3.0], [4.0], [1.0], [2.0]])
    sides = [Readings(values, steady=True) for values in (old, new)]
    found = compare(*sides, people=[5, 4, 1, 2])
    told = dict(
        zip(
            zip(found.turned.above.tolist(), found.turned.below.tolist(), strict=True),
            found.turned.people,
            strict=True,
        )
    )
    assert told == {(0, 1): 1.0, (2, 3): -1.0}
    assert found.turned.firm
    assert found.people_pairs == 6
    assert found.figures["against"].value == found.figures["with_people"].value == pytest.approx(1 / 6)
    assert found.figures["net"].value == 0
    tied = compare(*sides, people=[5, 5, np.nan, 2])
    assert np.array_equal(tied.turned.people, [0.0, np.nan], equal_nan=True)
    assert found.displaced.tolist() == [-1, 1, -1, 1]


def test_ties_share_places_and_the_edge_of_the_top():
    values = np.array([5.0, 5.0, 3.0, 1.0])
    assert middle_ranks(values).tolist() == [1.5, 1.5, 3.0, 4.0]
    one = np.ones((4, 1))
    assert membership(one, descent(values), np.array([1.0]))[:, 0].tolist() == [0.5, 0.5, 0, 0]
    assert churn(one, descent(values), descent(-values), 0.5)[0] == pytest.approx(1.0)
    assert churn(one, descent(values), descent(values), 0.25)[0] == 0
    assert churn(one, descent(np.arange(4.0)), descent(np.arange(4.0)), 0.25)[0] == 0


def test_first_choices_within_prompts_count_ties_in_part():
    old = np.array([2.0, 1.0, 1.0, 2.0, 1.0, 1.0])
    new = np.array([1.0, 2.0, 0.0, 1.0, 1.0, 0.0])
    found = first_choices(old, new, {"p": np.array([0, 1, 2]), "q": np.array([3, 4, 5])})
    assert (found.changed, found.groups) == (1.5, 2)


def test_clusters_are_drawn_whole_and_too_few_give_no_interval():
    rng = np.random.default_rng(7)
    base = rng.normal(size=10)
    old, new = np.repeat(base, 4)[:, None], np.repeat(base + rng.normal(size=10), 4)[:, None]
    sides = [Readings(values, steady=True) for values in (old, new)]
    whole, alone = compare(*sides, clusters=np.repeat(np.arange(10), 4)), compare(*sides)
    width = [
        part.figures["tau"].interval(0.9)[1] - part.figures["tau"].interval(0.9)[0] for part in (whole, alone)
    ]
    assert width[0] > 1.4 * width[1]
    few = compare(*sides, clusters=np.repeat(np.arange(5), 8))
    assert few.figures["tau"].interval(0.9) == (-np.inf, np.inf)

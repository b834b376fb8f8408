"""Both orders side by side: a lean to a place and the agreement of the orders, for planted judges."""

from __future__ import annotations

import numpy as np
import pytest

from judge_audit.measures.paired_comparisons import Orders, clustered_mean


def orders(plain, flipped, per_cluster=6):
    numbers = np.arange(len(plain))
    return Orders(np.asarray(plain, float), np.asarray(flipped, float), numbers, numbers // per_cluster)


def test_a_judge_that_always_names_the_left_leans_wholly_and_agrees_never():
    told = orders(np.ones(60), np.ones(60))
    assert told.left_lean().value == 0.5
    assert told.agreement().value == -1
    assert (told.left_wins, told.decided, told.same_winner()) == (120, 120, (0, 60))


def test_a_judge_that_always_names_the_better_picture_has_no_place():
    better = np.random.default_rng(0).integers(0, 2, 60)
    told = orders(better, 1 - better)
    assert told.left_lean().value == 0
    assert told.agreement().value == 1
    assert told.same_winner() == (60, 60)


def test_ties_are_neither():
    told = orders(np.full(60, 0.5), np.full(60, 0.5))
    assert (told.left_lean().value, told.agreement().value, told.decided) == (0, 0, 0)


@pytest.mark.parametrize("chance", [0.5, 0.6, 0.8])
def test_intervals_hold_the_planted_lean_of_a_judge_that_sees_nothing(chance):
    rng, hits, trials = np.random.default_rng(int(100 * chance)), 0, 300
    for _ in range(trials):
        told = orders(rng.random(40) < chance, rng.random(40) < chance)
        low, high = told.left_lean().interval(0.90)
        hits += low <= chance - 0.5 <= high
    assert hits / trials == pytest.approx(0.90, abs=0.06)


def test_a_coin_agrees_with_itself_as_often_as_not():
    rng, found = np.random.default_rng(5), []
    for _ in range(200):
        told = orders(rng.integers(0, 2, 60), rng.integers(0, 2, 60))
        low, high = told.agreement().interval(0.90)
        found.append(low <= 0 <= high)
    assert np.mean(found) == pytest.approx(0.90, abs=0.07)


def test_what_never_happened_in_few_pairs_is_not_certain():
    few, many = (clustered_mean(np.zeros(n), np.arange(n)) for n in (8, 80))
    assert few.interval(0.90)[1] > 0.10 > many.interval(0.90)[1]


def test_the_jackknife_is_the_usual_standard_error_for_single_pairs():
    values = np.random.default_rng(2).normal(1, 1, 50)
    assert clustered_mean(values, np.arange(50)).variance == pytest.approx(values.var(ddof=1) / 50)

"""Bradley–Terry strengths and circles: planted orders come back, and an independent fit agrees."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from judge_audit.measures.paired_comparisons import PRIOR, bradley_terry, cyclic_triads, won_shares
from judge_audit.stimuli.planning.comparisons import design


def shares_of(theta, rng=None, askings=1, pairs=None):
    """Compare candidates of planted strengths; without `rng` each pair's share is its exact chance."""
    shares = np.full((len(theta), len(theta)), np.nan)
    for one, other in pairs or itertools.combinations(range(len(theta)), 2):
        chance = 1 / (1 + np.exp(theta[other] - theta[one]))
        shares[one, other] = chance if rng is None else rng.binomial(askings, chance) / askings
        shares[other, one] = 1 - shares[one, other]
    return shares


@pytest.mark.parametrize("count", [2, 3, 8, 12])
def test_a_planted_order_is_recovered(count):
    theta = np.random.default_rng(count).permutation(np.linspace(-2, 2, count))
    found = bradley_terry(shares_of(theta, pairs=design(count)))
    assert list(found.places) == list(np.argsort(np.argsort(-theta)) + 1)
    assert abs(found.values.mean()) < 1e-5


def test_strengths_are_those_of_an_independent_fit():
    theta = np.array([1.2, 0.3, -0.4, -1.1])
    shares = shares_of(theta, np.random.default_rng(3), askings=4)
    wins = np.nan_to_num(shares) + PRIOR / 2
    np.fill_diagonal(wins, 0)

    def loss(values):
        return float((wins * np.logaddexp(0, values[None, :] - values[:, None])).sum())

    best = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-10}).x
    assert bradley_terry(shares).values == pytest.approx(best - best.mean(), abs=1e-4)


def test_a_candidate_that_always_wins_has_a_finite_strength():
    found = bradley_terry(shares_of(np.array([100.0, 0.0, -100.0])))
    assert np.isfinite(found.values).all()
    assert list(found.places) == [1, 2, 3]


def test_ties_share_their_places():
    found = bradley_terry(np.full((4, 4), 0.5))
    assert list(found.places) == [2.5] * 4
    assert not found.values.any()


def test_candidates_that_nothing_joins_have_no_order():
    shares = np.full((4, 4), np.nan)
    shares[0, 1], shares[1, 0] = 1.0, 0.0
    shares[2, 3], shares[3, 2] = 0.5, 0.5
    assert bradley_terry(shares) is None
    assert bradley_terry(np.full((1, 1), np.nan)) is None


def test_intervals_hold_the_planted_difference_as_often_as_they_say():
    rng, theta, hits, trials = np.random.default_rng(7), np.linspace(-0.7, 0.7, 8), 0, 200
    for _ in range(trials):
        found = bradley_terry(shares_of(theta, rng))
        hits += int((np.abs(found.values - theta) <= 1.645 * found.errors).sum())
    assert 0.86 <= hits / (8 * trials) <= 0.97


def test_a_preference_for_a_place_falls_out_of_the_shares():
    answers = [("a", "b", flipped, float(flipped)) for flipped in (False, True)]
    shares = won_shares(["a", "b"], answers)
    assert shares[0, 1] == shares[1, 0] == 0.5


def test_an_order_asked_more_often_weighs_no_more_and_one_order_alone_is_no_comparison():
    answers = [("a", "b", True, 1.0)] * 3 + [("a", "b", False, 0.0)]
    assert won_shares(["a", "b"], answers)[1, 0] == 0.5
    assert np.isnan(won_shares(["a", "b"], answers[:3])).all()


def test_circles_are_counted():
    circle = np.full((3, 3), np.nan)
    for one, other in ((0, 1), (1, 2), (2, 0)):
        circle[one, other], circle[other, one] = 1.0, 0.0
    assert cyclic_triads(circle) == (1, 1)
    assert cyclic_triads(shares_of(np.array([2.0, 0.0, -2.0, -4.0]))) == (0, 4)
    assert cyclic_triads(np.full((3, 3), 0.5)) == (0, 0)


def test_a_quarter_of_choices_by_chance_are_circles():
    found = cyclic_triads(shares_of(np.zeros(40), np.random.default_rng(1)))
    assert found[0] / found[1] == pytest.approx(0.25, abs=0.02)

"""Effective dimensions and holds: known answers."""

from __future__ import annotations

import numpy as np
import pytest

from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.dimensions import (
    Cell,
    Responses,
    drops,
    effective,
    effective_dimensions,
    holds,
    selectivity,
    silent_dimensions,
    spill,
)
from judge_audit.measures.estimates import Estimate
from judge_audit.measures.lifts import Lifts


def responses(share, *, noise=0.3, n=15, seed=0, free=0.0, same_noise=False, step=None):
    """Four kinds, each aimed at the dimension of its number; the others move `share` times as far."""
    rng = np.random.default_rng(seed)
    found = []
    for kind in range(4):
        severity = rng.lognormal(np.log(2.5), 0.3, n)
        moved = -share * np.repeat(severity[:, None], 4, axis=1)
        moved[:, kind] = -severity
        if kind == 1:
            moved[:, 2] -= free * severity
        moved += noise * (rng.normal(size=(n, 1)) if same_noise else rng.normal(size=(n, 4)))
        found.append(np.round(moved / step) * step if step else moved)
    at = np.arange(4 * n)
    return Responses(np.concatenate(found), at // n, at % 3, at)


@pytest.mark.parametrize(
    ("share", "expected"), [(0.0, 4.0), (0.15, 3.2), (0.33, 1.9), (0.5, 1.4), (0.75, 1.1)]
)
def test_halo_of_known_strength_leaves_the_known_number_of_dimensions(share, expected):
    values = [effective_dimensions(responses(share, seed=s).drawn(seed=s)).value for s in range(5)]
    assert np.mean(values) == pytest.approx(expected, abs=0.15)


def test_a_sound_judge_whose_free_cells_follow_keeps_its_dimensions():
    assert 3.6 <= effective_dimensions(responses(0.0, free=0.4).drawn(seed=1)).value <= 3.9


def test_copies_count_exactly_one_and_rounded_copies_stay_copies():
    exact = effective_dimensions(responses(1.0, same_noise=True).drawn(seed=1))
    assert exact.value == pytest.approx(1.0, abs=1e-12)
    assert exact.interval(0.9) == (pytest.approx(1.0), pytest.approx(1.0))
    rounded = effective_dimensions(responses(1.0, noise=1.0, step=1.0).drawn(seed=1))
    assert rounded.value < 1.4
    assert rounded.interval(0.95)[1] < 1.5


def test_effective_dimensions_are_those_of_the_formula():
    moments = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    assert effective(moments)[0] == pytest.approx(9 / (3 + 2 * 0.25))


def test_a_silent_dimension_is_left_out():
    given = responses(0.0)
    given.deltas[:, 3] = 0.0
    drawn = given.drawn(seed=1)
    assert silent_dimensions(drawn).tolist() == [False, False, False, True]
    assert effective_dimensions(drawn).value == pytest.approx(3.0, abs=0.15)


def test_spill_and_selectivity_recover_the_planted_share():
    drawn = responses(0.3, noise=0.1).drawn(seed=1)
    assert spill(drawn, 0, 0, 1).value == pytest.approx(0.3, abs=0.05)
    found = selectivity(drawn, [(0, 0), (2, 2), (3, 3)], 1)
    assert found.value == pytest.approx(0.7, abs=0.05)
    low, high = found.interval(0.9)
    assert low < found.value < high


def test_with_few_clusters_there_is_no_interval():
    few = responses(0.0, n=1)
    assert effective_dimensions(few.drawn(seed=1)).interval(0.9) == (-np.inf, np.inf)


def lifts(values, clusters=None):
    values = np.asarray(values, float)
    n = len(values)
    return Lifts(values, np.repeat(values[:, None], n, axis=1), np.arange(n))


def test_following_in_lift_alone_convicts_nobody():
    rng = np.random.default_rng(0)
    own, other = -0.45 + 0.02 * rng.normal(size=20), -0.3 + 0.02 * rng.normal(size=20)
    own_raw, other_raw = -8 + 0.1 * rng.normal(size=20), -0.8 + 0.1 * rng.normal(size=20)
    cell = Cell((lifts(own),), (lifts(own_raw),), (lifts(other),), (lifts(other_raw),))
    assert holds(cell, 1 / 3, 10).verdict == Verdict.PASS
    both = Cell((lifts(own),), (lifts(own_raw),), (lifts(other),), (lifts(5 * other_raw),))
    assert holds(both, 1 / 3, 10) == holds(both, 1 / 3, 1)
    assert holds(both, 1 / 3, 10).verdict == Verdict.FAIL
    opposed = Cell((lifts(own),), (lifts(own_raw),), (lifts(-other),), (lifts(5 * other_raw),))
    assert holds(opposed, 1 / 3, 10).verdict == Verdict.INCONCLUSIVE


def test_a_dimension_drops_below_the_limit_or_is_deaf_above_it():
    assert drops(Estimate(-0.3, 0.0025, 20, 21, 21), 0.1, 4).verdict == Verdict.PASS
    assert drops(Estimate(0.0, 0.0004, 20, 21, 21), 0.1, 4).verdict == Verdict.FAIL
    assert drops(Estimate(-0.1, 0.0004, 20, 21, 21), 0.1, 4).verdict == Verdict.INCONCLUSIVE
